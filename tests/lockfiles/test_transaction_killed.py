"""A kill at any system call leaves a project that is old or new after the next start."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stackfix_lockfiles import transaction
from stackfix_lockfiles.transaction.journal import Change, Journal, State

CALLS = ("open", "write", "fsync", "replace", "unlink", "mkdir", "rmdir", "ftruncate", "pwrite")
OLD = {Path("pyproject.toml"): b"old project\n", Path("uv.lock"): b"old lock\n" * 1000}
NEW = {Path("pyproject.toml"): b"new project\n", Path("uv.lock"): b"new lock\n" * 2000}
NEWER = {Path("pyproject.toml"): b"newer project\n", Path("uv.lock"): b"newer lock\n"}

AGAIN = pytest.mark.slow(reason="another moment of the same writes")
BEFORE, AFTER = pytest.param("before", marks=AGAIN), pytest.param("after", marks=AGAIN)


@pytest.fixture(autouse=True)
def no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for the disk: a kill loses nothing that the system has, flushed or not."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


def expected(files: dict[Path, bytes]) -> dict[Path, str | None]:
    return {path: transaction.digest(data) for path, data in files.items()}


def write(root: Path, files: dict[Path, bytes]) -> None:
    root.mkdir(exist_ok=True)
    for path, data in files.items():
        (root / path).write_bytes(data)


def contents(root: Path) -> dict[Path, bytes]:
    return {path: (root / path).read_bytes() for path in OLD}


def strays(root: Path) -> set[str]:
    return {path.name for path in root.iterdir()} - {"pyproject.toml", "uv.lock", ".stackfix"}


def killed_at(point: int, when: str, action: Callable[[], object]) -> bool:
    """Run `action` in a child that kills itself at its `point`-th call; False: it got through."""
    child = os.fork()
    if child == 0:
        count = 0

        def guarded(real: Callable[..., Any], name: str) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                nonlocal count
                count += 1
                if count == point:
                    if when == "half" and name == "write":
                        real(args[0], args[1][: len(args[1]) // 2])
                    if when == "after":
                        with contextlib.suppress(OSError):
                            real(*args, **kwargs)
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*args, **kwargs)

            return call

        for name in CALLS:
            setattr(os, name, guarded(getattr(os, name), name))
        try:
            action()
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


@pytest.mark.parametrize("when", ["half", BEFORE, AFTER])
def test_a_commit_killed_anywhere_is_old_or_new(tmp_path: Path, when: str) -> None:
    seen: set[str] = set()
    for point in range(1, 1000):
        root = tmp_path / str(point)
        write(root, OLD)
        died = killed_at(
            point,
            when,
            lambda root=root: transaction.commit(root, NEW, expected=expected(OLD), label="move"),
        )
        said = transaction.recover(root)
        found = contents(root)
        assert found in (OLD, NEW), f"call {point}"
        assert transaction.recover(root) is None
        assert not strays(root), f"call {point}"
        seen.add("new" if found == NEW else "old")
        if found == OLD:
            assert said is None or "unchanged" in said
            transaction.commit(root, NEW, expected=expected(OLD), label="again")
        transaction.undo(root)
        assert contents(root) == OLD
        if not died:
            break
    assert point > 40, "too few calls were tried"
    assert seen == {"old", "new"}


@pytest.mark.parametrize("when", [BEFORE, "after"])
def test_a_second_commit_or_undo_killed_anywhere_keeps_a_usable_undo(
    tmp_path: Path, when: str
) -> None:
    for point in range(1, 1000):
        root = tmp_path / str(point)
        write(root, OLD)
        transaction.commit(root, NEW, expected=expected(OLD), label="first")
        died = killed_at(
            point,
            when,
            lambda root=root: transaction.commit(root, NEWER, expected=expected(NEW), label="2"),
        )
        transaction.recover(root)
        before = contents(root)
        assert before in (NEW, NEWER)
        transaction.undo(root)
        assert contents(root) == (OLD if before == NEW else NEW), f"call {point}"
        if not died:
            break
    assert point > 40


def test_an_undo_killed_anywhere_is_done_or_not(tmp_path: Path) -> None:
    for point in range(1, 1000):
        root = tmp_path / str(point)
        write(root, OLD)
        transaction.commit(root, NEW, expected=expected(OLD), label="first")
        died = killed_at(point, "before", lambda root=root: transaction.undo(root))
        transaction.recover(root)
        assert contents(root) in (OLD, NEW)
        if contents(root) == NEW:
            transaction.undo(root)
            assert contents(root) == OLD
        if not died:
            break
    assert point > 30


@pytest.mark.parametrize("when", [BEFORE, "after"])
def test_a_recovery_killed_anywhere_can_be_repeated(tmp_path: Path, when: str) -> None:
    stopped = tmp_path / "stopped"
    write(stopped, OLD)
    _stop_before_placing(stopped)
    for point in range(1, 1000):
        root = tmp_path / str(point)
        shutil.copytree(stopped, root)
        died = killed_at(point, when, lambda root=root: transaction.recover(root))
        transaction.recover(root)
        assert contents(root) == NEW
        assert not strays(root)
        if not died:
            break
    assert point > 10


def _stop_before_placing(root: Path) -> None:
    """Leave the project as a kill right after the decision does."""
    for point in range(1, 1000):
        write(root, OLD)
        killed_at(
            point,
            "after",
            lambda: transaction.commit(root, NEW, expected=expected(OLD), label="move"),
        )
        journal = Journal.read(Journal.path(root))
        if journal and journal.state is State.COMMITTED:
            return
        transaction.recover(root)


def test_an_edit_between_kill_and_recovery_is_kept(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    _stop_before_placing(tmp_path)
    (tmp_path / "uv.lock").write_bytes(b"edited by hand")
    said = transaction.recover(tmp_path)
    assert said
    assert "taken back" in said
    assert "uv.lock was edited since" in said
    assert contents(tmp_path) == {**OLD, Path("uv.lock"): b"edited by hand"}
    assert not strays(tmp_path)


def test_a_lost_new_content_takes_the_change_back(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    _stop_before_placing(tmp_path)
    staged = sorted(tmp_path.glob(".*.stackfix-*"))
    os.replace(staged[0], tmp_path / "pyproject.toml")
    staged[1].write_bytes(b"torn")
    said = transaction.recover(tmp_path)
    assert said
    assert said.endswith("was taken back")
    assert contents(tmp_path) == OLD


@pytest.mark.parametrize(
    "forged",
    [
        b"",
        b"[]",
        b"{" * 100_000,
        b'{"version": 1, "identity": "../../x"}',
        b'{"version": 1, "identity": "' + b"0" * 32 + b'", "state": "committed", "label": "", '
        b'"keep_undo": true, "changes": [{"path": "../../victim", "old": null, "new": null}]}',
    ],
)
def test_a_forged_journal_touches_nothing(tmp_path: Path, forged: bytes) -> None:
    write(tmp_path, OLD)
    (tmp_path / ".stackfix").mkdir()
    (tmp_path / ".stackfix" / "journal.json").write_bytes(forged)
    said = transaction.recover(tmp_path)
    assert said
    assert "no other file was touched" in said
    assert contents(tmp_path) == OLD


def test_a_forged_journal_cannot_overwrite_a_file_it_does_not_know(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    journal = Journal(
        identity="0" * 32,
        state=State.COMMITTED,
        label="forged",
        keep_undo=True,
        changes=(Change(path=Path("uv.lock"), old="1" * 64, new="2" * 64),),
    )
    folder = tmp_path / ".stackfix"
    folder.mkdir()
    (folder / "journal.json").write_bytes(journal.to_json())
    transaction.recover(tmp_path)
    assert contents(tmp_path) == OLD
