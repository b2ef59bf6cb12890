"""What this host shows that bears on an answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stackfix.diagnose.diagnosis import StackMatch
from stackfix.diagnose.host_context import bearing
from stackfix.host.host import Fabric, FabricState, Host, KernelLog, XidReport
from stackfix.report.diagnosis_json import diagnosis_document
from tests.resolver.diagnose.logs import diagnose_text
from tests.resolver.targets.test_hosts import RTX_5090, a_card, a_host

ILLEGAL = "RuntimeError: CUDA error: an illegal memory access was encountered\n"
NOT_READY = "RuntimeError: CUDA error: Error 802: system not yet initialized\n"
SOUND = a_host(a_card(0, RTX_5090, "12.0"))


def with_xids(*numbers: int) -> Host:
    reports = tuple(XidReport(number=n, pci="0000:65:00", card=0, text="x") for n in numbers)
    return replace(SOUND, kernel_log=KernelLog(source="/dev/kmsg", reports=reports))


def told(folder: Path, log: str, host: Host) -> tuple[str, ...]:
    return bearing(diagnose_text(folder, run=log), host)


def test_a_sound_host_bears_on_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, ILLEGAL, SOUND) == ()
    assert told(tmp_path, ILLEGAL, with_xids()) == ()


@pytest.mark.parametrize("log", [ILLEGAL, NOT_READY])
def test_a_card_that_failed_bears_on_everything(tmp_path: Path, log: str) -> None:
    (sentence,) = told(tmp_path, log, with_xids(79))
    assert sentence.startswith("This host's kernel log has Xid 79 on card 0: GPU has fallen off")


def test_a_programs_fault_bears_on_an_illegal_access_alone(tmp_path: Path) -> None:
    (sentence,) = told(tmp_path, ILLEGAL, with_xids(31))
    assert "Xid 31 on card 0: GPU memory page fault" in sentence
    assert told(tmp_path, NOT_READY, with_xids(31)) == ()


def test_a_fabric_that_is_not_set_up_bears_on_error_802(tmp_path: Path) -> None:
    fabric = Fabric(state=FabricState.NOT_STARTED)
    host = replace(SOUND, cards=(replace(SOUND.cards[0], fabric=fabric),))
    (sentence,) = told(tmp_path, NOT_READY, host)
    assert sentence == (
        "On this host the fabric of card 0 is not started: CUDA fails with error 802."
    )
    assert told(tmp_path, ILLEGAL, host) == ()


def test_it_is_part_of_the_report(tmp_path: Path) -> None:
    found = diagnose_text(tmp_path, run=ILLEGAL)
    tied = replace(
        found, stack_match=StackMatch(agrees=None, sentence="x", host=("This host shows y.",))
    )
    assert diagnosis_document(tied)["stack"]["host"] == ["This host shows y."]
