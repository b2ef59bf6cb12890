"""The compatibility graph: facts, their evidence, queries and measuring. Knows no project.

A name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackfix_knowledge.errors import KnowledgeError
    from stackfix_knowledge.evidence import Evidence, EvidenceKind
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.hardware import Architecture, ComputeCapability, DriverVersion
    from stackfix_knowledge.inspect.inspection import Inspection, inspect_path
    from stackfix_knowledge.wheels.coverage import Coverage, Support
    from stackfix_knowledge.wheels.release import Release, WheelFact

    __version__: str

__all__ = [
    "Architecture",
    "ComputeCapability",
    "Coverage",
    "DriverVersion",
    "Evidence",
    "EvidenceKind",
    "Graph",
    "Inspection",
    "KnowledgeError",
    "Release",
    "Support",
    "WheelFact",
    "__version__",
    "inspect_path",
]

_HOMES = {
    "Architecture": "hardware",
    "ComputeCapability": "hardware",
    "Coverage": "wheels.coverage",
    "DriverVersion": "hardware",
    "Evidence": "evidence",
    "EvidenceKind": "evidence",
    "Graph": "graph",
    "Inspection": "inspect.inspection",
    "KnowledgeError": "errors",
    "Release": "wheels.release",
    "Support": "wheels.coverage",
    "WheelFact": "wheels.release",
    "inspect_path": "inspect.inspection",
}
"""The module of each name, below this package."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("stackfix")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
