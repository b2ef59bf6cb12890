"""Nothing is cheaper than the plan, and there is a plan wherever there can be one.

Generated registries are served to real uv. The plan for each is compared with every combination of
frameworks that costs less, locked by uv with the libraries free and then with each of their
versions, and judged by the rules. STACKFIX_WORLDS sets how many problems are made.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from stackfix.plan.lock_state import audited, lock_state
from stackfix.plan.plan import Plan, Status
from stackfix.plan.problems.outside import dependents
from stackfix.plan.problems.relaxations import at_fault
from stackfix.plan.propose import propose
from stackfix.plan.request import Request
from stackfix.solve.cost import Cost, plus
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.uv import Uv
from tests.conftest import recorded_index
from tests.registry.server import Index
from tests.resolver.making import target
from tests.resolver.solve.exhaustive import Exhaustive, price
from tests.resolver.solve.made_registry import MadeRegistry, generate, with_builds

SAMPLE, BUILDS, DRAWS = 4, 3, 400
WORLDS = int(os.environ.get("STACKFIX_WORLDS", "300"))


@pytest.mark.parametrize("seed", range(SAMPLE))
def test_nothing_is_cheaper_and_nothing_is_overlooked(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared(seed, tmp_path, monkeypatch)


@pytest.mark.slow(reason="uv locks every combination of hundreds of worlds")
@pytest.mark.parametrize("seed", range(SAMPLE, WORLDS))
def test_nothing_is_cheaper_in_many_more_worlds(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared(seed, tmp_path, monkeypatch)


@pytest.mark.parametrize("seed", range(BUILDS))
def test_nothing_is_cheaper_with_builds_on_other_indexes(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared(seed, tmp_path, monkeypatch, builds=True)


@pytest.mark.slow(reason="uv locks every combination of hundreds of worlds")
@pytest.mark.parametrize("seed", range(BUILDS, WORLDS))
def test_nothing_is_cheaper_with_builds_in_many_more_worlds(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared(seed, tmp_path, monkeypatch, builds=True)


def compared(
    seed: int, folder: Path, environment: pytest.MonkeyPatch, *, builds: bool = False
) -> None:
    """Plan and compare in the first of this seed that uv can lock and a target can't run."""
    environment.setenv("UV_PYTHON", sys.executable)  # uv would look for one at every call
    for number in range(DRAWS):
        made, place = generate(f"{seed}.{number}"), folder / str(number)
        if builds and "torch" not in made.releases:
            continue
        made = with_builds(made) if builds else made
        with recorded_index(place, environment, recordings=place / "nothing") as index:
            made.serve(index)
            request = locked(made, place / "project", index)
            if request is not None and faulty(request):
                judged(made, request, place / "tried")
                return
    pytest.fail(f"none of {DRAWS} problems can be locked and has an error")


def faulty(request: Request) -> bool:
    return bool(audited(request, request.project.read_lock()).faults)


def judged(made: MadeRegistry, request: Request, folder: Path) -> None:
    before = lock_state(request.project.read_lock(), request)
    installed = versions(made, before.lock, request)
    search = Exhaustive(
        made=made,
        request=request,
        before=installed,
        outsiders={n: p.version or "" for n, p in dependents(before).items()},
        folder=folder,
    )
    plan = propose(request)
    held = any(text.partition("=")[0] in made.releases for text in made.overrides)
    if plan.status is Status.IMPOSSIBLE:
        assert search.cheapest(None, overrides=True) is None, plan.obstacles
        assert search.cheapest(None, overrides=False) is None, plan.obstacles
        return
    after = versions(made, Lock.parse(dict(plan.files)[lock_path(plan)]), request)
    total = price(made, installed, after)
    removed = any(edit.new is None for edit in plan.edits)
    if held and removed:  # only where nothing works with it, or where it is an error and costs more
        suspect = at_fault(plan.findings)
        limit = plus(total, Cost(override=1)) if suspect else None
        assert search.cheapest(limit, overrides=True) is None
    assert search.cheapest(total, overrides=not removed) is None, (total, after)


def lock_path(plan: Plan) -> object:
    return next(path for path in plan.files if path.name == "uv.lock")


def versions(made: MadeRegistry, lock: Lock, request: Request) -> dict[str, str]:
    """The frameworks that the targets install."""
    stacks = lock_state(lock, request).stacks
    return {p.name: str(p.version) for stack in stacks for p in stack if p.name in made.frameworks}


def locked(made: MadeRegistry, folder: Path, index: Index) -> Request | None:
    """The request for the project, locked as its case says; None: uv finds no such lock."""
    made.write(folder, [f"{name}=={version}" for name, version in made.locked.items()])
    if not lock(folder):
        return None
    made.write(folder)
    assert lock(folder)
    return Request(
        project=Project.find(folder),
        graph=made.graph(index),
        targets=tuple(target(card) for card in made.cards),
        extras=("one",) if made.extras else (),
    )


def lock(folder: Path) -> bool:
    finished = Uv.find().run(["lock", "--python", sys.executable], cwd=folder, timeout=60)
    assert finished.returncode in (0, 1), finished.stderr  # 1: no solution
    return finished.returncode == 0
