"""PyTorch's own indexes in plans of tests: the facts, with the local server in place of theirs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

from stackfix.model.policy import AcceptedFinding
from stackfix.plan.plan import Plan
from stackfix.plan.propose import propose
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.wheels.indexes import IndexTable
from stackfix_lockfiles.uv import Uv
from tests.registry.facts import FactsIndex
from tests.registry.server import Index
from tests.resolver.plan.planning import project_of, request_for

__all__ = ["conflicting", "locked", "mirrored", "on_index", "plan_on"]


STACK_ALONE = AcceptedFinding(
    code="SF502",
    reason="the index made of facts serves what packages ask of the stack alone",
)


@cache
def mirrored(index: Index) -> Graph:
    """The shipped facts, read once; PyTorch's indexes are those of a running test server."""
    return _Mirrored(index)


class _Mirrored(Graph):
    def __init__(self, index: Index) -> None:
        super().__init__()
        self._address = index.whl

    @cached_property
    def indexes(self) -> IndexTable:
        return IndexTable.load(self._address)


def on_index(name: str, *packages: str) -> str:
    """pyproject lines that take packages from one of PyTorch's indexes."""
    sources = "".join(f'{p} = {{ index = "pytorch-{name}" }}\n' for p in packages)
    return f"[tool.uv.sources]\n{sources}{_index(name)}"


def conflicting(*names: str, torch: str = "2.8.0") -> str:
    """pyproject lines with an extra for each index, which exclude each other."""
    extras = "".join(f'{name} = ["torch=={torch}", "torchaudio"]\n' for name in names)
    conflicts = ", ".join(f'{{ extra = "{name}" }}' for name in names)
    homes = ", ".join(f'{{ index = "pytorch-{name}", extra = "{name}" }}' for name in names)
    return (
        f"[project.optional-dependencies]\n{extras}[tool.uv]\nconflicts = [[{conflicts}]]\n"
        f"[tool.uv.sources]\ntorch = [{homes}]\ntorchaudio = [{homes}]\n"
        + "".join(_index(name) for name in names)
    )


def _index(name: str) -> str:
    return (
        f'[[tool.uv.index]]\nname = "pytorch-{name}"\n'
        f'url = "https://download.pytorch.org/whl/{name}"\nexplicit = true\n'
    )


def locked(index: Index, folder: Path, *dependencies: str, extra: str = "") -> Path:
    """A project that uv has locked from the local server."""
    if isinstance(index, FactsIndex):
        extra += f'[[tool.stackfix.ignore]]\ncode = "{STACK_ALONE.code}"\n'
        extra += f'reason = "{STACK_ALONE.reason}"\n'
    project = index.restore(project_of(folder, *dependencies, extra=extra))
    finished = Uv.find().run(["lock"], cwd=project, timeout=120)
    assert finished.returncode == 0, finished.stderr
    return project


def plan_on(index: Index, project: Path, *cards: str, **options: object) -> Plan:
    """The plan for these cards with the local server's indexes."""
    request = request_for(project, mirrored(index), *cards, **options)
    if isinstance(index, FactsIndex):
        accepted = (*request.policy.accepted, STACK_ALONE)
        request = replace(request, policy=replace(request.policy, accepted=accepted))
    return propose(request)
