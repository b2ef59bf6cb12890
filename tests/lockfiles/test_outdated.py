"""A lock beside what the project asks for today."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix_lockfiles.outdated import differences
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.uv import Uv
from tests.conftest import FIXTURES
from tests.lockfiles.samples import write_project
from tests.registry.server import Index

PROJECT = """\
[project]
name = "robot"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["numpy>=1.26,<3", "six", "Typing_Extensions ; python_version < '3.13'"]
[project.optional-dependencies]
plot = ["sympy==1.13.3"]
all = ["robot[plot]", "packaging"]
[dependency-groups]
test = ["iniconfig"]
dev = [{ include-group = "test" }, "pluggy"]
[tool.uv]
constraint-dependencies = ["mpmath<2"]
override-dependencies = ["packaging>=24"]
"""


MADE = "and the lock was made for"


def locked(folder: Path, text: str = PROJECT, **files: str) -> Path:
    """A project that uv has locked."""
    write_project(folder, {"pyproject.toml": text, **files})
    finished = Uv.find().run(["lock"], cwd=folder, timeout=120)
    assert finished.returncode == 0, finished.stderr
    return folder


def told(folder: Path, old: str = "", new: str = "") -> list[str]:
    """What is different after `old` became `new` in pyproject.toml."""
    file = folder / "pyproject.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    project = Project.find(folder)
    return [str(difference) for difference in differences(project, project.read_lock())]


def test_a_lock_that_uv_just_made_has_no_difference(index: Index, tmp_path: Path) -> None:
    assert told(locked(tmp_path / "p")) == []


def test_openpi_has_none() -> None:
    project = Project.find(FIXTURES / "openpi")
    assert differences(project, project.read_lock()) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"numpy>=1.26,<3"', '"numpy <3.0, >=1.26.0"'),
        ('"six"', '"SIX"'),
        ("robot[plot]", "Robot[Plot]"),
        ("requires-python", "description = 'a robot'\nrequires-python"),
        ('["iniconfig"]', '[\n    "iniconfig", # tests\n]'),
    ],
)
def test_another_spelling_is_no_difference(
    index: Index, tmp_path: Path, old: str, new: str
) -> None:
    assert told(locked(tmp_path / "p"), old, new) == []


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            '"numpy>=1.26,<3"',
            '"numpy>=2"',
            "pyproject.toml line 5 asks for numpy>=2, and the lock was made for numpy>=1.26,<3",
        ),
        (
            '"six",',
            '"six", "attrs",',
            "pyproject.toml line 5 asks for attrs, which the lock was made without",
        ),
        ('"six", ', "", "pyproject.toml no longer asks for six"),
        (
            '"six"',
            '"six[fast]"',
            "pyproject.toml line 5 asks for six[fast], and the lock was made for six",
        ),
        (
            '"sympy==1.13.3"',
            '"sympy==1.14"',
            f"pyproject.toml line 7, extra plot asks for sympy==1.14, {MADE} sympy==1.13.3",
        ),
        ('"pluggy"', "", "pyproject.toml, group dev no longer asks for pluggy"),
        (
            '"mpmath<2"',
            '"mpmath<1.4"',
            f"pyproject.toml line 13, constraint asks for mpmath<1.4, {MADE} mpmath<2",
        ),
        ('"packaging>=24"', "", "pyproject.toml, override no longer asks for packaging>=24"),
        (
            '">=3.11"',
            '">=3.12"',
            "pyproject.toml line 4 asks for Python >=3.12, and the lock was made for Python >=3.11",
        ),
    ],
)
def test_a_difference_is_told_with_its_line(
    index: Index, tmp_path: Path, old: str, new: str, line: str
) -> None:
    project = locked(tmp_path / "p")
    assert told(project, old, new) == [line]
    assert Uv.find().run(["lock", "--check"], cwd=project, timeout=120).returncode != 0


def test_what_a_group_includes_is_told_of_both(index: Index, tmp_path: Path) -> None:
    found = told(locked(tmp_path / "p"), '"iniconfig"', '"iniconfig>=2"')
    assert [line.partition(" asks")[0] for line in found] == [
        "pyproject.toml line 10, group test",
        "pyproject.toml line 10, group dev",
    ]


def test_a_new_member_and_what_a_member_asks_for(index: Index, tmp_path: Path) -> None:
    root = PROJECT + '[tool.uv.workspace]\nmembers = ["packages/*"]\n'
    arm = (
        '[project]\nname = "arm"\nversion = "0"\nrequires-python = ">=3.11"\ndependencies = [{}]\n'
    )
    project = locked(tmp_path / "p", root, **{"packages/arm/pyproject.toml": arm.format("")})
    write_project(project, {"packages/arm/pyproject.toml": arm.format('"six"')})
    (project / "packages/leg").mkdir()
    (project / "packages/leg/pyproject.toml").write_text(arm.format("").replace("arm", "leg"))
    assert told(project) == [
        "packages/arm/pyproject.toml line 5 asks for six, which the lock was made without",
        "packages/leg/pyproject.toml is a member of the workspace that the lock was made without",
    ]


def test_nothing_is_claimed_of_what_only_a_build_could_tell(index: Index, tmp_path: Path) -> None:
    project = locked(tmp_path / "p")
    dynamic = 'version = "0.1.0"\ndynamic = ["dependencies"]'
    text = (project / "pyproject.toml").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("dependencies")]
    (project / "pyproject.toml").write_text("\n".join(lines))
    assert told(project, 'version = "0.1.0"', dynamic) == []


def test_nothing_is_claimed_of_versions_from_elsewhere(index: Index, tmp_path: Path) -> None:
    parts = {"lib/pyproject.toml": '[project]\nname = "lib"\nversion = "1.0"\n'}
    text = PROJECT.replace('"six"', '"lib"') + '[tool.uv.sources]\nlib = { path = "lib" }\n'
    assert told(locked(tmp_path / "p", text, **parts), '"lib"', '"lib>=1"') == []


CU128 = """\
[[tool.uv.index]]
name = "pytorch-cu128"
url = "https://download.pytorch.org/whl/cu128"
explicit = true
"""
SOURCE = '[tool.uv.sources]\ntorch = { index = "pytorch-cu128" }\n'
TORCH = PROJECT.replace('"six"', '"torch==2.8.0"')


def test_an_index_that_a_source_names_since(index: Index, tmp_path: Path) -> None:
    project = locked(tmp_path / "p", TORCH)
    (project / "pyproject.toml").write_text(TORCH + CU128 + SOURCE)
    index.restore(project)
    (line,) = told(project)
    assert line.endswith(
        f"torch==2.8.0 from {index.whl}cu128, {MADE} torch==2.8.0 from no index of its own"
    )


def test_an_index_that_the_lock_was_made_with(index: Index, tmp_path: Path) -> None:
    project = tmp_path / "p"
    write_project(project, {"pyproject.toml": TORCH + CU128 + SOURCE})
    index.restore(project)
    assert Uv.find().run(["lock"], cwd=project, timeout=120).returncode == 0
    assert told(project) == []
    (line,) = told(project, "whl/cu128", "whl/cu126")
    assert line.endswith(
        f"torch==2.8.0 from {index.whl}cu126, {MADE} torch==2.8.0 from {index.whl}cu128"
    )


def test_sources_that_depend_on_the_platform_are_not_compared(index: Index, tmp_path: Path) -> None:
    project = locked(tmp_path / "p", TORCH)
    where = SOURCE.replace('cu128" }', 'cu128", marker = "sys_platform == \'linux\'" }')
    (project / "pyproject.toml").write_text(TORCH + CU128 + where)
    assert told(project) == []
