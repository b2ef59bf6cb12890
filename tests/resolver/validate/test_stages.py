"""Which stages run, and why the others do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stackfix.model.policy import DEFAULT_POLICY
from stackfix.validate.python import Distribution, EnvironmentPython
from stackfix.validate.result import ON_CARDS
from stackfix.validate.stages import Stage, StageInputs, stages
from tests.resolver.making import graph, target

_PACKAGES = {
    "torch": Distribution(version="2.7.1", module="torch"),
    "torchvision": Distribution(version="0.22.1", module="torchvision"),
    "jax": Distribution(version="0.5.3", module="jax"),
    "jaxlib": Distribution(version="0.5.3", module="jaxlib"),
    "jax-cuda12-plugin": Distribution(version="0.5.3", module="jax_cuda12_plugin"),
    "nvidia-cudnn-cu12": Distribution(version="9.5.1.17", module=None),
    "requests": Distribution(version="2.0", module="requests"),
}
GROUND = StageInputs(
    python=EnvironmentPython(
        executable=Path("/venv/bin/python"),
        version="3.11.7",
        sites=(Path("/venv/lib/site-packages"),),
        packages=_PACKAGES,
    ),
    locked={"nvidia-cudnn-cu12": "9.8.0.87"},
    targets=(target("RTX 5090"),),
    cards=("NVIDIA GeForce RTX 5090",),
    why_no_card="",
    graph=graph(),
    knowledge=(),
    policy=DEFAULT_POLICY,
    quick=False,
    memory=1 << 30,
)


def found(ground: StageInputs) -> dict[str, Stage]:
    return {stage.name: stage for stage in stages(ground)}


def run(ground: StageInputs) -> list[str]:
    return [stage.name for stage in stages(ground) if stage.skip is None]


def without(ground: StageInputs, *names: str) -> StageInputs:
    packages = {name: one for name, one in _PACKAGES.items() if name not in names}
    return replace(ground, python=replace(ground.python, packages=packages))


def test_with_a_card_and_all_packages_everything_runs_cheapest_first() -> None:
    assert run(GROUND) == [
        "code",
        "versions",
        "import-jax",
        "import-torch",
        "import-torchvision",
        "libraries",
        "conv",
        "attention",
        "nccl",
        "compiled",
        "jax-conv",
        "jax-collectives",
    ]


def test_every_stage_on_cards_is_known_as_such() -> None:
    names = set(run(GROUND))
    assert names >= ON_CARDS
    nothing = replace(GROUND, cards=(), why_no_card="none here")
    assert {stage.name for stage in stages(nothing) if stage.skip == "none here"} == ON_CARDS


def test_without_targets_the_code_cannot_be_judged() -> None:
    stage = found(replace(GROUND, targets=()))["code"]
    assert stage.skip is not None
    assert "no card is named" in stage.skip


def test_quick_leaves_out_what_takes_long_and_says_so() -> None:
    quick = found(replace(GROUND, quick=True))
    assert quick["code"].skip == "left out by --quick"
    assert quick["compiled"].skip == "left out by --quick"
    assert "import-torchvision" not in quick
    assert "--quick" in quick["conv"].command
    assert quick["nccl"].limits.seconds <= 120


def test_jax_without_its_plugin_needs_no_card() -> None:
    stage = found(without(GROUND, "jax-cuda12-plugin"))["jax-conv"]
    assert stage.skip == "jax is installed without its CUDA plugin"


def test_the_locks_version_is_expected_not_the_installed_one() -> None:
    assert '"cudnn": ["nvidia-cudnn-cu12", "9.8.0.87"]' in found(GROUND)["versions"].command[-1]


def test_frameworks_are_imported_together_and_companions_alone() -> None:
    command = found(GROUND)["libraries"].command
    named = [command[n + 1] for n, part in enumerate(command) if part == "--module"]
    assert named == ["jax", "torch"]


def test_a_time_limit_of_ones_own_holds_for_every_stage() -> None:
    assert {stage.limits.seconds for stage in stages(replace(GROUND, timeout=7))} == {7}
