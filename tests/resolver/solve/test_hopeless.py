"""Versions that are in no solution are known as such, with the fault at the end of the chain."""

from __future__ import annotations

import time

from hypothesis import given, settings
from packaging.version import Version

from stackfix.solve.domain import Domain
from stackfix.solve.resolve import Solution, complete
from stackfix.solve.search import Search
from stackfix.solve.world import World
from tests.resolver.solve.made_world import Made, made_world
from tests.resolver.solve.test_cheapest import worlds

OLD, NEW = "sm_70 sm_80 sm_90", "sm_70 sm_80 sm_90 sm_100 sm_120"


def why(world: World, key: str, version: str) -> str | None:
    name = key.partition("[")[0]
    release = world.graph.release(name, version)
    return Domain(world).hopeless(key, Version(version), release)


def chain(end: str) -> World:
    """flashinfer needs the DSL, its extra needs a library, and that one runs on these cards."""
    made = {
        "flashinfer-python": {
            "1.0": Made(
                requires=["nvidia-cutlass-dsl>=1", 'nvidia-cutlass-dsl[cu13]>=1; extra == "cu13"'],
                code=NEW,
            )
        },
        "nvidia-cutlass-dsl": {
            v: Made(requires=[f'nvidia-cutlass-dsl-libs-cu13=={v}; extra == "cu13"'], code=NEW)
            for v in ("1.0", "1.1")
        },
        "nvidia-cutlass-dsl-libs-cu13": {"1.0": Made(code=end), "1.1": Made(code=end)},
    }
    return made_world(made, {"flashinfer-python": "1.0"}, ["flashinfer-python[cu13]"])


def test_the_reason_is_the_fault_at_the_end_of_the_chain() -> None:
    reason = why(chain(OLD), "flashinfer-python[cu13]", "1.0")
    assert reason is not None
    assert reason.startswith("nvidia-cutlass-dsl 1.")
    assert "needs nvidia-cutlass-dsl-libs-cu13==1." in reason
    assert "has no code for compute capability 12.0" in reason


def test_without_the_extra_nothing_is_in_the_way() -> None:
    assert why(chain(OLD), "flashinfer-python", "1.0") is None
    assert why(chain(NEW), "flashinfer-python[cu13]", "1.0") is None


def test_packages_that_need_each_other_are_not_hopeless() -> None:
    made = {
        "torchvision": {"1.0": Made(requires=["torchaudio"], code=NEW)},
        "torchaudio": {"1.0": Made(requires=["torchvision"], code=NEW)},
    }
    world = made_world(made, {"torchvision": "1.0", "torchaudio": "1.0"}, ["torchvision"])
    assert why(world, "torchvision", "1.0") is None


def test_an_override_counts_in_place_of_a_requirement() -> None:
    made = {
        "torch": {"2.0": Made(requires=["nvidia-cudnn-cu12==9.5"], code=NEW)},
        "nvidia-cudnn-cu12": {"9.5": Made(code=OLD), "9.8": Made(code=NEW)},
    }
    locked = {"torch": "2.0", "nvidia-cudnn-cu12": "9.8"}
    held = made_world(made, locked, ["torch"], overrides={"nvidia-cudnn-cu12": "==9.8"})
    assert why(held, "torch", "2.0") is None
    assert why(made_world(made, locked, ["torch"]), "torch", "2.0") is not None


def test_a_hundred_versions_of_two_packages_are_not_multiplied() -> None:
    """Each torch against each companion against each library would be a million steps."""
    versions = [f"1.{minor}" for minor in range(100)]
    made = {
        "torch": {v: Made(code=NEW) for v in versions},
        "flashinfer-python": {v: Made(requires=["nvidia-cutlass-dsl"], code=NEW) for v in versions},
        "nvidia-cutlass-dsl": {
            v: Made(requires=[f"nvidia-cutlass-dsl-libs-cu13=={v}"], code=NEW) for v in versions
        },
        "nvidia-cutlass-dsl-libs-cu13": {v: Made(code=OLD) for v in versions},
    }
    world = made_world(
        made, {"torch": "1.5", "flashinfer-python": "1.5"}, ["torch", "flashinfer-python"]
    )
    started = time.perf_counter()
    search = Search(world, Domain(world))
    assert not list(search.solutions())
    assert time.perf_counter() - started < 20
    reason = "nvidia-cutlass-dsl-libs-cu13"
    assert any(f.package == "torch" and reason in f.reason for f in search.failures)


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_what_is_hopeless_is_in_no_solution(world: World) -> None:
    domain = Domain(world)
    for name in Search(world, domain).frameworks():
        for choice in domain.choices(name):
            if domain.hopeless(name, choice.version, choice.release) is not None:
                unpruned = Domain(world)
                unpruned.hopeless = lambda *_: None  # type: ignore[method-assign]
                result = complete(world, unpruned, {name: choice.version})
                assert not isinstance(result, Solution)
