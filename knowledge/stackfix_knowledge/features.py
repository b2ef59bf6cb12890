"""Libraries of optional features, which frameworks do without: `facts/features.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from stackfix_knowledge.capability import ComputeCapability
from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.reader import read_facts

__all__ = ["Feature", "feature_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A feature that is used only where someone asks for it, and the library that serves it."""

    library: str
    """How the name of its file starts, such as ``libcusparseLt``; with a slash, its path."""
    name: str
    """What it does, for a report."""
    floor: ComputeCapability
    """The first card that has the feature."""
    evidence: tuple[Evidence, ...]


@cache
def feature_of(library: str) -> Feature | None:
    """The feature that a library serves, by its path in the wheel; None for most libraries."""
    file = library.rpartition("/")[2]
    for feature in _features():
        if (library if "/" in feature.library else file).startswith(feature.library):
            return feature
    return None


@cache
def _features() -> tuple[Feature, ...]:
    table = read_facts("features.toml")
    table.only("sources", "feature")
    sources = table.sources()
    features = []
    for entry in table.entries("feature"):
        entry.only("library", "name", "floor", "source")
        features.append(
            Feature(
                library=entry.text("library"),
                name=entry.text("name"),
                floor=entry.capability("floor"),
                evidence=entry.evidence(sources),
            )
        )
    return tuple(features)
