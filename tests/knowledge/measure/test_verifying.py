"""Comparing a recorded release with one that was measured again."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from stackfix_index.errors import Unreadable
from stackfix_knowledge.evidence import EvidenceKind
from stackfix_knowledge.measure.comparing import differences, recorded, verify
from stackfix_knowledge.measure.facts_file import FactsFile, Table

RELEASE: Table = {
    "version": "1.0",
    "date": "2026-11-01",
    "yanked": False,
    "wheel": [
        {
            "file": "x-1.0-py3-none-manylinux_2_28_x86_64.whl",
            "sha256": "ab" * 32,
            "platform": "linux_x86_64",
            "cuda": "12.8",
            "requires": ["numpy"],
            "measured": "2026-11-01",
            "library": [{"name": "x.so", "containers": {"sm_80": 3, "sm_80 sm_90": 4}}],
        },
        {
            "file": "x-1.0-py3-none-manylinux_2_28_aarch64.whl",
            "sha256": "cd" * 32,
            "platform": "linux_aarch64",
            "requires": [],
            "metadata-date": "2026-11-01",
        },
    ],
}


def changed(**keys: Any) -> Table:
    release: Table = copy.deepcopy(RELEASE)
    release["wheel"][0].update(keys)
    return release


def test_what_is_the_same_has_no_differences() -> None:
    assert list(differences(RELEASE, copy.deepcopy(RELEASE), "x 1.0")) == []


def test_dates_and_empty_values_are_no_differences() -> None:
    fresh = changed(measured="2026-12-24", needs=[], ptxas=[])
    assert list(differences(RELEASE, fresh, "x 1.0")) == []


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"sha256": "ee"}, f"sha256: recorded {'ab' * 32}, now ee"),
        ({"cuda": None}, "cuda: recorded 12.8, now nothing"),
        ({"requires": ["numpy", "six"]}, "requires: recorded ['numpy'], now ['numpy', 'six']"),
    ],
)
def test_a_key_that_differs_is_named_with_both_values(keys: dict[str, Any], line: str) -> None:
    (found,) = differences(RELEASE, changed(**keys), "x 1.0")
    assert found == f"x 1.0 linux_x86_64: {line}"


def test_every_count_of_containers_that_differs_is_named() -> None:
    fresh = changed(library=[{"name": "x.so", "containers": {"sm_80": 3, "sm_90": 4}}])
    assert list(differences(RELEASE, fresh, "x 1.0")) == [
        "x 1.0 linux_x86_64: x.so: sm_80 sm_90: recorded 4 containers, now 0",
        "x 1.0 linux_x86_64: x.so: sm_90: recorded 0 containers, now 4",
    ]


def test_a_wheel_that_is_gone_is_a_difference() -> None:
    fresh = {**RELEASE, "wheel": RELEASE["wheel"][:1]}
    (found,) = differences(RELEASE, fresh, "x 1.0")
    assert found.startswith("x 1.0 linux_aarch64: recorded x-1.0-py3-none-manylinux_2_28_aarch64")


def test_each_wheel_is_read_as_deep_as_it_was_recorded() -> None:
    asked: list[tuple[str, EvidenceKind, tuple[str, ...]]] = []

    def measure(
        folder: Path, wanted: Requirement, kind: EvidenceKind, platforms: Sequence[str]
    ) -> int:
        asked.append((str(wanted), kind, tuple(platforms)))
        facts = FactsFile(folder, "x")
        facts.lay({Version("1.0"): RELEASE})
        facts.write()
        return 0

    assert verify(RELEASE, "x", measure) == ([], 0)
    assert asked == [
        ("x==1.0", EvidenceKind.MEASURED, ("linux_x86_64",)),
        ("x==1.0", EvidenceKind.METADATA, ("linux_aarch64",)),
    ]


def test_what_nobody_measured_cannot_be_verified() -> None:
    with pytest.raises(Unreadable, match=r"x 2\.0: expected a release that was measured"):
        recorded({Version("1.0"): RELEASE}, "x", Version("2.0"))
