"""Made projects of every shape, and what uv itself would lock for them."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.uv import Uv
from tests.lockfiles.samples import write_project

HEAD = '[project]\nname = "root"\nversion = "1"\nrequires-python = ">=3.11"\n'
BUILD = '[build-system]\nrequires = []\nbuild-backend = "b"\nbackend-path = ["."]\n'
BACKEND = """\
from pathlib import Path

def get_requires_for_build_{kind}(config_settings=None):
    return []

def prepare_metadata_for_build_{kind}(directory, config_settings=None):
    folder = Path(directory, "{name}-3.dist-info")
    folder.mkdir()
    text = "Metadata-Version: 2.1\\nName: {name}\\nVersion: 3\\nRequires-Dist: six"
    (folder / "METADATA").write_text(text)
    return folder.name
"""
"""A build backend that says the package needs six."""


def wheel(name: str, version: str, *requires: str) -> tuple[str, bytes]:
    """File name and bytes of a wheel that holds only its METADATA."""
    buffer = io.BytesIO()
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"{info}/METADATA", metadata(name, version, *requires))
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return f"{name}-{version}-py3-none-any.whl", buffer.getvalue()


def metadata(name: str, version: str, *requires: str) -> str:
    """METADATA as it stands in a wheel."""
    lines = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{lines}"


def project(
    folder: Path, dependencies: str, rest: str = "", files: Mapping[str, str] | None = None
) -> Project:
    """A project `root` with these dependencies (TOML strings), further tables and files."""
    text = f"{HEAD}dependencies = [{dependencies}]\n{rest}"
    return Project.find(write_project(folder, {"pyproject.toml": text, **(files or {})}))


def locked(made: Project, *arguments: str) -> Project:
    """The project, locked by uv itself."""
    _uv(made.root, *arguments)
    return Project.find(made.root)


def by_uv(made: Project, *arguments: str, files: Mapping[Path, bytes] | None = None) -> bytes:
    """What uv itself locks in a copy of the project and of what lies beside it."""
    beside = made.root.parent
    copied = beside.with_name(f"{beside.name}-copy")
    shutil.rmtree(copied, ignore_errors=True)
    shutil.copytree(beside, copied, symlinks=True)
    for path, data in (files or {}).items():
        (copied / made.root.name / path).write_bytes(data)
    _uv(copied / made.root.name, *arguments)
    return (copied / made.root.name / "uv.lock").read_bytes()


def versions(lock: bytes, name: str) -> set[str | None]:
    """Every locked version of a package."""
    return {package.version for package in Lock.parse(lock).named(name)}


def _uv(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [Uv.find().path, "lock", *arguments],
        cwd=folder,
        env={**os.environ, "UV_PYTHON_DOWNLOADS": "never"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
