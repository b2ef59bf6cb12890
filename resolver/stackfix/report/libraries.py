"""The GPU code of libraries as documents, for inspected files and known releases alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stackfix.audit.binaries import Verdict, library_verdict, package_verdict

if TYPE_CHECKING:
    from packaging.version import Version

    from stackfix.model.target import Target
    from stackfix_knowledge.wheels.coverage import LibraryCoverage
    from stackfix_knowledge.wheels.release import WheelFact

__all__ = ["libraries_of", "library_document", "verdicts_of"]


def libraries_of(wheel: WheelFact, targets: Sequence[Target]) -> list[dict[str, Any]]:
    """The libraries of a wheel that hold GPU code, by name; empty where nobody measured."""
    if wheel.coverage is None:
        return []
    return [
        library_document(library, targets, wheel.coverage.toolkit)
        for library in wheel.coverage.libraries
    ]


def library_document(
    library: LibraryCoverage, targets: Sequence[Target], toolkit: Version | None
) -> dict[str, Any]:
    """One library: its containers by the images they hold, the most frequent first."""
    sets = sorted(library.containers.items(), key=lambda item: (-item[1], sorted(item[0])))
    return {
        "name": library.name,
        "containers": sum(library.containers.values()),
        "judged": sum(library.broad.values()),
        "optional": library.is_optional,
        "sets": [
            {"count": count, "images": [str(image) for image in sorted(images)]}
            for images, count in sets
        ],
        "verdicts": [
            _verdict(target, library_verdict(library, target.capability, toolkit))
            for target in targets
        ],
    }


def verdicts_of(wheel: WheelFact, targets: Sequence[Target]) -> list[dict[str, Any]]:
    """The verdicts on all of a wheel, one for each target."""
    return [_verdict(target, package_verdict(wheel, target.capability)) for target in targets]


def _verdict(target: Target, verdict: Verdict) -> dict[str, Any]:
    """`native`, `jit` and `none` count all containers; `judged` those that `state` rests on."""
    return {
        "target": target.label,
        "capability": str(target.capability),
        "state": verdict.state.value if verdict.state else None,
        "native": verdict.every.native,
        "jit": verdict.every.jit,
        "none": verdict.every.none,
        "judged": {
            "native": verdict.judged.native,
            "jit": verdict.judged.jit,
            "none": verdict.judged.none,
        },
    }
