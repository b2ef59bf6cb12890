"""Real projects and logs that lie outside the repository, in the folder that STACKFIX_CORPUS names.

It holds `corpus/PROJECT/` with uv.lock and pyproject.toml, whose locks name placeholders for the
default index, and `logs/CASE/` with the logs of a crash and an expected.json. Without it the tests
that read it are skipped; a folder without any of them is an error, lest a test pass over nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

__all__ = ["each", "folder", "logs", "needs_corpus", "projects"]

_NAMED = os.environ.get("STACKFIX_CORPUS")

_NONE = "STACKFIX_CORPUS names no folder"

needs_corpus = pytest.mark.skipif(not _NAMED, reason=_NONE)


def folder() -> Path | None:
    """The folder that is named, if one is."""
    return Path(_NAMED) if _NAMED else None


def projects() -> list[Path]:
    """The folder of every project with a lock, in order of names; none where none is named."""
    return _found("corpus/*/uv.lock")


def logs() -> list[Path]:
    """The folder of every crash, in order of names; none where none is named."""
    return _found("logs/*/expected.json")


def each(
    found: Iterable[Any], argument: str = "folder", *, ids: Callable[[Any], str] | None = None
) -> pytest.MarkDecorator:
    """A test for each of what was found in the folder; one that is skipped where none is named."""
    name = ids or (lambda path: str(path.name))
    cases = [pytest.param(one, id=name(one)) for one in found]
    none = pytest.param(None, id="none", marks=pytest.mark.skip(_NONE))
    return pytest.mark.parametrize(argument, cases or [none])


def _found(pattern: str) -> list[Path]:
    if not _NAMED:
        return []
    found = sorted(path.parent for path in Path(_NAMED).glob(pattern))
    if not found:
        raise FileNotFoundError(f"STACKFIX_CORPUS: {_NAMED} has no {pattern}")
    return found
