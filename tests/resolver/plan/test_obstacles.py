"""Versions excluded for one reason are one obstacle, whichever version they name."""

from __future__ import annotations

import pytest
from packaging.version import Version

from stackfix.plan.explain.obstacles import grouped
from stackfix.solve.search import Exclusion


def excluded(version: str, reason: str) -> Exclusion:
    return Exclusion(package="jax", version=Version(version), reason=reason.format(v=version))


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (
            "jax {v} needs jax-cuda13-plugin<={v},>={v}, but jax-cuda13-plugin {v} has no code",
            "jax needs jax-cuda13-plugin, but jax-cuda13-plugin has no code",
        ),
        ("jax {v} needs jaxlib=={v}: too old", "jax needs jaxlib: too old"),
        ("jax {v} has no extra cuda13", "jax has no extra cuda13"),
        ("jax {v} needs numpy>=2.0, which is new", "jax needs numpy>=2.0, which is new"),
    ],
)
def test_the_same_fault_of_several_versions_is_told_once(reason: str, told: str) -> None:
    versions = ("0.8.0", "0.8.1", "0.10.2")
    (obstacle,) = grouped(excluded(version, reason) for version in versions)
    assert obstacle.versions == ("0.10.2", "0.8.1", "0.8.0")
    assert obstacle.reason == told


def test_a_single_one_keeps_its_versions() -> None:
    reason = "jax {v} needs jaxlib<={v},>={v}, but jaxlib {v} has no code"
    (obstacle,) = grouped([excluded("0.8.0", reason)])
    assert obstacle.reason == reason.format(v="0.8.0")


def test_a_longer_version_that_starts_alike_stays() -> None:
    exclusions = [excluded(v, "jax {v} needs jaxlib==0.8.0.1") for v in ("0.8.0", "0.7.2")]
    (obstacle,) = grouped(exclusions)
    assert obstacle.reason == "jax needs jaxlib==0.8.0.1"
