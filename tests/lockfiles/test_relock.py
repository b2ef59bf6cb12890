"""uv makes the lock; the project is not touched and no build code runs."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.relock import IndexUnreachable, RelockRefused, Unsolvable, relock
from stackfix_lockfiles.uv import Uv
from stackfix_lockfiles.uv.python import admitted
from tests.registry.server import Index

MOVE = (
    ("torch==2.7.1", "torch==2.8.0"),
    ("jax[cuda12]==0.5.3", "jax[cuda12]==0.6.2"),
)
PINS = {"torch": "2.8.0", "jax": "0.6.2", "jaxlib": "0.6.2"}


def write_project(folder: Path, body: str) -> Project:
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text(body)
    return Project.find(folder)


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def versions(lock: bytes, name: str) -> set[str | None]:
    return {package.version for package in Lock.parse(lock).named(name)}


def check(project: Path) -> subprocess.CompletedProcess[str]:
    """`uv lock --check`, the oracle. It may run build code, so never outside tests."""
    return subprocess.run(
        [Uv.find().path, "lock", "--check"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )


def moved(project: Path) -> dict[Path, bytes]:
    text = (project / "pyproject.toml").read_text()
    for old, new in MOVE:
        assert old in text
        text = text.replace(old, new)
    return {Path("pyproject.toml"): text.encode()}


def test_openpi_moves_torch_and_jax_together(openpi: Path) -> None:
    before = digests(openpi)
    old = Lock.read(openpi / "uv.lock")
    files = moved(openpi)
    made = relock(Project.find(openpi), files, pins=PINS)
    assert digests(openpi) == before
    assert versions(made.lock, "torch") == {"2.8.0"}
    assert versions(made.lock, "jax") == {"0.6.2"}
    assert versions(made.lock, "jaxlib") == {"0.6.2"}
    new = Lock.parse(made.lock)
    assert new.manifest == old.manifest
    assert [package.source for package in new.named("lerobot")] == [
        package.source for package in old.named("lerobot")
    ]
    assert versions(made.lock, "transformers") == {"4.53.2"}
    assert len(made.warnings) == 1
    assert "lerobot 0.1.0 (git)" in made.warnings[0]
    (openpi / "uv.lock").write_bytes(made.lock)
    for path, data in files.items():
        (openpi / path).write_bytes(data)
    assert check(openpi).returncode == 0


def test_no_sdist_is_asked_for(openpi: Path, index: Index) -> None:
    relock(Project.find(openpi), moved(openpi), pins=PINS)
    assert not [path for path in index.asked if path.endswith((".tar.gz", ".zip"))]


def test_a_project_without_a_lock_is_locked(index: Index, tmp_path: Path) -> None:
    project = write_project(
        tmp_path / "new",
        '[project]\nname = "new"\nversion = "0"\nrequires-python = ">=3.11"\n'
        'dependencies = ["torch==2.7.1"]\n',
    )
    made = relock(project, {}, pins={})
    assert versions(made.lock, "nvidia-cudnn-cu12") == {"9.5.1.17"}
    assert not project.lock_path.exists()
    assert not made.warnings


def test_what_is_not_pinned_stays(index: Index, tmp_path: Path) -> None:
    body = (
        '[project]\nname = "stays"\nversion = "0"\nrequires-python = ">=3.11"\n'
        'dependencies = ["torch", "numpy"]\n[tool.uv]\nconstraint-dependencies = [{}]\n'
    )
    old = write_project(tmp_path / "stays", body.format('"torch==2.7.1", "sympy==1.13.3"'))
    made = relock(old, {}, pins={})
    old.lock_path.write_bytes(made.lock)
    write_project(tmp_path / "stays", body.format(""))
    made = relock(Project.find(old.root), {}, pins={"torch": "2.8.0"})
    assert versions(made.lock, "torch") == {"2.8.0"}
    assert versions(made.lock, "sympy") == {"1.13.3"}


def test_a_conflict_is_told_in_uvs_words(index: Index, tmp_path: Path) -> None:
    project = write_project(
        tmp_path / "conflict",
        '[project]\nname = "conflict"\nversion = "0"\nrequires-python = ">=3.11"\n'
        'dependencies = ["torch==2.7.1", "nvidia-cudnn-cu12==9.8.0.87"]\n',
    )
    with pytest.raises(Unsolvable) as caught:
        relock(project, {}, pins={})
    reason = caught.value.reason
    assert reason.startswith("No solution found")
    assert "nvidia-cudnn-cu12==9.8.0.87" in reason
    assert "\x1b" not in reason
    assert "Using CPython" not in reason
    assert len(reason.splitlines()) <= 15


def test_a_dead_index_is_named_without_credentials(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://me:secret@127.0.0.1:9/simple")
    project = write_project(
        tmp_path / "dead",
        '[project]\nname = "dead"\nversion = "0"\nrequires-python = ">=3.11"\n'
        'dependencies = ["torch"]\n',
    )
    with pytest.raises(IndexUnreachable) as caught:
        relock(project, {}, pins={})
    assert caught.value.url == "http://127.0.0.1:9/simple/torch/"
    assert "secret" not in str(caught.value)


def test_offline_without_a_cache_says_so(index: Index, tmp_path: Path) -> None:
    project = write_project(
        tmp_path / "offline",
        '[project]\nname = "offline"\nversion = "0"\nrequires-python = ">=3.11"\n'
        'dependencies = ["torch"]\n',
    )
    with pytest.raises(RelockRefused, match="offline"):
        relock(project, {}, pins={}, offline=True)
    assert not index.asked


@pytest.mark.parametrize("requires", ["==3.10.*", ">=3.13.14,<3.14", ">=3.16"])
def test_no_python_of_that_version_need_be_installed(
    index: Index, tmp_path: Path, requires: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    project = write_project(
        tmp_path / "python",
        f'[project]\nname = "python"\nversion = "0"\nrequires-python = "{requires}"\n'
        'dependencies = ["typing-extensions"]\n',
    )
    made = relock(project, {}, pins={})
    assert versions(made.lock, "typing-extensions")


def test_a_stand_in_python_makes_the_same_lock(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        '[project]\nname = "same"\nversion = "0"\nrequires-python = ">=3.11"\n'
        'dependencies = ["torch==2.7.1", "jax[cuda12]==0.5.3"]\n'
    )
    real = relock(write_project(tmp_path / "same", body), {}, pins={})
    (tmp_path / "same" / ".python-version").write_text("3.29\n")
    stood_in = relock(Project.find(tmp_path / "same"), {}, pins={})
    assert stood_in.lock == real.lock


def test_a_python_that_could_run_builds_is_not_used(index: Index, tmp_path: Path) -> None:
    """PyPy and its like do not heed PYTHONHOME."""
    body = '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.11"\n'
    project = write_project(tmp_path / "pypy", body + 'dependencies = ["six"]\n')
    (tmp_path / "pypy" / ".python-version").write_text("pypy3.11\n")
    said: list[str] = []
    made = relock(Project.find(project.root), {}, pins={}, progress=said.append)
    assert versions(made.lock, "six")
    assert said[0].startswith("Using CPython 3.11")


@pytest.mark.parametrize(
    ("requires", "wished", "version"),
    [
        (">=3.11", None, "3.11.0"),
        (">=3.11", "3.12", "3.12.0"),
        (">=3.13.14,<3.14", "3.12", "3.13.14"),
        (">3.12.1", None, "3.12.2"),
        ("==3.12.*", None, "3.12.0"),
        ("<3.12", None, "3.8.0"),
        (None, "pypy3.10", "3.8.0"),
        (">=3.12,<3.11", None, None),
    ],
)
def test_the_version_that_a_stand_in_claims(
    requires: str | None, wished: str | None, version: str | None
) -> None:
    found = admitted(requires, wished)
    assert (None if found is None else str(found)) == version


def test_a_pin_may_hold_for_one_extra(index: Index, tmp_path: Path) -> None:
    body = (
        '[project]\nname = "forks"\nversion = "0"\nrequires-python = ">=3.11"\n'
        '[project.optional-dependencies]\nold = ["torch>=2.6"]\nnew = ["torch>=2.6"]\n'
        '[tool.uv]\nconflicts = [[{ extra = "old" }, { extra = "new" }]]\n'
    )
    project = write_project(tmp_path / "forks", body)
    pins = {"torch": ["2.7.1 ; extra == 'old'", "2.8.0 ; extra == 'new'"]}
    files = {
        Path("pyproject.toml"): body.replace('old = ["torch>=2.6"]', 'old = ["torch==2.7.1"]')
        .replace('new = ["torch>=2.6"]', 'new = ["torch==2.8.0"]')
        .encode()
    }
    made = relock(project, files, pins=pins)
    assert versions(made.lock, "torch") == {"2.7.1", "2.8.0"}


def test_settings_come_from_uv_toml_where_there_is_one(index: Index, tmp_path: Path) -> None:
    """Injected metadata must go there too, or uv would build the sdist."""
    project = write_project(
        tmp_path / "toml",
        '[project]\nname = "toml"\nversion = "0"\nrequires-python = ">=3.11"\n'
        'dependencies = ["antlr4-python3-runtime==4.9.3", "torch>=2.7"]\n',
    )
    (project.root / "uv.toml").write_text('exclude-newer = "2025-08-01T00:00:00Z"\n')
    sdist = _sdist_entry(index, "antlr4-python3-runtime")
    project.lock_path.write_text(
        'version = 1\nrequires-python = ">=3.11"\n\n'
        f'[[package]]\nname = "antlr4-python3-runtime"\nversion = "4.9.3"\n'
        f'source = {{ registry = "{index.url}" }}\nsdist = {sdist}\n\n'
        '[[package]]\nname = "toml"\nversion = "0"\nsource = { virtual = "." }\n'
        'dependencies = [\n    { name = "antlr4-python3-runtime" },\n]\n'
    )
    made = relock(Project.find(project.root), {}, pins={})
    assert versions(made.lock, "torch") == {"2.7.1"}  # 2.8.0 is newer than the date
    assert b"dependency-metadata" not in made.lock


def _sdist_entry(index: Index, name: str) -> str:
    recording = index.project(name)
    assert recording
    file = next(file for file in recording.files if file.filename.endswith(".tar.gz"))
    return f'{{ url = "{index.files_url}{file.path}", hash = "sha256:{file.sha256}" }}'


def test_uvs_own_variables_do_not_lead_it_astray(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("UV_FROZEN", "UV_LOCKED", "UV_NO_BUILD"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("UV_PROJECT", os.devnull)
    project = write_project(
        tmp_path / "astray",
        '[project]\nname = "astray"\nversion = "0"\nrequires-python = ">=3.11"\n'
        'dependencies = ["six"]\n',
    )
    assert versions(relock(project, {}, pins={}).lock, "six")


def test_uvs_words_name_the_projects_own_paths(index: Index, tmp_path: Path) -> None:
    project = write_project(
        tmp_path / "paths",
        '[project]\nname = "paths"\nversion = "0"\nrequires-python = ">=3.11"\n'
        'dependencies = ["gone"]\n[tool.uv.sources]\ngone = { path = "../gone" }\n',
    )
    with pytest.raises(RelockRefused) as caught:
        relock(project, {}, pins={})
    assert not isinstance(caught.value, Unsolvable)  # no version would help
    assert str(tmp_path / "gone") in caught.value.reason
    assert "stackfix-" not in caught.value.reason


def test_a_warm_cache_is_enough_offline(openpi: Path, index: Index) -> None:
    online = relock(Project.find(openpi), moved(openpi), pins=PINS)
    index.asked.clear()
    offline = relock(Project.find(openpi), moved(openpi), pins=PINS, offline=True)
    assert offline.lock == online.lock
    assert not index.asked


@pytest.mark.network
@pytest.mark.slow(reason="locks openpi from the real index")
def test_openpi_on_the_real_index(tmp_path: Path) -> None:
    import shutil

    from tests.conftest import FIXTURES
    from tests.registry.real import real_index, restore

    project = tmp_path / "openpi"
    shutil.copytree(FIXTURES / "openpi", project)
    restore(project, *real_index())
    edits = moved(project)
    made = relock(Project.find(project), edits, pins=PINS)
    (project / "uv.lock").write_bytes(made.lock)
    for name, data in edits.items():
        (project / name).write_bytes(data)
    assert versions(made.lock, "torch") == {"2.8.0"}
    assert check(project).returncode == 0
