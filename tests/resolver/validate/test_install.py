"""A scratch environment: made, filled, and refused where the disk is too small."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stackfix.cli.main import main
from stackfix.validate.closure import Closure, DiskShort
from stackfix.validate.install import announcement, cached_packages, require_disk_space
from stackfix_lockfiles.lock import Lock
from tests.resolver.validate.libraries import needs_compiler
from tests.resolver.validate.running import (
    CARD,
    broken,
    content,
    leftovers,
    outcomes,
    report,
    stage,
)
from tests.resolver.validate.stack import PYPROJECT, SmallStack, make_project
from tests.resolver.validate.test_closure import _LOCK

pytestmark = needs_compiler

# A backend that needs nothing from an index and writes beside itself, as setuptools does.
BACKEND = """\
import pathlib, zipfile
NAME = pathlib.Path("pyproject.toml").read_text().split('name = "')[1].split('"')[0]
def build_wheel(folder, settings=None, metadata=None):
    pathlib.Path("build-was-here").write_text("x")
    wheel = f"{NAME}-0.1.0-py3-none-any.whl"
    info = f"{NAME}-0.1.0.dist-info"
    with zipfile.ZipFile(pathlib.Path(folder) / wheel, "w") as file:
        file.writestr(f"{NAME}.py", pathlib.Path("code.py").read_text())
        told = ["Metadata-Version: 2.1", f"Name: {NAME}", "Version: 0.1.0", ""]
        file.writestr(f"{info}/METADATA", "\\n".join(told))
        told = ["Wheel-Version: 1.0", "Root-Is-Purelib: true", "Tag: py3-none-any", ""]
        file.writestr(f"{info}/WHEEL", "\\n".join(told))
        file.writestr(f"{info}/RECORD", "")
    return wheel
build_editable = build_wheel
"""
BUILT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
LIB = '[project]\nname = "lib"\nversion = "0.1.0"\nrequires-python = ">=3.11"\n'


@pytest.fixture
def workspace(small: SmallStack, tmp_path: Path) -> Path:
    """A project and a folder beside it, both of which a build makes into packages."""
    library = tmp_path / "lib"
    library.mkdir()
    (library / "pyproject.toml").write_text(LIB + BUILT)
    sources = '[tool.uv.sources]\nlib = { path = "../lib", editable = true }\n'
    text = PYPROJECT.replace('"leftpad"', '"leftpad", "lib"') + BUILT + sources
    project = tmp_path / "small"
    project.mkdir()
    for folder in (library, project):
        (folder / "backend.py").write_text(BACKEND)
        (folder / "code.py").write_text("x = 1\n")
    return make_project(project, text)


def site_of(document: dict[str, object]) -> Path:
    environment = document["environment"]
    assert isinstance(environment, dict)
    return next(Path(environment["kept"]).glob("venv/lib/python*/site-packages"))


def test_all_builds_the_projects_own_packages_from_a_copy(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(workspace) | content(tmp_path / "lib")
    arguments = ["--project", str(workspace), "--all", "--keep", "--quick"]
    document = report(capsys, *arguments)
    site = site_of(document)
    assert {path.name for path in site.glob("*.py")} >= {"small.py", "lib.py", "leftpad.py"}
    assert content(workspace) | content(tmp_path / "lib") == before


def test_all_says_what_it_builds_before_it_does(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", "--project", str(workspace), "--all", "--quick"]) == 0
    assert "built from source, which runs their code: lib, small" in capsys.readouterr().err


def test_a_build_that_fails_is_a_result(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "backend.py").write_text("raise SystemExit('no compiler here')\n")
    document = report(capsys, "--project", str(workspace), "--all", "--quick", code=1)
    assert "uv could not install it" in stage(document, "install")["reason"]
    assert "no compiler here" in stage(document, "install")["log"]


def test_without_all_nothing_of_the_project_runs(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (workspace, workspace.parent / "lib"):
        (folder / "backend.py").write_text("raise SystemExit\n")
    document = report(capsys, "--project", str(workspace), "--keep", "--quick")
    assert not (site_of(document) / "small.py").exists()


def test_what_uvs_cache_holds_is_not_fetched_again_and_not_counted(
    small: SmallStack, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", "--project", str(project), "--quick"]) == 0
    first = capsys.readouterr().err
    assert re.search(r"3 packages: [\d.]+ kB to fetch", first)
    small.index.asked.clear()
    assert main(["validate", "--project", str(project), "--quick"]) == 0
    assert "3 packages, all in uv's cache: 0 B to fetch" in capsys.readouterr().err
    assert not [path for path in small.index.asked if path.endswith(".whl")]


def test_a_stack_larger_than_the_disk_is_refused_before_anything_is_fetched(
    small: SmallStack, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lock says how large the wheels are; no disk has that much."""
    lock = project / "uv.lock"
    lock.write_text(re.sub(r"size = \d+", f"size = {10**18}", lock.read_text()))
    small.index.asked.clear()
    document = report(capsys, "--project", str(project), *CARD, code=1)
    reason = stage(document, "install")["reason"]
    assert "3 packages need about 6600000 TB more" in reason
    assert "XDG_CACHE_HOME" in reason
    assert not [path for path in small.index.asked if path.endswith(".whl")]
    assert leftovers(tmp_path) == []


def test_an_import_that_takes_too_much_memory_ends_at_the_limit(
    small: SmallStack,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("stackfix.validate.validate.allowed_memory", lambda: 300 << 20)
    code = "import time\nkept = [bytearray(b'x' * (16 << 20)) for _ in range(64)]\ntime.sleep(60)\n"
    project = broken(small, tmp_path, code)
    document = report(capsys, "--project", str(project), *CARD, code=1)
    failed = stage(document, "import-torch")
    assert failed["reason"].startswith("took more than the 300 MiB of memory that it may have")
    assert failed["ending"]["limit"] == "memory"
    assert outcomes(document)["versions"] == "passed"


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is needed")
def test_a_disk_that_fills_up_on_the_way_is_a_result(small: SmallStack, tmp_path: Path) -> None:
    """A disk of two megabytes, and a lock that does not tell how large its wheels are."""
    project = broken(small, tmp_path, f"# {'x' * (8 << 20)}\n")
    lock = project / "uv.lock"
    lock.write_text(re.sub(r", size = \d+", "", lock.read_text()))
    place = tmp_path / "full"
    place.mkdir()
    script = (
        f'mount -t tmpfs -o size=2m none "{place}" || exit 77\nXDG_CACHE_HOME="{place}" exec "$@"\n'
    )
    code = (
        "import stackfix.validate.install as room; room._SPARE = 0\n"
        "from stackfix.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"
    )
    confined = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh")
    command = ("validate", "--project", str(project), "--format", "json")
    done = subprocess.run(
        [*confined, sys.executable, "-c", code, *command],
        env={**os.environ, "UV_LINK_MODE": "copy"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("this machine lets nobody mount")
    assert done.returncode == 1, done.stderr
    (row,) = json.loads(done.stdout)["stages"]
    assert (row["name"], row["outcome"]) == ("install", "failed")
    assert "No space left on device" in row["log"] + row["reason"]


GB = 10**9
SPARE = 1 << 30


def a_closure(**sizes: int | None) -> Closure:
    packages = {package.name: package for package in Lock.parse(_LOCK.encode()).packages}
    return Closure(
        packages=tuple(packages[name] for name in sizes),
        left_out=(),
        built=(),
        in_place=(),
        sizes=sizes,
    )


BOTH = a_closure(torch=10 * GB, sympy=1 * GB)
"""Eleven gigabytes to fetch, 24.2 unpacked."""


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    def with_room(number: int) -> None:
        real = shutil.disk_usage("/")
        monkeypatch.setattr(shutil, "disk_usage", lambda place: real._replace(free=number))

    return with_room


def required(
    folder: Path,
    *,
    linked: bool = True,
    cached: tuple[str, ...] = (),
    installed: tuple[str, ...] = (),
) -> bool:
    """Whether there is room, on one disk."""
    try:
        require_disk_space(
            BOTH,
            folder=folder,
            cache=folder / "not there yet/cache",
            linked=linked,
            cached=cached,
            installed=installed,
        )
    except DiskShort:
        return False
    return True


def test_on_one_disk_all_is_there_once(tmp_path: Path, free: Callable[[int], None]) -> None:
    free(int(24.3 * GB) + SPARE)
    assert required(tmp_path)
    free(int(24.1 * GB) + SPARE)
    assert not required(tmp_path)


def test_what_uv_has_in_its_cache_takes_no_room(
    tmp_path: Path, free: Callable[[int], None]
) -> None:
    free(int(2.3 * GB) + SPARE)
    assert required(tmp_path, cached=("torch",))
    free(SPARE)
    assert required(tmp_path, cached=("torch", "sympy"))


def test_where_uv_copies_it_takes_room_twice(tmp_path: Path, free: Callable[[int], None]) -> None:
    free(30 * GB + SPARE)
    assert required(tmp_path)
    assert not required(tmp_path, linked=False)
    assert required(tmp_path, linked=False, cached=("torch", "sympy"))


def test_a_filled_environment_is_not_judged(tmp_path: Path, free: Callable[[int], None]) -> None:
    free(0)
    assert required(tmp_path, installed=("torch", "sympy"))
    assert not required(tmp_path, installed=("torch",))


def test_the_lines_tell_what_is_fetched_and_what_is_here() -> None:
    assert announcement(BOTH, everything=False, cached=()) == (
        "2 packages: 11 GB to fetch and about 24 GB unpacked",
    )
    assert announcement(BOTH, everything=False, cached=("torch",)) == (
        "2 packages, 1 of them in uv's cache: 1.0 GB to fetch and about 24 GB unpacked",
    )
    assert announcement(BOTH, everything=False, cached=("torch", "sympy")) == (
        "2 packages, all in uv's cache: 0 B to fetch and about 24 GB unpacked",
    )
    assert announcement(a_closure(torch=None), everything=False, cached=())[0].endswith(
        "; 1 of unknown size"
    )


@pytest.mark.parametrize(
    ("log", "names"),
    [
        (
            """\
DEBUG Registry requirement already cached: six==1.16.0
DEBUG Identified uncached distribution: idna==3.20
DEBUG Registry requirement already cached: nvidia-nccl-cu12==2.26.2
""",
            {"six", "nvidia-nccl-cu12"},
        ),
        (
            "DEBUG Path wheel requirement already cached: flash-attn==2.8.0 (from file:///x)\n",
            {"flash-attn"},
        ),
        ("Would install 3 packages\n + idna==3.20\n", set()),
        ("", set()),
    ],
)
def test_uv_says_what_its_cache_has(log: str, names: set[str]) -> None:
    assert cached_packages(log) == names
