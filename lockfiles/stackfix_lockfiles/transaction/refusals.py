"""Why a transaction did not happen. Each is one line for the user; the project is unchanged."""

from __future__ import annotations

import os
from pathlib import Path

from stackfix_lockfiles.errors import LockfilesError

__all__ = [
    "CommitFailed",
    "MendingFailed",
    "NothingToUndo",
    "ProjectBusy",
    "ProjectChanged",
    "TransactionError",
    "os_reason",
]


class TransactionError(LockfilesError):
    """Base of all of them; `str()` is the line to print."""


class ProjectChanged(TransactionError):
    """A file is no longer what the change was computed from."""

    def __init__(self, path: Path, *, was: str | None, found: str | None) -> None:
        self.path = path
        """Relative to the project's root."""
        if found is None:
            what = "was removed"
        elif was is None:
            what = "was created"
        else:
            what = "was edited"
        super().__init__(f"{path}: {what} in the meantime; nothing was written, plan again")


class ProjectBusy(TransactionError):
    """Another process is writing this project."""

    def __init__(self, root: Path, holder: str | None) -> None:
        who = f"process {holder}" if holder else "another process"
        super().__init__(f"{root}: {who} is writing this project; try again when it is done")


class CommitFailed(TransactionError):
    """The disk refused; what was already written was taken back."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        """The file that could not be written, relative to the project's root."""
        super().__init__(f"{path}: cannot be written: {reason}; nothing was changed")


class MendingFailed(TransactionError):
    """What an interrupted change left cannot be finished or taken back right now."""

    def __init__(self, root: Path, reason: str) -> None:
        super().__init__(
            f"{root}: an interrupted change cannot be mended: {reason}; "
            "its data is kept in .stackfix, the next start tries again"
        )


class NothingToUndo(TransactionError):
    """No commit is on record, or its record is unusable."""

    def __init__(self, root: Path, reason: str = "no change is on record") -> None:
        super().__init__(f"{root}: nothing to undo: {reason}")


def os_reason(error: OSError) -> str:
    """The system's words for what went wrong, without number and path."""
    return os.strerror(error.errno) if error.errno else str(error)
