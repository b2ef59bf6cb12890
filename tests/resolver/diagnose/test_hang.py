"""Reading a hang: same operation, different operations, an absent rank, a rank alone."""

from __future__ import annotations

from pathlib import Path

from tests.resolver.diagnose.logs import diagnose_text


def timeout(rank: int, sequence: int = 12, operation: str = "ALLREDUCE", elements: int = 8) -> str:
    return (
        f"[rank{rank}]:[E101 10:00:00.1 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught"
        f" collective operation timeout: WorkNCCL(SeqNum={sequence}, OpType={operation},"
        f" NumelIn={elements}, NumelOut={elements}, Timeout(ms)=600000) ran for 600010"
        " milliseconds before timing out.\n"
    )


def test_all_ranks_in_one_operation_leave_the_cause_open(tmp_path: Path) -> None:
    found = diagnose_text(tmp_path, run="".join(map(timeout, range(4))))
    assert found.family.name == "hang_collective"
    assert found.cause == ()
    assert not found.found
    assert any("flight recorder" in sentence for sentence in found.unknown)


def test_another_operation_at_the_same_number_is_a_desync(tmp_path: Path) -> None:
    log = timeout(0) + timeout(1, operation="BROADCAST") + timeout(2)
    found = diagnose_text(tmp_path, run=log)
    assert (found.family.name, found.rank) == ("collective_desync", 1)


def test_another_size_at_the_same_number_is_a_desync(tmp_path: Path) -> None:
    found = diagnose_text(tmp_path, run=timeout(0) + timeout(1) + timeout(3, elements=9))
    assert (found.family.name, found.rank) == ("collective_desync", 3)


def test_sends_and_receives_differ_by_nature(tmp_path: Path) -> None:
    log = timeout(0, operation="SEND") + timeout(1, operation="RECV", elements=9)
    assert diagnose_text(tmp_path, run=log).family.name == "hang_collective"


def test_the_rank_with_a_log_but_no_timeout_is_absent(tmp_path: Path) -> None:
    logs = {f"rank{rank}": timeout(rank) for rank in (0, 1, 3)}
    found = diagnose_text(tmp_path, rank2="saving step 100\n", **logs)
    assert (found.family.name, found.rank) == ("hang_rank_absent", 2)
    assert any("Absent: rank 2" in remedy.text for remedy in found.remedies)


def test_one_rank_alone_posts_one_more_than_the_others(tmp_path: Path) -> None:
    others = "".join(f"[rank{rank}]: main exit 0\n" for rank in (1, 2, 3))
    found = diagnose_text(tmp_path, run=timeout(0) + others)
    assert (found.family.name, found.rank) == ("collective_desync", 0)


def test_a_wait_far_beyond_its_limit_was_a_suspended_machine(tmp_path: Path) -> None:
    log = "".join(map(timeout, range(2))).replace("ran for 600010", "ran for 24588554")
    assert "suspended" in diagnose_text(tmp_path, run=log).why


def test_a_watchdog_that_relays_a_fault_is_no_hang(tmp_path: Path) -> None:
    log = (
        "[rank1]:[E101 10:00:00.1 ProcessGroupNCCL.cpp:1901] [PG ID 0 PG GUID 0 Rank 1] Process"
        " group watchdog thread terminated with exception: CUDA error: misaligned address\n"
    )
    found = diagnose_text(tmp_path, run=log)
    assert (found.family.name, found.rank) == ("kernel_memory_fault", 1)
