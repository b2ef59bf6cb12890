"""Packages that hold one library for each CUDA."""

from __future__ import annotations

import pytest
from packaging.version import Version

from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.loading import AlternativesTable


@pytest.fixture(scope="module")
def table() -> AlternativesTable:
    return AlternativesTable.load()


@pytest.mark.parametrize(
    ("release", "cuda", "loaded"),
    [
        ("0.45.2", "12.6", "12.6"),
        ("0.45.2", "12.8", None),
        ("0.49.2", "12.7", None),
        ("0.50.0", "12.9", "12.8"),  # the next older
        ("0.50.0", "12.0", "12.1"),  # none older: the next newer
        ("0.50.0", "11.7", "11.8"),
        ("0.50.0", "14.0", None),
    ],
)
def test_which_library_gets_loaded(
    table: AlternativesTable, release: str, cuda: str, loaded: str | None
) -> None:
    held = {
        "0.45.2": ["11.8", "12.1", "12.6"],
        "0.49.2": ["12.6", "12.8", "13.0"],
        "0.50.0": ["11.8", "12.1", "12.8", "13.0"],
    }[release]
    known = table.of("bitsandbytes", Version(release))
    assert known is not None
    found = known.loaded(map(Version, held), Version(cuda))
    assert found == (Version(loaded) if loaded else None)


def test_what_a_wheel_holds_is_read_off_its_libraries(table: AlternativesTable) -> None:
    release = Graph.load().release("bitsandbytes", "0.45.3")
    known = table.of("bitsandbytes", Version("0.45.3"))
    assert release is not None
    assert known is not None
    wheel = release.wheel("linux_x86_64")
    assert wheel is not None
    assert wheel.coverage is not None
    assert {Version("11.7"), Version("12.8")} <= set(known.held(wheel.coverage))


def test_other_packages_hold_every_library_once(table: AlternativesTable) -> None:
    assert table.of("torch", Version("2.8.0")) is None
