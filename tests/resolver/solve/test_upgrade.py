"""What `uv lock --upgrade` would bring back, and the bound that keeps it out."""

from __future__ import annotations

from dataclasses import replace

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.model.finding import Finding, Severity
from stackfix.solve.preference import VersionFindings
from stackfix.solve.problem import Problem
from stackfix.solve.upgrade import Relapse, relapse, sentence
from tests.resolver.solve.made_problem import Made, made_problem

BLACKWELL = "sm_70 sm_80 sm_90 sm_100 sm_120"
NEWER = "sm_75 sm_80 sm_90 sm_100 sm_120"
TORCH = {
    "2.7.1": Made(),
    "2.8.0": Made(code=BLACKWELL, cuda="12.8"),
    "2.10.0": Made(code=BLACKWELL, cuda="12.8"),
    "2.11.0": Made(code=NEWER, cuda="13.0"),
    "2.12.0": Made(code=NEWER, cuda="13.0"),
}


def upgraded(problem: Problem, versions: dict[str, str], asked: dict[str, str]) -> Relapse | None:
    return relapse(
        problem,
        VersionFindings(problem),
        {name: Version(version) for name, version in versions.items()},
        {name: SpecifierSet(text) for name, text in asked.items()},
    )


def test_a_newer_cuda_major_that_the_driver_cannot_run_is_kept_out() -> None:
    problem = made_problem(
        {"torch": TORCH}, {"torch": "2.7.1"}, ["torch"], cards=["RTX 5090@570.133.07"]
    )
    found = upgraded(problem, {"torch": "2.8.0"}, {"torch": ">=2.7"})
    assert found is not None
    assert (found.package, str(found.below)) == ("torch", "2.11.0")
    assert "580.65.06" in found.message


def test_an_exact_pin_needs_no_bound() -> None:
    problem = made_problem(
        {"torch": TORCH}, {"torch": "2.7.1"}, ["torch"], cards=["RTX 5090@570.133.07"]
    )
    assert upgraded(problem, {"torch": "2.8.0"}, {"torch": "==2.8.0"}) is None


def test_a_driver_for_the_newest_needs_no_bound() -> None:
    problem = made_problem(
        {"torch": TORCH}, {"torch": "2.7.1"}, ["torch"], cards=["RTX 5090@580.82.07"]
    )
    assert upgraded(problem, {"torch": "2.8.0"}, {"torch": ">=2.7"}) is None


def test_an_unstated_coupling_is_kept_by_a_bound_on_the_companion() -> None:
    codec = {v: Made(code=BLACKWELL) for v in ("0.4.0", "0.6.0", "0.7.0", "0.8.0", "0.9.0")}
    problem = made_problem(
        {"torch": TORCH, "torchcodec": codec},
        {"torch": "2.7.1", "torchcodec": "0.4.0"},
        ["torch", "torchcodec"],
        cards=["RTX 5090@570.133.07"],
    )
    found = upgraded(
        problem, {"torch": "2.8.0", "torchcodec": "0.7.0"}, {"torch": "==2.8.0", "torchcodec": ""}
    )
    assert found is not None
    assert (found.package, str(found.below)) == ("torchcodec", "0.8.0")


def test_two_cuda_majors_are_kept_apart_by_a_bound_on_the_framework() -> None:
    torch = {
        "2.10.0": Made(requires=["nvidia-cudnn-cu12==9.10.2.21"], code=BLACKWELL),
        "2.11.0": Made(requires=["nvidia-cudnn-cu13==9.15.1.9"], code=BLACKWELL, cuda="13.0"),
    }
    made = {
        "torch": torch,
        "jax": {"0.7.2": Made(requires=["jax-cuda12-plugin==0.7.2"], code=BLACKWELL)},
        "jax-cuda12-plugin": {"0.7.2": Made(requires=["nvidia-cudnn-cu12>=9.8"], code=BLACKWELL)},
        "nvidia-cudnn-cu12": {"9.10.2.21": Made(code=BLACKWELL)},
        "nvidia-cudnn-cu13": {"9.15.1.9": Made(code=BLACKWELL, cuda="13.0")},
    }
    versions = {
        "torch": "2.10.0",
        "jax": "0.7.2",
        "jax-cuda12-plugin": "0.7.2",
        "nvidia-cudnn-cu12": "9.10.2.21",
    }
    problem = made_problem(made, versions, ["torch", "jax"], cards=["RTX 5090@580.82.07"])
    found = upgraded(problem, versions, {"torch": ">=2.7"})
    assert found is not None
    assert (found.package, str(found.below)) == ("torch", "2.11.0")


def test_the_comment_beside_a_bound_is_one_sentence_without_figures() -> None:
    part = {"2.7.1": Made(code=BLACKWELL), "2.9.0": Made(code="sm_70 sm_80 sm_90")}
    problem = made_problem({"torch": part}, {"torch": "2.7.1"}, ["torch"])
    found = upgraded(problem, {"torch": "2.7.1"}, {"torch": ">=2.7"})
    assert found is not None
    assert found.message.startswith("torch 2.9.0 has no code for compute capability 12.0")
    known_bug = Finding(
        code="SF401",
        severity=Severity.ERROR,
        package="torch",
        version="2.6.0",
        message="torch 2.6.0: hangs at exit",
    )
    partly = replace(known_bug, message="torch 2.6.0 has code for a part only: a.so 0 of 3")
    assert sentence(known_bug) == "torch 2.6.0: hangs at exit"
    assert sentence(partly) == "torch 2.6.0 has code for a part only"
