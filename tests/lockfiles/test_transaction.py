"""Several files change together, or none does."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from stackfix_lockfiles import transaction
from stackfix_lockfiles.transaction import disk

OLD = {Path("pyproject.toml"): b"[project]\r\nname = 'old'\r\n", Path("uv.lock"): b"version = 1\n"}
NEW = {Path("pyproject.toml"): b"[project]\r\nname = 'new'\r\n", Path("uv.lock"): b"version = 2\n"}
EXPECTED: dict[Path, str | None] = {path: transaction.digest(data) for path, data in OLD.items()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for path, data in OLD.items():
        (tmp_path / path).write_bytes(data)
    return tmp_path


def contents(root: Path) -> dict[Path, bytes]:
    return {path: (root / path).read_bytes() for path in OLD}


def names(root: Path) -> set[str]:
    return {path.name for path in root.iterdir()}


def test_all_files_change_together(project: Path) -> None:
    transaction.commit(project, NEW, expected=EXPECTED, label="a move")
    assert contents(project) == NEW
    assert names(project) == {"pyproject.toml", "uv.lock", ".stackfix"}


def test_a_file_edited_since_is_refused_and_nothing_changes(project: Path) -> None:
    (project / "uv.lock").write_bytes(b"edited")
    with pytest.raises(transaction.ProjectChanged, match=r"^uv\.lock: was edited"):
        transaction.commit(project, NEW, expected=EXPECTED, label="a move")
    assert contents(project) == {**OLD, Path("uv.lock"): b"edited"}


def test_a_file_that_is_only_read_is_compared_too(project: Path) -> None:
    only_lock = {Path("uv.lock"): NEW[Path("uv.lock")]}
    (project / "pyproject.toml").write_bytes(b"edited")
    with pytest.raises(transaction.ProjectChanged, match=r"^pyproject\.toml"):
        transaction.commit(project, only_lock, expected=EXPECTED, label="a move")


def test_a_file_expected_to_be_absent(project: Path) -> None:
    (project / "uv.lock").unlink()
    expected = {**EXPECTED, Path("uv.lock"): None}
    transaction.commit(project, NEW, expected=expected, label="a first lock")
    assert contents(project) == NEW
    transaction.undo(project)
    assert not (project / "uv.lock").exists()
    with pytest.raises(transaction.ProjectChanged, match="was removed"):
        transaction.commit(project, NEW, expected=EXPECTED, label="a move")


def test_mode_bits_are_kept(project: Path) -> None:
    (project / "uv.lock").chmod(0o640)
    transaction.commit(project, NEW, expected=EXPECTED, label="a move")
    assert stat.S_IMODE((project / "uv.lock").stat().st_mode) == 0o640
    transaction.undo(project)
    assert stat.S_IMODE((project / "uv.lock").stat().st_mode) == 0o640


def test_a_symlink_stays_one_and_its_target_is_written(project: Path) -> None:
    (project / "real").mkdir()
    (project / "uv.lock").rename(project / "real" / "uv.lock")
    (project / "uv.lock").symlink_to("real/uv.lock")
    transaction.commit(project, NEW, expected=EXPECTED, label="a move")
    assert os.readlink(project / "uv.lock") == "real/uv.lock"
    assert (project / "real" / "uv.lock").read_bytes() == NEW[Path("uv.lock")]
    assert names(project / "real") == {"uv.lock"}


def test_a_member_in_a_folder_is_written(project: Path) -> None:
    member = Path("packages/client/pyproject.toml")
    (project / member).parent.mkdir(parents=True)
    (project / member).write_bytes(b"old")
    transaction.commit(
        project,
        {**NEW, member: b"new"},
        expected={**EXPECTED, member: transaction.digest(b"old")},
        label="a move",
    )
    assert (project / member).read_bytes() == b"new"


@pytest.mark.parametrize("path", ["/etc/hosts", "../uv.lock", "a/../../b", "."])
def test_a_path_outside_the_project_is_a_programming_error(project: Path, path: str) -> None:
    with pytest.raises(ValueError, match="relative to the project"):
        transaction.commit(project, {Path(path): b""}, expected={}, label="a move")


def test_writing_what_is_already_there_leaves_no_trace(project: Path) -> None:
    transaction.commit(project, OLD, expected=EXPECTED, label="nothing")
    assert names(project) == {"pyproject.toml", "uv.lock"}


def test_git_does_not_see_the_workspace(project: Path) -> None:
    git = ["git", "-C", str(project)]
    subprocess.run([*git, "init", "-q"], check=True)
    transaction.commit(project, NEW, expected=EXPECTED, label="a move")
    status = subprocess.run(
        [*git, "status", "--porcelain"], check=True, capture_output=True, text=True
    )
    assert ".stackfix" not in status.stdout


# Undo


def test_undo_restores_every_byte_and_says_what(project: Path) -> None:
    transaction.commit(project, NEW, expected=EXPECTED, label="torch 2.7.1 -> 2.8.0")
    label, paths = transaction.undo(project)
    assert (label, set(paths)) == ("torch 2.7.1 -> 2.8.0", set(OLD))
    assert contents(project) == OLD
    assert names(project) == {"pyproject.toml", "uv.lock"}


def test_undo_refuses_after_a_further_edit(project: Path) -> None:
    transaction.commit(project, NEW, expected=EXPECTED, label="a move")
    (project / "pyproject.toml").write_bytes(b"edited")
    with pytest.raises(transaction.ProjectChanged, match=r"pyproject\.toml: was edited"):
        transaction.undo(project)
    assert (project / "uv.lock").read_bytes() == NEW[Path("uv.lock")]


def test_undo_happens_once(project: Path) -> None:
    with pytest.raises(transaction.NothingToUndo):
        transaction.undo(project)
    assert names(project) == {"pyproject.toml", "uv.lock"}
    transaction.commit(project, NEW, expected=EXPECTED, label="a move")
    transaction.undo(project)
    with pytest.raises(transaction.NothingToUndo):
        transaction.undo(project)


def test_undo_refuses_a_damaged_copy(project: Path) -> None:
    transaction.commit(project, NEW, expected=EXPECTED, label="a move")
    (project / ".stackfix/undo/0").write_bytes(b"rot")
    with pytest.raises(transaction.NothingToUndo, match="damaged"):
        transaction.undo(project)
    assert contents(project) == NEW


# Two processes


def test_a_second_process_is_told_who_is_writing(project: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from stackfix_lockfiles.transaction.journal import exclusive\n"
        "with exclusive(Path(sys.argv[1])):\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(project)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as holder:
        assert holder.stdin
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(transaction.ProjectBusy, match=f"process {holder.pid} is writing"):
            transaction.commit(project, NEW, expected=EXPECTED, label="a move")
        holder.stdin.close()
    assert contents(project) == OLD
    transaction.commit(project, NEW, expected=EXPECTED, label="a move")


# Disks that refuse


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "mkdir"])
def test_a_full_disk_at_any_call_is_one_line_and_changes_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    real = getattr(os, call)
    for failing in range(1, 40):
        count = 0

        def refuse(*args: object, _failing: int = failing, **kwargs: object) -> object:
            nonlocal count
            count += 1
            if count == _failing:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), args[0])
            return real(*args, **kwargs)

        monkeypatch.setattr(os, call, refuse)
        said = None
        try:
            transaction.commit(project, NEW, expected=EXPECTED, label="a move")
        except transaction.CommitFailed as error:
            said = str(error)
        if said is not None:
            assert "No space left on device; nothing was changed" in said
            assert contents(project) == OLD
            assert names(project) <= {"pyproject.toml", "uv.lock", ".stackfix"}
        else:
            assert contents(project) == NEW
            monkeypatch.setattr(os, call, real)
            transaction.recover(project)
            transaction.undo(project)
            if count < failing:
                return
        monkeypatch.setattr(os, call, real)
    pytest.fail("the call never ran out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_project_is_one_line(project: Path) -> None:
    project.chmod(0o555)
    try:
        with pytest.raises(transaction.CommitFailed, match="Permission denied"):
            transaction.commit(project, NEW, expected=EXPECTED, label="a move")
    finally:
        project.chmod(0o755)
    assert contents(project) == OLD


def test_a_workspace_that_is_a_symlink_is_refused(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / ".stackfix").symlink_to(elsewhere)
    with pytest.raises(transaction.CommitFailed):
        transaction.commit(project, NEW, expected=EXPECTED, label="a move")
    assert not names(elsewhere)


def test_a_half_failed_placing_is_taken_back(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = disk.move

    def refuse(source: Path, target: Path) -> None:
        if target.name == "uv.lock" and ".stackfix-" in source.name:
            monkeypatch.setattr(disk, "move", real)
            raise PermissionError(errno.EACCES, "denied")
        real(source, target)

    monkeypatch.setattr(disk, "move", refuse)
    with pytest.raises(transaction.CommitFailed, match="nothing was changed"):
        transaction.commit(project, NEW, expected=EXPECTED, label="a move")
    assert contents(project) == OLD
    assert transaction.recover(project) is None


def test_ctrl_c_leaves_old_or_new(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = disk.write_file
    seen: list[Path] = []

    def interrupt(path: Path, data: bytes, *, mode: int | None = None) -> None:
        seen.append(path)
        if len(seen) == 4:
            raise KeyboardInterrupt
        real(path, data, mode=mode)

    monkeypatch.setattr(disk, "write_file", interrupt)
    with pytest.raises(KeyboardInterrupt):
        transaction.commit(project, NEW, expected=EXPECTED, label="a move")
    assert contents(project) == OLD
    assert names(project) == {"pyproject.toml", "uv.lock"}
