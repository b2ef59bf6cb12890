"""From findings, one for each target, to hits: one for each fault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from stackfix.audit.judging import Found
from stackfix.audit.locations import Locations
from stackfix.gate.result import Hit
from stackfix.model.finding import Severity
from stackfix.model.target import Target

__all__ = ["hits_of", "without_locations"]

_RANK = {severity: place for place, severity in enumerate(Severity)}


def hits_of(
    found: Iterable[Found], names: Mapping[Target, str], locations: Locations | None = None
) -> tuple[Hit, ...]:
    """Merge what is said of several targets in the same words; `locations` tell lines of files.

    Worst first, and within a rule what is nearest to the project, which the rest follows.
    """
    merged: dict[tuple[str, ...], list[Found]] = {}
    for one in found:
        finding = one.finding
        key = (
            finding.code, finding.severity, finding.package, finding.version, finding.message
        )  # fmt: skip
        merged.setdefault(key, []).append(one)
    hits = [_hit(same, names, locations) for same in merged.values()]
    return tuple(
        sorted(
            hits,
            key=lambda hit: (_RANK[hit.severity], hit.code, len(hit.via), hit.package, hit.version),
        )
    )


def _hit(same: list[Found], names: Mapping[Target, str], locations: Locations | None) -> Hit:
    first, place = same[0].finding, same[0].place
    targets = dict.fromkeys(
        names[one.finding.target] for one in same if one.finding.target is not None
    )
    via: tuple[str, ...] = ()
    if place is not None and first.package in place.environment.packages:
        via = place.environment.chain(first.package)
    return Hit(
        code=first.code,
        severity=first.severity,
        package=first.package,
        version=first.version,
        message=first.message,
        targets=tuple(targets),
        everywhere=len(targets) == len(names),
        evidence=tuple(dict.fromkeys(e for one in same for e in one.finding.evidence)),
        fix=first.fix,
        via=via if len(via) > 1 else (),
        only=place.label if place is not None else "",
        lock=locations.lock(first.package, first.version) if locations else None,
        declared=locations.declared(first.package, via[1:], override=first.code == "SF503")
        if locations
        else None,
    )


def without_locations(hit: Hit) -> Hit:
    """The hit of another state of the files, whose lines say nothing here."""
    return replace(hit, lock=None, declared=None)
