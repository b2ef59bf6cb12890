"""The few disk operations a transaction is made of, each durable when it returns."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from pathlib import Path

__all__ = [
    "digest_of",
    "make_folder",
    "move",
    "remove",
    "remove_folder",
    "sync_folder",
    "write_file",
    "write_like",
]


def digest_of(path: Path) -> str | None:
    """sha256 (hex) of a regular file, None where there is none. Follows symlinks."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_file(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Create `path` anew with `data`, on disk before this returns (its name is not: see `move`)."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        if mode is not None:
            os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_like(path: Path, data: bytes, *, like: Path) -> None:
    """`write_file` with the permission bits, and where allowed the owner, of `like`."""
    try:
        model = os.stat(like)
    except FileNotFoundError:
        write_file(path, data)
        return
    write_file(path, data, mode=stat.S_IMODE(model.st_mode))
    made = os.stat(path)
    if (made.st_uid, made.st_gid) != (model.st_uid, model.st_gid):
        with contextlib.suppress(PermissionError):
            os.chown(path, model.st_uid, model.st_gid)
            os.chmod(path, stat.S_IMODE(model.st_mode))  # chown clears the set-id bits


def move(source: Path, target: Path) -> None:
    """Rename over `target`; the new name is on disk when this returns."""
    os.replace(source, target)
    sync_folder(target.parent)


def remove(path: Path) -> None:
    """Unlink `path` if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    sync_folder(path.parent)


def make_folder(path: Path) -> None:
    """Create one folder if it is not there."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(path)
        sync_folder(path.parent)


def remove_folder(path: Path) -> None:
    """Remove a folder and all in it, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(path)


def sync_folder(path: Path) -> None:
    """Force a folder's entries to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
