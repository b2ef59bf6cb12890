"""What an edit says is what uv then locks: each kind of edit, in several layouts."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from stackfix_lockfiles.edits import (
    Edit,
    add_constraint,
    add_index,
    add_override,
    add_source,
    apply_edits,
    remove_override,
    replace_requirement,
)
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.relock import relock
from stackfix_lockfiles.uv import Uv
from tests.lockfiles.samples import write_project
from tests.registry.server import Index

HEAD = '[project]\nname = "robot"\nversion = "1"\nrequires-python = ">=3.11"\n'
Make = Callable[[Project, str], Iterable[Edit]]


def replacement(found: Project, mirror: str) -> Iterable[Edit]:
    return (replace_requirement(found.requirements[0], "==0.8.1"),)


def constraint(found: Project, mirror: str) -> Iterable[Edit]:
    return (add_constraint(found, "einops<0.8.2", why="0.8.2 has no code for 12.0"),)


def override(found: Project, mirror: str) -> Iterable[Edit]:
    return (add_override(found, "einops==0.8.1"),)


def no_override(found: Project, mirror: str) -> Iterable[Edit]:
    return remove_override(found, "einops")


def source(found: Project, mirror: str) -> Iterable[Edit]:
    return (add_index(found, "mirror", mirror), add_source(found, "einops", "mirror"))


def lock_of(folder: Path, make: Make, mirror: str) -> Lock:
    """Edit, relock, write both, and let uv itself say whether they agree."""
    found = Project.find(folder)
    files = apply_edits(found, make(found, mirror))
    lock = relock(found, files, pins={}).lock
    for path, data in files.items():
        (folder / path).write_bytes(data)
    (folder / "uv.lock").write_bytes(lock)
    done = subprocess.run(
        [Uv.find().path, "lock", "--check"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return Lock.parse(lock)


DEPENDS = HEAD + 'dependencies = ["einops"]\n'


@pytest.mark.parametrize(
    ("text", "make"),
    [
        (HEAD + "dependencies = [\n  'einops >= 0.8.2',  # why\n]\n", replacement),
        (HEAD + 'dependencies = ["""einops"""]', replacement),
        (DEPENDS, constraint),
        (DEPENDS + "[tool]\nuv = { package = false }\n", constraint),
        (DEPENDS + "[tool]\nuv.package = false\n", constraint),
        (DEPENDS + "\n# about six\n[tool.uv.sources]\n\n[tool.x]\n", constraint),
        (DEPENDS + '[tool.uv]\nconstraint-dependencies = ["six<2",]\n', constraint),
        (HEAD + 'dependencies = ["einops==0.8.2"]\n', override),
        (
            DEPENDS + '[tool.uv]\noverride-dependencies = [\n  "einops==0.8.2",\n  "six",\n]\n'
            'constraint-dependencies = ["einops==0.8.1"]\n',
            no_override,
        ),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
def test_the_version_that_was_meant_is_locked(
    index: Index, tmp_path: Path, text: str, make: Make, end: str
) -> None:
    folder = write_project(tmp_path / "robot", {"pyproject.toml": text.replace("\n", end)})
    lock = lock_of(folder, make, index.url)
    assert [package.version for package in lock.named("einops")] == ["0.8.1"]


@pytest.mark.parametrize(
    "text",
    [
        DEPENDS,
        DEPENDS + "[tool.uv.sources]\n",
        DEPENDS + "[tool]\nuv.package = false\n",
        DEPENDS + "[tool]\nuv = { package = false, sources = { } }\n",
        DEPENDS + '[tool.uv.sources.einops]\nindex = "old"  # why\n@',
        DEPENDS + '[tool.uv.sources]\neinops.index = "old"\n@',
        DEPENDS + '[tool.uv.sources]\neinops = [\n  { index = "old" },\n]\n@',
    ],
)
def test_the_index_that_was_meant_is_asked(index: Index, tmp_path: Path, text: str) -> None:
    old = f'[[tool.uv.index]]\nname = "old"\nurl = "{index.url}"\n'
    folder = write_project(tmp_path / "robot", {"pyproject.toml": text.replace("@", old)})
    mirror = index.url.replace("127.0.0.1", "localhost")
    lock = lock_of(folder, source, mirror)
    assert [package.source.value for package in lock.named("einops")] == [mirror]


def test_a_source_joins_that_of_another_platform(index: Index, tmp_path: Path) -> None:
    text = (
        DEPENDS + '[tool.uv.sources.einops]\nindex = "old"\nmarker = "os_name == \'nt\'"\n'
        f'[[tool.uv.index]]\nname = "old"\nurl = "{index.url}"\n'
    )
    folder = write_project(tmp_path / "robot", {"pyproject.toml": text})
    mirror = index.url.replace("127.0.0.1", "localhost")

    def beside(found: Project, mirror: str) -> Iterable[Edit]:
        yield add_index(found, "mirror", mirror)
        yield add_source(found, "einops", "mirror", marker="os_name != 'nt'")

    lock = lock_of(folder, beside, mirror)
    assert {package.source.value for package in lock.named("einops")} == {index.url, mirror}


def test_the_index_is_found_beside_a_uv_toml(index: Index, tmp_path: Path) -> None:
    mirror = index.url.replace("127.0.0.1", "localhost")
    files = {"pyproject.toml": DEPENDS, "uv.toml": "# ours\noffline = false"}
    folder = write_project(tmp_path / "robot", files)
    lock = lock_of(folder, source, mirror)
    assert [package.source.value for package in lock.named("einops")] == [mirror]


def test_an_index_for_every_package_goes_into_a_uv_toml(index: Index, tmp_path: Path) -> None:
    mirror = index.url.replace("127.0.0.1", "localhost")
    files = {"pyproject.toml": DEPENDS, "uv.toml": "# ours\noffline = false"}
    folder = write_project(tmp_path / "robot", files)

    def first(found: Project, mirror: str) -> Iterable[Edit]:
        return (add_index(found, "mirror", mirror, explicit=False),)

    lock = lock_of(folder, first, mirror)
    assert [package.source.value for package in lock.named("einops")] == [mirror]
