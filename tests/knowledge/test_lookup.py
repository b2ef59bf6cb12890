"""What somebody asks for, found or told what is known instead."""

from __future__ import annotations

import pytest

from stackfix_knowledge.graph import Graph
from stackfix_knowledge.lookup import NotKnown, find_release, find_releases

GRAPH = Graph.load()


def test_a_release_is_found_by_its_version_with_and_without_a_local_part() -> None:
    assert str(find_release(GRAPH, "torch", "2.7.1").version) == "2.7.1"
    assert str(find_release(GRAPH, "torch", "2.7.1+cu128").version) == "2.7.1+cu128"


def test_all_releases_of_a_package_are_found_ascending() -> None:
    versions = [release.version for release in find_releases(GRAPH, "torch")]
    assert len(versions) > 1
    assert versions == sorted(versions)


@pytest.mark.parametrize(
    ("name", "version", "said"),
    [
        ("torch", "1!99", "torch 1!99 is not known; "),
        ("torch", "newest", "expected a version like"),
        ("torhc", "1.0", "did you mean torch"),
        ("flask", "1.0", "nothing is known about flask: it is no package of the GPU stack"),
    ],
)
def test_what_is_not_known_is_one_line(name: str, version: str, said: str) -> None:
    with pytest.raises(NotKnown, match=said.replace(".", r"\.")) as error:
        find_release(GRAPH, name, version)
    assert str(error.value).isprintable()
