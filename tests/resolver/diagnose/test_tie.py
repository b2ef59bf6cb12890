"""Tying an answer to the project: the rules agree, disagree, or know nothing of it."""

from __future__ import annotations

from pathlib import Path

from stackfix.diagnose.diagnosis import Diagnosis, StackMatch
from stackfix.diagnose.stack_match import tie
from stackfix.model.finding import Finding, Severity
from stackfix_knowledge.stack.packages import package_table
from tests.resolver.diagnose.logs import diagnose_text

CUDNN = "torch 2.7.1\nRuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED\n"
LOCKED = {"torch": ("2.7.1",), "nvidia-cudnn-cu12": ("9.5.1.17",)}


def finding(code: str, package: str) -> Finding:
    return Finding(
        code=code,
        severity=Severity.ERROR,
        package=package,
        version="9.5.1.17",
        message=f"{package} 9.5.1.17 has no code for compute capability 12.0",
    )


def diagnosis(folder: Path, text: str) -> Diagnosis:
    return diagnose_text(folder, run=text)


def tied(
    found: Diagnosis,
    findings: list[Finding],
    locked: dict[str, tuple[str, ...]],
    driver: str | None,
) -> StackMatch:
    return tie(found, findings, locked, driver, package_table())


def test_rule_and_log_agree(tmp_path: Path) -> None:
    found = tied(diagnosis(tmp_path, CUDNN), [finding("SF101", "nvidia-cudnn-cu12")], LOCKED, None)
    assert found.agrees
    assert found.codes == ("SF101",)
    assert "stackfix plan" in found.sentence
    assert "has no code" in found.findings[0]


def test_a_finding_of_another_library_is_no_agreement(tmp_path: Path) -> None:
    found = tied(diagnosis(tmp_path, CUDNN), [finding("SF101", "nvidia-nccl-cu12")], LOCKED, None)
    assert found.agrees is False
    assert "find nothing of this kind" in found.sentence
    assert "SF101" in found.sentence


def test_versions_that_differ_are_told(tmp_path: Path) -> None:
    locked = {**LOCKED, "torch": ("2.8.0",)}
    found = tied(diagnosis(tmp_path, CUDNN), [finding("SF101", "nvidia-cudnn-cu12")], locked, None)
    assert found.agrees is False
    assert "the log shows torch 2.7.1, the lock 2.8.0" in found.sentence


def test_a_driver_that_differs_is_told(tmp_path: Path) -> None:
    log = "Driver Version: 535.129.03\n" + CUDNN
    found = tied(diagnosis(tmp_path, log), [], LOCKED, "570.26")
    assert "the log shows driver 535.129.03, this host has 570.26" in found.sentence


def test_a_family_that_no_rule_judges_is_neither(tmp_path: Path) -> None:
    found = tied(
        diagnosis(tmp_path, "RuntimeError: CUDA error: device-side assert triggered\n"),
        [],
        LOCKED,
        None,
    )
    assert found.agrees is None
