"""`stackfix check` as people and pipelines run it: exit codes, files, what it may not do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stackfix.cli.main import main
from tests.conftest import FIXTURES
from tests.resolver.gate.making import package, project, root

GOOD = (root("triton"), package("triton", "3.4.0", "setuptools"), package("setuptools", "80.9.0"))
BAD = (root("triton"), package("triton", "3.1.0", "filelock"), package("filelock", "3.20.0"))
HEAVY = ("httpx", "rich", "resolvelib", "tomlkit", "elftools", "pynvml", "packaging.requirements")
HEAVY += ("stackfix_index.client", "stackfix_index.wheel", "msgspec", "stackfix.documents")


def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(project(tmp_path / "good", *GOOD))]) == 0
    bad = project(tmp_path / "bad", *BAD, targets=["RTX 5090"])
    assert main(["check", str(bad)]) == 1
    assert main(["check", str(tmp_path / "nothing")]) == 2
    assert "expected a uv.lock or a folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--target", "RTX 9999"], "no single card is known as 'RTX 9999'"),
        (["--output", "pdf=x"], "expected FORMAT=FILE"),
        (["--output", "sarif"], "expected FORMAT=FILE"),
        (["--fail-on", "info"], "info"),
        (["--base", "HEAD"], "expected a git repository"),
        (["--host", "missing.json"], "missing.json"),
        (["--extra", "nope"], "expected an extra of the project"),
        (["--python", "2.7"], "expected a version"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(project(tmp_path, *GOOD)), *arguments]) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1


def test_a_single_lock_without_targets_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(project(tmp_path, *GOOD, targets=()))]) == 2
    assert "nobody says which cards it has to run on" in capsys.readouterr().err


def test_a_lock_without_gpu_packages_needs_no_targets(tmp_path: Path) -> None:
    made = project(tmp_path, root("einops"), package("einops", "0.8.1"), targets=())
    assert main(["check", str(made)]) == 0


def test_among_several_a_lock_that_cannot_be_judged_is_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path / "a", *GOOD)
    broken = project(tmp_path / "b", *GOOD)
    (broken / "uv.lock").write_bytes(b"version = 1\n\x00")
    project(tmp_path / "c", *GOOD, targets=())
    assert main(["check", str(tmp_path), "--format", "json"]) == 1
    locks = {lock["path"][-9:-8]: lock for lock in json.loads(capsys.readouterr().out)["locks"]}
    assert list(locks) == ["a", "b", "c"]
    assert [hit["code"] for hit in locks["b"]["findings"]] == ["SF500"]
    assert "NUL byte" in locks["b"]["findings"][0]["message"]
    (hit,) = (hit for hit in locks["c"]["findings"] if hit["code"] == "SF500")
    assert hit["severity"] == "warning"


def test_several_locks_without_any_target_are_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "ab":
        project(tmp_path / name, *GOOD, targets=())
    assert main(["check", str(tmp_path)]) == 2
    assert "2 locks hold GPU packages, and none names a target" in capsys.readouterr().err


def test_outputs_are_written_beside_what_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = project(tmp_path / "p", *BAD, targets=["RTX 5090"])
    files = {name: tmp_path / f"out.{name}" for name in ("json", "sarif", "junit", "markdown")}
    outputs = [f"--output={name}={path}" for name, path in files.items()]
    assert main(["check", str(made), *outputs]) == 1
    assert "SF106" in capsys.readouterr().out
    for path in files.values():
        assert "SF106" in path.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "out.json", "out.junit", "out.markdown", "out.sarif", "p",
    ]  # fmt: skip


def test_an_output_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    old = tmp_path / "out.json"
    old.write_text("old")
    made = project(tmp_path / "p", *GOOD)
    (made / "uv.lock").write_text("broken")
    assert main(["check", str(made), f"--output=json={old}"]) == 2
    assert old.read_text() == "old"


def test_lines_are_those_of_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = project(tmp_path, *BAD, targets=["RTX 5090"])
    text = (made / "pyproject.toml").read_text().replace('["torch"]', '[\n  "triton",\n]')
    (made / "pyproject.toml").write_text(text)
    (made / ".git").mkdir()
    main(["check", str(made), "--format", "json"])
    (lock,) = json.loads(capsys.readouterr().out)["locks"]
    (hit,) = (hit for hit in lock["findings"] if hit["code"] == "SF106")
    rows = (made / "uv.lock").read_text().splitlines()
    assert hit["lock"]["file"] == "uv.lock"
    assert rows[hit["lock"]["line"]] == 'name = "triton"'
    assert hit["declared"] == {"file": "pyproject.toml", "line": 6}
    assert lock["path"] == "uv.lock"


def test_checking_changes_nothing_in_the_project(tmp_path: Path) -> None:
    made = project(tmp_path, *BAD, targets=["RTX 5090"])
    before = {path: path.stat().st_mtime_ns for path in made.rglob("*")}
    main(["check", str(made)])
    assert {path: path.stat().st_mtime_ns for path in made.rglob("*")} == before


GUARDED = """
import socket, sys
def refuse(*arguments, **more):
    raise AssertionError("the network was asked")
socket.socket.connect = socket.getaddrinfo = refuse
from stackfix.cli.main import main
code = main(sys.argv[1:])
heavy = sorted(set({heavy!r}) & set(sys.modules))
print("IMPORTED", *heavy)
sys.exit(code)
"""


def guarded(*arguments: str, home: Path) -> str:
    """Run it in a process that may not use the network; what heavy things it imported."""
    done = subprocess.run(
        [sys.executable, "-c", GUARDED.format(heavy=HEAVY), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "XDG_CACHE_HOME": str(home)},
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return done.stdout.splitlines()[-1]


def test_text_to_a_pipe_imports_nothing_heavy_and_asks_no_network(tmp_path: Path) -> None:
    line = guarded("check", str(FIXTURES / "openpi"), "--target", "RTX 5090", home=tmp_path)
    assert line == "IMPORTED"


def test_help_names_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--help"]) == 0
    assert "[text|json|markdown|sarif|github|gitlab|junit]" in capsys.readouterr().out
