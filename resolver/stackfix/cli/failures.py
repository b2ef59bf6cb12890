"""From an exception to one line and an exit code. A traceback goes to a file, never to a user."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from stackfix.wording import one_line

__all__ = ["BAD_INPUT", "FINDINGS", "INTERRUPTED", "NO_PLAN", "Failure", "UsageError", "failure_of"]

FINDINGS = 1
BAD_INPUT = 2
NO_PLAN = 3
INTERRUPTED = 130


class UsageError(Exception):
    """A command line that asks for what cannot be done; `str()` is the one line to show."""

    command = ""
    """The command whose help tells more, as it is typed; the one that runs, where it is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How a run ends."""

    line: str | None
    """For stderr; None: nothing needs to be said."""
    code: int


def failure_of(error: BaseException, arguments: Sequence[str]) -> Failure:
    """What to tell about `error`."""
    if isinstance(error, KeyboardInterrupt):
        return Failure(line="interrupted", code=INTERRUPTED)
    if isinstance(error, UsageError):
        return _known(f"{error.command}: {error} (see `{error.command} --help`)")
    if isinstance(error, SystemExit):
        return Failure(line=None, code=error.code if isinstance(error.code, int) else BAD_INPUT)
    from stackfix.errors import EXPECTED

    if isinstance(error, EXPECTED):
        return _known(str(error))
    if isinstance(error, OSError) and error.filename is not None:
        return _known(f"{error.filename}: {error.strerror}")
    return Failure(line=_internal(error, arguments), code=BAD_INPUT)


def _known(text: str) -> Failure:
    return Failure(line=one_line(text), code=BAD_INPUT)


def _internal(error: BaseException, arguments: Sequence[str]) -> str:
    what = one_line(f"{type(error).__name__}: {error}")[:300]
    try:
        return f"internal error ({what}); the full report is in {_report(error, arguments)}"
    except OSError:
        return f"internal error ({what}); the full report could not be saved"


def _report(error: BaseException, arguments: Sequence[str]) -> str:
    """Save what a maintainer needs and return where. Holds no environment variables."""
    import platform
    import tempfile
    import traceback

    from stackfix.cli.version import version

    number, path = tempfile.mkstemp(prefix="stackfix-error-", suffix=".txt", text=True)
    with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(
            f"stackfix {version()}, Python {sys.version.split()[0]}, {platform.platform()}\n"
        )
        file.write(f"arguments: {list(arguments)!r}\n\n")
        file.writelines(traceback.format_exception(error))
    return path
