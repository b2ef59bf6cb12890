"""Every project of a corpus, through all that this part does: `python -m tests.lockfiles.corpus`.

Reads the projects in the folder that STACKFIX_CORPUS names (see tests/corpus.py). Asks the real
index; writes in temporary copies only.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from packaging.version import Version

from stackfix_lockfiles.diff import diff, drift
from stackfix_lockfiles.edits import apply_edits, replace_requirement
from stackfix_lockfiles.environment import environment
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.packages import SourceKind
from stackfix_lockfiles.platforms import PLATFORMS
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.relock import IndexUnreachable, RelockRefused, relock
from stackfix_lockfiles.requirement import DeclaredRequirement
from stackfix_lockfiles.uv import Finished, Uv
from tests.corpus import projects
from tests.lockfiles import uv_oracle
from tests.registry.locked import stand_ins
from tests.registry.real import real_index, restore

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
STEPS = ("read", "environments", "relock", "move", "diff")
TRIES = 3
"""Requirements of a project that are tried in turn until one can move."""


@dataclass
class Row:
    """One project's results: a short text for each step, and why a step was refused."""

    name: str
    results: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        cells = [self.results.get(step, "–") for step in STEPS]
        return "| " + " | ".join([self.name, *cells]) + " |"


def examine(folder: Path) -> Row:
    """Run every step on a project that may be written to."""
    row = Row(folder.name)
    project: Project | None = None
    try:
        project = Project.find(folder)
    except InputError as error:
        row.reasons.append(f"project: {error}")
    begun = time.perf_counter()
    lock = Lock.read(folder / "uv.lock")
    row.results["read"] = f"{len(lock.packages)} packages, {_since(begun)}"
    row.results["environments"] = _environments(lock, project, row)
    if project is None:
        return row
    same = _relocked(row, "relock", project, {}, {})
    if same is not None:
        row.results["diff"] = _difference(lock, same)
        _move(row, project, same)
    return row


def _environments(lock: Lock, project: Project | None, row: Row) -> str:
    walked, refused, seconds = 0, set(), 0.0
    for python in PYTHONS:
        for platform in PLATFORMS.values():
            for choice in uv_oracle.choices(lock, project):
                begun = time.perf_counter()
                try:
                    environment(lock, platform=platform, python=python, **choice.ours)  # type: ignore[arg-type]
                except InputError as error:
                    refused.add(str(error))
                    continue
                seconds += time.perf_counter() - begun
                walked += 1
    row.reasons += [f"environment: {reason}" for reason in sorted(refused)]
    each = f", {1000 * seconds / walked:.1f} ms each" if walked else ""
    return f"{walked}{each}" + (f", {len(refused)} kinds refused" if refused else "")


def _relocked(
    row: Row,
    step: str,
    project: Project,
    files: dict[Path, bytes],
    pins: dict[str, str],
) -> Lock | None:
    begun = time.perf_counter()
    try:
        with _uv_clock() as seconds:
            made = relock(project, files, pins=pins)
    except (RelockRefused, IndexUnreachable, InputError) as error:
        itself = _plain_uv(project, files, pins)
        row.results[step] = f"refused, {_since(begun)}" + (", as by uv" if itself else "")
        row.reasons.append(f"{step} {pins or ''}: {error}")
        return None
    noted = f", {len(made.warnings)} warning(s)" if made.warnings else ""
    own = time.perf_counter() - begun - sum(seconds)
    row.results[step] = f"ok, {_since(begun)}, {own:.2f} s of it not uv's{noted}"
    row.reasons += [f"{step}, warning: {warning}" for warning in made.warnings]
    return Lock.parse(made.lock, name="the new uv.lock")


@contextmanager
def _uv_clock() -> Iterator[list[float]]:
    """Seconds of each call of uv."""
    seconds: list[float] = []
    real = Uv.run

    def run(self: Uv, *arguments: Any, **options: Any) -> Finished:
        begun = time.perf_counter()
        try:
            return real(self, *arguments, **options)
        finally:
            seconds.append(time.perf_counter() - begun)

    with mock.patch.object(Uv, "run", run):
        yield seconds


def _plain_uv(project: Project, files: Mapping[Path, bytes], pins: Mapping[str, str]) -> bool:
    """Whether uv by itself, in a copy and without a Python to build with, refuses too."""
    with tempfile.TemporaryDirectory() as scratch:
        copied = Path(scratch) / project.root.name
        shutil.copytree(project.root, copied)
        for path, data in files.items():
            (copied / path).write_bytes(data)
        upgrades = [f"--upgrade-package={name}=={version}" for name, version in pins.items()]
        settings = {"PYTHONHOME": "/nowhere", "UV_PYTHON_DOWNLOADS": "never"}
        done = Uv.find().run(["lock", *upgrades], cwd=copied, settings=settings)
        return done.returncode != 0


def _move(row: Row, project: Project, same: Lock) -> None:
    """Move one requirement of the project to the release before the locked one."""
    for _, (declared, version) in zip(range(TRIES), _movable(project, same), strict=False):
        edit = replace_requirement(declared, f"=={version}", why="one step down")
        files = dict(apply_edits(project, [edit]))
        made = _relocked(row, "move", project, files, {declared.name: str(version)})
        if made is None:
            continue
        row.results["move"] += f", {declared.name} to {version}"
        if {p.version for p in made.named(declared.name)} != {str(version)}:
            row.reasons.append(f"move: {[str(p) for p in made.named(declared.name)]}")
        row.results["diff"] += f"; of the move: {_difference(same, made)}"
        return


def _movable(project: Project, lock: Lock) -> Iterator[tuple[DeclaredRequirement, Version]]:
    for declared in project.requirements:
        locked = lock.named(declared.name)
        once = len(locked) == 1 and locked[0].source.kind is SourceKind.REGISTRY
        if not once or declared.requirement.url or declared.requirement.extras:
            continue
        if len(list(project.declarations_of(declared.name))) > 1 or not locked[0].wheels:
            continue
        version = _before(str(locked[0].source.index), declared.name, str(locked[0].version))
        if version is not None:
            yield declared, version


def _before(index: str, name: str, locked: str) -> Version | None:
    """The newest release with a wheel before the locked one."""
    import httpx
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    try:
        page = httpx.get(f"{index.rstrip('/')}/{name}/", headers=accept, follow_redirects=True)
        files = page.raise_for_status().json()["files"]
    except (httpx.HTTPError, ValueError, KeyError):
        return None
    found = set()
    for file in files:
        try:
            version = parse_wheel_filename(file["filename"])[1]
        except InvalidWheelFilename:
            continue
        if not version.is_prerelease and not file.get("yanked") and version < Version(locked):
            found.add(version)
    return max(found, default=None)


def _difference(old: Lock, new: Lock) -> str:
    drifted = drift(old, new)
    kinds = sorted({str(one.kind) for one in drifted})
    return f"{len(diff(old, new))} changes, drift {len(drifted)} ({', '.join(kinds)})"


def _since(begun: float) -> str:
    return f"{time.perf_counter() - begun:.2f} s"


def main(names: list[str]) -> None:
    say("| project | " + " | ".join(STEPS) + " |")
    say("|---" * (len(STEPS) + 1) + "|")
    reasons = []
    with tempfile.TemporaryDirectory() as cache:  # stand-ins may have had other packages' addresses
        os.environ["UV_CACHE_DIR"] = cache
        for row, shown in _rows(names):
            say(str(row))
            reasons += [f"{row.name}: {reason}" for reason in shown]
    say("\n" + "\n".join(sorted(reasons)))


def _rows(names: list[str]) -> Iterator[tuple[Row, list[str]]]:
    simple, files = real_index()
    for project in projects():
        if names and project.name not in names:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / project.name
            uv_oracle.copy(project, folder)
            restore(folder, simple, files)
            with stand_ins(folder, simple) as replaced:
                row = examine(folder)
            row.reasons += [f"{registry}: served as the lock has it" for registry in replaced]
            yield row, [reason.replace(scratch, "…") for reason in row.reasons]


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
