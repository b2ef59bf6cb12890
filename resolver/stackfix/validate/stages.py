"""Which stages there are, in which order, and which of them can run here."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from stackfix.model.policy import Policy
from stackfix.model.target import Target
from stackfix.validate.kernels.cuda_libraries import LIBRARIES
from stackfix.validate.process import ProcessLimits
from stackfix.validate.python import KERNELS, EnvironmentPython
from stackfix.validate.static import inspection_argument
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.packages import Role

__all__ = ["Stage", "StageInputs", "stages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageInputs:
    """What the stages are chosen by."""

    python: EnvironmentPython
    locked: Mapping[str, str]
    """Version by name that each GPU package has to have: the lock's, else the installed one."""
    targets: tuple[Target, ...]
    cards: tuple[str, ...]
    """Names of the cards that a CUDA program started here would see."""
    why_no_card: str
    """Said where `cards` is empty."""
    graph: Graph
    knowledge: tuple[Path, ...]
    policy: Policy
    """Findings that the project accepts."""
    quick: bool
    memory: int
    """Bytes that a stage may take."""
    timeout: float | None = None
    """Seconds that every stage may take; None: each has its own limit."""

    def has(self, name: str) -> bool:
        return name in self.python.packages


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One row: a command to run, or why it is not run."""

    name: str
    title: str
    command: tuple[str, ...] = ()
    """Gets `--json FILE` or, for the static stage, `FILE` at its end."""
    limits: ProcessLimits
    skip: str | None = None
    env: tuple[tuple[str, str], ...] = ()


def stages(inputs: StageInputs) -> Iterator[Stage]:
    """All stages, the cheapest first."""
    yield _static(inputs)
    yield _versions(inputs)
    modules = _modules(inputs)
    yield from _imports(inputs, modules)
    yield _libraries(inputs, modules)
    yield from _on_cards(inputs)


def _static(inputs: StageInputs) -> Stage:
    skip = None
    if not inputs.targets:
        skip = "no card is named (--target) and none is in this machine"
    elif inputs.quick:
        skip = "left out by --quick"
    argument = inspection_argument(
        inputs.python.sites, inputs.targets, inputs.knowledge, inputs.policy
    )
    return Stage(
        name="code",
        title="GPU code in every binary",
        command=(sys.executable, "-P", "-m", "stackfix.validate.static", argument),
        limits=_limits(inputs, 900),
        skip=skip,
    )


def _versions(inputs: StageInputs) -> Stage:
    expected = _expected(inputs)
    return Stage(
        name="versions",
        title="versions that libraries tell",
        command=_kernel(inputs, "versions", *_places(inputs, expected)),
        limits=_limits(inputs, 120),
        skip=None if expected else "none of NVIDIA's libraries is installed as a package",
    )


def _imports(inputs: StageInputs, modules: Mapping[str, str]) -> Iterator[Stage]:
    if not modules:
        yield Stage(
            name="import",
            title="imports",
            limits=_limits(inputs, 1),
            skip="no framework is installed",
        )
    for package, module in modules.items():
        yield Stage(
            name=f"import-{package}",
            title=f"import {module}",
            command=_kernel(inputs, "imports", "--module", module),
            limits=_limits(inputs, 300),
        )


def _libraries(inputs: StageInputs, modules: Mapping[str, str]) -> Stage:
    frameworks = [
        module
        for package, module in modules.items()
        if (known := inputs.graph.packages.get(package)) and known.role is Role.FRAMEWORK
    ]
    named = [part for module in frameworks for part in ("--module", module)]
    return Stage(
        name="libraries",
        title="libraries that a process loads",
        command=_kernel(inputs, "libraries", *named, *_places(inputs, _expected(inputs))),
        limits=_limits(inputs, 300),
        skip=None if frameworks else "no framework is installed",
    )


def _on_cards(inputs: StageInputs) -> Iterator[Stage]:
    torch, jax = ("torch", "jax")
    for name, title, framework, seconds in (
        ("conv", "cuDNN convolutions (torch)", torch, 900),
        ("attention", "attention (torch)", torch, 600),
        ("nccl", "NCCL collectives and a checkpoint (torch)", torch, 1200),
        ("compiled", "torch.compile", torch, 600),
        ("jax_conv", "cuDNN convolutions (jax)", jax, 900),
        ("jax_collectives", "collectives (jax)", jax, 900),
    ):
        skip = None
        if not inputs.has(framework):
            skip = f"{framework} is not installed"
        elif framework == jax and not _jax_for_cards(inputs):
            skip = "jax is installed without its CUDA plugin"
        elif name == "compiled" and inputs.quick:
            skip = "left out by --quick"
        elif not inputs.cards:
            skip = inputs.why_no_card
        yield Stage(
            name=name.replace("_", "-"),
            title=title,
            command=_kernel(inputs, name, "--device", "cuda", *_waits(inputs, name)),
            limits=_limits(inputs, seconds),
            skip=skip,
            env=_ENV.get(name, ()),
        )


def _waits(inputs: StageInputs, name: str) -> tuple[str, ...]:
    """One collective gives up before the stage does, so that the report can tell which."""
    return ("--timeout", "45") if name == "nccl" and inputs.quick else ()


def _jax_for_cards(inputs: StageInputs) -> bool:
    """Whether jax has code for cards: in a plugin, or as older ones in jaxlib itself."""
    jaxlib = inputs.python.packages.get("jaxlib")
    inside = jaxlib is not None and "+cuda" in jaxlib.version
    return inside or any(name.startswith("jax-cuda") for name in inputs.python.packages)


_ENV = {
    "nccl": (("NCCL_DEBUG", "WARN"),),
    # Both kernels need megabytes; jax would otherwise take three quarters of the card.
    "jax_conv": (("XLA_PYTHON_CLIENT_PREALLOCATE", "false"),),
    "jax_collectives": (("XLA_PYTHON_CLIENT_PREALLOCATE", "false"), ("NCCL_DEBUG", "WARN")),
}
"""Set where the user's environment does not say otherwise."""


def _kernel(inputs: StageInputs, name: str, *arguments: str) -> tuple[str, ...]:
    quick = ("--quick",) if inputs.quick else ()
    return (str(inputs.python.executable), str(KERNELS / f"{name}.py"), *arguments, *quick)


def _limits(inputs: StageInputs, seconds: float) -> ProcessLimits:
    own = inputs.timeout or (min(seconds, 120) if inputs.quick else seconds)
    return ProcessLimits(seconds=own, memory=inputs.memory)


def _expected(inputs: StageInputs) -> dict[str, tuple[str, str]]:
    """What a library is provided by and which version: {"cudnn": ("nvidia-cudnn-cu12", "9.5.1")}.

    Where two packages provide one library (two CUDA majors), the check of loaded libraries is
    left without an expectation: both cannot be right, and SF302 says so.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for name, distribution in inputs.python.packages.items():
        package = inputs.graph.packages.get(name)
        if package is not None and package.provides in LIBRARIES:
            version = inputs.locked.get(name, distribution.version)
            found.setdefault(package.provides or "", []).append((name, version))
    return {thing: pairs[0] for thing, pairs in sorted(found.items()) if len(pairs) == 1}


def _places(inputs: StageInputs, expected: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    sites = tuple(part for site in inputs.python.sites for part in ("--site", str(site)))
    return (*sites, "--expect", json.dumps(expected))


def _modules(inputs: StageInputs) -> dict[str, str]:
    """Frameworks, and unless it has to be quick their companions, by what they are imported by."""
    found = {}
    for name, distribution in sorted(inputs.python.packages.items()):
        package = inputs.graph.packages.get(name)
        if package is None or distribution.module is None or package.role is Role.LIBRARY:
            continue
        if package.role is Role.COMPANION and (inputs.quick or package.plugin):
            continue
        found[name] = distribution.module
    return dict(sorted(found.items(), key=lambda item: _is_companion(inputs, item[0])))


def _is_companion(inputs: StageInputs, name: str) -> bool:
    package = inputs.graph.packages.get(name)
    return package is None or package.role is Role.COMPANION
