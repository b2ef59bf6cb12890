"""An environment's Python: asked what is installed with it, and compared with the lock."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stackfix.validate.closure import CannotInstall, InstallRequest, environment_here
from stackfix.validate.process import ProcessLimits, run_limited
from stackfix.validate.result import Check, Outcome, StageResult, failure_in
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.environment import ConflictError, UnsupportedPlatformError
from stackfix_lockfiles.errors import InputError

__all__ = [
    "KERNELS",
    "Distribution",
    "EnvironmentPython",
    "ask_python",
    "compare_package",
    "compare_with_lock",
    "find_python",
    "locked_versions",
]

KERNELS = Path(__file__).parent / "kernels"
_LIMITS = ProcessLimits(seconds=60, memory=2 << 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """One installed package."""

    version: str
    module: str | None
    """What it is imported by; None: not clear."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentPython:
    """What an interpreter says of itself."""

    executable: Path
    version: str
    """ "3.11.7"."""
    sites: tuple[Path, ...]
    """The folders that packages are installed in, symbolic links resolved."""
    packages: Mapping[str, Distribution]
    """By normalised name."""


def find_python(path: Path) -> Path:
    """The interpreter that `path` names: itself, or the one of an environment's folder."""
    if path.is_dir():
        for place in ("bin/python", "bin/python3", "Scripts/python.exe"):
            if (path / place).exists():
                return (path / place).absolute()
        raise InputError(path, "expected a Python interpreter or the folder of an environment")
    if not path.exists():
        raise InputError(path, "expected a Python interpreter or the folder of an environment")
    # Not resolved: a virtual environment is known by the link in it.
    return path.absolute()


def ask_python(path: Path, *, env: Mapping[str, str] = os.environ) -> EnvironmentPython:
    """Run the interpreter and ask. Raises InputError where it gives no answer in a minute."""
    command = [str(path), str(KERNELS / "probe.py")]
    try:
        ran = run_limited(command, cwd=Path("/"), env=env, limits=_LIMITS)
    except OSError as error:
        raise InputError(path, f"expected a Python that runs ({error.strerror})") from None
    last = ran.log.strip().splitlines()[-1:] or [""]
    if ran.ending.exit_code != 0:
        if ran.ending.limit:
            raise InputError(path, f"expected a Python that answers within {_LIMITS.seconds:.0f} s")
        raise InputError(path, f"expected a Python 3.9 or newer that runs: {last[0][:300]}")
    try:
        return _parse(json.loads(last[0]), path)
    except (ValueError, KeyError, TypeError):
        raise InputError(path, "expected a Python that describes its packages") from None


def _parse(document: Mapping[str, object], path: Path) -> EnvironmentPython:
    sites, packages = document["sites"], document["packages"]
    version = document["python"]
    if not isinstance(sites, list) or not isinstance(packages, dict):
        raise TypeError
    if not isinstance(version, str) or not re.match(r"\d+\.\d+", version):
        raise ValueError(version)
    return EnvironmentPython(
        executable=path,
        version=version,
        sites=tuple(Path(str(site)) for site in sites),
        packages={
            str(name): Distribution(
                version=str(entry[0]), module=str(entry[1]) if entry[1] else None
            )
            for name, entry in packages.items()
        },
    )


def locked_versions(request: InstallRequest, python: EnvironmentPython) -> Mapping[str, str]:
    """The version that the lock has of each package that is chosen, or installed anyway.

    Without installed ones that were not chosen and that the lock has in several versions. Raises
    InputError for an extra or a group that the project lacks.
    """
    versions: dict[str, str] = {}
    for name in python.packages:
        found = {package.version for package in request.lock.named(name)}
        if len(found) == 1 and (version := found.pop()) is not None:
            versions[name] = version
    try:
        chosen = environment_here(request, python.version).installed
    except (CannotInstall, UnsupportedPlatformError, ConflictError):
        return versions
    except InputError as error:
        if error.place != "requires-python":
            raise
        return versions
    return versions | {
        name: package.version for name, package in chosen.items() if package.version is not None
    }


def compare_with_lock(
    locked: Mapping[str, str], python: EnvironmentPython, graph: Graph
) -> StageResult:
    """Whether the GPU packages of the lock are what is installed."""
    checks = tuple(
        compare_package(name, version, python)
        for name, version in sorted(locked.items())
        if graph.packages.get(name) is not None
    )
    outcome, reason = Outcome.PASSED, ""
    if failure := failure_in(checks):
        outcome, reason = Outcome.FAILED, failure
    elif not checks:
        outcome, reason = Outcome.SKIPPED, "the lock has no GPU package"
    return StageResult(
        name="lock",
        title="installed versions against the lock",
        outcome=outcome,
        reason=reason,
        checks=checks,
    )


def compare_package(name: str, wanted: str | None, python: EnvironmentPython) -> Check:
    """Whether one package is installed in the version that is wanted; None: in any."""
    found = python.packages.get(name)
    if found is None:
        detail = "it is not installed" + (f", the lock has {wanted}" if wanted else "")
        return Check(name=name, outcome=Outcome.FAILED, detail=detail)
    if wanted is not None and found.version != wanted:
        detail = f"{found.version} is installed, the lock has {wanted}"
        return Check(name=name, outcome=Outcome.FAILED, detail=detail)
    return Check(name=name, outcome=Outcome.PASSED, detail=found.version)
