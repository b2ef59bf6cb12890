"""Finish or take back a transaction that a journal describes."""

from __future__ import annotations

import contextlib
from pathlib import Path

from stackfix_lockfiles.transaction import disk
from stackfix_lockfiles.transaction.journal import (
    Change,
    Journal,
    State,
    remove_workspace_if_empty,
    workspace,
)

__all__ = ["mend", "place", "restore", "settle"]


def mend(root: Path) -> str | None:
    """Bring the project to a state before or after the journalled transaction; what was done.

    The caller holds the project's lock.
    """
    path = Journal.path(root)
    journal = Journal.read(path)
    if journal is None:
        if path.exists():
            disk.remove(path)
            return "an unreadable journal in .stackfix was removed; no other file was touched"
        _sweep(root)
        return None
    if journal.state is State.PREPARED:
        _drop(root, journal)
        return f"an interrupted change ({journal.label}) was dropped; the project is unchanged"
    edited = [change for change in journal.changes if _is_foreign(root, change)]
    unplaced = [change for change in journal.changes if not _can_place(root, journal, change)]
    if not edited and not unplaced:
        place(root, journal)
        settle(root, journal)
        return f"an interrupted change ({journal.label}) was finished"
    restore(root, journal)
    if edited:
        names = ", ".join(str(change.path) for change in edited)
        return (
            f"an interrupted change ({journal.label}) was taken back; "
            f"{names} was edited since and stays as it is"
        )
    return f"an interrupted change ({journal.label}) was taken back"


def place(root: Path, journal: Journal) -> None:
    """Put every new content in place that is not there yet."""
    for change in journal.changes:
        staged = journal.staged(root, change)
        if change.new is None:
            disk.remove(journal.target(root, change))
        elif disk.digest_of(staged) == change.new:
            disk.move(staged, journal.target(root, change))


def settle(root: Path, journal: Journal) -> None:
    """Turn the old contents into the undo record, or drop them, and then the journal."""
    kept = journal.backups(root)
    undo = workspace(root) / "undo"
    if kept.exists() or not journal.keep_undo:
        disk.remove_folder(undo)
    if journal.keep_undo and kept.exists():
        disk.move(kept, undo)
    disk.remove_folder(kept)
    disk.remove(Journal.path(root))
    remove_workspace_if_empty(root)


def restore(root: Path, journal: Journal) -> None:
    """Give every file that already has its new content the old one back; drop the journal."""
    for number, change in enumerate(journal.changes):
        target = journal.target(root, change)
        if change.old == change.new or disk.digest_of(target) != change.new:
            continue
        if change.old is None:
            disk.remove(target)
            continue
        kept = journal.backups(root) / str(number)
        if disk.digest_of(kept) != change.old:
            continue
        staged = journal.staged(root, change)
        disk.write_like(staged, kept.read_bytes(), like=kept)
        disk.move(staged, target)
    _drop(root, journal)


def _drop(root: Path, journal: Journal) -> None:
    """Remove what was prepared. The journal goes last: until then this can be repeated."""
    for change in journal.changes:
        disk.remove(journal.staged(root, change))
    disk.remove_folder(journal.backups(root))
    disk.remove(Journal.path(root))


def _is_foreign(root: Path, change: Change) -> bool:
    return disk.digest_of(root / change.path) not in {change.old, change.new}


def _can_place(root: Path, journal: Journal, change: Change) -> bool:
    if change.new is None or disk.digest_of(root / change.path) == change.new:
        return True
    return disk.digest_of(journal.staged(root, change)) == change.new


def _sweep(root: Path) -> None:
    """A kill between the last rename and here may leave a half-written journal's file."""
    with contextlib.suppress(OSError):
        disk.remove(workspace(root) / "journal.new")
