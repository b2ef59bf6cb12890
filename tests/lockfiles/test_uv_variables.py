"""A relock depends on the project and the user's set-up, not on a terminal or a shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.relock import NotCached, RelockRefused, Unsolvable, relock
from stackfix_lockfiles.uv import Uv, environment, in_one_line
from stackfix_lockfiles.uv.variables import recorded
from tests.lockfiles.shapes import metadata, project, wheel
from tests.lockfiles.test_relock_builds import sdist
from tests.registry.server import Index

WORDS: tuple[Mapping[str, str], ...] = (
    {"COLUMNS": "40", "LINES": "5"},
    {"COLUMNS": "80"},
    {"COLUMNS": "200"},
    {"LC_ALL": "C", "LANG": "C"},
    {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"},
    {"LC_ALL": "tr_TR.ISO-8859-9"},
    {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "COLUMNS": "60"},
    {"NO_COLOR": "1", "TERM": "dumb"},
    {"RUST_LOG": "uv=trace", "RUST_BACKTRACE": "full", "UV_LOG_CONTEXT": "1"},
    {"UV_QUIET": "1", "UV_VERBOSE": "2", "UV_SHOW_RESOLUTION": "1", "UV_NO_PROGRESS": "0"},
)
"""Shells that would have uv say it otherwise."""
ANSWERS: tuple[Mapping[str, str], ...] = (
    {"UV_PREVIEW": "1", "UV_HIDE_BUILD_OUTPUT": "1", "UV_TORCH_BACKEND": "cu128"},
    {"UV_FROZEN": "1", "UV_LOCKED": "1", "UV_DRY_RUN": "1", "UV_ISOLATED": "1"},
    {"UV_NO_BUILD": "1", "UV_NO_BINARY": "1", "UV_NO_BUILD_PACKAGE": "snare"},
    {"UV_PROJECT": "/nowhere", "UV_WORKING_DIR": "/nowhere", "UV_WORKING_DIRECTORY": "/nowhere"},
    {"UV_CONSTRAINT": "/nowhere", "UV_OVERRIDE": "/nowhere", "UV_EXCLUDE": "/nowhere"},
    {"UV_RESOLUTION": "lowest", "UV_PRERELEASE": "allow", "UV_FORK_STRATEGY": "fewest"},
    {"UV_EXCLUDE_NEWER": "2001-01-01", "UV_NO_SOURCES": "1", "UV_NO_CONFIG": "1"},
    {"UV_PROJECT_ENVIRONMENT": "/nowhere", "VIRTUAL_ENV": "/nowhere", "CONDA_PREFIX": "/nowhere"},
    {"UV_MANAGED_PYTHON": "1", "UV_SYSTEM_PYTHON": "1", "UV_ONE_THAT_IS_NOT_KNOWN_YET": "1"},
)
"""Shells that would have uv do something else."""


def in_each(
    shells: tuple[Mapping[str, str], ...], case: Project, monkeypatch: pytest.MonkeyPatch
) -> list[str | bytes]:
    """What comes of the project without and with each of them: a refusal's reason, or the lock."""
    found: list[str | bytes] = []
    for shell in ({}, *shells):
        with monkeypatch.context() as patch:
            for name, value in shell.items():
                patch.setenv(name, value)
            try:
                found.append(relock(case, {}, pins={}).lock)
            except RelockRefused as refusal:
                found.append(f"{type(refusal).__name__}: {refusal.reason}")
    return found


def test_a_refused_build_is_the_same_refusal_in_every_shell(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a narrow terminal uv broke the line between `build` and the package's name."""
    name = "a-package-with-a-name-that-fills-half-of-a-line"
    index.add(f"{name.replace('-', '_')}-1.0.tar.gz", sdist(tmp_path, name))
    reasons = in_each(WORDS, project(tmp_path / "work", f'"{name}"'), monkeypatch)
    assert str(reasons[0]).startswith(f"RelockRefused: {name}==1.0: what it depends on is only")
    assert set(reasons) == {reasons[0]}


def test_a_conflict_is_the_same_conflict_in_every_shell(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = project(tmp_path / "work", '"torch==2.7.1", "nvidia-cudnn-cu12==9.8.0.87"')
    reasons = in_each(WORDS, case, monkeypatch)
    assert str(reasons[0]).startswith("Unsolvable: No solution found when resolving dependencies")
    assert len(str(reasons[0]).splitlines()) < 5
    assert set(reasons) == {reasons[0]}


def test_a_lock_is_the_same_lock_in_every_shell(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = project(tmp_path / "beside", "").root
    source = '[tool.uv.sources]\nroot-beside = { path = "../beside" }\n'
    (beside / "pyproject.toml").write_text(
        (beside / "pyproject.toml").read_text().replace('"root"', '"root-beside"')
    )
    case = project(tmp_path / "work", '"six>=1", "root-beside"', source)
    locks = in_each(ANSWERS, case, monkeypatch)
    assert isinstance(locks[0], bytes)
    assert b"directory" in locks[0]
    assert set(locks) == {locks[0]}


def test_broken_and_framed_lines_read_as_one() -> None:
    said = "  × No solution found when\n  │ resolving\n  │ dependencies:\n  ╰─▶ Because a"
    assert in_one_line(said) == "No solution found when resolving dependencies: Because a"


def test_what_belongs_to_the_set_up_reaches_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    user = {
        "UV_DEFAULT_INDEX": "https://index.example/simple",
        "UV_INDEX": "ours=https://aws:abc==@index.example/simple",
        "UV_INDEX_OURS_USERNAME": "me",
        "UV_INDEX_OURS_PASSWORD": "secret",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_KEYRING_PROVIDER": "subprocess",
        "UV_HTTP_TIMEOUT": "90",
        "UV_NATIVE_TLS": "1",
        "UV_PYTHON_INSTALL_MIRROR": "https://files.index.example/python",
        "SSL_CERT_FILE": "/etc/ours.pem",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "GIT_SSH_COMMAND": "ssh -i key",
        "XDG_CACHE_HOME": "/cache",
    }
    for name, value in user.items():
        monkeypatch.setenv(name, value)
    assert user.items() <= environment({}).items()
    assert environment({"UV_INDEX": "x"})["UV_INDEX"] == "x"


def test_paths_of_the_set_up_hold_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("UV_CACHE_DIR", "SSL_CERT_FILE", "UV_PYTHON"):
        monkeypatch.setenv(name, "./here/it is")
    monkeypatch.setenv("SSL_CERT_DIR", f"certs{os.pathsep}/etc/certs")
    found = environment({})
    for name in ("UV_CACHE_DIR", "SSL_CERT_FILE", "UV_PYTHON"):
        assert found[name] == str(tmp_path / "here" / "it is")
    assert found["SSL_CERT_DIR"] == f"{tmp_path}/certs{os.pathsep}/etc/certs"
    monkeypatch.setenv("UV_PYTHON", "3.12")
    assert environment({})["UV_PYTHON"] == "3.12"


def test_a_cache_named_from_the_current_folder_is_used(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As uv's guide for GitLab has it; in the scratch copy it was another, and cold."""
    case = project(tmp_path / "work", '"six"')
    monkeypatch.chdir(case.root)
    monkeypatch.setenv("UV_CACHE_DIR", ".uv-cache")
    relock(case, {}, pins={})
    assert (case.root / ".uv-cache" / "CACHEDIR.TAG").is_file()
    relock(case, {}, pins={}, offline=True)


def test_an_index_in_a_folder_named_from_the_current_one_is_found(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = project(tmp_path / "work", '"private"')
    wheels = case.root / "wheels"
    wheels.mkdir()
    file, data = wheel("private", "1.0")
    (wheels / file).write_bytes(data)
    (case.root / "below").mkdir()
    monkeypatch.chdir(case.root / "below")
    monkeypatch.setenv("UV_FIND_LINKS", "../wheels")
    made = Lock.parse(relock(case, {}, pins={}).lock)
    (private,) = made.named("private")
    assert private.source.value == "wheels"
    monkeypatch.setenv("UV_FIND_LINKS", str(wheels))
    (private,) = Lock.parse(relock(case, {}, pins={}).lock).named("private")
    assert private.source.value == str(wheels)


def test_settings_named_by_a_variable_count_alone(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the old lock recorded of an sdist goes there, or uv would build it."""
    index.add("snare-1.0.tar.gz", sdist(tmp_path, "snare"))
    case = project(tmp_path / "work", '"snare", "six"', '[tool.uv]\nresolution = "lowest"\n')
    case.lock_path.write_text(
        'version = 1\nrequires-python = ">=3.11"\n\n'
        f'[[package]]\nname = "snare"\nversion = "1.0"\nsource = {{ registry = "{index.url}" }}\n'
        'sdist = { url = "http://127.0.0.1:9/snare-1.0.tar.gz" }\n\n'
        '[[package]]\nname = "root"\nversion = "1"\nsource = { virtual = "." }\n'
        'dependencies = [{ name = "snare" }]\n'
    )
    (tmp_path / "ours.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UV_CONFIG_FILE", "ours.toml")
    made = Lock.parse(relock(Project.find(case.root), {}, pins={}).lock)
    assert [package.version for package in made.named("snare")] == ["1.0"]
    assert "resolution-mode" not in made.options
    assert not made.manifest.dependency_metadata


def test_what_the_lock_was_made_with_is_kept(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("1.0", "2.0"):
        index.add(*wheel("private", version), metadata=metadata("private", version))
    case = project(tmp_path / "work", '"private>=1.0"')
    made = Uv.find().run(
        ["lock", "--python", sys.executable],
        cwd=case.root,
        settings={"UV_RESOLUTION": "lowest-direct", "UV_EXCLUDE_NEWER": "2030-01-01T00:00:00Z"},
    )
    assert not made.returncode, made.stderr
    old = case.read_lock()
    again = relock(case, {}, pins={})
    assert again.lock == old.data
    assert not again.warnings
    monkeypatch.setenv("UV_RESOLUTION", "highest")
    assert relock(case, {}, pins={}).lock == old.data
    table = {"resolution": "highest", "exclude-newer": "2001-01-01"}
    assert recorded(old, {}) == {
        "UV_RESOLUTION": "lowest-direct",
        "UV_EXCLUDE_NEWER": "2030-01-01T00:00:00Z",
    }
    assert recorded(old, table) == {}


def test_a_variable_that_would_change_the_lock_is_told(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = project(tmp_path / "work", '"six"')
    monkeypatch.setenv("UV_EXCLUDE_NEWER", "7 days")
    (warning,) = relock(case, {}, pins={}).warnings
    assert warning.startswith("UV_EXCLUDE_NEWER is set here and was not heeded")


def test_uv_kept_offline_by_a_variable_is_offline(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "true")
    with pytest.raises(NotCached, match="offline"):
        relock(project(tmp_path / "work", '"six"'), {}, pins={})
    assert not index.asked


def test_a_refusal_keeps_its_kind_when_uv_breaks_its_lines(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another version of uv might, whatever it is told."""
    said = r"  × No solution found when\n  │ resolving dependencies:\n  ╰─▶ Because\n      x"
    path = tmp_path / "uv"
    path.write_text(f"#!/bin/sh\nprintf '{said}' >&2\nexit 1\n")
    path.chmod(0o755)
    uv = Uv(path=path, version=Uv.find().version, bundled=False)
    with pytest.raises(Unsolvable):
        relock(project(tmp_path / "work", '"six"'), {}, pins={}, uv=uv)
