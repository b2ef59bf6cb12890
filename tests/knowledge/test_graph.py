"""The graph as a whole: one entry point, lazy, and honest about what it does not know."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import rtoml
from packaging.version import Version

from stackfix_knowledge import reader
from stackfix_knowledge.graph import Graph


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph.load()


def test_a_local_part_finds_the_release_of_pytorchs_index(graph: Graph) -> None:
    release = graph.release("torch", "2.7.1+cu128")
    assert release is not None
    assert (release.home, release.version) == ("cu128", Version("2.7.1+cu128"))


def test_releases_ascend_and_hold_those_of_pytorchs_indexes(graph: Graph) -> None:
    versions = [release.version for release in graph.releases("torch")]
    assert versions == sorted(versions)
    assert Version("2.7.1+cu128") in versions


def test_releases_are_listed_once(graph: Graph) -> None:
    versions = [release.version for release in graph.releases("torch")]
    assert len(versions) == len(set(versions))


@pytest.mark.parametrize("version", ["99.0", "2.7.1+cu999", "no version", "2.7.1+rocm6.3"])
def test_an_unknown_release_is_none(graph: Graph, version: str) -> None:
    assert graph.release("torch", version) is None


def test_an_unknown_package_has_nothing(graph: Graph) -> None:
    assert graph.releases("left-pad") == ()
    assert graph.couplings("left-pad") == ()
    assert graph.advisories("left-pad") == ()
    assert graph.collisions("left-pad") == ()
    assert graph.matrix("left-pad", "1.0") is None


def test_the_matrix_of_a_cudnn_package(graph: Graph) -> None:
    matrix = graph.matrix("nvidia-cudnn-cu12", "9.5.1.17")
    assert matrix is not None
    assert str(max(matrix.capabilities)) == "9.0"
    assert graph.matrix("nvidia-cudnn-cu13", "9.5.1.17") is None
    assert graph.matrix("nvidia-nccl-cu12", "9.5.1.17") is None
    assert graph.matrix("nvidia-cudnn-cu12", "garbage") is None


def test_collisions_are_seen_from_the_package_asked_about(graph: Graph) -> None:
    assert {collision.other for collision in graph.collisions("nvidia-nccl-cu13")} == {
        "nvidia-nccl-cu11",
        "nvidia-nccl-cu12",
    }
    assert all(c.package == "nvidia-nccl-cu13" for c in graph.collisions("nvidia-nccl-cu13"))


def test_the_version_is_a_date_and_a_digest_and_stays(graph: Graph) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-[0-9a-f]{8}", graph.version)
    assert Graph.load().version == graph.version


def test_loading_reads_no_file_and_a_question_reads_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    load = rtoml.loads

    def watched(text: str) -> object:
        read.append(text[:40])
        return load(text)

    monkeypatch.setattr(rtoml, "loads", watched)
    graph = Graph.load()
    assert read == []
    graph.gpus.find("RTX 5090")
    graph.gpus.find("H100")
    assert len(read) == 1
    for _ in range(2):
        graph.release("nvidia-nccl-cu12", "2.26.2")
        graph.release("nvidia-nccl-cu12", "2.26.5")
    assert [text.splitlines()[1] for text in read[1:]] == [
        'version = "2.26.2"',
        'version = "2.26.5"',
    ]


def test_an_overlay_that_is_missing_is_one_clear_line() -> None:
    with pytest.raises(reader.FactsError, match=r"none\.toml: expected a readable file"):
        Graph.load([Path("none.toml")])
