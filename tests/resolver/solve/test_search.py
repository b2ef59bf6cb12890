"""The search finds the cheapest joint move, or says of every framework version why not."""

from __future__ import annotations

from dataclasses import replace

from packaging.version import Version

from stackfix.solve.candidates import Candidates
from stackfix.solve.problem import Problem
from stackfix.solve.search import Combination, Search
from stackfix_lockfiles.lock import LockedFile, LockedPackage, Source, SourceKind
from tests.resolver.solve.made_problem import Made, made_problem

BLACKWELL = "sm_70 sm_80 sm_90 sm_100 sm_120"
CUDNN = {
    "9.5.1.17": Made(),
    "9.8.0.87": Made(code=BLACKWELL),
    "9.10.2.21": Made(code=BLACKWELL),
}
TORCH = {
    "2.6.0": Made(requires=["nvidia-cudnn-cu12==9.5.1.17"]),
    "2.7.1": Made(requires=["nvidia-cudnn-cu12==9.5.1.17"]),
    "2.8.0": Made(requires=["nvidia-cudnn-cu12==9.10.2.21"], code=BLACKWELL, cuda="12.8"),
    "2.9.1": Made(requires=["nvidia-cudnn-cu12==9.10.2.21"], code=BLACKWELL, cuda="12.8"),
}
LOCKED = {"torch": "2.7.1", "nvidia-cudnn-cu12": "9.5.1.17"}


def first(problem: Problem) -> Combination | None:
    return next(Search(Candidates(problem)).combinations(), None)


def versions(found: Combination | None) -> dict[str, str]:
    assert found is not None
    return {name: str(version) for name, version in found.solution.versions.items()}


def test_the_nearest_torch_with_code_moves_and_drags_its_cudnn() -> None:
    problem = made_problem({"torch": TORCH, "nvidia-cudnn-cu12": CUDNN}, LOCKED, ["torch"])
    assert versions(first(problem)) == {"torch": "2.8.0", "nvidia-cudnn-cu12": "9.10.2.21"}


def test_a_companion_goes_to_the_nearest_version_that_fits() -> None:
    vision = {
        "0.22.1": Made(requires=["torch==2.7.1"], code=BLACKWELL),
        "0.23.0": Made(requires=["torch==2.8.0"], code=BLACKWELL),
        "0.24.1": Made(requires=["torch==2.9.1"], code=BLACKWELL),
    }
    made = {"torch": TORCH, "nvidia-cudnn-cu12": CUDNN, "torchvision": vision}
    problem = made_problem(made, {**LOCKED, "torchvision": "0.22.1"}, ["torch", "torchvision"])
    assert versions(first(problem))["torchvision"] == "0.23.0"


def test_a_card_that_newer_builds_dropped_moves_down() -> None:
    torch = {
        "2.10.0": Made(cuda="12.8"),
        "2.11.0": Made(code="sm_75 sm_80 sm_90", cuda="13.0"),
        "2.12.0": Made(code="sm_75 sm_80 sm_90", cuda="13.0"),
    }
    problem = made_problem(
        {"torch": torch}, {"torch": "2.12.0"}, ["torch"], cards=["V100@570.133.07"]
    )
    assert versions(first(problem)) == {"torch": "2.10.0"}


def test_two_frameworks_share_one_cudnn() -> None:
    plugin = {
        "0.6.2": Made(
            requires=["nvidia-cudnn-cu12<10,>=9.8"],
            code=BLACKWELL,
            built_against={"cudnn": "9.8.0"},
        )
    }
    jax = {"0.6.2": Made(requires=["jax-cuda12-plugin==0.6.2"], code=BLACKWELL)}
    torch = {
        **TORCH,
        "2.7.2": Made(requires=["nvidia-cudnn-cu12==9.5.1.17"], code=BLACKWELL),
    }
    cudnn = {**CUDNN, "9.5.1.17": Made(code=BLACKWELL)}
    problem = made_problem(
        {"torch": torch, "jax": jax, "jax-cuda12-plugin": plugin, "nvidia-cudnn-cu12": cudnn},
        {**LOCKED, "jax": "0.6.2", "jax-cuda12-plugin": "0.6.2"},
        ["torch", "jax"],
    )
    found = versions(first(problem))
    assert (found["torch"], found["nvidia-cudnn-cu12"]) == ("2.8.0", "9.10.2.21")


def test_metadata_that_understates_the_cudnn_is_tightened_to_the_build() -> None:
    plugin = {
        "0.6.2": Made(
            requires=["nvidia-cudnn-cu12>=9.1"], code=BLACKWELL, built_against={"cudnn": "9.8.0"}
        )
    }
    jax = {"0.6.2": Made(requires=["jax-cuda12-plugin==0.6.2"], code=BLACKWELL)}
    cudnn = {"9.5.1.17": Made(code=BLACKWELL), "9.8.0.87": Made(code=BLACKWELL)}
    problem = made_problem(
        {"jax": jax, "jax-cuda12-plugin": plugin, "nvidia-cudnn-cu12": cudnn},
        {"jax": "0.6.2", "jax-cuda12-plugin": "0.6.2", "nvidia-cudnn-cu12": "9.5.1.17"},
        ["jax"],
    )
    assert versions(first(problem))["nvidia-cudnn-cu12"] == "9.8.0.87"


def test_two_cuda_majors_never_meet_in_one_environment() -> None:
    torch = {
        "2.10.0": Made(requires=["nvidia-cudnn-cu12==9.10.2.21"], code=BLACKWELL),
        "2.11.0": Made(requires=["nvidia-cudnn-cu13==9.15.1.9"], code=BLACKWELL, cuda="13.0"),
    }
    plugin = {"0.7.2": Made(requires=["nvidia-cudnn-cu12>=9.8"], code=BLACKWELL)}
    problem = made_problem(
        {
            "torch": torch,
            "jax": {"0.7.2": Made(requires=["jax-cuda12-plugin==0.7.2"], code=BLACKWELL)},
            "jax-cuda12-plugin": plugin,
            "nvidia-cudnn-cu12": CUDNN,
            "nvidia-cudnn-cu13": {"9.15.1.9": Made(code=BLACKWELL, cuda="13.0")},
        },
        {
            "torch": "2.11.0",
            "jax": "0.7.2",
            "jax-cuda12-plugin": "0.7.2",
            "nvidia-cudnn-cu12": "9.10.2.21",
            "nvidia-cudnn-cu13": "9.15.1.9",
        },
        ["torch", "jax"],
    )
    found = versions(first(problem))
    assert found["torch"] == "2.10.0"
    assert "nvidia-cudnn-cu13" not in found


def test_one_plan_serves_a_whole_fleet_or_none_does() -> None:
    torch = {
        **TORCH,
        "2.8.0": Made(code="sm_80 sm_90 sm_100 sm_120"),
        "2.9.1": Made(code=BLACKWELL),
    }
    problem = made_problem(
        {"torch": torch}, {"torch": "2.7.1"}, ["torch"], cards=["RTX 5090", "V100"]
    )
    assert versions(first(problem)) == {"torch": "2.9.1"}


def test_what_is_kept_stays_and_is_named_when_nothing_works() -> None:
    problem = made_problem(
        {"torch": TORCH, "nvidia-cudnn-cu12": CUDNN}, LOCKED, ["torch"], fixed=["torch"]
    )
    search = Search(Candidates(problem))
    assert next(search.combinations(), None) is None
    assert [str(f.version) for f in search.exclusions] == ["2.7.1"]


def test_every_version_that_fails_has_its_reason() -> None:
    torch = {
        "2.7.1": Made(),
        "2.8.0": Made(requires=["nvidia-cudnn-cu12==9.5.1.17"], code=BLACKWELL),
        "2.9.1": Made(requires=["numpy>=2"], code=BLACKWELL),
    }
    problem = made_problem(
        {"torch": torch, "nvidia-cudnn-cu12": CUDNN},
        LOCKED,
        ["torch"],
        declared=["numpy<2"],
    )
    search = Search(Candidates(problem))
    assert next(search.combinations(), None) is None
    reasons = {str(f.version): f.reason for f in search.exclusions}
    assert "no code for compute capability 12.0" in reasons["2.7.1"]
    assert "nvidia-cudnn-cu12==9.5.1.17" in reasons["2.8.0"]
    assert "numpy>=2" in reasons["2.9.1"]
    assert "numpy<2" in reasons["2.9.1"]


def test_an_override_outside_the_stack_is_named_as_the_obstacle() -> None:
    torch = {
        "2.7.1": Made(),
        "2.8.0": Made(requires=["ml-dtypes>=0.5"], code=BLACKWELL),
    }
    problem = made_problem(
        {"torch": torch}, {"torch": "2.7.1"}, ["torch"], overrides={"ml-dtypes": "==0.4.1"}
    )
    search = Search(Candidates(problem))
    assert next(search.combinations(), None) is None
    assert any("override holds ml-dtypes==0.4.1" in f.reason for f in search.exclusions)


def test_strategy_newest_takes_the_newest_that_works() -> None:
    problem = made_problem({"torch": TORCH, "nvidia-cudnn-cu12": CUDNN}, LOCKED, ["torch"])
    found = next(Search(Candidates(problem), newest=True).combinations())
    assert found.chosen == {"torch": Version("2.9.1")}


def test_what_stays_is_judged_by_the_lock_where_facts_lack_its_wheel() -> None:
    made = {"torch": TORCH, "nvidia-cudnn-cu12": CUDNN, "ctranslate2": {"4.5.0": Made()}}
    problem = made_problem(
        made, {**LOCKED, "ctranslate2": "4.5.0"}, ["torch", "ctranslate2"], cards=["GB10"]
    )
    name = "ctranslate2-4.5.0-cp312-cp312-manylinux2014_aarch64.whl"
    file = LockedFile(filename=name, url=f"https://files.index.example/{name}")
    source = Source(SourceKind.REGISTRY, "https://index.example/simple")
    locked = LockedPackage(name="ctranslate2", version="4.5.0", source=source, wheels=(file,))
    (environment,) = problem.environments
    kept = environment.stack.pieces["ctranslate2"]
    pieces = {
        **environment.stack.pieces,
        "ctranslate2": replace(kept, wheel=None, locked=locked, file=file),
    }
    stack = replace(environment.stack, platform="linux_aarch64", pieces=pieces)
    problem = replace(problem, environments=(replace(environment, stack=stack),))
    assert Version("4.5.0") not in Candidates(problem).refused("ctranslate2")


PINS_UNRECORDED = {
    "2.7.1": Made(requires=["nvidia-cudnn-cu12==9.5.1.17"]),
    "2.8.0": Made(requires=["nvidia-cudnn-cu12==9.9.9.9"], code=BLACKWELL, cuda="12.8"),
}


def test_a_pinned_library_that_no_facts_are_kept_of_is_unknown_and_not_impossible() -> None:
    made = {"torch": PINS_UNRECORDED, "nvidia-cudnn-cu12": CUDNN}
    problem = made_problem(made, LOCKED, ["torch"])
    assert versions(first(problem)) == {"torch": "2.8.0", "nvidia-cudnn-cu12": "9.9.9.9"}


def test_what_drags_an_unknown_library_comes_after_what_is_known() -> None:
    torch = {**PINS_UNRECORDED, "2.9.1": TORCH["2.9.1"]}
    problem = made_problem({"torch": torch, "nvidia-cudnn-cu12": CUDNN}, LOCKED, ["torch"])
    found = list(Search(Candidates(problem)).combinations())
    assert [str(one.chosen["torch"]) for one in found] == ["2.9.1", "2.8.0"]
    assert found[1].cost.unknown == 1


def test_the_reason_names_who_needs_a_package_that_is_asked_for_without_limits() -> None:
    torch = {
        "2.7.1": Made(requires=["nvidia-cudnn-cu12==9.5.1.17"]),
        "2.8.0": Made(requires=["nvidia-nvshmem-cu12"], code=BLACKWELL),
    }
    made = {"torch": torch, "nvidia-cudnn-cu12": CUDNN, "nvidia-nvshmem-cu12": {"3.3.9": Made()}}
    problem = made_problem(made, LOCKED, ["torch"])
    search = Search(Candidates(problem))
    assert not list(search.combinations())
    assert any("torch 2.8.0 needs nvidia-nvshmem-cu12" in f.reason for f in search.exclusions)


def test_a_companion_that_nobody_read_comes_after_what_is_known() -> None:
    torch = {
        "2.7.1": Made(),
        "2.8.0": Made(code=BLACKWELL, cuda="12.8"),
        "2.9.1": Made(code=BLACKWELL, cuda="12.8"),
    }
    vision = {
        "0.22.0": Made(requires=["torch==2.7.1"], code=BLACKWELL),
        "0.23.0": Made(requires=None, code=BLACKWELL),
        "0.24.0": Made(requires=["torch==2.9.1"], code=BLACKWELL),
    }
    made = {"torch": torch, "torchvision": vision}
    problem = made_problem(
        made, {"torch": "2.7.1", "torchvision": "0.22.0"}, ["torch", "torchvision"]
    )
    found = list(Search(Candidates(problem)).combinations())
    assert [str(one.chosen["torch"]) for one in found] == ["2.9.1", "2.8.0"]
    assert found[1].cost.unknown == 1
