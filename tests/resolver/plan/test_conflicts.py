"""Extras and groups that exclude each other: a move is for the chosen one."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.plan.plan import Plan, Status
from stackfix_lockfiles.environment import environment
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.platforms import Platform
from tests.registry.server import Index
from tests.resolver.plan.planning import holds, locked, moved, plan_for

pytestmark = pytest.mark.usefixtures("shared_index")

CARD = "RTX 5090@570.133.07"
EXTRAS = (
    "[project.optional-dependencies]\nold = [{old}]\nnew = [{new}]\n"
    '[tool.uv]\nconflicts = [[{{ extra = "old" }}, {{ extra = "new" }}]]\n'
)
GROUPS = EXTRAS.replace("project.optional-dependencies", "dependency-groups").replace(
    "extra =", "group ="
)


def torch_of(lock: Path | bytes, **choice: object) -> str | None:
    """The torch that one choice installs on Linux."""
    read = Lock.parse(lock) if isinstance(lock, bytes) else Lock.read(lock)
    walked = environment(read, platform=Platform.parse("linux"), python="3.12", **choice)  # type: ignore[arg-type]
    return walked.packages["torch"].version


def lock_of(plan: Plan) -> bytes:
    return next(data for path, data in plan.files.items() if path.name == "uv.lock")


def edited(plan: Plan) -> dict[str, str | None]:
    return {edit.table: edit.new for edit in plan.edits}


def test_the_chosen_extra_moves_and_the_other_stays(tmp_path: Path) -> None:
    both = EXTRAS.format(old='"torch==2.7.1"', new='"torch==2.7.1"')
    project = locked(tmp_path / "p", extra=both)
    plan = plan_for(project, CARD, extras=("new",))
    assert plan.status is Status.PLANNED
    assert edited(plan) == {"project.optional-dependencies.new": "torch==2.8.0"}
    assert torch_of(lock_of(plan), extras=("new",)) == "2.8.0"
    assert torch_of(lock_of(plan), extras=("old",)) == "2.7.1"
    torch = next(move for move in plan.moves if move.package == "torch")
    assert (torch.before, torch.after, torch.fork) == ("2.7.1", "2.8.0", "extra new")


def test_the_chosen_group_moves_and_the_other_stays(tmp_path: Path) -> None:
    both = GROUPS.format(old='"torch==2.7.1"', new='"torch==2.7.1"')
    project = locked(tmp_path / "p", extra=both)
    plan = plan_for(project, CARD, groups=("new",))
    assert plan.status is Status.PLANNED
    assert edited(plan) == {"dependency-groups.new": "torch==2.8.0"}
    assert torch_of(lock_of(plan), groups=("new",)) == "2.8.0"
    assert torch_of(lock_of(plan), groups=("old",)) == "2.7.1"


def test_a_default_group_gives_way_to_the_chosen_one(tmp_path: Path) -> None:
    both = GROUPS.format(old='"torch==2.7.1"', new='"torch==2.7.1"')
    project = locked(tmp_path / "p", extra=f'{both}default-groups = ["old"]\n')
    plan = plan_for(project, CARD, groups=("new",))
    assert edited(plan) == {"dependency-groups.new": "torch==2.8.0"}
    unasked = plan_for(project, CARD)
    assert edited(unasked) == {"dependency-groups.old": "torch==2.8.0"}


@pytest.mark.parametrize("extra", ["old", "new"])
def test_ranges_keep_the_move_after_every_upgrade(tmp_path: Path, extra: str) -> None:
    both = EXTRAS.format(old='"torch==2.7.1"', new='"torch==2.7.1"')
    project = locked(tmp_path / "p", extra=both)
    file = project / "pyproject.toml"
    file.write_text(file.read_text().replace("torch==2.7.1", "torch>=2.6"))
    plan = plan_for(project, CARD, extras=(extra,))
    assert plan.status is Status.PLANNED
    assert edited(plan) == {f"project.optional-dependencies.{extra}": "torch>=2.6,<2.11"}
    assert torch_of(lock_of(plan), extras=(extra,)) == "2.8.0"
    other = "new" if extra == "old" else "old"
    assert torch_of(lock_of(plan), extras=(other,)) in {"2.7.1", "2.8.0"}  # not the newest
    assert holds(project, plan, CARD, extras=(extra,))


def test_a_requirement_that_both_share_moves_both(tmp_path: Path) -> None:
    both = EXTRAS.format(old='"torch==2.7.1"', new='"torch==2.7.1"')
    project = locked(tmp_path / "p", "torch==2.7.1", extra=both)
    plan = plan_for(project, CARD, extras=("new",))
    assert plan.status is Status.PLANNED
    assert torch_of(lock_of(plan), extras=("old",)) == "2.8.0"
    assert {edit.new for edit in plan.edits} == {"torch==2.8.0"}


def test_an_extra_with_an_index_of_its_own(tmp_path: Path) -> None:
    with Index() as other:
        text = EXTRAS.format(old='"torch==2.7.1"', new='"torch==2.7.1"')
        text += f'[[tool.uv.index]]\nname = "other"\nurl = "{other.url}"\nexplicit = true\n'
        text += '[tool.uv.sources]\ntorch = { index = "other", extra = "old" }\n'
        project = locked(tmp_path / "p", extra=text)
        plan = plan_for(project, CARD, extras=("new",))
        assert plan.status is Status.PLANNED
        assert torch_of(lock_of(plan), extras=("old",)) == "2.7.1"
        assert torch_of(lock_of(plan), extras=("new",)) == "2.8.0"


def test_nothing_chosen_moves_what_everyone_has(tmp_path: Path) -> None:
    text = EXTRAS.format(old='"six<1.16"', new='"six"')
    project = locked(tmp_path / "p", "torch==2.7.1", extra=text)
    plan = plan_for(project, CARD)
    assert plan.status is Status.PLANNED
    assert moved(plan)["torch"] == "2.8.0"


def test_a_package_that_only_another_needs_is_bounded_in_that_extra(tmp_path: Path) -> None:
    both = EXTRAS.format(old='"torchvision==0.22.1"', new='"torchvision==0.22.1"')
    project = locked(tmp_path / "p", extra=both)
    file = project / "pyproject.toml"
    file.write_text(file.read_text().replace("torchvision==0.22.1", "torchvision"))
    plan = plan_for(project, CARD, extras=("new",))
    assert plan.status is Status.PLANNED
    assert edited(plan) == {"project.optional-dependencies.new": "torch<2.11"}
    assert holds(project, plan, CARD, extras=("new",))
