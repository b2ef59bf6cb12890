"""A clash as a finding: who asks for what, on which line, and which wheel says otherwise."""

from __future__ import annotations

from stackfix.model.finding import Finding, Severity
from stackfix.plan.unlockable.clashes import Clash, Side
from stackfix.rules.sf506_clash import Clashing
from stackfix.solve.specifier import exact, written
from stackfix_lockfiles.requirement import DeclaredRequirement

__all__ = ["quoted", "refused", "told"]

_LISTED = 4


def told(clash: Clash, *, rivals: bool) -> Finding:
    """SF506 for a clash. `rivals`: it is between extras or groups that may exclude each other."""
    one, other = clash.sides
    message = f"{_said(one)}, but {_said(other, after=one)}"
    if other.also:
        admitted = written(other.root.requirement.specifier)
        message += f", and so does every {other.root.name} that {admitted} admits"
        listed = ", ".join(str(version) for version in other.also[-_LISTED:])
        message += f" ({listed})" if len(other.also) <= _LISTED else ""
    if rivals:
        message += "; uv locks all extras and groups together"
    return Finding(
        code=Clashing.code,
        severity=Severity.ERROR,
        package=clash.package,
        version=_version(clash),
        message=message,
        evidence=tuple(dict.fromkeys(e for side in clash.sides for e in side.evidence)),
        fix="if they are meant to exclude each other: tool.uv.conflicts" if rivals else None,
    )


def refused(package: str, asked: str, reason: str) -> Finding:
    """SF506 where no fact tells which wheel it is: in uv's words.

    `asked` is the version or range of the package that the project asks for.
    """
    return Finding(
        code=Clashing.code,
        severity=Severity.ERROR,
        package=package,
        version=asked,
        message=f"uv cannot lock the project: {quoted(reason)}",
    )


def quoted(reason: str) -> str:
    """uv's explanation on one line, without its headline."""
    return " ".join(reason.split()).removeprefix("No solution found when resolving dependencies ")


def _said(side: Side, after: Side | None = None) -> str:
    here = place(side.root, after.root if after else None)
    asked = f"{side.requirement.key}{written(side.requirement.specifier)}"
    if side.maker is None:
        return f"{here} asks for {asked}"
    if side.direct:
        return f"{side.maker.title} ({here}) requires {asked}"
    return f"{side.maker.title}, which {side.root.raw} ({here}) brings, requires {asked}"


def place(declared: DeclaredRequirement, beside: DeclaredRequirement | None = None) -> str:
    """ "pyproject.toml line 8, extra cu128"; without the file if that was just named."""
    known = beside is not None and beside.file == declared.file
    where = f"line {declared.line}" if known else f"{declared.file} line {declared.line}"
    if declared.extra is not None:
        return f"{where}, extra {declared.extra}"
    return f"{where}, group {declared.group}" if declared.group is not None else where


def _version(clash: Clash) -> str:
    """What the project itself asks of the package: a version, or a range; "" if it does not."""
    for side in clash.sides:
        if side.maker is None:
            version = exact(side.requirement.specifier)
            return str(version) if version else written(side.requirement.specifier)
    return ""
