"""Projects that uv cannot lock: the clash in plain words, and the move counted from what is asked.

The rows of stacks/unlockable.toml say where such projects end; here is how they get there.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from stackfix.cli.main import main
from stackfix.documents.document import as_json
from stackfix.model.finding import Finding
from stackfix.plan.plan import Plan, Status
from stackfix.plan.request import Strategy
from stackfix.plan.start import Unlockable
from stackfix.report.plan import load_plan, plan_document, save_plan
from stackfix.report.plan_text import plan_text
from stackfix.report.text import show
from stackfix.rules.judge import errors
from stackfix_knowledge.evidence import EvidenceKind
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.outdated import Difference
from stackfix_lockfiles.uv import Uv
from tests.registry.server import Index
from tests.resolver.plan.mirrored import on_index, plan_on
from tests.resolver.plan.planning import apply, moved, project_of, run_uv

H100 = "H100@570.133.20"
BLACKWELL = "RTX 5090@570.133.07"
SAME_INDEX = {"strategy": Strategy.SAME_INDEX}


def first(plan: Plan) -> Finding:
    """The clash, which is the first error."""
    finding = errors(plan.findings)[0]
    assert finding is plan.findings[0]
    assert finding.code == "SF506"
    return finding


def holds(index: Index, project: Path, plan: Plan, card: str, **options: object) -> bool:
    """Whether the applied plan locks, is sound, and stays so after an upgrade."""
    apply(plan)
    for command in (["lock", "--check"], ["lock", "--upgrade"]):
        finished = Uv.find().run(command, cwd=project, timeout=120)
        assert finished.returncode == 0, finished.stderr
    return plan_on(index, project, card, **options).status is Status.NOTHING_TO_DO


def told(plan: Plan) -> dict[str, tuple[str | None, str | None]]:
    """Package → what was asked and what can be had."""
    assert all(move.asked for move in plan.moves)
    return {move.package: (move.before, move.after) for move in plan.moves}


def test_both_sides_of_the_clash_are_named_with_the_wheel_that_says_so(
    facts_index: Index, tmp_path: Path
) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1", "nvidia-cudnn-cu12==9.8.0.87")
    clash = first(plan_on(facts_index, project, H100))
    assert clash.message == (
        "pyproject.toml line 5 asks for nvidia-cudnn-cu12==9.8.0.87, "
        "but torch 2.7.1 (line 5) requires nvidia-cudnn-cu12==9.5.1.17"
    )
    assert (clash.package, clash.version) == ("nvidia-cudnn-cu12", "9.8.0.87")
    (evidence,) = clash.evidence
    assert evidence.kind is EvidenceKind.METADATA
    assert evidence.source.startswith("torch-2.7.1-")


def test_the_move_is_counted_from_what_the_project_asks(facts_index: Index, tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1", "nvidia-cudnn-cu12==9.8.0.87")
    plan = plan_on(facts_index, project, H100)
    assert told(plan) == {"nvidia-cudnn-cu12": ("9.8.0.87", "9.5.1.17")}
    assert [edit.new for edit in plan.edits] == ["nvidia-cudnn-cu12==9.5.1.17"]
    assert not plan.drift
    assert holds(facts_index, project, plan, H100)


@pytest.mark.parametrize(
    ("options", "torch", "cudnn"),
    [({}, "2.7.1+cu128", "9.7.1.26"), (SAME_INDEX, "2.8.0", "9.10.2.21")],
)
def test_the_card_and_the_clash_are_cleared_by_one_move(
    facts_index: Index, tmp_path: Path, options: Mapping[str, Any], torch: str, cudnn: str
) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1", "nvidia-cudnn-cu12==9.8.0.87")
    plan = plan_on(facts_index, project, BLACKWELL, **options)
    assert told(plan) == {
        "torch": ("2.7.1", torch),
        "nvidia-cudnn-cu12": ("9.8.0.87", cudnn),
    }
    # Nothing is said of versions that nobody asked for and nothing installed.
    named = {finding.package for finding in plan.findings}
    assert named == {"torch", "nvidia-cudnn-cu12"}
    assert holds(facts_index, project, plan, BLACKWELL)


def test_what_a_requirement_brings_is_told_with_the_requirement(
    facts_index: Index, tmp_path: Path
) -> None:
    project = project_of(tmp_path / "p", "jax[cuda12]==0.6.2", "nvidia-cudnn-cu12==9.1.0.70")
    plan = plan_on(facts_index, project, H100)
    assert (
        "jax-cuda12-plugin 0.6.2, which jax[cuda12]==0.6.2 (line 5) brings, "
        "requires nvidia-cudnn-cu12>=9.8,<10.0"
    ) in first(plan).message
    assert told(plan) == {"nvidia-cudnn-cu12": ("9.1.0.70", "9.8.0.87")}


def test_ranges_clash_when_every_version_that_one_admits_excludes_the_other(
    facts_index: Index, tmp_path: Path
) -> None:
    project = project_of(tmp_path / "p", "torch>=2.7,<2.8", "nvidia-cudnn-cu12>=9.8")
    plan = plan_on(facts_index, project, BLACKWELL, **SAME_INDEX)
    assert first(plan).version == ">=9.8"
    assert "so does every torch that >=2.7,<2.8 admits (2.7.0)" in first(plan).message
    # The cuDNN that comes with torch 2.8.0 is what was asked for: it is no move.
    assert told(plan) == {"torch": (">=2.7,<2.8", "2.8.0")}
    assert [edit.new for edit in plan.edits] == ["torch>=2.7,<2.9"]
    assert holds(facts_index, project, plan, BLACKWELL)


def test_two_frameworks_clash_over_what_nobody_names(facts_index: Index, tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1", "jax[cuda12]==0.7.2")
    plan = plan_on(facts_index, project, H100)
    assert {e.source.partition("-")[0] for e in first(plan).evidence} == {
        "torch",
        "jax_cuda12_plugin",
    }
    assert told(plan) == {"torch": ("2.7.1", "2.8.0")}
    assert plan.moves[0].because.startswith("SF506")
    assert holds(facts_index, project, plan, H100)


def test_several_clashes_are_all_told(facts_index: Index, tmp_path: Path) -> None:
    asked = ("torch==2.8.0", "torchvision==0.22.1", "nvidia-nccl-cu12==2.21.5")
    plan = plan_on(facts_index, project_of(tmp_path / "p", *asked), H100)
    clashes = [finding for finding in plan.findings if finding.code == "SF506"]
    assert {clash.package for clash in clashes} == {"torch", "nvidia-nccl-cu12"}
    assert told(plan).keys() == {"torchvision", "nvidia-nccl-cu12"}


def test_a_constraint_that_clashes_is_edited_like_a_requirement(
    facts_index: Index, tmp_path: Path
) -> None:
    held = '[tool.uv]\nconstraint-dependencies = ["nvidia-cudnn-cu12==9.8.0.87"]\n'
    project = project_of(tmp_path / "p", "torch==2.7.1", extra=held)
    plan = plan_on(facts_index, project, H100)
    assert "nvidia-cudnn-cu12" in first(plan).message
    assert told(plan) == {"nvidia-cudnn-cu12": ("9.8.0.87", "9.5.1.17")}
    assert holds(facts_index, project, plan, H100)


def test_a_version_that_no_index_has_is_told_in_uv_s_words(
    facts_index: Index, tmp_path: Path
) -> None:
    plan = plan_on(facts_index, project_of(tmp_path / "p", "torch==2.7.9"), H100)
    assert first(plan).message.startswith(
        "uv cannot lock the project: Because there is no version of torch==2.7.9"
    )
    assert first(plan).version == "2.7.9"
    assert moved(plan) == {"torch": "2.7.1"}


def test_a_build_of_pytorch_s_index_is_named_with_what_it_pins(
    facts_index: Index, tmp_path: Path
) -> None:
    lines = on_index("cu130", "torch")
    asked = ("torch==2.11.0", "cuda-toolkit==13.2.1")
    project = facts_index.restore(project_of(tmp_path / "p", *asked, extra=lines))
    plan = plan_on(facts_index, project, "H100@580.82.07")
    assert first(plan).message == (
        "pyproject.toml line 5 asks for cuda-toolkit==13.2.1, "
        "but torch 2.11.0+cu130 (line 5) requires cuda-toolkit==13.0.2"
    )
    assert told(plan) == {"cuda-toolkit": ("13.2.1", "13.0.2")}


def test_a_package_that_is_kept_makes_the_others_move(facts_index: Index, tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch==2.8.0", "torchvision==0.22.1")
    plan = plan_on(facts_index, project, H100, keep=("torchvision",))
    assert told(plan) == {"torch": ("2.8.0", "2.7.1")}


def test_a_clash_cannot_be_ignored(facts_index: Index, tmp_path: Path) -> None:
    accepted = '[[tool.stackfix.ignore]]\ncode = "SF506"\nreason = "why not"\n'
    asked = ("torch==2.7.1", "nvidia-cudnn-cu12==9.8.0.87")
    plan = plan_on(facts_index, project_of(tmp_path / "p", *asked, extra=accepted), H100)
    assert plan.status is Status.PLANNED


ALTERNATIVES = """\
[project.optional-dependencies]
old = ["torch==2.7.1"]
new = ["torch==2.8.0"]
newer = ["torch==2.9.1"]
"""


def test_extras_that_clash_become_alternatives(facts_index: Index, tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch", extra=ALTERNATIVES)
    plan = plan_on(facts_index, project, H100, extras=("new",))
    assert first(plan).message == (
        "pyproject.toml line 7, extra old asks for torch==2.7.1, but line 8, extra new asks for "
        "torch==2.8.0; uv locks all extras and groups together"
    )
    assert "tool.uv.conflicts" in (first(plan).fix or "")
    assert not plan.moves
    (edit,) = plan.edits
    assert edit.new == '[{ extra = "old" }, { extra = "new" }, { extra = "newer" }]'
    assert "alternatives" in plan.warnings[0]
    assert holds(facts_index, project, plan, H100, extras=("new",))
    locked = {package.version for package in Lock.read(project / "uv.lock").named("torch")}
    assert {"2.7.1", "2.8.0", "2.9.1"} <= locked


def test_groups_that_clash_become_alternatives(facts_index: Index, tmp_path: Path) -> None:
    groups = '[dependency-groups]\nold = ["torch==2.7.1"]\nnew = ["torch==2.8.0"]\n'
    project = project_of(tmp_path / "p", "torch", extra=groups)
    plan = plan_on(facts_index, project, H100, groups=("new",))
    assert "line 7, group old asks for torch==2.7.1" in first(plan).message
    assert [edit.new for edit in plan.edits] == ['[{ group = "old" }, { group = "new" }]']
    assert holds(facts_index, project, plan, H100, groups=("new",))


def test_the_chosen_alternative_moves_and_no_other(facts_index: Index, tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch", extra=ALTERNATIVES)
    plan = plan_on(facts_index, project, BLACKWELL, extras=("old",), **SAME_INDEX)
    assert moved(plan)["torch"] == "2.8.0"
    assert {edit.table for edit in plan.edits} == {
        "tool.uv.conflicts",
        "project.optional-dependencies.old",
    }
    assert holds(facts_index, project, plan, BLACKWELL, extras=("old",))


@pytest.mark.slow(reason="several plans, each with its locks")
def test_extras_that_are_chosen_together_are_made_to_go_together(
    facts_index: Index, tmp_path: Path
) -> None:
    extras = '[project.optional-dependencies]\na = ["torch==2.7.1"]\nb = ["jax[cuda12]==0.7.2"]\n'
    project = project_of(tmp_path / "p", extra=extras)
    plan = plan_on(facts_index, project, H100, extras=("a", "b"))
    assert "tool.uv.conflicts" not in {edit.table for edit in plan.edits}
    assert told(plan) == {"torch": ("2.7.1", "2.8.0")}
    assert holds(facts_index, project, plan, H100, extras=("a", "b"))


def test_an_extra_is_no_alternative_to_a_default_group(facts_index: Index, tmp_path: Path) -> None:
    """`uv sync --extra old` takes the default groups too, and would fail."""
    lines = (
        '[project.optional-dependencies]\nold = ["torch==2.7.1"]\n'
        '[dependency-groups]\ndev = ["torch==2.8.0"]\n'
    )
    project = project_of(tmp_path / "p", "torch", extra=lines)
    plan = plan_on(facts_index, project, H100)
    assert "tool.uv.conflicts" not in {edit.table for edit in plan.edits}
    assert len(plan.edits) == 1
    assert holds(facts_index, project, plan, H100)


def test_a_fleet_is_served_by_one_move(facts_index: Index, tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1", "nvidia-cudnn-cu12==9.8.0.87")
    plan = plan_on(facts_index, project, BLACKWELL, "V100@570.133.20")
    assert told(plan)["torch"] == ("2.7.1", "2.8.0")


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ('[project.optional-dependencies]\nvision = ["torchvision==0.22.1"]\n', "extra vision"),
        ('[dependency-groups]\nvision = ["torchvision==0.22.1"]\n', "group vision"),
    ],
)
def test_what_clashes_with_the_project_itself_is_planned_with_it(
    facts_index: Index, tmp_path: Path, lines: str, name: str
) -> None:
    project = project_of(tmp_path / "p", "torch==2.8.0", extra=lines)
    plan = plan_on(facts_index, project, H100)
    assert f"torchvision 0.22.1 (line 7, {name})" in first(plan).message
    assert told(plan) == {"torchvision": ("0.22.1", "0.23.0")}
    assert plan.warnings == (f"planned with {name} too: uv locks every extra and group",)
    assert holds(facts_index, project, plan, H100)


@pytest.mark.slow(reason="several plans, each with its locks")
def test_declared_alternatives_do_not_clash_with_each_other_but_with_what_all_share(
    facts_index: Index, tmp_path: Path
) -> None:
    """The pin of all clashes with one of them, whether that one is chosen or not."""
    lines = (
        ALTERNATIVES + "[tool.uv]\n"
        'conflicts = [[{ extra = "old" }, { extra = "new" }, { extra = "newer" }]]\n'
    )
    asked = ("torch", "nvidia-cudnn-cu12==9.10.2.21")
    project = project_of(tmp_path / "p", *asked, extra=lines)
    for options in ({}, {"extras": ("old",)}, {"extras": ("new",)}):
        plan = plan_on(facts_index, project, H100, **options)
        assert first(plan).message == (
            "pyproject.toml line 5 asks for nvidia-cudnn-cu12==9.10.2.21, "
            "but torch 2.7.1 (line 7, extra old) requires nvidia-cudnn-cu12==9.5.1.17"
        )


def test_a_clash_outside_the_stack_is_bad_input(
    facts_index: Index, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("torch==2.7.1", "numpy==1.26.4", "numpy==2.0.0", "nvidia-cudnn-cu12==9.8.0.87")
    project = project_of(tmp_path / "p", *asked)
    with pytest.raises(Unlockable, match=r"numpy==1\.26\.4 and numpy==2\.0\.0"):
        plan_on(facts_index, project, H100)
    assert main(["plan", "--target", H100, "--project", str(project)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "pyproject.toml: expected requirements that uv can lock" in line


def test_nothing_of_the_project_is_written(facts_index: Index, tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1", "nvidia-cudnn-cu12==9.8.0.87")
    before = (project / "pyproject.toml").read_bytes()
    plan_on(facts_index, project, H100)
    assert [path.name for path in project.iterdir()] == ["pyproject.toml"]
    assert (project / "pyproject.toml").read_bytes() == before


def test_a_move_from_what_is_asked_says_so(facts_index: Index, tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1", "nvidia-cudnn-cu12==9.8.0.87")
    plan = plan_on(facts_index, project, H100)
    (move,) = as_json(plan_document(plan))["moves"]
    assert (move["asked"], move["from"], move["to"]) == (True, "9.8.0.87", "9.5.1.17")
    save_plan(plan, tmp_path / "plan")
    saved = load_plan(tmp_path / "plan")
    assert saved.moves == (("nvidia-cudnn-cu12", "asked 9.8.0.87", "9.5.1.17"),)
    console = Console(width=100, no_color=True, file=StringIO())
    show(console, plan_text(plan))
    assert "nvidia-cudnn-cu12  asked 9.8.0.87  →  9.5.1.17" in console.file.getvalue()


def test_a_requirement_of_a_member_clashes_with_one_of_the_root(
    facts_index: Index, tmp_path: Path
) -> None:
    members = '[tool.uv.workspace]\nmembers = ["arm"]\n'
    project = project_of(tmp_path / "p", "torch==2.7.1", extra=members)
    project_of(project / "arm", "nvidia-cudnn-cu12==9.8.0.87")
    file = project / "arm/pyproject.toml"
    file.write_text(file.read_text().replace('"made"', '"arm"'))
    plan = plan_on(facts_index, project, H100, all_extras=True)
    assert first(plan).message == (
        "arm/pyproject.toml line 5 asks for nvidia-cudnn-cu12==9.8.0.87, "
        "but torch 2.7.1 (pyproject.toml line 5) requires nvidia-cudnn-cu12==9.5.1.17"
    )
    assert [str(edit.file) for edit in plan.edits] == ["arm/pyproject.toml"]


def test_a_lock_older_than_the_requirements_tells_what_the_others_move_from(
    facts_index: Index, tmp_path: Path
) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1")
    run_uv(project, "lock")
    ask(project, '"torch==2.7.1"', '"torch==2.7.1", "nvidia-cudnn-cu12==9.8.0.87"')
    plan = plan_on(facts_index, project, BLACKWELL, **SAME_INDEX)
    assert first(plan).package == "nvidia-cudnn-cu12"
    assert plan.warnings[0] == (
        "uv.lock is out of date: pyproject.toml line 5 asks for nvidia-cudnn-cu12==9.8.0.87, "
        "which the lock was made without"
    )
    moves = {move.package: (move.before, move.after, move.asked) for move in plan.moves}
    assert moves["torch"] == ("2.7.1", "2.8.0", True)
    assert moves["nvidia-cudnn-cu12"] == ("9.8.0.87", "9.10.2.21", True)
    assert moves["nvidia-nccl-cu12"] == ("2.26.2", "2.27.3", False)
    assert holds(facts_index, project, plan, BLACKWELL)


def test_a_lock_that_uv_can_bring_up_to_date_is_planned_from_there(
    facts_index: Index, tmp_path: Path
) -> None:
    project = project_of(tmp_path / "p", "torch==2.6.0")
    run_uv(project, "lock")
    ask(project, "torch==2.6.0", "torch==2.7.1")
    before = (project / "uv.lock").read_bytes()
    plan = plan_on(facts_index, project, BLACKWELL, **SAME_INDEX)
    assert (project / "uv.lock").read_bytes() == before
    assert plan.warnings[0].startswith(
        "uv.lock is out of date: pyproject.toml line 5 asks for torch==2.7.1, "
        "and the lock was made for torch==2.6.0; planned from what `uv lock` makes of it"
    )
    (torch,) = (move for move in plan.moves if move.package == "torch")
    assert (torch.before, torch.after, torch.asked) == ("2.7.1", "2.8.0", False)
    assert holds(facts_index, project, plan, BLACKWELL)


def test_a_lock_that_is_out_of_date_and_fine_is_brought_up_to_date(
    facts_index: Index, tmp_path: Path
) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1")
    run_uv(project, "lock")
    ask(project, "torch==2.7.1", "torch==2.8.0")
    plan = plan_on(facts_index, project, BLACKWELL)
    assert plan.status is Status.PLANNED
    assert {finding.code for finding in plan.findings} >= {"SF507"}
    assert "SF507" not in {finding.code for finding in plan.remaining}
    assert not plan.edits
    assert ("torch", "2.7.1", "2.8.0") in {(m.package, m.before, m.after) for m in plan.moves}
    assert "uv.lock is out of date" in plan.warnings[0]
    assert holds(facts_index, project, plan, BLACKWELL)


def test_a_lock_that_cannot_be_brought_up_to_date_is_said_to_be_so(
    facts_index: Index, tmp_path: Path
) -> None:
    project = project_of(tmp_path / "p", "torch==2.8.0")
    run_uv(project, "lock")
    ask(project, '"torch==2.8.0"', '"torch==2.8.0", "nvidia-nccl-cu12 @ file:///gone.whl"')
    plan = plan_on(facts_index, project, H100)
    assert plan.status is Status.IMPOSSIBLE
    assert "planned with it as it is, since uv could not bring it up to date" in plan.warnings[0]
    assert any("gone.whl" in obstacle.reason for obstacle in plan.obstacles)


def test_what_uv_itself_writes_otherwise_is_no_lock_out_of_date(
    facts_index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = project_of(tmp_path / "p", "torch==2.8.0")
    run_uv(project, "lock")
    one = Difference(
        name="torch", file=Path("pyproject.toml"), line=5, where="", asked="torch", recorded=None
    )
    monkeypatch.setattr("stackfix.plan.start.differences", lambda project, lock: (one,))
    plan = plan_on(facts_index, project, H100)
    assert (plan.status, plan.warnings) == (Status.NOTHING_TO_DO, ())


def ask(project: Path, old: str, new: str) -> None:
    """Let the project ask for something else, and leave its lock."""
    file = project / "pyproject.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
