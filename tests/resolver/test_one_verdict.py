"""Plan and check give one verdict: "nothing to do" exactly where the check passes.

Both are asked of the same lock for the same selection, targets and policy; generated projects have
real locks, and the corpus has real projects.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackfix.audit.lock_files import Kind, LockFile
from stackfix.gate.check_one import check_one
from stackfix.gate.subject import Options
from stackfix.model.selection import Selection
from stackfix.plan import propose as planning
from stackfix.plan.plan import Plan, Status
from stackfix_lockfiles.errors import InputError
from tests.corpus import each, projects
from tests.registry.server import Index
from tests.resolver.making import graph
from tests.resolver.plan.planning import locked, request_for

CARDS = (
    "RTX 5090:4@570.133.07",
    "H100@550.90.07",
    "A100@535.183.01+580.65.06",
    "T4@535.183.01",
    "V100@535.183.01",
    "GTX 1080 Ti@570.133.07",
    "GB10@580.95.05",
)
CODES = ("SF101", "SF102", "SF103", "SF105", "SF106", "SF201", "SF303", "SF401", "SF501", "SF503")
PROJECTS = {
    "torch": ('"torch==2.7.1"', ""),
    "older": ('"torch==2.4.1"', ""),
    "newer": ('"torch==2.9.1"', ""),
    "two frameworks": ('"torch==2.7.1", "jax[cuda12]==0.5.3"', ""),
    "overridden": (
        '"torch==2.7.1"',
        '[tool.uv]\noverride-dependencies = ["nvidia-cudnn-cu12==9.7.1.26"]\n',
    ),
    "in an extra": ("", '[project.optional-dependencies]\ngpu = ["torch==2.7.1"]\n'),
    "in a group": ("", '[dependency-groups]\ngpu = ["torch==2.7.1"]\n'),
    "nothing for a GPU": ('"numpy"', ""),
}


class HasToMove(Exception):
    """The planner found something to clear: how it does that is not the matter here."""


@dataclass(frozen=True)
class Policy:
    """`[tool.stackfix]` as a project may have it."""

    severities: dict[str, str]
    ignored: tuple[str, ...]
    fail_on: str

    def written(self) -> str:
        levels = ", ".join(f'{code} = "{level}"' for code, level in self.severities.items())
        ignored = ", ".join(f'{{ code = "{code}", reason = "tested" }}' for code in self.ignored)
        return (
            f'\n[tool.stackfix]\nfail-on = "{self.fail_on}"\nseverity = {{ {levels} }}\n'
            f"ignore = [{ignored}]\n"
        )


POLICIES = st.builds(
    Policy,
    severities=st.dictionaries(
        st.sampled_from(CODES), st.sampled_from(["error", "warning", "info", "off"]), max_size=4
    ),
    ignored=st.lists(st.sampled_from(CODES), max_size=2, unique=True).map(tuple),
    fail_on=st.sampled_from(["error", "warning"]),
)


@pytest.fixture(scope="module")
def made(shared_index: Index, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The projects, locked by uv."""
    folder = tmp_path_factory.mktemp("made")
    found = {}
    for number, (name, (dependencies, extra)) in enumerate(PROJECTS.items()):
        names = [text.strip('"') for text in dependencies.split(", ") if text]
        found[name] = locked(folder / str(number), *names, extra=extra)
    return found


@pytest.fixture(autouse=True)
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def moves(*_: object) -> Plan:
        raise HasToMove

    monkeypatch.setattr(planning, "_move", moves)
    monkeypatch.setattr(planning, "_as_it_is", moves)


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(name=st.sampled_from(sorted(PROJECTS)), card=st.sampled_from(CARDS), policy=POLICIES)
def test_generated_projects_under_any_policy(
    made: dict[str, Path], name: str, card: str, policy: Policy
) -> None:
    project = made[name]
    file = project / "pyproject.toml"
    before = file.read_text()
    try:
        file.write_text(before + policy.written())
        extras = ("gpu",) if name == "in an extra" else ()
        groups = ("gpu",) if name == "in a group" else ()
        same_verdict(project, card, Selection(extras=extras, groups=groups))
    finally:
        file.write_text(before)


def test_an_override_of_cudnn_that_works_is_a_warning_to_both(made: dict[str, Path]) -> None:
    assert same_verdict(made["overridden"], "H100@550.90.07", Selection()) is True


@pytest.mark.parametrize("level", ["error", "warning"])
def test_a_warning_that_the_project_calls_an_error_has_to_be_cleared(
    made: dict[str, Path], level: str
) -> None:
    file = made["newer"] / "pyproject.toml"
    before = file.read_text()
    try:
        file.write_text(f'{before}\n[tool.stackfix]\nseverity = {{ SF401 = "{level}" }}\n')
        verdict = same_verdict(made["newer"], CARDS[0], Selection())
        assert verdict is (level == "warning")
    finally:
        file.write_text(before)


@pytest.mark.slow(reason="every real project")
@each(projects())
def test_real_projects(folder: Path, tmp_path: Path) -> None:
    project = tmp_path / folder.name
    shutil.copytree(folder, project)
    verdicts = [same_verdict(project, card, Selection()) for card in CARDS[::3]]
    assert len(verdicts) == 3


def same_verdict(project: Path, card: str, selection: Selection) -> bool:
    """Whether both say that the lock is fine; what is refused is not."""
    passes = check_passes(project, card, selection)
    nothing = nothing_to_do(project, card, selection)
    assert nothing == passes
    return passes


def check_passes(project: Path, card: str, selection: Selection) -> bool:
    file = LockFile(path=project / "uv.lock", kind=Kind.UV, named=True)
    try:
        return not check_one(file, Options(targets=(card,), selection=selection)).fails
    except InputError:
        return False


def nothing_to_do(project: Path, card: str, selection: Selection) -> bool:
    try:
        request = request_for(
            project,
            graph(),
            card,
            extras=selection.extras,
            groups=selection.groups,
            offline=True,
        )
        return planning.propose(request).status is Status.NOTHING_TO_DO
    except HasToMove:
        return False
    except InputError:
        return False
