"""Write several files of a project together, or none of them.

How it holds under a kill at any moment:

1. One process at a time (`exclusive`). What an earlier, killed one left is mended first.
2. Every file must still have the digest the caller saw.
3. A journal says *prepared*. New contents are written beside their targets, old contents
   under `.stackfix/`, and all of it is forced to disk.
4. The journal is replaced by one that says *committed*. That rename decides: before it the
   project is old, after it the project is new.
5. Renames put the new contents in place; the old ones become the undo record.

`.stackfix/` ignores itself, so nothing of this shows in version control.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path

from stackfix_lockfiles.transaction import disk
from stackfix_lockfiles.transaction.journal import (
    Change,
    Journal,
    State,
    digest,
    exclusive,
    remove_workspace_if_empty,
    workspace,
)
from stackfix_lockfiles.transaction.mending import mend, place, restore, settle
from stackfix_lockfiles.transaction.refusals import (
    CommitFailed,
    MendingFailed,
    NothingToUndo,
    ProjectBusy,
    ProjectChanged,
    TransactionError,
    os_reason,
)

__all__ = [
    "CommitFailed",
    "MendingFailed",
    "NothingToUndo",
    "ProjectBusy",
    "ProjectChanged",
    "TransactionError",
    "commit",
    "digest",
    "recover",
    "undo",
]


def commit(
    root: Path,
    files: Mapping[Path, bytes],
    *,
    expected: Mapping[Path, str | None],
    label: str,
) -> None:
    """Write `files` (paths relative to `root`) so that all of them change or none does.

    `expected` maps files to the sha256 (hex) they had when the contents were computed, None
    for one that must not exist; it may name files that are read but not written. `label` says
    in a few words what the change is and is shown again by `undo`. Raises `ProjectChanged`,
    `ProjectBusy` or `CommitFailed`; after each of them the project is as it was.
    """
    paths = sorted({*files, *expected})
    for path in paths:
        _must_lie_inside(path)
    with exclusive(root):
        _mend(root)
        present = _digests(root, paths)
        for path, seen in sorted(expected.items()):
            if present[path] != seen:
                raise ProjectChanged(path, was=seen, found=present[path])
        changes: list[Change] = []
        contents: dict[Path, bytes | None] = {}
        for path, data in sorted(files.items()):
            if present[path] != digest(data):
                changes.append(Change(path=path, old=present[path], new=digest(data)))
                contents[path] = data
        if changes:
            _replace(root, tuple(changes), contents, label=label, keep_undo=True)
        else:
            remove_workspace_if_empty(root)


def recover(root: Path) -> str | None:
    """Mend what a killed write left; one line that says what was done, None if nothing was.

    Cheap (one `stat`) where there is nothing to mend, and then writes nothing.
    """
    if not Journal.path(root).exists():
        return None
    with exclusive(root):
        return _mend(root)


def undo(root: Path) -> tuple[str, tuple[Path, ...]]:
    """Take back the last commit; returns its label and the files that were restored.

    Raises `NothingToUndo`, or `ProjectChanged` when a file was edited after the commit.
    """
    if not workspace(root).is_dir():
        raise NothingToUndo(root)
    with exclusive(root):
        _mend(root)
        record = Journal.read(workspace(root) / "undo" / "record.json")
        if record is None:
            raise NothingToUndo(root)
        contents: dict[Path, bytes | None] = {}
        changes: list[Change] = []
        present = _digests(root, [change.path for change in record.changes])
        for number, change in enumerate(record.changes):
            if present[change.path] != change.new:
                raise ProjectChanged(change.path, was=change.new, found=present[change.path])
            data = None
            if change.old is not None:
                kept = workspace(root) / "undo" / str(number)
                if disk.digest_of(kept) != change.old:
                    raise NothingToUndo(root, "the kept copy is damaged")
                data = kept.read_bytes()
            contents[change.path] = data
            changes.append(Change(path=change.path, old=change.new, new=change.old))
        _replace(root, tuple(changes), contents, label=record.label, keep_undo=False)
        return record.label, tuple(contents)


def _must_lie_inside(path: Path) -> None:
    if path.is_absolute() or ".." in path.parts or path == Path("."):
        raise ValueError(f"{path}: expected a path relative to the project, without '..'")


def _replace(
    root: Path,
    changes: tuple[Change, ...],
    contents: Mapping[Path, bytes | None],
    *,
    label: str,
    keep_undo: bool,
) -> None:
    """Steps 3 to 5 of the module's docstring, for changes whose digests were just checked."""
    journal = Journal(
        identity=uuid.uuid4().hex,
        state=State.PREPARED,
        label=label,
        keep_undo=keep_undo,
        changes=changes,
    )
    try:
        _prepare(root, journal, contents)
        journal = journal.committed()
        _decide_and_place(root, journal)
        with contextlib.suppress(OSError):  # all is in place; the next start tidies up
            settle(root, journal)
    except BaseException:
        # Ctrl-C included: before the decision this drops what was prepared, after it this finishes.
        with contextlib.suppress(OSError):
            mend(root)
            remove_workspace_if_empty(root)
        raise


def _prepare(root: Path, journal: Journal, contents: Mapping[Path, bytes | None]) -> None:
    """Force the old and the new contents to disk without touching a target."""
    current = Path(".stackfix")
    try:
        journal.write(root)
        backups = journal.backups(root)
        disk.make_folder(backups)
        for number, change in enumerate(journal.changes):
            current = change.path
            target = journal.target(root, change)
            staged = journal.staged(root, change)
            if change.old is not None:
                disk.write_like(backups / str(number), target.read_bytes(), like=target)
            data = contents[change.path]
            if data is not None:
                disk.write_like(staged, data, like=target)
            disk.sync_folder(staged.parent)
        disk.write_file(backups / "record.json", journal.to_json())
        disk.sync_folder(backups)
        for change in journal.changes:
            current = change.path
            found = disk.digest_of(root / change.path)
            if found != change.old:
                raise ProjectChanged(change.path, was=change.old, found=found)
    except OSError as error:
        raise CommitFailed(current, os_reason(error)) from error


def _decide_and_place(root: Path, journal: Journal) -> None:
    try:
        journal.write(root)
        place(root, journal)
    except OSError as error:
        _restore(root, journal)
        path = journal.changes[0].path if len(journal.changes) == 1 else Path(".")
        raise CommitFailed(path, os_reason(error)) from error


def _restore(root: Path, journal: Journal) -> None:
    try:
        restore(root, journal)
    except OSError as error:
        raise MendingFailed(root, os_reason(error)) from error


def _mend(root: Path) -> str | None:
    try:
        return mend(root)
    except OSError as error:
        raise MendingFailed(root, os_reason(error)) from error


def _digests(root: Path, paths: Iterable[Path]) -> dict[Path, str | None]:
    found = {}
    for path in paths:
        try:
            found[path] = disk.digest_of(root / path)
        except OSError as error:
            raise CommitFailed(path, os_reason(error)) from error
    return found
