"""A scratch environment with a lock's packages, made by uv in a folder of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stackfix.host.system import platform_name
from stackfix.report.wording import count, listed, size
from stackfix.validate.closure import Closure, closure
from stackfix.validate.errors import CannotInstall, DiskShort
from stackfix.validate.python import EnvironmentPython, ask_python, find_python
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.environment import environment
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.platforms import Platform
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.scratch import scratch
from stackfix_lockfiles.uv import Finished, TimedOut, Uv

__all__ = ["Order", "Prepared", "install", "name_of", "prepare", "told"]

_TIMEOUT = 3600.0
"""Seconds for uv: a stack of ten gigabytes over a slow line."""
_SPARE = 1 << 30
"""Bytes that stay free on a disk."""
_LEAKS = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be installed."""

    project: Project
    lock: Lock
    files: Mapping[Path, bytes]
    """A plan's new files, by path below the project's root; empty for the project as it is."""
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    all_extras: bool = False
    everything: bool = False
    """Also what the stack does not need; builds what has no wheel."""
    offline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A folder with an empty environment and a copy of the project, and what will go in."""

    folder: Path
    root: Path
    """The copy of the project."""
    venv: Path
    uv: Uv
    env: Mapping[str, str]
    closure: Closure


def name_of(order: Order) -> str:
    """The name of a kept folder: the same for the same lock and choice."""
    choice = (order.lock.digest, order.extras, order.groups, order.all_extras, order.everything)
    text = repr((str(order.project.root), *choice))
    return f"kept-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def prepare(order: Order, folder: Path, graph: Graph) -> Prepared:
    """Copy the project, make an empty environment, find out what goes in; nothing is fetched.

    Raises CannotInstall, DiskShort, InputError.
    """
    root, settings = _copy(order, folder)
    venv = folder / "venv"
    uv = Uv.find(_required(order.project))
    env = {k: v for k, v in os.environ.items() if k not in _LEAKS}
    env |= {"UV_PROJECT_ENVIRONMENT": str(venv), "PYTHONNOUSERSITE": "1", **settings}
    if not (venv / "bin" / "python").exists():
        made = _run(uv, ["venv", "--quiet", str(venv)], root, env)
        if made.returncode:
            raise CannotInstall(f"no environment: {_last(made)}", made.stderr)
    python = ask_python(find_python(venv), env=env)
    try:
        platform = Platform.parse(platform_name())
    except ValueError:
        raise CannotInstall(f"no lock can be installed on {platform_name()}") from None
    walked = environment(
        order.lock,
        platform=platform,
        python=python.version,
        extras=order.extras,
        groups=_groups(order),
        all_extras=order.all_extras,
        default_groups=order.project.default_groups,
    )
    chosen = closure(walked, graph, everything=order.everything)
    prepared = Prepared(folder=folder, root=root, venv=venv, uv=uv, env=env, closure=chosen)
    _require_room(prepared, python)
    return prepared


def install(
    prepared: Prepared, order: Order, *, progress: Callable[[str], None] | None = None
) -> EnvironmentPython:
    """Install, and ask the environment what it has. Raises CannotInstall."""
    args = ["sync", "--frozen", "--no-install-local", "--no-progress"]
    args += [f"--extra={extra}" for extra in order.extras]
    args += [f"--group={group}" for group in order.groups]
    args += ["--all-extras"] if order.all_extras else []
    args += [f"--no-install-package={name}" for name in prepared.closure.left_out]
    args += [] if order.everything else ["--no-build"]
    args += ["--offline"] if order.offline else []
    done = _run(prepared.uv, args, prepared.root, prepared.env, progress)
    if done.returncode:
        raise CannotInstall(f"uv could not install it: {_last(done)}", done.stderr)
    return ask_python(find_python(prepared.venv), env=prepared.env)


def _copy(order: Order, folder: Path) -> tuple[Path, Mapping[str, str]]:
    """A copy of what uv reads, so that it writes nothing in the project."""
    place = folder / "project"
    shutil.rmtree(place, ignore_errors=True)
    with scratch(order.project, order.files, order.lock) as copy:
        shutil.copytree(copy.base, place, symlinks=True)
        return place / copy.root.relative_to(copy.base), copy.environment


def _groups(order: Order) -> tuple[str, ...] | None:
    default = order.project.default_groups
    if not order.groups or default == "all":
        return None
    return (*default, *order.groups)


def _required(project: Project) -> str | None:
    value = project.uv_config.table.get("required-version")
    return value if isinstance(value, str) else None


def _run(
    uv: Uv,
    args: list[str],
    cwd: Path,
    env: Mapping[str, str],
    progress: Callable[[str], None] | None = None,
) -> Finished:
    try:
        return uv.run(args, cwd=cwd, env=env, timeout=_TIMEOUT, progress=progress)
    except TimedOut as error:
        raise CannotInstall(str(error)) from None


def _last(finished: Finished) -> str:
    """uv's own words, on one line: what it says after `error:` or `×`."""
    lines = [line.strip() for line in finished.stderr.splitlines() if line.strip()]
    for position, line in enumerate(lines):
        if line.startswith(("error:", "×")):
            return " ".join(lines[position : position + 4])[:500]
    return (lines or [f"exit code {finished.returncode}"])[-1][:500]


def _require_room(prepared: Prepared, python: EnvironmentPython) -> None:
    """Refuse before anything is fetched. An environment that is filled already is not judged."""
    have = {
        package.name for package in prepared.closure.packages if package.name in python.packages
    }
    if len(have) == len(prepared.closure.packages):
        return
    for place, needed in _needs(prepared).items():
        free = shutil.disk_usage(place).free
        if free < needed + _SPARE:
            packages = count(len(prepared.closure.packages), "package")
            raise DiskShort(
                f"{place}: {packages} need about {size(needed)}, {size(free)} are free and"
                f" {size(_SPARE)} of them stay so: name another disk with XDG_CACHE_HOME and"
                " UV_CACHE_DIR"
            )


def _needs(prepared: Prepared) -> dict[Path, int]:
    """Bytes by folder. On one disk uv links from its cache, and all is there once."""
    scratch_place = prepared.folder
    cache = _run(prepared.uv, ["cache", "dir"], prepared.root, prepared.env).stdout.strip()
    place = Path(cache) if cache else scratch_place
    while not place.exists() and place != place.parent:
        place = place.parent
    disk = prepared.closure.disk
    if os.stat(place).st_dev == os.stat(scratch_place).st_dev:
        return {scratch_place: disk}
    return {place: disk, scratch_place: disk}


def told(chosen: Closure, *, everything: bool) -> tuple[str, ...]:
    """What is going to happen, before it does: a line each."""
    lines = [
        f"{count(len(chosen.packages), 'package')}, up to {size(chosen.download)} to fetch and"
        f" about {size(chosen.disk)} on disk"
        + (f"; {chosen.unsized} of unknown size" if chosen.unsized else "")
    ]
    if chosen.built and everything:
        lines.append(f"built from source, which runs their code: {listed(chosen.built)}")
    elif chosen.built:
        lines.append(
            f"left out, for they have no wheel (--all builds them): {listed(chosen.built)}"
        )
    return tuple(lines)
