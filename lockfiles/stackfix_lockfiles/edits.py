"""Edits of a project's files: made as data, shown to the user, applied to the text later.

tomlkit makes the change: comments, order, layout, quotes and line endings stay. Every change is
read back: if the result does not say exactly what was meant, or if replacing a requirement would
touch more than its string, nothing is returned.

Constraints, overrides, sources and the indexes that sources name go into the root's pyproject.toml
even beside a uv.toml, because uv reads them from there only (tried with uv 0.13.9); an index that
is asked for every package goes into the uv.toml, which hides those of `[tool.uv]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from stackfix_lockfiles._edit import Edit, EditKind
from stackfix_lockfiles._inline import inline
from stackfix_lockfiles._specifier import is_url, respecified, respelled, specifier_of
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.pyproject import Pyproject, TomlFile
from stackfix_lockfiles.requirement import DeclaredRequirement, parse_requirement
from stackfix_lockfiles.sources import indexes

__all__ = [
    "Edit",
    "EditKind",
    "add_constraint",
    "add_index",
    "add_override",
    "add_requirement",
    "add_source",
    "apply_edits",
    "remove_override",
    "replace_requirement",
    "respell_requirement",
]

_CONSTRAINTS = ("tool", "uv", "constraint-dependencies")
_OVERRIDES = ("tool", "uv", "override-dependencies")
_INDEXES = ("tool", "uv", "index")
_SOURCES = ("tool", "uv", "sources")


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
        extras = {str(canonicalize_name(extra)) for extra in wanted.extras}
        own_extras = {str(canonicalize_name(extra)) for extra in own.extras}
        if canonicalize_name(wanted.name) != declared.name or (extras and extras != own_extras):
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
    wanted = canonicalize_name(extra or group or "")
    known = (name for name in home.table(*table) if canonicalize_name(name) == wanted)
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
    name, marker = canonicalize_name(wanted.name), str(wanted.marker or "")
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
    normal = canonicalize_name(name)
    found = [declared for declared in project.overrides if declared.name == normal]
    if not found:
        table = ".".join(_OVERRIDES)
        raise InputError(project.main.shown, f"expected an override of {name}", place=table)
    return tuple(_replacement(declared, None, why) for declared in found)


def add_index(
    project: Project, name: str, url: str, *, explicit: bool = True, why: str = ""
) -> Edit:
    """Return the edit that adds a package index after those there are.

    Args:
        project: the project.
        name: what sources call it.
        url: its address.
        explicit: whether only packages with a source of that name come from it.
        why: the reason, for reports.

    Raises:
        InputError: another index has that name.
    """
    file: TomlFile = project.main
    keys: tuple[str, ...] = _INDEXES
    if not explicit and project.uv_config.is_uv_toml:
        file, keys = project.uv_config.file, _INDEXES[-1:]
    found = (index for index in indexes(file, *keys[:-1]) if index.name == name)
    if (present := next(found, None)) is not None:
        expected = f"expected a new name for an index, found {name!r}, which is {present.url}"
        raise InputError(present.file, expected, place=".".join(keys), line=present.line)
    table: dict[str, object] = {"name": name, "url": url}
    if explicit:
        table["explicit"] = True
    return Edit(
        kind=EditKind.INDEX,
        file=file.path,
        table=".".join(keys),
        keys=keys,
        line=None,
        old=None,
        new=inline(table),
        why=why,
        comment=bool(why),
    )


def add_source(
    project: Project,
    package: str,
    index: str,
    *,
    marker: str | None = None,
    extra: str | None = None,
    group: str | None = None,
    file: Path | None = None,
    why: str = "",
) -> Edit:
    """Return the edit that takes a package from the index of that name.

    With a marker, extra or group, the source of the same scope is replaced and others are kept
    beside it; without, it replaces every source of the package.

    Args:
        project: the project.
        package: its name.
        index: the name of an index.
        marker: where the source holds; None for everywhere.
        extra: the extra it holds for.
        group: the dependency group it holds for.
        file: the member's pyproject.toml, relative to the root; None for the root's, whose
            sources hold for all members without their own.
        why: the reason, for reports.
    """
    home = project.main if file is None else project.file(file)
    scope = {"marker": marker, "extra": extra, "group": group}
    table: dict[str, object] = {"index": index}
    table.update((key, value) for key, value in scope.items() if value is not None)
    wanted = inline(table)
    spelled = _spelling(home, package)
    line, old = _present_source(home, spelled, scope)
    return Edit(
        kind=EditKind.SOURCE,
        file=home.path,
        table=".".join(_SOURCES),
        keys=_SOURCES,
        line=line,
        old=old,
        new=wanted,
        why=why,
        package=spelled,
    )


def _spelling(file: Pyproject, package: str) -> str:
    normal = canonicalize_name(package)
    names = file.table(*_SOURCES)
    return next((name for name in names if canonicalize_name(name) == normal), package)


def _present_source(
    file: TomlFile, package: str, scope: Mapping[str, str | None]
) -> tuple[int | None, str | None]:
    """Return line and text of what a source with this scope replaces."""
    value = file.table(*_SOURCES).get(package)
    if value is None:
        return None, None
    path: tuple[str | int, ...] = (*_SOURCES, package)
    if any(scope.values()):
        entries = value if isinstance(value, list) else [value]
        same = [
            position
            for position, entry in enumerate(entries)
            if isinstance(entry, dict) and all(entry.get(key) == scope[key] for key in scope)
        ]
        if not same:
            return None, None
        if isinstance(value, list):
            path += (same[0],)
        value = entries[same[0]]
    try:
        return file.line(*path), inline(value)
    except ValueError:
        expected = f"expected strings in the source of {package}; edit it by hand"
        raise file.fault(path, expected) from None


def apply_edits(project: Project, edits: Iterable[Edit]) -> Mapping[Path, bytes]:
    """Return the new bytes of each file that the edits change, by path relative to the root.

    The edits of one file are applied one after another. Nothing is written.

    Raises:
        InputError: a file no longer has what an edit replaces, or cannot be edited safely.
    """
    from stackfix_lockfiles._apply import apply_to_text  # tomlkit: only where files are edited

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
