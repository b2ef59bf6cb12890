"""The Pythons of a uv that must run none: a stand-in for a missing one, and the user's `keyring`.

uv refuses to lock without an interpreter that `requires-python` admits, though a lock for all
platforms takes nothing from it but its version (tried with uv 0.13.9: same lock). Downloading one
is not stackfix's business. So where uv finds none, it gets a script that lets this process's own
Python answer uv's question and changes the version in the answer.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from stackfix_lockfiles.uv import in_one_line

__all__ = ["admitted", "ignores_pythonhome", "is_missing", "keyring_path", "stand_in"]

_MISSING = re.compile(
    r"No interpreter found|incompatible with the project's Python requirement"
    r"|Failed to inspect Python interpreter|Querying Python at"
    r"|No download found for request|Python downloads are"
)
_OTHERS = re.compile(r"(?:pypy|pp\d|graalpy|gp\d|pyodide)", re.IGNORECASE)
_SCRIPT = """\
import json, subprocess, sys
run = subprocess.run([sys.executable, *sys.argv[1:]], capture_output=True, text=True)
try:
    answer = json.loads(run.stdout)
    names = ("python_full_version", "implementation_version")
    answer["markers"].update(dict.fromkeys(names, {version!r}), python_version={minor!r})
except (ValueError, KeyError, AttributeError):
    sys.stderr.write(run.stderr)
    sys.exit(run.returncode or 1)
print(json.dumps(answer))
"""


def ignores_pythonhome(request: str | None) -> bool:
    """Whether a Python request asks for another implementation: those could run a build."""
    return request is not None and _OTHERS.match(request.strip()) is not None


def is_missing(stderr: str) -> bool:
    """Whether uv failed because it found no Python that suits the project."""
    return _MISSING.search(in_one_line(stderr)) is not None


def stand_in(folder: Path, version: Version) -> Path:
    """Write the stand-in for `version` into `folder` and return its path."""
    script = folder / "stand_in.py"
    minor = f"{version.major}.{version.minor}"
    script.write_text(_SCRIPT.format(version=str(version), minor=minor), "utf-8")
    python = folder / "python"
    command = shlex.join([sys.executable, "-I", str(script)])
    python.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
    python.chmod(0o755)
    return python


def admitted(requires_python: str | None, wished: str | None) -> Version | None:
    """A Python version that `requires-python` admits: `wished` if it does, else the lowest."""
    try:
        specifiers = SpecifierSet(requires_python or "")
    except InvalidSpecifier:
        return None
    for version in _versions(specifiers, wished):
        if specifiers.contains(version):
            return version
    return None


def _versions(specifiers: SpecifierSet, wished: str | None) -> Iterator[Version]:
    named = [wished or "", *(specifier.version for specifier in specifiers)]
    for text in named:
        try:
            version = Version(text.removesuffix(".*"))
        except InvalidVersion:
            continue
        micro = max(version.micro, 0)
        yield Version(f"{version.major}.{version.minor}.{micro}")
        yield Version(f"{version.major}.{version.minor}.{micro + 1}")
    for minor in range(8, 30):
        yield Version(f"3.{minor}.0")
        yield Version(f"3.{minor}.99")


def keyring_path(folder: Path) -> dict[str, str]:
    """A PATH with a `keyring` in front that runs the real one in the user's own environment.

    uv asks it for the credentials of private indexes where `keyring-provider` says so. Without a
    keyring on PATH there is nothing to change.
    """
    real = shutil.which("keyring")
    if real is None:
        return {}
    shims = folder / "bin"
    shims.mkdir(exist_ok=True)
    shim = shims / "keyring"
    lines = ["#!/bin/sh", "unset PYTHONHOME"]
    lines += [
        f"export {name}={shlex.quote(os.environ[name])}"
        for name in ("PYTHONHOME", "PYTHONPATH")
        if name in os.environ
    ]
    shim.write_text("\n".join([*lines, f'exec {shlex.quote(real)} "$@"', ""]), "utf-8")
    shim.chmod(0o755)
    return {"PATH": f"{shims}{os.pathsep}{os.environ.get('PATH', '')}"}
