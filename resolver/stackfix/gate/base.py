"""The state to compare with: a file as a git commit has it, or another file.

Nothing of the project runs: git is asked for objects (`cat-file`), never for a checkout, so that no
hook, filter or text conversion takes part, and a partial clone fetches nothing.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from stackfix_lockfiles.errors import InputError

__all__ = ["Base", "Commit", "File", "parse_base"]

_TIMEOUT = 60.0
_MOST = 64 << 20


@dataclass(frozen=True, slots=True)
class File:
    """Another lock, for a check of one lock."""

    path: Path

    @property
    def label(self) -> str:
        return str(self.path)

    def read(self, lock: Path) -> bytes | None:
        """The other file, whichever lock is asked for."""
        return self.path.read_bytes()

    def beside(self, path: Path, lock: Path) -> bytes | None:
        """The file that is to the other lock as `path` is to `lock`; None if there is none."""
        folder = lock.absolute().parent
        if not path.is_relative_to(folder):
            return None
        other = self.path.parent / path.relative_to(folder)
        return other.read_bytes() if other.is_file() else None


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the repository that holds the locks."""

    ref: str

    @property
    def label(self) -> str:
        return self.ref

    def read(self, lock: Path) -> bytes | None:
        """The file as the commit has it; None where it had none.

        The commit is the one where the current branch left `ref`, so that what moved there since
        is not taken for a part of this change; in a shallow clone that has none, `ref` itself.
        Raises InputError where there is no repository or no such commit.
        """
        folder = Path(os.path.abspath(lock)).parent
        top = _top(folder)
        commit = _commit(self.ref, top)
        inside = Path(os.path.realpath(folder), lock.name).relative_to(os.path.realpath(top))
        entry = _git(top, "cat-file", "-e", f"{commit}:{inside.as_posix()}")
        if entry.returncode:
            return None
        found = _git(top, "cat-file", "blob", f"{commit}:{inside.as_posix()}")
        if found.returncode or len(found.stdout) > _MOST:
            raise InputError(lock, f"expected a file in {self.ref}, git cannot read it")
        return found.stdout

    def beside(self, path: Path, lock: Path) -> bytes | None:
        """A file of the commit."""
        return self.read(path)


Base = File | Commit


def parse_base(text: str) -> Base:
    """A path to a lock where there is such a file, else the name of a commit."""
    path = Path(text)
    return File(path) if path.is_file() else Commit(text)


@lru_cache(maxsize=1024)
def _top(folder: Path) -> Path:
    found = _git(folder, "rev-parse", "--show-toplevel")
    if found.returncode:
        raise InputError(
            folder, f"expected a git repository to compare with --base: {_reason(found.stderr)}"
        )
    return Path(os.fsdecode(found.stdout.rstrip(b"\n")))


@lru_cache(maxsize=64)
def _commit(ref: str, top: Path) -> str:
    found = _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if found.returncode:
        raise InputError(
            "--base",
            f"expected a commit or a file, found neither called {ref!r} "
            "(a shallow clone has too little history: fetch it first)",
        )
    commit = found.stdout.decode("ascii", "replace").strip()
    common = _git(top, "merge-base", "--", commit, "HEAD")
    return common.stdout.decode("ascii", "replace").strip() if not common.returncode else commit


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {
        **os.environ,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    try:
        return subprocess.run(
            ["git", "-c", "core.fsmonitor=false", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise InputError("--base", "expected git on PATH, found none") from None
    except subprocess.TimeoutExpired:
        raise InputError("--base", f"git did not answer within {_TIMEOUT:.0f} s") from None


def _reason(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("fatal: ") if lines else "git refuses"
