"""Explanations: why this move, why not less, why not that version; in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.plan.plan import Answer
from tests.registry.server import Index
from tests.resolver.plan.mirrored import locked as made_on
from tests.resolver.plan.mirrored import on_index, plan_on
from tests.resolver.plan.planning import moved, plan_for, project_of

pytestmark = pytest.mark.usefixtures("shared_index")

CARDS = "RTX 5090:4@570.133.07"


WHY = ("torch", "triton", "torchcodec", "jax", "tensorflow")
WHY_NOT = (
    "torch==2.7.1",
    "torch==2.7.1+cu128",
    "torch==2.7.1+cu130",
    "torch==2.12.0",
    "torch==2.9.1",
    "torch==99.0",
    "jax==0.6.2",
)


@pytest.fixture(scope="module")
def answers(openpi_template: Path) -> dict[str, Answer]:
    """What one plan for openpi answers to all of these questions, by question."""
    plan = plan_for(openpi_template, CARDS, why=WHY, why_not=WHY_NOT)
    return dict(zip((*WHY, *WHY_NOT), plan.answers, strict=True))


def reasons(answer: Answer) -> dict[str, str]:
    return {version: o.reason for o in answer.obstacles for version in o.versions}


def test_why_a_framework_moves_and_why_not_less(answers: dict[str, Answer]) -> None:
    answer = answers["torch"]
    assert answer.lines[0].startswith("torch 2.7.1 → 2.8.0: SF101: torch 2.7.1 has no code for")
    told = reasons(answer)
    assert {version.partition("+")[0] for version in told} == {"2.7.1", "2.7.0"}
    assert "no code for compute capability 12.0" in told["2.7.1+cu126"]
    assert "NCCL 2.26.2 reads where it must not" in told["2.7.1+cu128"]


def test_why_a_library_moves_names_who_drags_it(answers: dict[str, Answer]) -> None:
    answer = answers["triton"]
    assert answer.lines[0] == "triton 3.3.1 → 3.4.0: torch 2.8.0 needs triton==3.4.0"


def test_why_a_companion_moves_names_the_coupling(answers: dict[str, Answer]) -> None:
    answer = answers["torchcodec"]
    assert "torchcodec 0.4.0 needs torch==2.7.*" in answer.lines[0]


def test_why_something_stays(answers: dict[str, Answer]) -> None:
    answer = answers["jax"]
    assert answer.lines == (
        "jax stays at 0.5.3: no error on any target, and nothing asks it to move",
    )


def test_why_something_that_is_not_there(answers: dict[str, Answer]) -> None:
    assert answers["tensorflow"].lines == ("tensorflow is not part of this environment",)


def test_why_not_the_locked_version(answers: dict[str, Answer]) -> None:
    answer = answers["torch==2.7.1"]
    assert "no code for compute capability 12.0" in reasons(answer)["2.7.1"]


def test_why_not_the_build_of_another_index(answers: dict[str, Answer]) -> None:
    answer = answers["torch==2.7.1+cu128"]
    assert reasons(answer)["2.7.1+cu128"].startswith(
        "torch 2.7.1+cu128 needs nvidia-nccl-cu12==2.26.2, but nvidia-nccl-cu12 2.26.2: NCCL"
    )


def test_why_not_a_build_that_no_index_has(answers: dict[str, Answer]) -> None:
    answer = answers["torch==2.7.1+cu130"]
    assert answer.lines == ("no known release of torch is meant by that",)


def test_why_not_a_version_that_the_driver_cannot_run(answers: dict[str, Answer]) -> None:
    answer = answers["torch==2.12.0"]
    assert "needs driver 580.65.06 or newer; 570.133.07 is older" in reasons(answer)["2.12.0"]


def test_why_not_a_version_that_an_override_forbids(answers: dict[str, Answer]) -> None:
    answer = answers["jax==0.6.2"]
    assert reasons(answer)["0.6.2"] == (
        "jax 0.6.2 needs ml-dtypes>=0.5.0, but the project's override holds ml-dtypes==0.4.1"
    )


def test_why_not_a_version_that_would_work_too(answers: dict[str, Answer]) -> None:
    answer = answers["torch==2.9.1"]
    assert not answer.obstacles
    assert "2.9.1 would work as well; the plan takes torch 2.8.0" in answer.lines[0]


def test_why_not_what_nobody_knows(answers: dict[str, Answer]) -> None:
    answer = answers["torch==99.0"]
    assert answer.lines == ("no known release of torch is meant by that",)


def test_questions_about_a_project_without_gpu_packages(tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "numpy")
    assert plan_for(project, CARDS, why=("torch",)).answers == ()


def test_a_question_locks_and_reads_nothing_a_second_time(tmp_path: Path) -> None:
    said: list[str] = []
    project = project_of(tmp_path / "p", "torch==2.7.1")
    plan = plan_for(project, CARDS, why=("torch",), progress=said.append)
    assert plan.answers
    assert len([line for line in said if line.startswith("locking the project")]) == 1
    assert len([line for line in said if line.startswith("reading what")]) == 1


def test_questions_about_builds_of_other_indexes(shared_index: Index, tmp_path: Path) -> None:
    project = made_on(shared_index, tmp_path / "p", "torch==2.7.1")
    why, build, version, other = plan_on(
        shared_index,
        project,
        "RTX 5090@570.133.07",
        why=("torch",),
        why_not=("torch==2.7.1+cu128", "torch==2.8.0", "torch==2.7.1+cu126"),
    ).answers
    assert why.lines[0].startswith("torch 2.7.1 → 2.7.1+cu128: SF101: torch 2.7.1 has no code")
    assert {"2.7.1"} <= set(reasons(why))
    assert build.lines == ("torch 2.7.1+cu128 is what the plan takes",)
    assert version.lines == (
        (
            "2.8.0, 2.8.0+cu128 would work as well; the plan takes torch 2.7.1+cu128, "
            "which changes less: stackfix plan --require 'torch==2.8.0'"
        ),
    )
    assert "no code for compute capability 12.0" in reasons(other)["2.7.1+cu126"]


def test_the_build_of_an_index_can_be_required(shared_index: Index, tmp_path: Path) -> None:
    project = made_on(shared_index, tmp_path / "p", "torch==2.7.1")
    required = ("torch==2.8.0+cu128",)
    plan = plan_on(shared_index, project, "RTX 5090@570.133.07", require=required)
    assert moved(plan)["torch"] == "2.8.0+cu128"


def test_a_home_that_is_no_choice_says_why(shared_index: Index, tmp_path: Path) -> None:
    lines = on_index("cu126", "torch")
    project = made_on(shared_index, tmp_path / "p", "torch==2.8.0", extra=lines)
    file = project / "pyproject.toml"
    file.write_text(file.read_text().replace("explicit", "default"))
    (answer,) = plan_on(shared_index, project, CARDS, why_not=("torch==2.8.0",)).answers
    assert "is the project's default index (pyproject.toml line" in reasons(answer)["2.8.0"]
