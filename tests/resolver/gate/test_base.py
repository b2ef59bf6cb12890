"""What a change is compared with, and that nothing of the project runs for it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from stackfix.cli.main import main
from stackfix.gate.base import Commit, File, parse_base
from stackfix.gate.result import Checked
from stackfix_lockfiles.errors import InputError
from tests.resolver.gate.history import commit, git
from tests.resolver.gate.making import checked, codes, package, project, root

OLD = (root("triton"), package("triton", "3.1.0", "filelock"), package("filelock", "3.20.0"))
NEW = (root("triton"), package("triton", "3.4.0", "setuptools"), package("setuptools", "80.9.0"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


def against(folder: Path, base: str) -> Checked:
    return checked(folder, base=parse_base(base))


def test_worse_repaired_and_kept(repository: Path) -> None:
    project(repository, *NEW, targets=["RTX 5090"])
    good = commit(repository, "good")
    project(repository, *OLD, targets=["RTX 5090"])
    bad = commit(repository, "bad")
    worse = against(repository, good)
    assert codes(worse, least="error") == {("SF106", "triton")}
    assert worse.repaired == ()
    same = against(repository, bad)
    assert codes(same) == set()
    assert same.kept > 0
    project(repository, *NEW, targets=["RTX 5090"])
    better = against(repository, bad)
    assert codes(better) == set()
    assert {hit.code for hit in better.repaired} == {"SF106"}
    (move,) = better.moved
    assert (move.package, move.before, move.after) == ("triton", "3.1.0", "3.4.0")


def test_a_lock_that_the_base_does_not_have_is_new_as_a_whole(repository: Path) -> None:
    (repository / "readme").write_text("nothing yet")
    empty = commit(repository, "empty")
    project(repository / "sub", *OLD, targets=["RTX 5090"])
    result = against(repository / "sub", empty)
    assert ("SF106", "triton") in codes(result)
    assert f"not in {empty}: all of it is new" in result.notes


def test_a_lock_that_was_broken_before_has_nothing_to_compare_with(repository: Path) -> None:
    project(repository, *OLD, targets=["RTX 5090"])
    (repository / "uv.lock").write_text("version = 1\nnot toml")
    broken = commit(repository, "broken")
    project(repository, *OLD, targets=["RTX 5090"])
    result = against(repository, broken)
    assert ("SF106", "triton") in codes(result)
    assert any("nothing to compare with" in note for note in result.notes)


def test_the_base_is_where_the_branch_left_it(repository: Path) -> None:
    project(repository, *NEW, targets=["RTX 5090"])
    commit(repository, "start")
    git(repository, "checkout", "-q", "-b", "bump")
    project(repository, *OLD, targets=["RTX 5090"])
    commit(repository, "bump")
    git(repository, "checkout", "-q", "main")
    project(repository, *OLD, targets=["RTX 5090"])
    commit(repository, "main has it too by now")
    git(repository, "checkout", "-q", "bump")
    assert codes(against(repository, "main"), least="error") == {("SF106", "triton")}


def test_another_file_as_base(tmp_path: Path) -> None:
    before = project(tmp_path / "before", *NEW, targets=["RTX 5090"])
    after = project(tmp_path / "after", *OLD, targets=["RTX 5090"])
    result = against(after, str(before / "uv.lock"))
    assert codes(result, least="error") == {("SF106", "triton")}
    assert isinstance(parse_base(str(before / "uv.lock")), File)
    assert isinstance(parse_base("HEAD~1"), Commit)


@pytest.mark.parametrize("ref", ["no-such-branch", "--help", "HEAD:uv.lock", "-h"])
def test_a_base_that_does_not_exist_is_one_line(
    ref: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(repository, *NEW)
    commit(repository, "one")
    assert main(["check", str(repository), f"--base={ref}"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "expected a commit or a file" in err


def test_without_a_repository_there_is_no_base(tmp_path: Path) -> None:
    project(tmp_path, *NEW)
    with pytest.raises(InputError, match="expected a git repository"):
        against(tmp_path, "HEAD")


def test_nothing_that_a_repository_configures_runs(repository: Path, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    script.chmod(0o755)
    project(repository, *NEW, targets=["RTX 5090"])
    (repository / "setup.py").write_text(f"open({str(marker)!r}, 'w')")
    (repository / ".gitattributes").write_text("uv.lock filter=evil diff=evil\n")
    commit(repository, "with attributes")
    for key in ("filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv"):
        git(repository, "config", key, str(script))
    git(repository, "config", "core.fsmonitor", str(script))
    hooks = repository / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-checkout", "post-index-change"):
        shutil.copy(script, hooks / hook)
    project(repository, *OLD, targets=["RTX 5090"])
    assert ("SF106", "triton") in codes(against(repository, "HEAD"))
    assert not marker.exists()


def test_a_repository_below_a_symlink_is_found(repository: Path, tmp_path: Path) -> None:
    project(repository / "sub", *NEW, targets=["RTX 5090"])
    commit(repository, "one")
    os.symlink(repository, tmp_path / "link")
    project(repository / "sub", *OLD, targets=["RTX 5090"])
    assert ("SF106", "triton") in codes(against(tmp_path / "link/sub", "HEAD"))


def test_an_index_that_the_change_drops_from_the_project_is_its_fault(repository: Path) -> None:
    address = "https://mirror.example/whl"
    packages = (
        root("triton", "setuptools"),
        package("triton", "3.4.0", "setuptools", index=address),
        package("setuptools", "80.9.0"),
        package("einops", "0.8.1"),
    )
    project(repository, *packages, pyproject=f'[[tool.uv.index]]\nurl = "{address}"\n')
    commit(repository, "named")
    project(repository, *packages)
    assert codes(against(repository, "HEAD")) == {("SF505", "triton")}


def test_requirements_that_change_without_the_lock_are_the_change_s_fault(repository: Path) -> None:
    asked = '[package.metadata]\nrequires-dist = [{ name = "torch" }]\n'
    packages = (root("torch", more=asked), package("torch", "2.8.0"))
    project(repository, *packages)
    fits = commit(repository, "fits")
    file = repository / "pyproject.toml"
    file.write_text(file.read_text().replace('["torch"]', '["torch<3", "einops"]'))
    assert codes(against(repository, fits)) == {("SF507", "torch"), ("SF507", "einops")}
    later = commit(repository, "asks for more")
    assert codes(against(repository, later)) == set()
