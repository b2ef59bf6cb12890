"""uv's own answer to what it would install, to hold ours against. Reaches no network."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement

from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.platforms import Platform
from stackfix_lockfiles.project import Project

UNINSTALLABLE = re.compile(r"Distribution `([^`=]+)[=` @]")
INCOMPATIBLE = ("incompatible with the declared conflicts", "conflict", "are incompatible")


@dataclass(frozen=True)
class Choice:
    """Arguments for uv, and the same choice as keyword arguments of `environment`."""

    arguments: tuple[str, ...]
    ours: dict[str, object] = field(hash=False)


@dataclass(frozen=True)
class Answer:
    """`packages`: name to version (None where uv does not say); or why uv refuses."""

    packages: dict[str, str | None] | None = None
    uninstallable: str | None = None
    refused: str | None = None


def choices(lock: Lock, project: Project | None) -> Iterator[Choice]:
    """Yield the defaults, each extra, each group (added, and alone), all of each."""
    default: object = project.default_groups if project else ("dev",)
    roots = (lock.root,) if lock.root else lock.members
    extras = sorted({extra for root in roots for extra in root.optional_dependencies})
    groups = sorted(
        {group for root in roots for group in root.dev_dependencies}
        | set(lock.manifest.dependency_groups)
    )
    with_default = {"default_groups": default}
    yield Choice((), with_default)
    yield Choice(("--no-default-groups",), {"groups": ()})
    for extra in extras:
        yield Choice(("--extra", extra), {"extras": (extra,), **with_default})
    for group in groups:
        yield Choice(("--no-default-groups", "--group", group), {"groups": (group,)})
        yield Choice(("--only-group", group), {"groups": (group,), "production": False})
    for first, second in itertools.pairwise(extras):
        both = ("--extra", first, "--extra", second)
        yield Choice(both, {"extras": (first, second), **with_default})
    if extras:
        yield Choice(("--all-extras",), {"all_extras": True, **with_default})
    if groups:
        yield Choice(("--all-groups",), {"all_groups": True})
    if len(lock.members) > 1:
        yield Choice(("--all-packages",), {"all_packages": True, **with_default})


def copy(project: Path, target: Path) -> None:
    """Copy a project's text files, writable."""
    shutil.copytree(project, target)
    for path in (target, *target.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def sync(folder: Path, platform: Platform, python: str, choice: Choice) -> Answer:
    """Ask `uv sync --dry-run`; `python` is an interpreter."""
    triple = platform.triple.replace("unknown-linux-gnu", "manylinux_2_39")
    out = _uv(
        folder,
        *("sync", "--frozen", "--dry-run", "--python-platform", triple, "--python", python),
        *choice.arguments,
    )
    if out.returncode:
        if found := UNINSTALLABLE.search(out.stderr):
            return Answer(uninstallable=found[1])
        return Answer(refused=out.stderr)
    packages: dict[str, str | None] = {}
    for line in out.stderr.splitlines():
        if line.startswith(" + "):
            name, _, version = line[3:].split(" ")[0].partition("==")
            packages[name] = version or None
    return Answer(packages=packages)


def export(folder: Path, platform: Platform, python: str, choice: Choice) -> Answer:
    """Ask `uv export` and evaluate the markers it writes; `python` is a full version."""
    out = _uv(
        folder,
        *("export", "--frozen", "--no-hashes", "--no-annotate", "--no-header"),
        *("--no-emit-local", *choice.arguments),
    )
    if out.returncode:
        return Answer(refused=out.stderr)
    values = {**platform.markers(python), "extra": ""}
    packages: dict[str, str | None] = {}
    for line in out.stdout.splitlines():
        if not line or line.startswith(("#", "-e")):
            continue
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(values):
            version = str(requirement.specifier).removeprefix("==") or None
            packages[requirement.name] = version
    return Answer(packages=packages)


def interpreters() -> dict[str, str]:
    """Return the interpreters named in STACKFIX_PYTHONS (separated by `:`) by minor version."""
    found = {".".join(map(str, sys.version_info[:2])): sys.executable}
    for path in filter(None, os.environ.get("STACKFIX_PYTHONS", "").split(os.pathsep)):
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        out = subprocess.run([path, "-c", code], capture_output=True, text=True, check=True)
        found[out.stdout.strip()] = path
    return found


def project_at(folder: Path) -> Project | None:
    """Return the project; None where its pyproject.toml is broken, as one of the corpus is."""
    try:
        return Project.find(folder)
    except InputError:
        return None


def _uv(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    from uv import find_uv_bin

    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("UV_", "VIRTUAL_ENV", "CONDA"))
    }
    environment["UV_PYTHON_DOWNLOADS"] = "never"
    environment["MACOSX_DEPLOYMENT_TARGET"] = "26.0"  # uv assumes 13.0 otherwise
    return subprocess.run(
        [find_uv_bin(), "--offline", "--no-progress", "--color", "never", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
