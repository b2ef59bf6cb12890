"""A git package's own limits count where it can be read; else the old lock's record stands in."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from stackfix_lockfiles import relock as module
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.packages import SourceKind
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.relock import RelockRefused, relock
from stackfix_lockfiles.relock.reach import out_of_reach
from stackfix_lockfiles.relock.refusals import IndexUnreachable, reason_of, refusal
from stackfix_lockfiles.relock.result import for_project
from stackfix_lockfiles.scratch import Known
from stackfix_lockfiles.uv import Uv
from tests.registry.server import Index

PROJECT = (
    '[project]\nname = "root"\nversion = "1"\nrequires-python = ">=3.11"\n'
    'dependencies = ["helper", "torch{}"]\n'
    '[tool.uv.sources]\nhelper = {{ git = "file://{}" }}\n'
)


def repository(folder: Path, limit: str = "", *, build: bool = False) -> Path:
    """A git repository with a package that limits torch."""
    folder.mkdir()
    dynamic = '"dependencies"' if build else ""
    requires = "" if build else f'dependencies = ["torch{limit}"]\n'
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "helper"\nversion = "1"\nrequires-python = ">=3.11"\n'
        f"dynamic = [{dynamic}]\n{requires}"
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for args in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *args], check=True)
    return folder


def locked(tmp_path: Path, repo: Path) -> Project:
    """A project that uses it, locked with torch 2.7.1."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "pyproject.toml").write_text(PROJECT.format("==2.7.1", repo))
    subprocess.run([Uv.find().path, "lock"], cwd=root, check=True, capture_output=True)
    return Project.find(root)


def to_torch_280(repo: Path) -> dict[Path, bytes]:
    return {Path("pyproject.toml"): PROJECT.format("==2.8.0", repo).encode()}


def test_a_readable_git_package_keeps_its_limits(index: Index, tmp_path: Path) -> None:
    repo = repository(tmp_path / "helper", "<2.8")
    project = locked(tmp_path, repo)
    with pytest.raises(RelockRefused, match=r"torch<2\.8"):
        relock(project, to_torch_280(repo), pins={"torch": "2.8.0"})


def test_a_git_package_in_uvs_cache_need_not_be_reachable(index: Index, tmp_path: Path) -> None:
    repo = repository(tmp_path / "helper", "<2.8")
    project = locked(tmp_path, repo)
    shutil.rmtree(repo)
    with pytest.raises(RelockRefused, match=r"torch<2\.8"):
        relock(project, to_torch_280(repo), pins={"torch": "2.8.0"})


def test_an_unreadable_git_package_is_taken_from_the_old_lock_with_a_warning(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = repository(tmp_path / "helper", "<2.8")
    project = locked(tmp_path, repo)
    shutil.rmtree(repo)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "another-cache"))
    made = relock(project, to_torch_280(repo), pins={"torch": "2.8.0"})
    new = Lock.parse(made.lock)
    assert [package.version for package in new.named("torch")] == ["2.8.0"]
    assert new.named("helper")[0].source == project.read_lock().named("helper")[0].source
    assert new.manifest.dependency_metadata == ()
    assert len(made.warnings) == 1
    assert "helper 1 (git)" in made.warnings[0]


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_git_package_that_must_be_built_is_taken_from_the_old_lock(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    repo = repository(tmp_path / "helper", build=True)
    root = tmp_path / "root"
    root.mkdir()
    (root / "pyproject.toml").write_text(PROJECT.format("==2.7.1", repo))
    commit = subprocess.run(
        ["git", "-C", str(repo), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    (root / "uv.lock").write_text(
        'version = 1\nrequires-python = ">=3.11"\n\n'
        f'[[package]]\nname = "helper"\nversion = "1"\n'
        f'source = {{ git = "file://{repo}#{commit}" }}\ndependencies = [{{ name = "six" }}]\n\n'
        f'[[package]]\nname = "six"\nversion = "1.17.0"\nsource = {{ registry = "{index.url}" }}\n'
    )
    made = relock(Project.find(root), to_torch_280(repo), pins={})
    assert {d.name for d in Lock.parse(made.lock).named("helper")[0].dependencies} == {"six"}
    assert "helper 1 (git)" in made.warnings[0]


def test_a_source_that_takes_too_long_is_given_up(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = repository(tmp_path / "helper", "<2.8")
    project = locked(tmp_path, repo)
    monkeypatch.setattr(module, "SOURCE_PATIENCE", 0.001)
    made = relock(project, to_torch_280(repo), pins={"torch": "2.8.0"})
    assert "helper 1 (git)" in made.warnings[0]


def entry(source: str, kind: SourceKind = SourceKind.GIT) -> Known:
    return Known(
        name="x",
        version="1",
        requires_dist=(),
        extras=(),
        source=source,
        kind=kind,
        complete=True,
    )


def test_a_host_that_takes_no_connection_is_out_of_reach(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name)
        monkeypatch.delenv(name.upper())
    dead = entry("https://127.0.0.1:9/x#" + "0" * 40)
    alive = entry(f"{index.address}/x", SourceKind.URL)
    assert out_of_reach([dead], cache=None, offline=False) == {"x"}
    assert out_of_reach([alive], cache=None, offline=False) == set()
    assert out_of_reach([alive], cache=None, offline=True) == {"x"}


def test_a_checked_out_commit_needs_no_host(tmp_path: Path) -> None:
    commit = "0123456789" * 4
    (tmp_path / "git-v9" / "checkouts" / "hash" / commit[:9]).mkdir(parents=True)
    dead = entry(f"https://127.0.0.1:9/x#{commit}")
    assert out_of_reach([dead], cache=tmp_path, offline=True) == set()


# What is taken out again

LOCK = """\
version = 1
revision = 3
requires-python = ">=3.11"

[manifest]
constraints = [{ name = "six" }]

[[manifest.dependency-metadata]]
name = "mine"
version = "1"
requires-dist = ["six"]

[[manifest.dependency-metadata]]
name = "x"
version = "1"

[[package]]
name = "root"
version = "0.0.0"
source = { editable = "." }

[[package]]
name = "x"
version = "1"
source = { git = "https://host.example/x#0" }
"""


def test_only_what_was_injected_is_taken_out() -> None:
    made = for_project(LOCK.encode(), [entry("https://host.example/x")], {"root"}).decode()
    assert made == LOCK.replace(
        '[[manifest.dependency-metadata]]\nname = "x"\nversion = "1"\n\n', ""
    ).replace('version = "0.0.0"\n', "")


def test_a_package_from_an_index_keeps_its_version_line() -> None:
    text = LOCK.replace("{ editable", "{ registry").encode()
    assert b'version = "0.0.0"' in for_project(text, [], {"root"})


def test_a_layout_that_is_not_understood_is_not_written() -> None:
    odd = LOCK.replace(
        'name = "x"\nversion = "1"\n\n[[package]]', "name='x'\nversion='1'\n\n[[package]]"
    )
    with pytest.raises(RelockRefused, match="layout"):
        for_project(odd.encode(), [entry("https://host.example/x")], ())


# uv's words


def test_older_uvs_drawings_are_cleaned_away() -> None:
    said = (
        "Using CPython 3.11.7\n  × No solution found when resolving dependencies:\n"
        "  ╰─▶ Because torch==9 is not there, your project is\n      unsatisfiable.\n"
    )
    assert reason_of(said) == (
        "No solution found when resolving dependencies:\n"
        "Because torch==9 is not there, your project is\nunsatisfiable."
    )


def test_a_long_reason_is_cut_and_control_characters_are_shown() -> None:
    reason = reason_of("\n".join(f"line {n} \x07" for n in range(100)))
    assert len(reason.splitlines()) == 15
    assert reason.endswith("and 86 more lines")
    assert "\x07" not in reason


def test_credentials_in_uvs_words_are_left_out() -> None:
    said = "Failed to fetch: `https://me:secret@h.example/x/`\n  cause: client error (Connect)"
    error = refusal(said)
    assert isinstance(error, IndexUnreachable)
    assert "secret" not in str(error)
    assert "secret" not in reason_of(said)


def test_an_index_that_says_no_is_a_refusal_with_its_words() -> None:
    said = (
        "Failed to fetch: `https://h.example/x/`\n  cause: HTTP status client error (403 Forbidden)"
    )
    error = refusal(said)
    assert isinstance(error, RelockRefused)
    assert "403" in error.reason
