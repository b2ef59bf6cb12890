"""What outside the pins is named as a way out, and only where it is one."""

from __future__ import annotations

from pathlib import Path

from stackfix.plan.case import Case
from stackfix.plan.explain.ways_out import ways_out
from stackfix.plan.lock_state import lock_state
from stackfix.plan.request import Request
from stackfix.solve.problem import SAME_INDEX
from stackfix_lockfiles.project import Project
from tests.resolver.making import graph, target


def ways(project: Path, card: str) -> tuple[str, ...]:
    request = Request(project=Project.find(project), graph=graph(), targets=(target(card),))
    before = lock_state(request.project.read_lock(), request)
    case = Case(request=request, before=before, findings=(), origin=before.lock)
    return ways_out(case, (), SAME_INDEX)


def test_a_driver_that_opens_a_plan_is_named(openpi: Path) -> None:
    (way,) = ways(openpi, "RTX 5090:4@550.54.15")
    assert way.startswith("driver 570.26 or newer for the RTX 5090: then torch 2.7.1 → ")


def test_no_driver_is_named_where_pins_suffice_and_uv_refused_them(openpi: Path) -> None:
    assert ways(openpi, "RTX 5090:4@570.133.07") == ()


def test_a_data_centre_card_may_have_forward_compatibility_in_place(openpi: Path) -> None:
    (way,) = ways(openpi, "A100@470.256.02")
    assert way.startswith("driver 525.60.13 or newer, or its cuda-compat package, for the A100: ")
