"""Kills and refusals by the system itself, at moments that nobody chose."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stackfix_lockfiles import transaction
from tests.lockfiles.test_transaction_killed import NEW, OLD, contents, expected, strays, write

NOBODY = 65534


def forked(action: Callable[[], object]) -> int:
    """Run `action` in a child; its process id. The child ends with 0, or 3 for a refusal."""
    child = os.fork()
    if child == 0:
        try:
            action()
        except transaction.TransactionError:
            os._exit(3)
        except BaseException:
            os._exit(4)
        os._exit(0)
    return child


def ended(child: int) -> int:
    """The child's exit status; negative: the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def commit(root: Path) -> None:
    transaction.commit(root, NEW, expected=expected(OLD), label="move")


@pytest.mark.slow(reason="five hundred kills")
def test_a_kill_at_five_hundred_random_moments(tmp_path: Path) -> None:
    chance, seen = random.Random(4), Counter[str]()
    root = tmp_path / "timed"
    write(root, OLD)
    begun = time.perf_counter()
    assert ended(forked(lambda: commit(root))) == 0
    whole = time.perf_counter() - begun
    for number in range(500):
        root = tmp_path / str(number)
        write(root, OLD)
        child = forked(lambda root=root: commit(root))
        time.sleep(chance.uniform(0, 1.2 * whole))
        os.kill(child, signal.SIGKILL)
        ended(child)
        said = transaction.recover(root)
        found = contents(root)
        assert found in (OLD, NEW)
        assert transaction.recover(root) is None
        assert not strays(root)
        assert said is None or said.strip()
        seen["new" if found == NEW else "old"] += 1
        seen["mended" if said else "nothing to mend"] += 1
        shutil.rmtree(root)
    print(dict(seen))  # noqa: T201 - shown with -rP: how the kills fell
    assert seen["old"] > 20
    assert seen["new"] > 20
    assert seen["mended"] > 20


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that another user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="stackfix-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_project_of_somebody_else_is_left_alone(shared: Path) -> None:
    write(shared / "project", OLD)

    def as_nobody() -> None:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        commit(shared / "project")

    assert ended(forked(as_nobody)) == 3
    assert contents(shared / "project") == OLD
    assert not strays(shared / "project")


def test_a_file_that_outgrows_the_limit_changes_nothing(tmp_path: Path) -> None:
    """As a full disk or a quota: the system itself refuses in the middle of a write."""
    write(tmp_path, OLD)

    def confined() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, 8_000))
        commit(tmp_path)

    assert ended(forked(confined)) == 3
    assert contents(tmp_path) == OLD
    assert not strays(tmp_path)


def test_of_two_processes_one_writes(tmp_path: Path) -> None:
    for number in range(20):
        root = tmp_path / str(number)
        write(root, OLD)
        children = [forked(lambda root=root: commit(root)) for _ in range(2)]
        assert sorted(ended(child) for child in children) == [0, 3]
        assert contents(root) == NEW
        assert not strays(root)
