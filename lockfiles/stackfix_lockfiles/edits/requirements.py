"""Edits of requirements, constraints, overrides and conflicts, and applying any edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from stackfix_index.names import normalized
from stackfix_lockfiles.edits.edit import Edit, EditKind, toml_text
from stackfix_lockfiles.edits.specifier import is_url, respecified, respelled, specifier_of
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import ConflictItem
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.pyproject import TomlFile
from stackfix_lockfiles.requirement import DeclaredRequirement, parse_requirement

__all__ = [
    "add_conflict",
    "add_constraint",
    "add_override",
    "add_requirement",
    "apply_edits",
    "remove_override",
    "replace_requirement",
    "respell_requirement",
]

_CONSTRAINTS = ("tool", "uv", "constraint-dependencies")
_OVERRIDES = ("tool", "uv", "override-dependencies")
_CONFLICTS = ("tool", "uv", "conflicts")


def replace_requirement(declared: DeclaredRequirement, new: str, *, why: str = "") -> Edit:
    """Return the edit that gives a declared requirement another version specifier.

    Args:
        declared: of a `Project`.
        new: a specifier (`>=2.8,<2.10`), or a requirement of the same package and extras, of
            which the specifier is taken. Name spelling, extras and marker stay.
        why: the reason, for reports.

    Raises:
        InputError: the requirement is a URL, or `new` names something else.
    """

    def refused(expected: str) -> InputError:
        return InputError(declared.file, expected, place=declared.place, line=declared.line)

    if is_url(declared.raw):
        expected = f"expected a requirement with versions, found a URL: {declared.raw!r}"
        raise refused(expected)
    specifier: str | None = new
    try:
        SpecifierSet(new)
    except InvalidSpecifier:
        wanted = parse_requirement(new, declared.file, declared.place, declared.line)
        own = declared.requirement
        extras = {normalized(extra) for extra in wanted.extras}
        own_extras = {normalized(extra) for extra in own.extras}
        if normalized(wanted.name) != declared.name or (extras and extras != own_extras):
            expected = f"expected a version of {own.name}, found {new!r}"
            raise refused(expected) from None
        specifier = None
    try:
        text = respecified(declared.raw, specifier_of(new) if specifier is None else specifier)
    except ValueError as error:
        raise refused(str(error)) from None
    return _replacement(declared, text, why)


def respell_requirement(
    declared: DeclaredRequirement,
    *,
    name: str | None = None,
    extras: Mapping[str, str] | None = None,
    why: str = "",
) -> Edit:
    """Return the edit that gives a declared requirement another package name or other extras.

    Args:
        declared: of a `Project`.
        name: the other package, normalised; None keeps the name.
        extras: normalised extras and what takes the place of each.
        why: the reason, for reports.

    Raises:
        InputError: the requirement is a URL.
    """
    try:
        text = respelled(declared.raw, name, extras or {})
    except ValueError as error:
        raise InputError(
            declared.file, str(error), place=declared.place, line=declared.line
        ) from None
    return _replacement(declared, text, why)


def add_constraint(project: Project, requirement: str, *, why: str = "") -> Edit:
    """Return the edit that adds to `tool.uv.constraint-dependencies`, or replaces a constraint of
    the same package and marker. `why` becomes a comment beside a new one.

    Raises:
        InputError: it is no requirement.
    """
    return _add(project, project.constraints, _CONSTRAINTS, requirement, why)


def add_override(project: Project, requirement: str, *, why: str = "") -> Edit:
    """The same for `tool.uv.override-dependencies`."""
    return _add(project, project.overrides, _OVERRIDES, requirement, why)


def add_requirement(
    project: Project,
    requirement: str,
    *,
    package: str,
    extra: str | None = None,
    group: str | None = None,
    why: str = "",
) -> Edit:
    """Return the edit that adds to an extra or group of a member, with `why` as a comment.

    A constraint for one extra, `torch<2.11 ; extra == 'cu128'`, does not do: uv does not apply it
    to what other packages need (tried with uv 0.13.9).

    Args:
        project: the project.
        requirement: a PEP 508 requirement.
        package: the member's name; the root's file is edited if there is no such member.
        extra: the extra's name, in any spelling; or
        group: the group's.
        why: the reason.

    Raises:
        InputError: it is no requirement.
    """
    home = next((file for file in project.files if file.name == package), project.main)
    table = ("dependency-groups",) if extra is None else ("project", "optional-dependencies")
    wanted = normalized(extra or group or "")
    known = (name for name in home.table(*table) if normalized(name) == wanted)
    keys = (*table, next(known, str(wanted)))
    parse_requirement(requirement, home.path, ".".join(keys), None)
    return _addition(home.path, keys, requirement, why)


def _add(
    project: Project,
    present: Iterable[DeclaredRequirement],
    keys: tuple[str, ...],
    requirement: str,
    why: str,
) -> Edit:
    table = ".".join(keys)
    wanted = parse_requirement(requirement, project.main.path, table, None)
    name, marker = normalized(wanted.name), str(wanted.marker or "")
    for declared in present:
        if declared.name == name and str(declared.requirement.marker or "") == marker:
            if is_url(declared.raw) or is_url(requirement):
                return _replacement(declared, requirement, why)
            return replace_requirement(declared, requirement, why=why)
    return _addition(project.main.path, keys, requirement, why)


def _addition(file: Path, keys: tuple[str, ...], requirement: str, why: str) -> Edit:
    return Edit(
        kind=EditKind.REQUIREMENT,
        file=file,
        table=".".join(keys),
        keys=keys,
        line=None,
        old=None,
        new=requirement,
        why=why,
        comment=bool(why),
    )


def _replacement(declared: DeclaredRequirement, new: str | None, why: str) -> Edit:
    return Edit(
        kind=EditKind.REQUIREMENT,
        file=declared.file,
        table=declared.table,
        keys=declared.keys,
        line=declared.line,
        index=declared.index,
        old=declared.raw,
        new=new,
        why=why,
    )


def remove_override(project: Project, name: str, *, why: str = "") -> tuple[Edit, ...]:
    """Return the edits that remove every override of a package.

    Raises:
        InputError: there is none.
    """
    normal = normalized(name)
    found = [declared for declared in project.overrides if declared.name == normal]
    if not found:
        table = ".".join(_OVERRIDES)
        raise InputError(project.main.shown, f"expected an override of {name}", place=table)
    return tuple(_replacement(declared, None, why) for declared in found)


def add_conflict(project: Project, items: Iterable[ConflictItem], *, why: str = "") -> Edit:
    """Return the edit that declares extras and groups as excluding each other: uv then locks each
    of them on its own.

    The root's own need no package name; those of a member carry it.
    """
    tables = []
    for item in items:
        parts = {"package": item.package, "extra": item.extra, "group": item.group}
        if item.package == project.name:
            del parts["package"]
        tables.append({key: value for key, value in parts.items() if value is not None})
    return Edit(
        kind=EditKind.CONFLICT,
        file=project.main.path,
        table=".".join(_CONFLICTS),
        keys=_CONFLICTS,
        line=None,
        old=None,
        new=toml_text(tables),
        why=why,
    )


def apply_edits(project: Project, edits: Iterable[Edit]) -> Mapping[Path, bytes]:
    """Return the new bytes of each file that the edits change, by path relative to the root.

    The edits of one file are applied one after another. Nothing is written.

    Raises:
        InputError: a file no longer has what an edit replaces, or cannot be edited safely.
    """
    from stackfix_lockfiles.edits.apply import apply_to_text  # tomlkit: only where files are edited

    files: dict[Path, TomlFile] = {file.path: file for file in project.files}
    files[project.uv_config.file.path] = project.uv_config.file
    by_file: dict[Path, list[Edit]] = {}
    for edit in edits:
        if edit.file not in files:
            raise InputError(edit.file, "expected a file of this project")
        by_file.setdefault(edit.file, []).append(edit)
    return {
        path: apply_to_text(files[path].text, wanted, files[path].shown).encode("utf-8")
        for path, wanted in by_file.items()
    }
