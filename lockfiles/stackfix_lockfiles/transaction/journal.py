"""What a transaction is about to do, on disk, so that a later process can finish or drop it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from stackfix_lockfiles.transaction import disk
from stackfix_lockfiles.transaction.refusals import CommitFailed, ProjectBusy, os_reason

__all__ = [
    "Change",
    "Journal",
    "State",
    "digest",
    "exclusive",
    "remove_workspace_if_empty",
    "workspace",
]

_IDENTITY = re.compile(r"[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MAX_BYTES = 1 << 20


class State(StrEnum):
    """Which side of the deciding rename a journal is on."""

    PREPARED = "prepared"
    COMMITTED = "committed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file of a transaction."""

    path: Path
    """Relative to the project's root."""
    old: str | None
    """sha256 before; None: the file did not exist."""
    new: str | None
    """sha256 after; None: the file is removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """One transaction as it is written to `.stackfix/journal.json`, and as the undo record."""

    identity: str
    state: State
    label: str
    keep_undo: bool
    changes: tuple[Change, ...]

    @staticmethod
    def path(root: Path) -> Path:
        """Where the journal of an unfinished transaction lies."""
        return workspace(root) / "journal.json"

    def committed(self) -> Journal:
        """The same transaction, past the point of decision."""
        return replace(self, state=State.COMMITTED)

    def target(self, root: Path, change: Change) -> Path:
        """The file itself: symlinks are followed, so that they stay symlinks."""
        return Path(os.path.realpath(root / change.path))

    def staged(self, root: Path, change: Change) -> Path:
        """Where the new content waits: beside the target, so that a rename can place it."""
        target = self.target(root, change)
        return target.with_name(f".{target.name}.stackfix-{self.identity}")

    def backups(self, root: Path) -> Path:
        """The folder of the old contents, numbered as the changes are."""
        return workspace(root) / f"undo-{self.identity}"

    def write(self, root: Path) -> None:
        """Replace the project's journal by this one, atomically and durably."""
        fresh = workspace(root) / "journal.new"
        disk.write_file(fresh, self.to_json())
        disk.move(fresh, self.path(root))

    def to_json(self) -> bytes:
        """The journal as JSON; `read` takes it back."""
        return json.dumps(
            {
                "version": 1,
                "identity": self.identity,
                "state": self.state,
                "label": self.label,
                "keep_undo": self.keep_undo,
                "changes": [
                    {"path": change.path.as_posix(), "old": change.old, "new": change.new}
                    for change in self.changes
                ],
            },
            indent=1,
        ).encode()

    @classmethod
    def read(cls, path: Path) -> Journal | None:
        """The journal at `path`; None where there is none or it is not one of ours.

        A cloned project may bring a forged one: paths stay inside the project and names are
        computed, never taken from the file.
        """
        try:
            with path.open("rb") as file:
                raw = json.loads(file.read(_MAX_BYTES))
            return cls._from_json(raw)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, TypeError, KeyError, RecursionError):
            return None

    @classmethod
    def _from_json(cls, raw: Any) -> Journal:
        if raw["version"] != 1 or not _IDENTITY.fullmatch(raw["identity"]):
            raise ValueError("not a journal of this version")
        changes = []
        for entry in raw["changes"]:
            path = Path(entry["path"])
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise ValueError("a path outside the project")
            for key in ("old", "new"):
                if entry[key] is not None and not _DIGEST.fullmatch(entry[key]):
                    raise ValueError("not a digest")
            changes.append(Change(path=path, old=entry["old"], new=entry["new"]))
        return cls(
            identity=raw["identity"],
            state=State(raw["state"]),
            label=str(raw["label"])[:500],
            keep_undo=bool(raw["keep_undo"]),
            changes=tuple(changes),
        )


def workspace(root: Path) -> Path:
    """The folder for journal, lock and undo data."""
    return root / ".stackfix"


def digest(data: bytes) -> str:
    """sha256 of `data`, hex: the digest that `commit` compares."""
    return hashlib.sha256(data).hexdigest()


def remove_workspace_if_empty(root: Path) -> None:
    """Drop `.stackfix/` when it holds no undo data and no journal (the lock is still held)."""
    folder = workspace(root)
    with contextlib.suppress(OSError):
        if set(os.listdir(folder)) <= {".gitignore", "lock"}:
            disk.remove_folder(folder)


@contextlib.contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Hold the project's lock; `ProjectBusy` at once when another process has it.

    The kernel drops the lock when its holder dies, so a kill leaves nothing to clean up.
    """
    folder = workspace(root)
    try:
        descriptor = _open(folder)
    except OSError as error:
        raise CommitFailed(Path(folder.name), os_reason(error)) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            raise ProjectBusy(root, holder or None) from None
        if not _still_named(descriptor, folder / "lock"):
            raise ProjectBusy(root, None)  # its holder just removed the folder
        with contextlib.suppress(OSError):  # a full disk must not stop a recovery
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _open(folder: Path) -> int:
    if folder.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    disk.make_folder(folder)
    ignore = folder / ".gitignore"
    if not ignore.exists() or ignore.stat().st_size == 0:  # empty: a disk was full last time
        disk.write_file(ignore, b"*\n")
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(folder / "lock", flags, 0o666)


def _still_named(descriptor: int, path: Path) -> bool:
    try:
        named = os.stat(path)
    except FileNotFoundError:
        return False
    held = os.fstat(descriptor)
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)
