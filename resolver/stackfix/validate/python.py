"""An environment's Python: asked, in its own process, what is installed with it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stackfix.validate.process import Limits, run_limited
from stackfix_lockfiles.errors import InputError

__all__ = ["KERNELS", "Distribution", "EnvironmentPython", "ask_python", "find_python"]

KERNELS = Path(__file__).parent / "kernels"
_LIMITS = Limits(seconds=60, memory=2 << 30)


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
