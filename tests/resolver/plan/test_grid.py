"""The grid of projects and cards as a table: `pytest -m slow -s tests/resolver/plan/test_grid.py`.

A row for each project and card: the verdict with its errors, and what the solver would move, before
uv was asked. Needs STACKFIX_CORPUS, see tests/corpus.py.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from stackfix.model.finding import Finding
from stackfix.plan.lock_state import LockState, audited
from stackfix.plan.problems.index_choice import index_choice
from stackfix.plan.problems.outside import dependents, outside_requirements
from stackfix.plan.problems.relaxations import relaxations
from stackfix.plan.request import Request
from stackfix_lockfiles.errors import InputError
from tests.corpus import needs_corpus, projects
from tests.resolver.plan.test_corpus import FLEET, judged

pytestmark = [pytest.mark.slow(reason="every real project on every card"), needs_corpus]

MEDIAN = 0.3
"""Seconds that judging and solving may take without network, uv aside; the budget's own figure."""


def test_the_table_of_projects_and_cards() -> None:
    seconds: list[float] = []
    for folder in projects():
        for card in FLEET:
            started = time.perf_counter()
            verdict = cell(folder, card)
            seconds.append(time.perf_counter() - started)
            sys.stdout.write(f"{folder.name:24}{card:26}{seconds[-1]:6.2f} s  {verdict}\n")
    median = statistics.median(seconds)
    sys.stdout.write(f"{len(seconds)} cells, median {median:.2f} s, worst {max(seconds):.2f} s\n")
    assert median <= MEDIAN


def cell(folder: Path, card: str) -> str:
    """One verdict in a line."""
    try:
        request, before = judged(folder, card)
    except InputError as error:
        return f"refused: {error}"
    if not before.gpu_packages:
        return "nothing that uses the GPU"
    faults = audited(request, before.lock).faults
    return f"{moves(request, before)}  {named(faults)}" if faults else "ok"


def moves(request: Request, before: LockState) -> str:
    """The frameworks that would move."""
    outside = outside_requirements(before, dependents(before), {}).requirements
    choice = index_choice(request, before.lock)
    for relaxation in relaxations(request, before, outside, choice):
        found = next(relaxation.search().combinations(), None)
        if found is not None:
            moved = [
                f"{n} {v}" for n, v in found.chosen.items() if found.problem.locked.get(n) != v
            ]
            swap = found.problem.variant_swap
            moved += [str(swap)] if swap else []
            return "→ " + (", ".join(moved) or "libraries alone")
    return "no plan"


def named(faults: Iterable[Finding]) -> str:
    """`[SF101 torch, SF103 nvidia-cudnn-cu12]`, at most four."""
    each = list(dict.fromkeys(f"{fault.code} {fault.package}" for fault in faults))
    more = f" and {len(each) - 4} more" if len(each) > 4 else ""
    return f"[{', '.join(each[:4])}{more}]"
