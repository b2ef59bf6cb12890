"""Why there is no new lock, in uv's words but readable."""

from __future__ import annotations

import re

from stackfix_lockfiles.errors import LockfilesError, printable, without_credentials
from stackfix_lockfiles.uv import in_one_line

__all__ = [
    "IndexUnreachable",
    "NotCached",
    "RelockRefused",
    "Unsolvable",
    "reason_of",
    "refusal",
    "unreachable_url",
]

_MAX_LINES = 15
_MAX_WIDTH = 400
_GLYPHS = re.compile(r"^[\s│├╰╭─▶×]*")
_NOISE = re.compile(
    r"(?:Using (?:CPython|PyPy|GraalPy|Pyodide)|warning: |Resolved \d|Updating |Updated |Building "
    r"|Fetching |Downloading |Ignoring existing lockfile)"
)
_BUILD = re.compile(r"Failed to (?:download and )?build `(?P<package>[^`]+)`")
_DEAD_BUILD = re.compile(
    r"PYTHONHOME|init_fs_encoding|build backend returned|Failed to resolve requirements from "
    r"|Failed to install requirements from |No module named 'encodings'"
)
_FETCH = re.compile(r"Failed to fetch: `?(?P<url>[^`\s]+)")
_NO_ANSWER = re.compile(
    r"error sending request|Request failed after|client error \(\w+\)|dns error|Could not connect"
    r"|[Cc]onnection (?:refused|reset)|timed out|operation timed out|error decoding response body"
    r"|HTTP status server error"
)
_NO_SOLUTION = re.compile(r"No solution found when resolving dependencies")
_OFFLINE = re.compile(r"network (?:was|is) disabled|[Nn]etwork connectivity is disabled")


class RelockRefused(LockfilesError):
    """uv made no lock: the pins conflict, a package cannot be read, or the project is faulty."""

    def __init__(self, reason: str, stderr: str = "") -> None:
        self.reason = reason
        """uv's words, cleaned, at most 15 lines; or one line of ours where uv's would mislead."""
        self.stderr = stderr
        """All that uv said."""
        super().__init__(reason)


class Unsolvable(RelockRefused):
    """uv read all it asked for, and no versions meet every requirement."""


class NotCached(RelockRefused):
    """Offline, and uv's cache lacks something."""


class IndexUnreachable(LockfilesError):
    """An index did not answer, or not with pages of packages."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = without_credentials(url)
        """What was asked, without credentials."""
        self.reason = reason
        super().__init__(f"{self.url}: the index cannot be reached: {reason}")


def refusal(stderr: str, *, offline: bool = False) -> RelockRefused | IndexUnreachable:
    """The error that uv's output amounts to."""
    said = in_one_line(stderr)
    if offline and _OFFLINE.search(said):
        reason = f"offline, and uv's cache does not have all it needs\n{reason_of(stderr)}"
        return NotCached(reason, stderr)
    if url := unreachable_url(stderr):
        return IndexUnreachable(url, _last_cause(stderr))
    if (found := _BUILD.search(said)) and _DEAD_BUILD.search(said):
        return RelockRefused(
            f"{printable(without_credentials(found['package']))}: what it depends on is only known "
            "by running its build code, which stackfix does not do",
            stderr,
        )
    refused = Unsolvable if _NO_SOLUTION.search(said) else RelockRefused
    return refused(reason_of(stderr), stderr)


def unreachable_url(stderr: str) -> str | None:
    """The URL that did not answer, if that is why uv failed."""
    said = in_one_line(stderr)
    found = _FETCH.search(said)
    return found["url"] if found and _NO_ANSWER.search(said) else None


def reason_of(stderr: str) -> str:
    """What uv said, without noise: at most 15 lines, no control characters, no credentials."""
    lines: list[str] = []
    for raw in stderr.splitlines():
        line = _GLYPHS.sub("", raw).rstrip()
        line = line.removeprefix("error: ").removeprefix("cause: ")
        if not line or (_NOISE.match(line) and not lines):
            continue
        line = printable(without_credentials(line))
        lines.append(line if len(line) <= _MAX_WIDTH else line[: _MAX_WIDTH - 1] + "…")
    if not lines:
        return "uv ended without saying why"
    if len(lines) > _MAX_LINES:
        lines = [*lines[: _MAX_LINES - 1], f"… and {len(lines) - _MAX_LINES + 1} more lines"]
    return "\n".join(lines)


def _last_cause(stderr: str) -> str:
    causes = reason_of(stderr).splitlines()
    return causes[-1]
