"""Whose word counts: the command line's, else the project's, else this machine's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from stackfix.documents.document import dump
from stackfix.host.document import host_document
from stackfix.host.host import Host
from stackfix.targets.select import NoTarget, Origin, Selected, select_targets
from stackfix_knowledge.cards.gpus import GpuTable
from stackfix_lockfiles.pyproject import Pyproject
from tests.resolver.targets.test_declared import a_pyproject
from tests.resolver.targets.test_hosts import RTX_5090, a_card, a_host

GPUS = GpuTable.load()
SAME_INDEX = a_host(a_card(0, RTX_5090, "12.0"))
DECLARED = a_pyproject('targets = ["L4"]')


def never() -> Host:
    raise AssertionError("the machine was asked although the targets were named")


def select(
    *,
    named: Sequence[str] = (),
    hosts: Sequence[Path] = (),
    declared: Sequence[Pyproject] = (),
    here: Host | None = None,
    platforms: Sequence[str] = (),
) -> Selected:
    return select_targets(
        named=named,
        hosts=hosts,
        declared=declared,
        gpus=GPUS,
        machine=(lambda: here) if here else never,
        platforms=platforms,
    )


def names(selected: Selected) -> list[str]:
    return [target.gpu for target in selected.targets]


def test_the_command_line_counts_first() -> None:
    selected = select(named=["V100", "T4"], declared=[DECLARED])
    assert (names(selected), selected.origin) == (["V100", "T4"], Origin.COMMAND_LINE)


def test_then_the_project() -> None:
    selected = select(declared=[DECLARED])
    assert (names(selected), selected.origin) == (["L4"], Origin.PROJECT)


def test_then_this_machine() -> None:
    selected = select(here=SAME_INDEX)
    assert (names(selected), selected.origin) == (["RTX 5090"], Origin.MACHINE)


def test_the_first_file_that_declares_some_counts() -> None:
    nearer = a_pyproject('targets = ["T4"]')
    assert names(select(declared=[a_pyproject(""), DECLARED, nearer])) == ["L4"]


def test_without_a_machine_to_ask_there_may_be_none() -> None:
    assert select_targets(gpus=GPUS).targets == ()


def test_a_host_file_stands_for_its_machine(tmp_path: Path) -> None:
    file = tmp_path / "host.json"
    file.write_text(dump(host_document(SAME_INDEX)))
    selected = select(named=["L4"], hosts=[file])
    assert names(selected) == ["L4", "RTX 5090"]


def test_a_host_file_without_a_card_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "host.json"
    file.write_text(dump(host_document(a_host())))
    with pytest.raises(NoTarget, match=r"host\.json: this host shows no usable card"):
        select(hosts=[file])


def test_no_card_and_no_target_tells_how_to_name_one() -> None:
    with pytest.raises(NoTarget, match=r'--target "RTX 5090:4@570\.133\.07"'):
        select(here=a_host())


def test_hidden_cards_are_told_as_such() -> None:
    hidden = replace(SAME_INDEX.cards[0], visible=False)
    host = replace(SAME_INDEX, cards=(hidden,), visible_devices="-1")
    with pytest.raises(NoTarget, match="CUDA_VISIBLE_DEVICES=-1 hides them"):
        select(here=host)


def test_a_named_platform_replaces_the_cards_own() -> None:
    selected = select(named=["GH200"], platforms=["linux_x86_64", "linux_aarch64"])
    assert [target.platform for target in selected.targets] == ["linux_x86_64", "linux_aarch64"]
