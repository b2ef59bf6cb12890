"""Measuring into a file of one's own: only what the shipped facts lack, usable as an overlay."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from stackfix_index.errors import Unreadable
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.measure.facts_file import FactsFile, Table, measuring_into

SHIPPED = {
    "file": "own_lib-1.0-py3-none-manylinux_2_28_x86_64.whl",
    "sha256": "ab" * 32,
    "platform": "linux_x86_64",
    "requires": [],
    "measured": "2026-11-01",
    "library": [{"name": "own/lib.so", "containers": {"sm_80 sm_90": 3}}],
}


def release(version: str, **wheel: object) -> dict[Version, Table]:
    table = {"version": version, "date": "2026-11-01", "yanked": False}
    file = f"own_lib-{version}-py3-none-manylinux_2_28_x86_64.whl"
    return {Version(version): {**table, "wheel": [{**SHIPPED, "file": file, **wheel}]}}


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    facts = FactsFile(tmp_path / "shipped", "own-lib")
    facts.lay(release("1.0"))
    facts.write()
    return tmp_path / "shipped"


def note(folder: Path, releases: dict[Version, Table], package: str = "own-lib") -> None:
    """What measuring does to a folder."""
    facts = FactsFile(folder, package)
    facts.lay(releases)
    facts.write()


def test_the_file_holds_what_the_shipped_facts_lack_and_no_more(
    tmp_path: Path, shipped: Path
) -> None:
    file = tmp_path / "facts.toml"
    with measuring_into(file, ["own-lib"], shipped) as folder:
        assert list(FactsFile(folder, "own-lib").tables()) == [Version("1.0")]
        note(folder, release("1.1"))
    text = file.read_text()
    assert '[[wheels.release.wheel]]\nfile = "own_lib-1.1-' in text
    assert "own_lib-1.0-" not in text


def test_the_file_is_an_overlay_of_the_graph(tmp_path: Path, shipped: Path) -> None:
    file = tmp_path / "facts.toml"
    with measuring_into(file, ["own-lib", "other-lib"], shipped) as folder:
        note(folder, release("1.1"))
        note(folder, release("2.0"), "other-lib")
    graph = Graph.load([file])
    found = graph.release("own-lib", "1.1")
    assert found is not None
    wheel = found.wheel("linux_x86_64")
    assert wheel is not None
    assert wheel.coverage is not None
    assert [library.name for library in wheel.coverage.libraries] == ["own/lib.so"]
    assert graph.release("other-lib", "2.0") is not None
    assert graph.packages.is_stack("other-lib")


def test_a_second_run_keeps_what_the_first_found_and_starts_from_it(
    tmp_path: Path, shipped: Path
) -> None:
    file = tmp_path / "facts.toml"
    for version in ("1.1", "1.2"):
        with measuring_into(file, ["own-lib"], shipped) as folder:
            note(folder, release(version))
    before = file.read_text()
    with measuring_into(file, ["own-lib"], shipped) as folder:
        assert len(FactsFile(folder, "own-lib").tables()) == 3
    assert file.read_text() == before


def test_packages_that_were_not_asked_about_stay(tmp_path: Path, shipped: Path) -> None:
    file = tmp_path / "facts.toml"
    for package in ("own-lib", "other-lib"):
        with measuring_into(file, [package], shipped) as folder:
            note(folder, release("3.0"), package)
    graph = Graph.load([file])
    assert graph.release("own-lib", "3.0")
    assert graph.release("other-lib", "3.0")


def test_a_wheel_measured_anew_replaces_the_shipped_one(tmp_path: Path, shipped: Path) -> None:
    file = tmp_path / "facts.toml"
    with measuring_into(file, ["own-lib"], shipped) as folder:
        note(folder, release("1.0", sha256="cd" * 32))
    assert "cd" * 32 in file.read_text()


def test_what_was_measured_before_an_interruption_is_kept(tmp_path: Path, shipped: Path) -> None:
    file = tmp_path / "facts.toml"

    def interrupted() -> None:
        with measuring_into(file, ["own-lib"], shipped) as folder:
            note(folder, release("1.1"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "own_lib-1.1-" in file.read_text()


def test_nothing_new_makes_no_file(tmp_path: Path, shipped: Path) -> None:
    file = tmp_path / "facts.toml"
    with measuring_into(file, ["own-lib"], shipped):
        pass
    assert not file.exists()


def test_the_shape_of_one_package_is_read_too(tmp_path: Path, shipped: Path) -> None:
    file = tmp_path / "facts.toml"
    facts = FactsFile(tmp_path, "own-lib")
    facts.lay(release("1.5"))
    file.write_text(facts.text())
    with measuring_into(file, ["own-lib"], shipped) as folder:
        note(folder, release("1.6"))
    assert {"1.5", "1.6"} <= {str(r.version) for r in Graph.load([file]).releases("own-lib")}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[gpus]]\nnames = []\n", "facts about wheels alone"),
        ("not toml", "a file of facts about wheels"),
        ("wheels = 3\n", "a file of facts about wheels"),
        ('[[wheels]]\npackage = "x"\n[[wheels.release]]\nversion = "?"\n', "a file of facts"),
    ],
)
def test_a_file_that_would_be_spoilt_is_refused_and_stays(
    tmp_path: Path, shipped: Path, text: str, words: str
) -> None:
    file = tmp_path / "facts.toml"
    file.write_text(text)
    with (
        pytest.raises(Unreadable, match=words) as error,
        measuring_into(file, ["own-lib"], shipped),
    ):
        pass
    assert str(error.value).startswith(f"{file}: ")
    assert file.read_text() == text
