"""How a kernel reports what it found: one line a check, as text or as JSON, at once.

A check is reported when it starts and again when it ends, so that a crash or a hang leaves behind
which check it was in. Runs under Python 3.8 and newer.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import traceback
from collections.abc import Iterator
from typing import IO, Any

_PR_SET_PDEATHSIG = 1
_SIGKILL = 9
_MOST_TEXT = 2000


class CheckFailed(Exception):
    """A check's result is wrong; the text says how."""


class CheckSkipped(Exception):
    """A check cannot be made here; the text says why."""


class OpenCheck:
    """A check under way: the remark that it ends with where it passes."""

    detail = ""


class Reporter:
    """Writes checks and facts down, and counts what failed."""

    def __init__(self, file: IO[str], as_json: bool) -> None:
        self._file = file
        self._json = as_json
        self.failed = 0

    @contextlib.contextmanager
    def check(self, name: str, *, passed: str = "passed") -> Iterator[OpenCheck]:
        """One check: passed unless an exception leaves it, which is caught and written down."""
        check = OpenCheck()
        self._write("started", check=name)
        try:
            yield check
        except CheckSkipped as reason:
            self._write("skipped", check=name, detail=str(reason))
        except CheckFailed as wrong:
            self.failed += 1
            self._write("failed", check=name, detail=str(wrong))
        except Exception as error:
            self.failed += 1
            traceback.print_exc()
            self._write("failed", check=name, detail=f"{type(error).__name__}: {error}")
        else:
            self._write(passed, check=name, detail=check.detail)

    def condition(self, name: str) -> contextlib.AbstractContextManager[OpenCheck]:
        """A check that all others rest on. That it holds proves nothing yet, and is no result."""
        return self.check(name, passed="ready")

    def outcome(self, name: str, event: str, detail: str) -> None:
        """A check that another process made."""
        self.failed += event == "failed"
        self._write(event, check=name, detail=detail)

    def skip(self, name: str, reason: str) -> None:
        """A check that was not made, and why."""
        self._write("skipped", check=name, detail=reason)

    def fact(self, name: str, value: Any) -> None:
        """Something worth knowing that is neither right nor wrong."""
        self._write("fact", name=name, value=value)

    def end(self) -> int:
        """Write that the program came to its end; returns its exit code."""
        self._write("end")
        return 1 if self.failed else 0

    def _write(self, event: str, **more: Any) -> None:
        more = {k: v[:_MOST_TEXT] if isinstance(v, str) else v for k, v in more.items()}
        if self._json:
            line = json.dumps({"event": event, **more})
        elif event in ("started", "end"):
            return
        elif event == "fact":
            line = f"{more['name']}: {more['value']}"
        else:
            line = f"{event}: {more['check']}" + (f" ({more['detail']})" if more["detail"] else "")
        self._file.write(line + "\n")
        self._file.flush()


def arguments(description: str, *, device: bool = False) -> argparse.ArgumentParser:
    """The parser with what all kernels understand."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="JSON lines, on stdout or in a file"
    )
    parser.add_argument("--quick", action="store_true", help="a few checks only, in seconds")
    if device:
        parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    return parser


@contextlib.contextmanager
def reporting(options: argparse.Namespace) -> Iterator[Reporter]:
    """Where the parsed options want it told."""
    _die_with_the_parent()
    _leave_own_folder()
    if options.json in (None, "-"):
        yield Reporter(sys.stdout, options.json == "-")
        return
    with open(options.json, "a", encoding="utf-8") as file:
        yield Reporter(file, True)


def _leave_own_folder() -> None:
    """A script's own folder comes first on the path: its file names must hide no package's."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]


def _die_with_the_parent() -> None:
    """End when the one that started this stage ends, however that ends."""
    parent = os.environ.get("STACKFIX_PARENT")
    if not parent or not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL)
    if str(os.getppid()) != parent:  # it ended before the line above
        sys.exit(1)
