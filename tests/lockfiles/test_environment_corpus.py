"""Every environment of the corpus, held against uv.

Runs where STACKFIX_CORPUS names a folder; see tests/corpus.py. `uv sync --dry-run` answers for each
interpreter in STACKFIX_PYTHONS (separated by `:`) beside the running one; `uv export` where uv
finds a wheel missing, or no interpreter is at hand.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from stackfix_lockfiles.environment import (
    Environment,
    UnsupportedPlatformError,
    environment,
    full_python_version,
)
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.packages import SourceKind
from stackfix_lockfiles.platforms import PLATFORMS, Platform
from tests.corpus import each, projects
from tests.lockfiles import uv_oracle
from tests.lockfiles.uv_oracle import Answer, Choice

MINORS = ("3.10", "3.11", "3.12", "3.13")

pytestmark = pytest.mark.slow(reason="uv answers for every environment of every project")


@each(projects())
def test_installs_what_uv_would(folder: Path, tmp_path: Path) -> None:
    copied = tmp_path / folder.name
    uv_oracle.copy(folder, copied)
    project = uv_oracle.project_at(copied)
    if project is None:
        pytest.skip("uv refuses the pyproject.toml too")
    lock = Lock.read(copied / "uv.lock")
    counts: Counter[str] = Counter()
    differing = []
    for python, interpreter in pythons(lock):
        for platform in PLATFORMS.values():
            for choice in uv_oracle.choices(lock, project):
                found = compare(copied, lock, platform, python, interpreter, choice, counts)
                if found:
                    differing.append((platform.name, python, choice.arguments, found))
    print(folder.name, dict(counts))  # noqa: T201 - shown with -rP: how much was compared
    assert not differing, differing[:3]
    assert counts


def pythons(lock: Lock) -> Iterator[tuple[str, str | None]]:
    """Yield full versions the lock admits, with the interpreter where there is one."""
    known = uv_oracle.interpreters()
    for minor in MINORS:
        path = known.get(minor)
        if path is not None:
            code = "import platform; print(platform.python_version())"
            out = subprocess.run([path, "-c", code], capture_output=True, text=True, check=True)
            full = out.stdout.strip()
            if SpecifierSet(lock.requires_python).contains(full):
                yield full, path
                continue
        try:
            yield full_python_version(lock, minor), None
        except InputError:
            continue


def compare(
    folder: Path,
    lock: Lock,
    platform: Platform,
    python: str,
    interpreter: str | None,
    choice: Choice,
    counts: Counter[str],
) -> Any:
    """Return what differs, nothing if all is the same."""
    ours: Environment | None = None
    refusal = ""
    try:
        ours = environment(lock, platform=platform, python=python, **choice.ours)  # type: ignore[arg-type]
    except UnsupportedPlatformError:
        if interpreter is None:
            return None  # `uv export` is for all platforms and refuses none
        refusal = "supported environments"
    except InputError as error:
        refusal = str(error)
    if interpreter is not None:
        answer = uv_oracle.sync(folder, platform, interpreter, choice)
        if answer.uninstallable is None:
            counts["sync"] += 1
            return difference(answer, ours, refusal, everything=True)
        counts["no wheel"] += 1
        missing = ours.packages.get(answer.uninstallable) if ours else None
        if missing is None or platform.wheel(missing, python) or missing.sdist:
            return f"uv finds no wheel of {answer.uninstallable}, we have {missing}"
    counts["export"] += 1
    answer = uv_oracle.export(folder, platform, python, choice)
    return difference(answer, ours, refusal, everything=False)


def difference(answer: Answer, ours: Environment | None, refusal: str, *, everything: bool) -> Any:
    if answer.packages is None or ours is None:
        agreed = answer.packages is None and ours is None
        return None if agreed else (answer.refused, refusal)
    mine = {
        name: package
        for name, package in ours.installed.items()
        if everything or not package.source.is_local
    }
    differing = {
        name: (mine.get(name), answer.packages.get(name))
        for name in mine.keys() | answer.packages.keys()
        if name not in mine
        or name not in answer.packages
        or (
            answer.packages[name] not in (None, mine[name].version)
            and mine[name].version is not None
        )
    }
    if everything:  # uv would install it, so each has something to install from
        differing |= {
            name: (package, "no wheel by our account")
            for name, package in mine.items()
            if package.source.kind is SourceKind.REGISTRY
            and package.sdist is None
            and ours.platform.wheel(package, ours.python) is None
        }
    return differing or ours.surplus or None
