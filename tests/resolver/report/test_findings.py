"""Findings as they are told: once for each fault, whatever the targets and packages."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from stackfix.model.finding import Finding, Severity
from stackfix.model.target import Target
from stackfix.report.findings import findings_lines, findings_table, hits_of_findings
from tests.resolver.report.examples import (
    DRIVER,
    JIT,
    MATRIX,
    NO_CODE,
    OTHER,
    PARTIAL,
    TARGET,
    UNMEASURED,
)

BOTH = (TARGET, OTHER)


def lines(findings: Sequence[Finding], targets: Sequence[Target] = BOTH) -> list[str]:
    """The text of a check, each fault's lines in one."""
    text = "".join(findings_lines(hits_of_findings(findings, targets), colour=False))
    found: list[str] = []
    for line in text.splitlines():
        if line.startswith("    "):
            found[-1] += " " + line.strip()
        else:
            found.append(line.strip())
    return found


def test_a_plan_and_a_check_say_the_same() -> None:
    findings = [NO_CODE, PARTIAL, MATRIX, JIT, UNMEASURED, DRIVER]
    file = io.StringIO()
    Console(file=file, width=100).print(findings_table(hits_of_findings(findings, BOTH)))
    assert " ".join(file.getvalue().split()) == " ".join(" ".join(lines(findings)).split())


def test_errors_stand_before_warnings_and_what_is_only_worth_knowing_is_left_out() -> None:
    codes = [line.split()[:2] for line in lines([UNMEASURED, MATRIX, JIT, PARTIAL])]
    assert codes == [["✗", "SF103"], ["!", "SF102"], ["!", "SF104"]]


def test_a_fault_names_its_package_once() -> None:
    (line,) = lines([NO_CODE])
    assert line.startswith("✗ SF101 torch 2.7.1 has no code for")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("torch 2.7.1: a known bug", "torch 2.7.1: a known bug"),
        ("torch 2.7.10 is another release", "torch 2.7.1: torch 2.7.10 is another release"),
        ("the matrix of torch 2.7.1", "the matrix of torch 2.7.1"),
        ("CUDA reads amiss", "torch 2.7.1: CUDA reads amiss"),
    ],
)
def test_a_package_that_the_message_does_not_name_is_put_before_it(message: str, said: str) -> None:
    (line,) = lines([replace(NO_CODE, message=message, evidence=())], [TARGET])
    assert line == f"✗ SF101 {said}"


def test_a_fault_on_every_target_names_none() -> None:
    (line,) = lines([NO_CODE, replace(NO_CODE, target=OTHER)])
    assert "[" not in line


def test_a_fault_on_some_targets_names_them() -> None:
    (line,) = lines([NO_CODE])
    assert "[RTX 5090]" in line


def test_two_versions_of_a_package_are_two_faults() -> None:
    older = replace(NO_CODE, version="2.6.0", message=NO_CODE.message.replace("2.7.1", "2.6.0"))
    assert len(hits_of_findings([NO_CODE, older], BOTH)) == 2


def test_packages_of_which_the_same_is_said_stand_together() -> None:
    pjrt = replace(
        JIT, package="jax-cuda12-pjrt", message=JIT.message.replace("plugin", "pjrt"), evidence=()
    )
    torch, jax = lines([JIT, NO_CODE, pjrt], [TARGET])
    assert torch.startswith("✗ SF101 torch 2.7.1 has")
    assert jax == (
        "! SF102 jax-cuda12-pjrt 0.5.3, jax-cuda12-plugin 0.5.3: "
        "has no native code for compute capability 12.0"
    )


def test_what_differs_in_anything_is_told_apart() -> None:
    fixed = replace(JIT, package="other", message="other 0.5.3 has no native code", fix="a driver")
    same = replace(JIT, message="jax-cuda12-plugin 0.5.3 has no native code")
    assert len(lines([same, fixed])) == 2
    graver = replace(fixed, fix=None, severity=Severity.ERROR)
    assert len(lines([same, graver])) == 2


def test_the_source_is_short_where_it_is_the_packages_own_wheel() -> None:
    own, other = lines([NO_CODE, PARTIAL], [TARGET])
    assert own.endswith("sm_50 … sm_90 · measured and 1 more")
    assert other.endswith("measured: torch-2.7.1-cp311-cp311-manylinux_2_28_x86_64.whl")


def test_what_helps_stands_below() -> None:
    (line,) = lines([DRIVER], [TARGET])
    assert line.endswith("→ driver 570.26 or newer")


def test_lines_keep_to_their_width_and_to_the_indent() -> None:
    long = replace(NO_CODE, message="torch 2.7.1 " + "has no code " * 30)
    text = "".join(findings_lines(hits_of_findings([long], [TARGET]), colour=False)).splitlines()
    assert max(map(len, text)) <= 100
    assert all(line.startswith("    ") for line in text[1:])


def test_colour_is_asked_for_and_nothing_foreign_brings_any() -> None:
    evil = replace(NO_CODE, message="torch 2.7.1 \x1b[31mhas\x9b no code")
    hits = hits_of_findings([evil], [TARGET])
    assert "\x1b" not in "".join(findings_lines(hits, colour=False))
    coloured = "".join(findings_lines(hits, colour=True))
    assert "\x1b[1;31m  ✗ \x1b[0m" in coloured
    assert "\x1b[31m" not in coloured
    assert "\x9b" not in coloured
