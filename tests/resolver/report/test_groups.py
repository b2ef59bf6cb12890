"""Findings gathered by package."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackfix.report.groups import alike, group
from tests.resolver.report.examples import JIT, MATRIX, NO_CODE, OTHER, PARTIAL, TARGET

BOTH = [TARGET.short, OTHER.short]


def test_a_package_is_one_group_with_its_worst_fault_first() -> None:
    groups = group([MATRIX, JIT, PARTIAL], BOTH)
    assert [(one.title, [fault.code for fault in one.faults]) for one in groups] == [
        ("nvidia-cudnn-cu12 9.5.1.17", ["SF103", "SF104"]),
        ("jax-cuda12-plugin 0.5.3", ["SF102"]),
    ]


def test_the_title_is_not_said_twice() -> None:
    (one,) = group([NO_CODE], BOTH)
    assert one.faults[0].message.startswith("has no code for")


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("torch 2.7.1: a known bug", "a known bug"),
        ("torch 2.7.10 is another release", "torch 2.7.10 is another release"),
        ("the matrix of torch 2.7.1", "the matrix of torch 2.7.1"),
    ],
)
def test_only_the_title_itself_is_left_out(message: str, kept: str) -> None:
    (one,) = group([replace(NO_CODE, message=message)], BOTH)
    assert one.faults[0].message == kept


def test_a_fault_on_every_target_names_none() -> None:
    (one,) = group([NO_CODE, replace(NO_CODE, target=OTHER)], BOTH)
    assert one.faults[0].targets == ()


def test_a_fault_on_some_targets_names_them() -> None:
    (one,) = group([NO_CODE], BOTH)
    assert one.faults[0].targets == ("RTX 5090",)


def test_two_versions_of_a_package_are_two_groups() -> None:
    assert len(group([NO_CODE, replace(NO_CODE, version="2.6.0")], BOTH)) == 2


def test_packages_of_which_the_same_is_said_stand_together() -> None:
    pjrt = replace(
        JIT, package="jax-cuda12-pjrt", message=JIT.message.replace("plugin", "pjrt"), evidence=()
    )
    together = alike(group([JIT, NO_CODE, pjrt], BOTH))
    assert [[one.package for one in same] for same in together] == [
        ["torch"],
        ["jax-cuda12-plugin", "jax-cuda12-pjrt"],
    ]


def test_a_package_with_more_faults_stands_alone() -> None:
    other = replace(
        MATRIX, package="other", message="other 9.5.1.17 is outside the vendor's matrix"
    )
    assert len(alike(group([PARTIAL, MATRIX, other], BOTH))) == 2
