"""Every Linux fork of a lock counts, not only that of the first target."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.audit.forks import project_python, pythons
from stackfix.model.selection import Selection
from stackfix_lockfiles.lock import Lock
from tests.resolver.gate.making import checked, package, project, root

LINUX = "sys_platform == 'linux'"


def by_python(folder: Path) -> Path:
    old, new = "python_full_version < '3.12'", "python_full_version >= '3.12'"
    return project(
        folder,
        root(
            f'torch, version = "2.8.0", marker = "{old}"',
            f'torch, version = "2.7.1", marker = "{new}"',
        ),
        package("torch", "2.8.0", forks=[old]),
        package("torch", "2.7.1", forks=[new]),
        head=f'resolution-markers = ["{old}", "{new}"]',
        targets=["RTX 5090"],
    )


def test_a_fork_for_another_python_is_judged(tmp_path: Path) -> None:
    (hit,) = (hit for hit in checked(by_python(tmp_path)).hits if hit.code == "SF101")
    assert (hit.title, hit.only, hit.severity) == ("torch 2.7.1", "Python 3.12", "error")


def test_a_chosen_python_is_the_only_one(tmp_path: Path) -> None:
    result = checked(by_python(tmp_path), selection=Selection(every=True, python="3.11"))
    assert not [hit for hit in result.hits if hit.code == "SF101"]


def by_machine(folder: Path, *targets: str) -> Path:
    arm, x86 = "platform_machine == 'aarch64'", "platform_machine != 'aarch64'"
    return project(
        folder,
        root(
            f'torch, version = "2.10.0+cu126", marker = "{arm}"',
            f'torch, version = "2.10.0+cu128", marker = "{x86}"',
        ),
        package("torch", "2.10.0+cu126", forks=[arm]),
        package("torch", "2.10.0+cu128", forks=[x86]),
        head=f'resolution-markers = ["{arm}", "{x86}"]',
        targets=targets,
    )


def test_the_fork_of_a_machine_that_no_target_has_is_a_warning(tmp_path: Path) -> None:
    hits = {hit.code: hit for hit in checked(by_machine(tmp_path, "RTX 5090")).hits}
    assert hits["SF101"].severity == "warning"
    assert "(in the fork for linux_aarch64)" in hits["SF101"].message


def test_the_fork_of_a_machine_that_a_target_has_is_an_error(tmp_path: Path) -> None:
    hits = [hit for hit in checked(by_machine(tmp_path, "GB10")).hits if hit.code == "SF101"]
    assert {(hit.version, hit.severity.value) for hit in hits} == {("2.10.0+cu126", "error")}


def test_a_lock_that_is_not_made_for_the_target_is_an_error(tmp_path: Path) -> None:
    made = project(
        tmp_path,
        root("torch"),
        package("torch", "2.8.0"),
        head="supported-markers = [\"sys_platform == 'darwin'\"]",
    )
    (hit,) = checked(made).hits
    assert (hit.code, hit.severity) == ("SF501", "error")
    assert "not made for linux_x86_64" in hit.message


def test_a_python_without_a_wheel_matters_only_if_the_project_uses_it(tmp_path: Path) -> None:
    wheel = "torch-2.8.0-cp311-cp311-manylinux_2_28_x86_64.whl"
    files = [f'{{ url = "https://files.index.example/{wheel}", hash = "sha256:{0:064}" }}']
    marker = "python_full_version >= '3.12'"
    made = project(
        tmp_path,
        root("torch", f'triton, marker = "{marker}"'),
        package("torch", "2.8.0", wheels=files),
        package("triton", "3.4.0"),
        head=f'resolution-markers = ["{marker}", "python_full_version < \'3.12\'"]',
    )
    assert "SF501" not in {hit.code for hit in checked(made).hits}
    (made / ".python-version").write_text("3.12\n")
    assert "SF501" in {hit.code for hit in checked(made).hits}


@pytest.mark.parametrize(
    ("requires", "chosen", "python"),
    [
        (">=3.11", None, "3.11"),
        (">=3.11", "3.12", "3.12"),
        (">=3.11", "cpython-3.13.1-linux", "3.13.1"),
        (">=3.11,<3.13", "3.13", "3.11"),
        ("==3.11.*", None, "3.11"),
    ],
)
def test_the_projects_own_python(requires: str, chosen: str | None, python: str) -> None:
    assert project_python(requires, chosen) == python


def test_pythons_that_nothing_tells_apart_are_one() -> None:
    text = 'version = 1\nrequires-python = ">=3.11"\n' + root("torch") + package("torch", "2.8.0")
    assert pythons(Lock.parse(text.encode()), "3.11", {"torch"}.__contains__) == ("3.11",)
