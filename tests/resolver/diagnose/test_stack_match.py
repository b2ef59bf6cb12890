"""An answer beside the project and the host: they agree, disagree, or tell nothing of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stackfix.diagnose.diagnosis import Diagnosis, StackMatch
from stackfix.diagnose.stack_match import compare_with_stack, host_evidence
from stackfix.host.host import Fabric, FabricState, Host, KernelLog, XidReport
from stackfix.model.finding import Finding, Severity
from stackfix.report.diagnosis import diagnosis_document
from stackfix_knowledge.stack.packages import package_table
from tests.resolver.diagnose.logs import diagnose_text
from tests.resolver.targets.test_hosts import RTX_5090, a_card, a_host

CUDNN = "torch 2.7.1\nRuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED\n"
LOCKED = {"torch": ("2.7.1",), "nvidia-cudnn-cu12": ("9.5.1.17",)}


def no_code(package: str) -> Finding:
    return Finding(
        code="SF101",
        severity=Severity.ERROR,
        package=package,
        version="9.5.1.17",
        message=f"{package} 9.5.1.17 has no code for compute capability 12.0",
    )


def diagnosis(folder: Path, text: str) -> Diagnosis:
    return diagnose_text(folder, run=text)


def matched(
    found: Diagnosis,
    findings: list[Finding],
    locked: dict[str, tuple[str, ...]],
    driver: str | None,
) -> StackMatch:
    return compare_with_stack(found, findings, locked, driver, package_table())


def test_rule_and_log_agree(tmp_path: Path) -> None:
    found = matched(diagnosis(tmp_path, CUDNN), [no_code("nvidia-cudnn-cu12")], LOCKED, None)
    assert found.agrees
    assert found.codes == ("SF101",)
    assert "stackfix plan" in found.sentence
    assert "has no code" in found.findings[0]


def test_a_finding_of_another_library_is_no_agreement(tmp_path: Path) -> None:
    found = matched(diagnosis(tmp_path, CUDNN), [no_code("nvidia-nccl-cu12")], LOCKED, None)
    assert found.agrees is False
    assert "find nothing of this kind" in found.sentence
    assert "SF101" in found.sentence


def test_versions_that_differ_are_told(tmp_path: Path) -> None:
    locked = {**LOCKED, "torch": ("2.8.0",)}
    found = matched(diagnosis(tmp_path, CUDNN), [no_code("nvidia-cudnn-cu12")], locked, None)
    assert found.agrees is False
    assert "the log shows torch 2.7.1, the lock 2.8.0" in found.sentence


def test_a_driver_that_differs_is_told(tmp_path: Path) -> None:
    log = "Driver Version: 535.129.03\n" + CUDNN
    found = matched(diagnosis(tmp_path, log), [], LOCKED, "570.26")
    assert "the log shows driver 535.129.03, this host has 570.26" in found.sentence


def test_a_family_that_no_rule_judges_is_neither(tmp_path: Path) -> None:
    found = matched(
        diagnosis(tmp_path, "RuntimeError: CUDA error: device-side assert triggered\n"),
        [],
        LOCKED,
        None,
    )
    assert found.agrees is None


ILLEGAL = "RuntimeError: CUDA error: an illegal memory access was encountered\n"
NOT_READY = "RuntimeError: CUDA error: Error 802: system not yet initialized\n"
SOUND = a_host(a_card(0, RTX_5090, "12.0"))


def with_xids(*numbers: int) -> Host:
    reports = tuple(XidReport(number=n, pci="0000:65:00", card=0, text="x") for n in numbers)
    return replace(SOUND, kernel_log=KernelLog(source="/dev/kmsg", reports=reports))


def evidence(folder: Path, log: str, host: Host) -> tuple[str, ...]:
    return host_evidence(diagnose_text(folder, run=log), host)


def test_a_sound_host_bears_on_nothing(tmp_path: Path) -> None:
    assert evidence(tmp_path, ILLEGAL, SOUND) == ()
    assert evidence(tmp_path, ILLEGAL, with_xids()) == ()


@pytest.mark.parametrize("log", [ILLEGAL, NOT_READY])
def test_a_card_that_failed_bears_on_everything(tmp_path: Path, log: str) -> None:
    (sentence,) = evidence(tmp_path, log, with_xids(79))
    assert sentence.startswith("This host's kernel log has Xid 79 on card 0: GPU has fallen off")


def test_a_programs_fault_bears_on_an_illegal_access_alone(tmp_path: Path) -> None:
    (sentence,) = evidence(tmp_path, ILLEGAL, with_xids(31))
    assert "Xid 31 on card 0: GPU memory page fault" in sentence
    assert evidence(tmp_path, NOT_READY, with_xids(31)) == ()


def test_a_fabric_that_is_not_set_up_bears_on_error_802(tmp_path: Path) -> None:
    fabric = Fabric(state=FabricState.NOT_STARTED)
    host = replace(SOUND, cards=(replace(SOUND.cards[0], fabric=fabric),))
    (sentence,) = evidence(tmp_path, NOT_READY, host)
    assert sentence == (
        "On this host the fabric of card 0 is not started: CUDA fails with error 802."
    )
    assert evidence(tmp_path, ILLEGAL, host) == ()


def test_it_is_part_of_the_report(tmp_path: Path) -> None:
    found = diagnose_text(tmp_path, run=ILLEGAL)
    matched = replace(
        found, stack_match=StackMatch(agrees=None, sentence="x", host=("This host shows y.",))
    )
    stack = diagnosis_document(matched).stack
    assert stack is not None
    assert stack.host == ("This host shows y.",)
