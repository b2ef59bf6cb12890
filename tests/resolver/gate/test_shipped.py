"""What ships for CI services: valid by their schemas, and run as far as one machine can."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.conftest import FIXTURES
from tests.resolver.gate.history import commit, git
from tests.resolver.gate.making import package, project, root

ROOT = FIXTURES.parents[1]
CI = FIXTURES / "ci"
NEW = (root("triton"), package("triton", "3.4.0", "setuptools"), package("setuptools", "80.9.0"))
OLD = (root("triton"), package("triton", "3.1.0", "filelock"), package("filelock", "3.20.0"))


def read(path: Path) -> Any:
    yaml = pytest.importorskip("ruamel.yaml")
    return yaml.YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def service_schema(name: str) -> dict[str, Any]:
    pytest.importorskip("check_jsonschema")
    path = files("check_jsonschema") / "builtin_schemas" / "vendor" / f"{name}.json"
    rules: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return rules


def assert_valid(document: Any, name: str) -> None:
    rules = service_schema(name)
    validator = jsonschema.validators.validator_for(rules)
    errors = [error.message for error in validator(rules).iter_errors(document)]
    assert not errors


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        (ROOT / "action.yml", "github-actions"),
        (CI / "github.yml", "github-workflows"),
        (CI / "dependabot.yml", "dependabot"),
    ],
)
def test_a_file_is_valid_for_its_service(file: Path, schema: str) -> None:
    document = read(file)
    if True in document:  # YAML 1.1 reads the key "on" as a truth
        document["on"] = document.pop(True)
    assert_valid(document, schema)


def test_the_renovate_example_groups_the_stack() -> None:
    document = json.loads((CI / "renovate.json").read_text())
    (rule,) = document["packageRules"]
    assert not rule["automerge"]
    patterns = [p.strip("/") for p in rule["matchPackageNames"] if p.startswith("/")]
    assert any(re.match(pattern, "nvidia-cudnn-cu12") for pattern in patterns)


def script(file: Path, *path: Any) -> str:
    found = read(file)
    for part in path:
        found = found[part]
    assert isinstance(found, str)
    return found


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    project(folder, *NEW, targets=["RTX 5090"])
    commit(folder, "good")
    project(folder, *OLD, targets=["RTX 5090"])
    commit(folder, "bad")
    return folder


def run_action(folder: Path, tmp_path: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The check step, as a runner starts it."""
    temp = tmp_path / "runner"
    (temp / "stackfix/bin").mkdir(parents=True, exist_ok=True)
    program = temp / "stackfix/bin/stackfix"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m stackfix "$@"\n')
    program.chmod(0o755)
    defaults = {
        name: str(value.get("default", ""))
        for name, value in read(ROOT / "action.yml")["inputs"].items()
    }
    chosen = {**defaults, **{name.replace("_", "-"): value for name, value in inputs.items()}}
    environment = {
        **os.environ,
        "RUNNER_TEMP": str(temp),
        "GITHUB_OUTPUT": str(temp / "output"),
        "GITHUB_STEP_SUMMARY": str(temp / "summary"),
        **{f"INPUT_{name.upper().replace('-', '_')}": value for name, value in chosen.items()},
    }
    file = tmp_path / "step.sh"
    file.write_text(script(ROOT / "action.yml", "runs", "steps", 1, "run"))
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(file)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_reports_and_then_fails(repository: Path, tmp_path: Path) -> None:
    done = run_action(repository, tmp_path, base="HEAD~1", sarif="out.sarif", markdown="out.md")
    assert done.returncode == 1, done.stderr
    assert re.search(r"^::error file=uv.lock,line=\d+,title=SF106 triton", done.stdout, re.M)
    assert (tmp_path / "runner/output").read_text() == "code=1\n"
    assert "SF106" in (tmp_path / "runner/summary").read_text()
    assert json.loads((repository / "out.sarif").read_text())["version"] == "2.1.0"
    assert "SF106" in (repository / "out.md").read_text()


def test_the_action_passes_and_says_so(repository: Path, tmp_path: Path) -> None:
    done = run_action(repository, tmp_path, base="HEAD")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runner/output").read_text() == "code=0\n"


def test_the_action_tells_bad_input_from_findings(repository: Path, tmp_path: Path) -> None:
    done = run_action(repository, tmp_path, base="no-such-branch")
    assert done.returncode == 2
    assert (tmp_path / "runner/output").read_text() == "code=2\n"


def test_nothing_that_a_branch_is_called_becomes_a_command(
    repository: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "ran"
    evil = f'$(touch {marker}); `touch {marker}` " --output=text={marker}'
    for name in ("base", "paths", "targets", "fail_on", "sarif"):
        run_action(repository, tmp_path, **{name: evil})
    assert not marker.exists()
    text = (ROOT / "action.yml").read_text()
    for step in read(ROOT / "action.yml")["runs"]["steps"]:
        assert "${{" not in step["run"]
    assert "upload-sarif@" not in text.split("inputs:", 1)[1].split("runs:", 1)[1]


def test_targets_and_paths_are_given_one_a_line(repository: Path, tmp_path: Path) -> None:
    project(repository / "a b", *OLD, targets=["H100"])
    done = run_action(repository, tmp_path, paths=".\na b\n", targets="H100:8@550.90\nL4")
    assert done.returncode == 0, done.stdout
    assert "checked 2 locks for 2 targets" in done.stdout


def test_the_gitlab_job_writes_what_its_widget_reads(repository: Path) -> None:
    job = read(CI / "gitlab.yml")["stackfix"]
    (command,) = job["script"]
    done = subprocess.run(
        ["sh", "-ec", command.replace("stackfix check", f'"{sys.executable}" -m stackfix check')],
        cwd=repository,
        env={
            **os.environ,
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": git(repository, "rev-parse", "HEAD~1").strip(),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    reports = job["artifacts"]["reports"]
    assert job["artifacts"]["when"] == "always"
    (issue,) = json.loads((repository / reports["codequality"]).read_text())
    assert (issue["check_name"], issue["location"]["path"]) == ("SF106", "uv.lock")
    assert "<failure" in (repository / reports["junit"]).read_text()


def test_the_hook_takes_locks_and_nothing_else() -> None:
    (hook,) = read(ROOT / ".pre-commit-hooks.yaml")
    assert hook["id"] == "stackfix-check"
    assert hook["entry"] == "stackfix check"
    taken = [
        name
        for name in ("uv.lock", "a/uv.lock", "pylock.toml", "a/pylock.gpu.toml", "uv.locks", "x.py")
        if re.search(hook["files"], name)
    ]
    assert taken == ["uv.lock", "a/uv.lock", "pylock.toml", "a/pylock.gpu.toml"]


@pytest.mark.network
def test_the_hook_runs_under_pre_commit(repository: Path, tmp_path: Path) -> None:
    pre_commit = pytest.importorskip("pre_commit")
    assert pre_commit
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pre_commit",
            "try-repo",
            str(ROOT),
            "stackfix-check",
            "--all-files",
        ],
        cwd=repository,
        env={**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "hooks")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "SF106 triton 3.1.0" in done.stdout
