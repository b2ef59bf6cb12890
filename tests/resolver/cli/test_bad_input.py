"""Whatever is wrong with a project, `plan` tells it in one line, soon, and with exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stackfix.cli.main import main
from tests.resolver.cli.project import LOCK, PYPROJECT, make_project

_PACKAGE = """
[[package]]
name = "{name}"
version = "1.0"
source = {{ registry = "https://index.example/simple" }}
dependencies = [{{ name = "{needs}" }}]
"""


def nothing(root: Path) -> None:
    (root / "pyproject.toml").unlink()
    (root / "uv.lock").unlink()


def poetry(root: Path) -> None:
    (root / "uv.lock").unlink()
    (root / "pyproject.toml").write_text('[tool.poetry]\nname = "x"\nversion = "1"\n')
    (root / "poetry.lock").write_text("")


def pip(root: Path) -> None:
    nothing(root)
    (root / "requirements.txt").write_text("torch==2.7.1\n")


def conda(root: Path) -> None:
    nothing(root)
    (root / "environment.yml").write_text("dependencies: [pytorch]\n")


def broken_pyproject(root: Path) -> None:
    (root / "pyproject.toml").write_text(PYPROJECT + "[tool\n")


def empty_lock(root: Path) -> None:
    (root / "uv.lock").write_text("")


def truncated_lock(root: Path) -> None:
    (root / "uv.lock").write_text(LOCK + '[[package]]\nname = "tor')


def binary_lock(root: Path) -> None:
    (root / "uv.lock").write_bytes(bytes(range(256)) * 64)


def huge_lock(root: Path) -> None:
    with (root / "uv.lock").open("wb") as file:
        file.truncate(1 << 30)


def later_lock(root: Path) -> None:
    (root / "uv.lock").write_text(LOCK.replace("version = 1\n", "version = 2\n", 1))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (nothing, "pyproject.toml"),
        (poetry, "poetry"),
        (pip, "requirements.txt"),
        (conda, "environment.yml"),
        (broken_pyproject, "pyproject.toml:"),
        (empty_lock, "uv.lock"),
        (truncated_lock, "uv.lock:"),
        (binary_lock, "uv.lock"),
        (huge_lock, "uv.lock"),
        (later_lock, "uv.lock: version"),
    ],
)
def test_a_fault_is_one_line(
    tmp_path: Path,
    spoil: Callable[[Path], None],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = make_project(tmp_path / "project")
    spoil(root)
    assert main(["plan", "--project", str(root), "--target", "L4", "--offline"]) == 2
    output = capsys.readouterr()
    assert words in output.err
    assert "internal error" not in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""


def test_a_cycle_in_the_lock_does_not_hang(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_project(tmp_path / "project")
    member = (
        '\n[[package]]\nname = "example"\nversion = "0.1.0"\nsource = { virtual = "." }\n'
        'dependencies = [{ name = "one" }]\n'
    )
    cycle = _PACKAGE.format(name="one", needs="two") + _PACKAGE.format(name="two", needs="one")
    (root / "uv.lock").write_text(LOCK + member + cycle)
    assert main(["plan", "--project", str(root), "--target", "L4", "--offline"]) == 0
    assert "Nothing here uses the GPU" in capsys.readouterr().out


@pytest.mark.parametrize("option", [["--extra", "nobody"], ["--group", "nobody"]])
def test_an_extra_or_group_that_does_not_exist_is_one_line(
    tmp_path: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_project(tmp_path / "project")
    member = '\n[[package]]\nname = "example"\nversion = "0.1.0"\nsource = { virtual = "." }\n'
    (root / "uv.lock").write_text(LOCK + member)
    assert main(["plan", "--project", str(root), "--target", "L4", "--offline", *option]) == 2
    error = capsys.readouterr().err
    assert "nobody" in error
    assert error.count("\n") == 1
