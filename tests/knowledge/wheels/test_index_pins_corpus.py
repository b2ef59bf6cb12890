"""What is documented of PyTorch's builds against what real locks hold beside them.

Runs where STACKFIX_CORPUS names a folder; see tests/corpus.py.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from packaging.requirements import Requirement

from stackfix_knowledge.graph import Graph
from tests.corpus import each, needs_corpus, projects

HOST = "https://download.pytorch.org/"
LIBRARIES = ("nvidia-", "cuda-", "triton")

pytestmark = needs_corpus


class Locked(NamedTuple):
    """One build in one lock."""

    project: str
    version: str
    edges: tuple[Mapping[str, Any], ...]
    """The libraries that the lock says it depends on."""
    versions: Mapping[str, frozenset[str]]
    """What the lock holds, by name."""
    overridden: frozenset[str]
    on_arm: bool
    """Whether the lock is for aarch64 too."""


def builds() -> Iterator[Locked]:
    for folder in projects():
        lock = tomllib.loads((folder / "uv.lock").read_text(encoding="utf-8"))
        versions: dict[str, set[str]] = {}
        for package in lock["package"]:
            versions.setdefault(package["name"], set()).add(package.get("version", ""))
        overrides = lock.get("manifest", {}).get("overrides", ())
        for package in lock["package"]:
            home = package["source"].get("registry", "")
            if package["name"] != "torch" or not home.startswith(HOST):
                continue
            if "+cu" in package["version"]:
                yield Locked(
                    folder.name,
                    package["version"],
                    tuple(
                        edge
                        for edge in package.get("dependencies", ())
                        if edge["name"].startswith(LIBRARIES)
                    ),
                    {name: frozenset(found) for name, found in versions.items()},
                    frozenset(entry["name"] for entry in overrides),
                    any("aarch64" in wheel["url"] for wheel in package["wheels"]),
                )


def named(locked: Locked) -> str:
    return f"{locked.project}-{locked.version}"


BUILDS = tuple(builds())


def documented(version: str) -> dict[str, Requirement]:
    release = Graph.load().release("torch", version)
    assert release is not None
    lines = [line for line in release.wheels[0].requires or () if line.startswith(LIBRARIES)]
    assert lines
    return {line.name: line for line in map(Requirement, lines)}


def test_the_corpus_has_builds_of_these_indexes() -> None:
    assert len(BUILDS) >= 20
    # uv reads the METADATA of one wheel, and that of 2.6.0+cu126 for aarch64 names no library.
    assert sum(not locked.edges for locked in BUILDS) <= 1


@each((b for b in BUILDS if b.edges), "locked", ids=named)
def test_a_lock_holds_the_libraries_that_are_documented(locked: Locked) -> None:
    known = documented(locked.version)
    assert {edge["name"] for edge in locked.edges} == set(known)
    for edge in locked.edges:
        line = known[edge["name"]]
        if edge["name"] in locked.overridden:
            continue  # the user's word, which also drops extras
        versions = {edge["version"]} if "version" in edge else locked.versions[edge["name"]]
        assert any(line.specifier.contains(version) for version in versions), line
        assert set(edge.get("extra", ())) == line.extras


@each((b for b in BUILDS if b.edges), "locked", ids=named)
def test_a_lock_holds_them_for_the_machines_that_are_documented(locked: Locked) -> None:
    known = documented(locked.version)
    for edge in locked.edges:
        marker = edge.get("marker", "")
        if "sys_platform" in marker and edge["name"] not in locked.overridden:
            on_x86_64 = "platform_machine == 'x86_64'" in marker
            wanted = "platform_machine" in str(known[edge["name"]].marker)
            assert on_x86_64 == wanted or (on_x86_64 and not locked.on_arm), marker
