"""One writer per project at a time."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from stackfix_lockfiles.transaction import disk
from stackfix_lockfiles.transaction.journal import workspace
from stackfix_lockfiles.transaction.refusals import CommitFailed, ProjectBusy, os_reason

__all__ = ["exclusive"]


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
