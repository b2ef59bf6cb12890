"""A scratch environment with a lock's packages, made by uv in a folder of its own."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from stackfix.validate.closure import (
    CannotInstall,
    Closure,
    DiskShort,
    InstallRequest,
    closure,
    environment_here,
)
from stackfix.validate.folders import VENV
from stackfix.validate.python import EnvironmentPython, ask_python, find_python
from stackfix.validate.sources import copy_sources
from stackfix.wording import count, listed, size
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.packages import SourceKind
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.scratch import scratch
from stackfix_lockfiles.scratch.known import STAND_IN
from stackfix_lockfiles.uv import Finished, TimedOut, Uv, environment

__all__ = [
    "Prepared",
    "announcement",
    "cached_packages",
    "install",
    "prepare",
    "require_disk_space",
]

_TIMEOUT = 3600.0
"""Seconds for uv: a stack of ten gigabytes over a slow line."""
_SPARE = 1 << 30
"""Bytes that stay free on a disk."""
_CACHED = re.compile(
    r"^DEBUG .*\brequirement already cached: ([A-Za-z0-9][A-Za-z0-9._-]*)(?:==|$)", re.M
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A folder with an empty environment and a copy of the project, and what will go in."""

    folder: Path
    root: Path
    """The copy of the project."""
    venv: Path
    uv: Uv
    settings: Mapping[str, str]
    """Variables for uv, over those of the user's set-up."""
    closure: Closure
    cached: frozenset[str]
    """Packages that uv's cache holds already: nothing of them is fetched."""


def prepare(request: InstallRequest, folder: Path, graph: Graph) -> Prepared:
    """Copy the project, make an empty environment, find out what goes in; nothing is fetched.

    Raises CannotInstall, DiskShort, InputError.
    """
    root, sources, settings = _copy(request, folder)
    venv = folder / VENV
    uv = Uv.find(_required(request.project))
    settings = {
        **settings,
        "UV_PROJECT_ENVIRONMENT": str(venv),
        "PYTHONNOUSERSITE": "1",
        "GIT_OPTIONAL_LOCKS": "0",  # a build may read a repository's history, and no more
    }
    if not (venv / "bin" / "python").exists():
        made = _run(uv, ["venv", "--quiet", str(venv)], root, settings)
        if made.returncode:
            raise CannotInstall(f"no environment: {_last(made)}", made.stderr)
    python = ask_python(find_python(venv), env=environment(settings))
    chosen = closure(
        environment_here(request, python.version), graph, everything=request.everything
    )
    if request.everything:
        settings |= _copy_for_build(request, sources)
    prepared = Prepared(
        folder=folder,
        root=root,
        venv=venv,
        uv=uv,
        settings=settings,
        closure=chosen,
        cached=_cached(uv, _sync(request, chosen), root, settings),
    )
    require_disk_space(
        chosen,
        folder=folder,
        cache=_cache_folder(uv, root, settings) or folder,
        linked=_links(request.project),
        cached=prepared.cached,
        installed=python.packages,
    )
    return prepared


def install(
    prepared: Prepared, request: InstallRequest, *, progress: Callable[[str], None] | None = None
) -> EnvironmentPython:
    """Install, and ask the environment what it has. Raises CannotInstall."""
    args = _sync(request, prepared.closure)
    done = _run(prepared.uv, args, prepared.root, prepared.settings, progress)
    if done.returncode:
        raise CannotInstall(f"uv could not install it: {_last(done)}", done.stderr)
    return ask_python(find_python(prepared.venv), env=environment(prepared.settings))


def announcement(closure: Closure, *, everything: bool, cached: Collection[str]) -> tuple[str, ...]:
    """What is going to happen, before it does: a line each."""
    number = len(closure.packages)
    here = sum(package.name in cached for package in closure.packages)
    which = "all" if here == number else f"{here:,} of them"
    lines = [
        count(number, "package")
        + (f", {which} in uv's cache" if here else "")
        + f": {size(closure.download(cached))} to fetch and about {size(closure.disk())} unpacked"
        + (f"; {closure.unsized} of unknown size" if closure.unsized else "")
    ]
    if closure.built and everything:
        lines.append(f"built from source, which runs their code: {listed(closure.built)}")
    elif closure.built:
        lines.append(
            f"left out, for they have no wheel (--all builds them): {listed(closure.built)}"
        )
    if closure.in_place:
        lines.append(
            "left out, for a build would write in folders named by an absolute path:"
            f" {listed(closure.in_place)}"
        )
    return tuple(lines)


def _sync(request: InstallRequest, chosen: Closure) -> list[str]:
    args = ["sync", "--frozen"]
    args += [f"--extra={extra}" for extra in request.extras]
    args += [f"--group={group}" for group in request.groups]
    args += ["--all-extras"] if request.all_extras else []
    args += [f"--no-install-package={name}" for name in chosen.left_out]
    args += [] if request.everything else ["--no-build"]
    return args + (["--offline"] if request.offline else [])


def _cached(uv: Uv, sync: list[str], root: Path, settings: Mapping[str, str]) -> frozenset[str]:
    return cached_packages(_run(uv, [*sync, "--dry-run", "--verbose"], root, settings).stderr)


def cached_packages(log: str) -> frozenset[str]:
    """The packages that uv has unpacked in its cache, from what `uv sync --dry-run -v` says.

    A uv that says it otherwise has none: then everything is counted.
    """
    return frozenset(_CACHED.findall(log))


def _cache_folder(uv: Uv, root: Path, settings: Mapping[str, str]) -> Path | None:
    found = _run(uv, ["cache", "dir"], root, settings).stdout.strip()
    return Path(found) if found else None


def _links(project: Project) -> bool:
    """Whether uv links files from its cache; a setting can make it copy them."""
    setting = os.environ.get("UV_LINK_MODE") or project.uv_config.table.get("link-mode")
    return setting != "copy"


def require_disk_space(
    closure: Closure,
    *,
    folder: Path,
    cache: Path,
    linked: bool,
    cached: Collection[str],
    installed: Collection[str],
) -> None:
    """Raise DiskShort where a disk has too little room for what is not there yet.

    `linked`: uv puts files of its cache into an environment by links, where both are on one disk.
    """
    if all(package.name in installed for package in closure.packages):
        return
    place = cache
    while not place.exists() and place != place.parent:
        place = place.parent
    one_disk = os.stat(place).st_dev == os.stat(folder).st_dev
    fetched = closure.disk(cached)
    copied = 0 if one_disk and linked else closure.disk(installed)
    needs = {folder: fetched + copied} if one_disk else {place: fetched, folder: copied}
    for where, needed in needs.items():
        _require(where, needed, closure)


def _require(place: Path, needed: int, closure: Closure) -> None:
    free = shutil.disk_usage(place).free
    if free < needed + _SPARE:
        raise DiskShort(
            f"{place}: {count(len(closure.packages), 'package')} need about {size(needed)} more,"
            f" {size(free)} are free and {size(_SPARE)} of them stay so: name another disk with"
            " XDG_CACHE_HOME and UV_CACHE_DIR"
        )


def _copy(
    request: InstallRequest, folder: Path
) -> tuple[Path, Mapping[Path, Path], Mapping[str, str]]:
    """A copy of what uv reads, so that it writes nothing in the project.

    Returns its root, the folders of local packages with their place in the copy, and variables.
    """
    place = folder / "project"
    shutil.rmtree(place, ignore_errors=True)
    with scratch(request.project, request.files, request.lock) as copy:
        shutil.copytree(copy.base, place, symlinks=True)
        root = place / copy.root.relative_to(copy.base)
        sources = {
            path: place / "tree" / path.relative_to(copy.origin)
            for path in (request.project.root, *_local_folders(request))
        }
        return root, sources, copy.environment


def _copy_for_build(request: InstallRequest, sources: Mapping[Path, Path]) -> dict[str, str]:
    """Copy the local packages' code; returns what builds need in their environment.

    The copy's pyproject files are static, with what a build would tell; a build gets the real ones,
    or a plan's.
    """
    for path, target in sources.items():
        relative = Path(os.path.relpath(path, request.project.root)) / "pyproject.toml"
        if Path(os.path.normpath(relative)) not in request.files:
            (target / "pyproject.toml").unlink(missing_ok=True)
    copy_sources(sources)
    unversioned = [package.name for package in request.lock.packages if package.version is None]
    # A version that comes from a repository above the folder cannot be had in the copy.
    return {
        f"SETUPTOOLS_SCM_PRETEND_VERSION_FOR_{re.sub(r'[-.]+', '_', name).upper()}": STAND_IN
        for name in unversioned
        if not any((target / ".git").exists() for target in sources.values())
    }


def _local_folders(request: InstallRequest) -> list[Path]:
    """The folders of the lock's local packages that lie where the copy has a place for them."""
    return [
        Path(os.path.normpath(request.project.root / package.source.value))
        for package in request.lock.packages
        if package.source.kind in (SourceKind.DIRECTORY, SourceKind.EDITABLE)
        and not package.source.value.startswith(("/", "file:"))
    ]


def _required(project: Project) -> str | None:
    value = project.uv_config.table.get("required-version")
    return value if isinstance(value, str) else None


def _run(
    uv: Uv,
    args: list[str],
    cwd: Path,
    settings: Mapping[str, str],
    progress: Callable[[str], None] | None = None,
) -> Finished:
    try:
        return uv.run(args, cwd=cwd, settings=settings, timeout=_TIMEOUT, progress=progress)
    except TimedOut as error:
        raise CannotInstall(str(error)) from None


def _last(finished: Finished) -> str:
    """uv's own words, on one line: what it says after `error:` or `×`."""
    lines = [line.strip() for line in finished.stderr.splitlines() if line.strip()]
    for position, line in enumerate(lines):
        if line.startswith(("error:", "×")):
            return " ".join(lines[position : position + 4])[:500]
    return (lines or [f"exit code {finished.returncode}"])[-1][:500]
