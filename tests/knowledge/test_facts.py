"""Every shipped facts file, read in full."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackfix_knowledge.graph import Graph
from stackfix_knowledge.reader import Entry, facts_folder, read_file
from stackfix_knowledge.stack.packages import Role

FILES = sorted(facts_folder().rglob("*.toml"))
WHEELS = [path for path in FILES if path.parent.name == "wheels"]
TABLES = [path for path in FILES if path.parent.name != "wheels"]

REGISTRIES = tuple(
    ".".join(parts)
    for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("debian", "org"))
)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph.load()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_file_names_the_host_of_a_registry(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not [host for host in REGISTRIES if host in text]


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_sources_are_dated_and_used(path: Path) -> None:
    file = read_file(path)
    sources = file.sources()
    assert all(evidence.date for evidence in sources.values())
    if path.name != "packages.toml":  # its one source stands for the whole file
        assert set(sources) == set(_named(file.data))


def _named(value: object) -> Iterator[str]:
    """Every source that some entry below `value` names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "source":
                yield from [inner] if isinstance(inner, str) else inner
            elif key != "sources":
                yield from _named(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _named(inner)


@pytest.mark.parametrize("path", WHEELS, ids=lambda path: path.stem)
def test_wheels_are_sound(graph: Graph, path: Path) -> None:
    package = path.stem
    releases = [known for known in graph.releases(package) if known.home is None]
    assert releases
    for release in releases:
        platforms = [wheel.platform for wheel in release.wheels]
        assert len(platforms) == len(set(platforms)), release.version
        for wheel in release.wheels:
            assert wheel.evidence, wheel.file
            assert wheel.coverage is None or graph.packages.is_stack(package), wheel.file
            assert wheel.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", wheel.sha256), wheel.file


def test_couplings_are_between_known_packages(graph: Graph) -> None:
    for package in graph.packages:
        for coupling in graph.couplings(package.name):
            assert graph.packages.is_stack(coupling.needs), coupling


def test_every_framework_has_a_family_of_its_own(graph: Graph) -> None:
    frameworks = [package for package in graph.packages if package.role is Role.FRAMEWORK]
    assert {"torch", "jax", "tensorflow", "vllm"} <= {package.family for package in frameworks}


def test_an_entry_shows_its_place() -> None:
    assert str(Entry({}, "gpus.toml", "cards[1]").fault("names", "names")) == (
        "gpus.toml: cards[1].names: expected names"
    )
