"""A requirement of a lock as its package wrote it."""

from __future__ import annotations

from collections.abc import Collection

from stackfix_lockfiles.packages import LockedRequirement, SourceKind

__all__ = ["written"]


def written(requirement: LockedRequirement, sourced: Collection[str] = ()) -> str:
    """The PEP 508 text. Packages in `sourced` get their source from `tool.uv.sources` again."""
    source = requirement.source
    if source is None or source.is_local or requirement.name in sourced:
        return str(requirement)
    extras = f"[{','.join(requirement.extras)}]" if requirement.extras else ""
    marker = f" ; {requirement.marker}" if requirement.marker else ""
    return f"{requirement.name}{extras} @ {_reference(source.kind, source.value)}{marker}"


def _reference(kind: SourceKind, value: str) -> str:
    """A lock's source as a direct reference: `git+https://host/repo@rev#subdirectory=…`."""
    if kind is not SourceKind.GIT:
        return value
    address, _, query = value.partition("#")[0].partition("?")
    options = dict(part.partition("=")[::2] for part in query.split("&") if part)
    revision = options.get("rev") or options.get("tag") or options.get("branch")
    reference = f"git+{address}" + (f"@{revision}" if revision else "")
    folder = options.get("subdirectory")
    return reference + (f"#subdirectory={folder}" if folder else "")
