"""A scratch environment with a lock's packages, made by uv in a folder of its own."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stackfix.validate.closure import Closure, closure
from stackfix.validate.errors import CannotInstall
from stackfix.validate.folders import VENV
from stackfix.validate.order import Order, selected
from stackfix.validate.python import EnvironmentPython, ask_python, find_python
from stackfix.validate.room import cached_by, require_room
from stackfix.validate.sources import copy_sources
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.packages import SourceKind
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.scratch import scratch
from stackfix_lockfiles.scratch.known import STAND_IN
from stackfix_lockfiles.uv import Finished, TimedOut, Uv, environment

__all__ = ["Prepared", "install", "prepare"]

_TIMEOUT = 3600.0
"""Seconds for uv: a stack of ten gigabytes over a slow line."""


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


def prepare(order: Order, folder: Path, graph: Graph) -> Prepared:
    """Copy the project, make an empty environment, find out what goes in; nothing is fetched.

    Raises CannotInstall, DiskShort, InputError.
    """
    root, sources, settings = _copy(order, folder)
    venv = folder / VENV
    uv = Uv.find(_required(order.project))
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
    chosen = closure(selected(order, python.version), graph, everything=order.everything)
    if order.everything:
        settings |= _copy_for_build(order, sources)
    prepared = Prepared(
        folder=folder,
        root=root,
        venv=venv,
        uv=uv,
        settings=settings,
        closure=chosen,
        cached=_cached(uv, _sync(order, chosen), root, settings),
    )
    require_room(
        chosen,
        folder=folder,
        cache=_cache_folder(uv, root, settings) or folder,
        linked=_links(order.project),
        cached=prepared.cached,
        installed=python.packages,
    )
    return prepared


def _sync(order: Order, chosen: Closure) -> list[str]:
    args = ["sync", "--frozen"]
    args += [f"--extra={extra}" for extra in order.extras]
    args += [f"--group={group}" for group in order.groups]
    args += ["--all-extras"] if order.all_extras else []
    args += [f"--no-install-package={name}" for name in chosen.left_out]
    args += [] if order.everything else ["--no-build"]
    return args + (["--offline"] if order.offline else [])


def _cached(uv: Uv, sync: list[str], root: Path, settings: Mapping[str, str]) -> frozenset[str]:
    return cached_by(_run(uv, [*sync, "--dry-run", "--verbose"], root, settings).stderr)


def _cache_folder(uv: Uv, root: Path, settings: Mapping[str, str]) -> Path | None:
    found = _run(uv, ["cache", "dir"], root, settings).stdout.strip()
    return Path(found) if found else None


def _links(project: Project) -> bool:
    """Whether uv links files from its cache; a setting can make it copy them."""
    setting = os.environ.get("UV_LINK_MODE") or project.uv_config.table.get("link-mode")
    return setting != "copy"


def install(
    prepared: Prepared, order: Order, *, progress: Callable[[str], None] | None = None
) -> EnvironmentPython:
    """Install, and ask the environment what it has. Raises CannotInstall."""
    args = _sync(order, prepared.closure)
    done = _run(prepared.uv, args, prepared.root, prepared.settings, progress)
    if done.returncode:
        raise CannotInstall(f"uv could not install it: {_last(done)}", done.stderr)
    return ask_python(find_python(prepared.venv), env=environment(prepared.settings))


def _copy(order: Order, folder: Path) -> tuple[Path, Mapping[Path, Path], Mapping[str, str]]:
    """A copy of what uv reads, so that it writes nothing in the project.

    Returns its root, the folders of local packages with their place in the copy, and variables.
    """
    place = folder / "project"
    shutil.rmtree(place, ignore_errors=True)
    with scratch(order.project, order.files, order.lock) as copy:
        shutil.copytree(copy.base, place, symlinks=True)
        root = place / copy.root.relative_to(copy.base)
        sources = {
            path: place / "tree" / path.relative_to(copy.origin)
            for path in (order.project.root, *_local_folders(order))
        }
        return root, sources, copy.environment


def _copy_for_build(order: Order, sources: Mapping[Path, Path]) -> dict[str, str]:
    """Copy the local packages' code; returns what builds need in their environment.

    The copy's pyproject files are static, with what a build would tell; a build gets the real ones,
    or a plan's.
    """
    for path, target in sources.items():
        relative = Path(os.path.relpath(path, order.project.root)) / "pyproject.toml"
        if Path(os.path.normpath(relative)) not in order.files:
            (target / "pyproject.toml").unlink(missing_ok=True)
    copy_sources(sources)
    unversioned = [package.name for package in order.lock.packages if package.version is None]
    # A version that comes from a repository above the folder cannot be had in the copy.
    return {
        f"SETUPTOOLS_SCM_PRETEND_VERSION_FOR_{re.sub(r'[-.]+', '_', name).upper()}": STAND_IN
        for name in unversioned
        if not any((target / ".git").exists() for target in sources.values())
    }


def _local_folders(order: Order) -> list[Path]:
    """The folders of the lock's local packages that lie where the copy has a place for them."""
    return [
        Path(os.path.normpath(order.project.root / package.source.value))
        for package in order.lock.packages
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
