"""A folder of logs with expected answers, run when STACKFIX_CORPUS names one.

Each sub-folder has logs and an expected.json with acceptable_families, cause_line (a list, null
for none), rank (null: not judged) and wrappers.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stackfix.diagnose import diagnose

CORPUS = os.environ.get("STACKFIX_CORPUS")
FOLDERS = sorted(path.parent for path in Path(CORPUS).glob("*/expected.json")) if CORPUS else []

pytestmark = pytest.mark.skipif(not CORPUS, reason="STACKFIX_CORPUS names no folder of logs")


def expected(folder: Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    return answer


def right(folder: Path) -> tuple[bool, bool, bool]:
    """Whether family, cause line and rank are right."""
    answer = expected(folder)
    found = diagnose([str(folder)])
    lines = [event.text for event in found.cause]
    wanted = answer["cause_line"]
    cause = not lines if wanted is None else bool(set(lines) & set(wanted))
    rank = answer["rank"] is None or found.rank == answer["rank"]
    return found.family.name in answer["acceptable_families"], cause, rank


def test_nineteen_of_twenty_are_right() -> None:
    results = [right(folder) for folder in FOLDERS]
    for number, what in enumerate(("family", "cause line", "rank")):
        missed = [f.name for f, r in zip(FOLDERS, results, strict=True) if not r[number]]
        assert len(missed) <= len(FOLDERS) // 20, f"{what} is wrong in {missed}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_wrapper_is_the_cause(folder: Path) -> None:
    wrappers = set(expected(folder).get("wrappers") or ())
    assert not wrappers & {event.text for event in diagnose([str(folder)]).cause}
