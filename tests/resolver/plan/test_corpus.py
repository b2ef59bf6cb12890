"""Real projects: a verdict for each on each card, and plans that uv accepts.

Runs where STACKFIX_CORPUS names a folder; see tests/corpus.py.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stackfix.plan.lock_state import LockState, audited, lock_state
from stackfix.plan.plan import Status
from stackfix.plan.problems.index_choice import index_choice
from stackfix.plan.problems.outside import dependents, outside_requirements
from stackfix.plan.problems.relaxations import relaxations
from stackfix.plan.request import Request
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.uv import Uv
from tests.corpus import each, needs_corpus, projects
from tests.registry.real import real_index, restore
from tests.resolver.making import graph, target
from tests.resolver.plan.planning import apply, plan_for

FLEET = (
    "RTX 5090@580.82.07",
    "H100@550.90.07",
    "A100@535.183.01",
    "T4@535.183.01",
    "V100@535.183.01",
    "L4@570.133.20",
    "B200@580.82.07",
    "GTX 1080 Ti@570.133.07",
    "GB10@580.95.05",
)
REFUSED = {
    "gr00t-broken-pyproject": "duplicate key",
    "xpu-rcwx": "a platform that the lock is made for",
}
"""Projects that cannot be judged, each with a part of the line that says why."""


def copied(name: str, folder: Path, index: str, files: str) -> Path:
    """A copy of a corpus project whose lock names these addresses."""
    (found,) = (path for path in projects() if path.name == name)
    project = folder / name
    shutil.copytree(found, project)
    for path in (project, *project.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    restore(project, index, files)
    return project


@pytest.mark.slow(reason="nine cards for each real project")
@each(projects())
def test_every_card_gets_a_verdict(folder: Path) -> None:
    if folder.name in REFUSED:
        with pytest.raises(InputError, match=REFUSED[folder.name]):
            judged(folder, FLEET[0])
        return
    for card in FLEET:
        request, before = judged(folder, card)
        if not audited(request, before.lock).faults:
            continue
        outside = outside_requirements(before, dependents(before), {}).requirements
        choice = index_choice(request, before.lock)
        searches = [
            relaxation.search() for relaxation in relaxations(request, before, outside, choice)
        ]
        found = next((one for s in searches if (one := next(s.combinations(), None))), None)
        reasons = [one.reason for search in searches for one in search.exclusions]
        # Either a move that leaves no error, or a reason for every version that was looked at.
        assert found is not None or reasons
        assert all(reasons)
        assert not [reason for reason in reasons if "no end after" in reason]


def judged(folder: Path, card: str) -> tuple[Request, LockState]:
    """The project as one card sees it."""
    request = Request(project=Project.find(folder), graph=graph(), targets=(target(card),))
    return request, lock_state(request.project.read_lock(), request)


@pytest.fixture
def addresses() -> tuple[str, str]:
    """The real index and its file host."""
    return real_index()


@needs_corpus
@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("openpi", "RTX 5090:4@570.133.07"),
        ("openpi", "B200@580.82.07"),
        ("zonos", "RTX 5090@580.82.07"),
        ("zonos", "B200@580.82.07"),
        ("zonos", "GB10@580.95.05"),
        ("lobster", "RTX 5090@580.82.07"),
        ("lobster", "B200@580.82.07"),
        ("lobster", "GB10@580.95.05"),
        ("speaches", "GB10@580.95.05"),
        ("zonos", "RTX PRO 6000:2@580.173.02"),
    ],
)
def test_a_real_project_moves_and_uv_accepts_its_lock(
    name: str, card: str, tmp_path: Path, addresses: tuple[str, str]
) -> None:
    project = copied(name, tmp_path, *addresses)
    plan = plan_for(project, card)
    assert plan.status is Status.PLANNED, [o.reason for o in plan.obstacles]
    apply(plan)
    checked = Uv.find().run(["lock", "--check"], cwd=project, timeout=300)
    assert checked.returncode == 0, checked.stderr
    assert plan_for(project, card).status is Status.NOTHING_TO_DO
