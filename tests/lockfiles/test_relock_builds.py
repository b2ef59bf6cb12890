"""No build code runs while locking, wherever it stands."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.relock import RelockRefused, relock
from stackfix_lockfiles.uv import Uv
from stackfix_lockfiles.uv.python import keyring_path
from tests.registry.server import Index

BACKEND = """\
from pathlib import Path
Path({marker!r}).touch()

def get_requires_for_build_wheel(config_settings=None):
    return []

get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel

def prepare_metadata_for_build_wheel(directory, config_settings=None):
    folder = Path(directory) / "{name}-1.0.dist-info"
    folder.mkdir()
    text = "Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n{requires}"
    (folder / "METADATA").write_text(text)
    return folder.name

prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel
"""
BUILD = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@dataclass(frozen=True)
class Trap:
    """A project whose every build would leave a file."""

    root: Path
    marks: Path

    def marked(self) -> set[str]:
        return {path.name for path in self.marks.iterdir()}


def backend(marks: Path, name: str, requires: str = "") -> str:
    lines = f"Requires-Dist: {requires}\\n" if requires else ""
    return BACKEND.format(marker=str(marks / name), name=name, requires=lines)


def package(folder: Path, marks: Path, name: str, requires: str = "", extra: str = "") -> None:
    """A folder whose dependencies only its own build backend tells."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\nrequires-python = ">=3.11"\n'
        f'dynamic = ["version", "dependencies"]\n{BUILD}{extra}'
    )
    (folder / "backend.py").write_text(backend(marks, name, requires))


def sdist(marks: Path, name: str) -> bytes:
    files = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        "pyproject.toml": BUILD,
        "backend.py": backend(marks, name),
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-1.0/{path}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


@pytest.fixture
def trap(index: Index, tmp_path: Path) -> Trap:
    """Root, member, path dependency and sdist, all with code that marks when it runs."""
    marks = tmp_path / "marks"
    marks.mkdir()
    root = tmp_path / "work" / "root"
    index.add("snare-1.0.tar.gz", sdist(marks, "snare"))
    package(
        root,
        marks,
        "root",
        extra='[tool.uv.workspace]\nmembers = ["member"]\n'
        "[tool.uv.sources]\nmember = { workspace = true }\nbeside = { path = '../beside' }\n",
    )
    requires = "member\\nRequires-Dist: beside\\nRequires-Dist: snare\\nRequires-Dist: torch==2.7.1"
    (root / "backend.py").write_text(backend(marks, "root", requires))
    package(root / "member", marks, "member", "six")
    package(root / ".." / "beside", marks, "beside", "six")
    return Trap(root=root, marks=marks)


def test_bare_uv_runs_all_of_them(trap: Trap) -> None:
    """Without this the test below could not fail."""
    subprocess.run([Uv.find().path, "lock"], cwd=trap.root, check=True, capture_output=True)
    assert trap.marked() == {"root", "member", "beside", "snare"}


def test_relock_runs_none_of_them(trap: Trap) -> None:
    subprocess.run([Uv.find().path, "lock"], cwd=trap.root, check=True, capture_output=True)
    for mark in trap.marks.iterdir():
        mark.unlink()
    old = Lock.read(trap.root / "uv.lock")
    before = {path: path.read_bytes() for path in trap.root.parent.rglob("*") if path.is_file()}
    made = relock(Project.find(trap.root), {}, pins={"six": "1.17.0"})
    assert trap.marked() == set()
    assert before == {
        path: path.read_bytes() for path in trap.root.parent.rglob("*") if path.is_file()
    }
    new = Lock.parse(made.lock)
    assert {package.name for package in new.packages} == {package.name for package in old.packages}
    assert new.manifest == old.manifest
    for name in ("root", "member", "beside", "snare"):
        assert [p.raw for p in new.named(name)] == [p.raw for p in old.named(name)]


def test_the_result_passes_uvs_own_check(trap: Trap) -> None:
    subprocess.run([Uv.find().path, "lock"], cwd=trap.root, check=True, capture_output=True)
    made = relock(Project.find(trap.root), {}, pins={"six": "1.17.0"})
    (trap.root / "uv.lock").write_bytes(made.lock)
    done = subprocess.run([Uv.find().path, "lock", "--check"], cwd=trap.root, check=False)
    assert done.returncode == 0


def test_what_only_a_build_could_tell_is_refused_without_running_it(trap: Trap) -> None:
    """No lock: nothing recorded what the packages depend on."""
    (trap.root / "pyproject.toml").write_text(
        '[project]\nname = "root"\nversion = "1"\nrequires-python = ">=3.11"\n'
        'dependencies = ["snare"]\n'
    )
    with pytest.raises(RelockRefused, match=r"^snare==1\.0: .*only known by running its build"):
        relock(Project.find(trap.root), {}, pins={})
    assert trap.marked() == set()


def test_a_cached_build_environment_does_not_help_the_code_run(
    trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHOME", os.devnull)
    monkeypatch.setenv("PYTHONPATH", str(trap.root))
    monkeypatch.setenv("UV_NO_BUILD_ISOLATION", "1")
    (trap.root / "pyproject.toml").write_text(
        '[project]\nname = "root"\nversion = "1"\nrequires-python = ">=3.11"\n'
        'dependencies = ["snare"]\n'
    )
    with pytest.raises(RelockRefused):
        relock(Project.find(trap.root), {}, pins={})
    assert trap.marked() == set()


def test_the_users_keyring_still_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """uv asks it for the credentials of private indexes; it is a Python program too."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "keyring").write_text(f"#!{sys.executable}\nimport json, sys; print(sys.argv[1:])\n")
    (tools / "keyring").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    environment = {**keyring_path(tmp_path), "PYTHONHOME": "/nowhere"}
    run = subprocess.run(
        ["/bin/sh", "-c", "keyring get index me"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "['get', 'index', 'me']\n"
    monkeypatch.setenv("PATH", "/nowhere")
    assert keyring_path(tmp_path) == {}
