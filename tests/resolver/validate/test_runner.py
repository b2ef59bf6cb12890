"""Running stages, and reading what they told."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from stackfix.validate.process import ProcessLimits, ProcessRun
from stackfix.validate.result import Outcome, ProcessEnding, StageResult
from stackfix.validate.runner import allowed_memory, run_stages, stage_environment, stage_result
from stackfix.validate.stages import Stage
from tests.resolver.making import graph

GIB = 1 << 30


def machine(root: Path, *, available: int, group: str = "/") -> Path:
    """A machine with so much memory available, seen from a cgroup."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {available >> 10} kB\n")
    (root / "proc/self/cgroup").write_text(f"0::{group}\n")
    return root


def limited(root: Path, group: str, *, limit: int, used: int, cached: int) -> None:
    folder = root / "sys/fs/cgroup" / group
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    half = cached // 2
    (folder / "memory.stat").write_text(
        f"anon {used - cached}\nactive_file {half}\ninactive_file {half}\nfile {cached}\n"
    )


def test_most_of_the_free_memory_may_be_taken(tmp_path: Path) -> None:
    assert allowed_memory(machine(tmp_path, available=10 * GIB)) == 8 * GIB


def test_a_container_that_is_full_of_cached_files_has_room(tmp_path: Path) -> None:
    """As it is after a stack of some gigabytes was installed."""
    root = machine(tmp_path, available=100 * GIB)
    limited(root, "", limit=10 * GIB, used=10 * GIB, cached=10 * GIB)
    assert allowed_memory(root) == 8 * GIB


def test_memory_of_others_in_the_container_is_not_free(tmp_path: Path) -> None:
    root = machine(tmp_path, available=100 * GIB)
    limited(root, "", limit=10 * GIB, used=6 * GIB, cached=0)
    assert allowed_memory(root) == int(4 * GIB * 0.8)


def test_the_narrowest_of_nested_groups_counts(tmp_path: Path) -> None:
    """A batch system's job is such a group, several below the top."""
    root = machine(tmp_path, available=100 * GIB, group="/system/job_7/step_0")
    limited(root, "system", limit=80 * GIB, used=0, cached=0)
    limited(root, "system/job_7", limit=20 * GIB, used=0, cached=0)
    assert allowed_memory(root) == 16 * GIB


def test_a_group_outside_of_the_own_view_is_none(tmp_path: Path) -> None:
    root = machine(tmp_path, available=10 * GIB, group="/../../other")
    limited(root, "../other", limit=1 * GIB, used=0, cached=0)
    assert allowed_memory(root) == 8 * GIB


def test_kernels_find_each_other_whatever_the_user_has_set() -> None:
    env = stage_environment({"PYTHONSAFEPATH": "1", "LD_LIBRARY_PATH": "/opt/lib"}, scratch=False)
    assert "PYTHONSAFEPATH" not in env
    assert env["LD_LIBRARY_PATH"] == "/opt/lib"


def test_a_scratch_environment_is_spared_other_packages() -> None:
    user = {"PYTHONPATH": "/other", "VIRTUAL_ENV": "/venv", "PYTHONHOME": "/usr"}
    env = stage_environment(user, scratch=True)
    assert not user.keys() & env.keys()
    assert env["PYTHONNOUSERSITE"] == "1"
    assert stage_environment(user, scratch=False)["PYTHONPATH"] == "/other"


def test_what_a_killed_stage_has_written_goes_with_it(tmp_path: Path) -> None:
    """Checkpoints, generated code, the ranks' meeting place."""
    code = (
        "import os, tempfile\n"
        f"open({str(tmp_path / 'place')!r}, 'w').write(tempfile.mkdtemp())\n"
        "os.kill(os.getpid(), 9)"
    )
    stage = Stage(
        name="conv",
        title="killed",
        command=(sys.executable, "-c", code),
        limits=ProcessLimits(seconds=30, memory=GIB),
    )
    (result,) = run_stages([stage], env=dict(os.environ), graph=graph(), folder=tmp_path)
    assert result.reason.startswith("crashed with SIGKILL")
    assert not Path((tmp_path / "place").read_text()).exists()


LIMITS = ProcessLimits(seconds=10, memory=1 << 30)


def ending(
    code: int | None = 0, *, signal: str | None = None, limit: str | None = None
) -> ProcessEnding:
    return ProcessEnding(exit_code=code, signal=signal, limit=limit, seconds=1.0, memory=0)


def row(folder: Path, lines: list[object], how: ProcessEnding) -> StageResult:
    file = folder / "told.jsonl"
    text = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    file.write_text("\n".join(text))
    return stage_result("conv", "convolutions", file, ProcessRun(ending=how, log="the log"), LIMITS)


def check(name: str, event: str, detail: str = "") -> list[object]:
    return [
        {"event": "started", "check": name},
        {"event": event, "check": name, "detail": detail},
    ]


END: list[object] = [{"event": "end"}]


def test_all_checks_passed_is_passed_and_needs_no_log(tmp_path: Path) -> None:
    found = row(tmp_path, check("a", "passed") + END, ending())
    assert found.outcome is Outcome.PASSED
    assert found.log == ""


def test_a_failed_check_is_the_reason(tmp_path: Path) -> None:
    lines = check("a", "failed", "off") + check("b", "failed", "too") + END
    found = row(tmp_path, lines, ending(1))
    assert found.outcome is Outcome.FAILED
    assert found.reason == "a: off, and 1 more"
    assert found.log == "the log"


def test_only_skipped_checks_are_a_skipped_stage(tmp_path: Path) -> None:
    found = row(tmp_path, check("a", "skipped", "not here") + END, ending())
    assert found.outcome is Outcome.SKIPPED
    assert found.reason == "not here"


def test_a_condition_that_holds_proves_nothing_by_itself(tmp_path: Path) -> None:
    lines = check("the device is seen", "ready") + check("a", "skipped", "not here") + END
    found = row(tmp_path, lines, ending())
    assert found.outcome is Outcome.SKIPPED
    assert [one.name for one in found.checks] == ["a"]


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (ending(0), "stopped with exit code 0 before its end in “b”"),
        (ending(None, signal="SIGKILL"), "crashed with SIGKILL: something killed it: most often"),
        (ending(None, signal="SIGBUS"), "crashed with SIGBUS: it could not reach its memory"),
        (ending(None, limit="time"), "hung: not done after 10 s in “b”"),
        (ending(None, limit="memory"), "took more than the 1,024 MiB of memory"),
        (ending(None), "could not be ended: it sits in a call into the driver"),
    ],
)
def test_an_end_before_the_end_fails_in_the_open_check(
    how: ProcessEnding, reason: str, tmp_path: Path
) -> None:
    lines = [*check("a", "passed"), {"event": "started", "check": "b"}]
    found = row(tmp_path, lines, how)
    assert found.outcome is Outcome.FAILED
    assert found.reason.startswith(reason)
    assert found.checks[-1].name == "b"


def test_a_crash_while_leaving_fails_though_every_check_passed(tmp_path: Path) -> None:
    found = row(tmp_path, check("a", "passed") + END, ending(None, signal="SIGSEGV"))
    assert found.outcome is Outcome.FAILED


def test_a_process_that_told_nothing_fails(tmp_path: Path) -> None:
    found = stage_result("c", "c", tmp_path / "none", ProcessRun(ending=ending(1), log="x"), LIMITS)
    assert found.reason == "stopped with exit code 1 before its end"


def test_a_line_that_was_cut_off_is_no_line(tmp_path: Path) -> None:
    found = row(tmp_path, [*check("a", "passed"), '{"event": "pas'], ending(None, limit="time"))
    assert [one.outcome for one in found.checks] == [Outcome.PASSED, Outcome.FAILED]
