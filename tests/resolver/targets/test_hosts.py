"""From a host to its targets."""

from __future__ import annotations

from dataclasses import replace

from stackfix.host.host import (
    Card,
    CardSource,
    Host,
    MigInstance,
    System,
)
from stackfix.targets.hosts import merge, targets_of_host
from stackfix.targets.parse import parse_target
from stackfix_knowledge.cards.gpus import GpuTable

GPUS = GpuTable.load()


def a_card(index: int, name: str, capability: str | None, gib: int = 32) -> Card:
    return Card(index=index, name=name, capability=capability, memory=gib << 30)


def a_host(*cards: Card, platform: str = "linux_x86_64", driver: str | None = "570.133.07") -> Host:
    system = System(platform=platform, python="3.11.7")
    return Host(source=CardSource.NVML, cards=cards, system=system, driver=driver)


RTX_5090 = "NVIDIA GeForce RTX 5090"


def test_equal_cards_are_one_target() -> None:
    (target,) = targets_of_host(
        a_host(a_card(0, RTX_5090, "12.0"), a_card(1, RTX_5090, "12.0")), GPUS
    )
    assert target.label == "2 × RTX 5090 (12.0), driver 570.133.07"
    assert target.memory == 32 << 30
    assert target.segment == "geforce"


def test_different_cards_are_different_targets() -> None:
    host = a_host(a_card(0, RTX_5090, "12.0"), a_card(1, "Tesla V100-SXM2-16GB", "7.0"))
    assert [target.gpu for target in targets_of_host(host, GPUS)] == ["RTX 5090", "V100-SXM2-16GB"]


def test_the_driver_is_believed_about_a_card_that_no_table_knows() -> None:
    (target,) = targets_of_host(a_host(a_card(0, "NVIDIA Future 9000", "13.0")), GPUS)
    assert (target.gpu, str(target.capability), target.segment) == ("Future 9000", "13.0", None)


def test_hidden_and_unknown_cards_are_no_targets() -> None:
    hidden = replace(a_card(0, RTX_5090, "12.0"), visible=False)
    assert targets_of_host(a_host(hidden, a_card(1, "10de:ffff", None)), GPUS) == ()


def test_a_mig_instance_has_its_own_memory() -> None:
    card = replace(
        a_card(0, "NVIDIA A100-SXM4-80GB", "8.0", 80),
        mig=(MigInstance(uuid="MIG-one", memory=10 << 30),),
    )
    assert targets_of_host(a_host(card), GPUS)[0].memory == 10 << 30


def test_the_platform_is_the_hosts_own() -> None:
    host = a_host(a_card(0, "NVIDIA L4", "8.9"), platform="linux_aarch64")
    assert targets_of_host(host, GPUS)[0].platform == "linux_aarch64"


def test_a_driver_that_is_no_version_is_left_out() -> None:
    assert (
        targets_of_host(a_host(a_card(0, RTX_5090, "12.0"), driver="r570"), GPUS)[0].driver is None
    )


def test_machines_of_one_fleet_do_not_add_up() -> None:
    fleet = merge([parse_target("L4:2@550", GPUS), parse_target("L4:8@550", GPUS)])
    assert [target.label for target in fleet] == ["8 × L4 (8.9), driver 550"]


def test_another_driver_is_another_target() -> None:
    assert len(merge([parse_target("L4@550", GPUS), parse_target("L4@570", GPUS)])) == 2


def test_a_newer_libcuda_than_the_drivers_is_forward_compatibility() -> None:
    host = a_host(a_card(0, "NVIDIA H100 PCIe", "9.0", 80), driver="535.183.01")
    loading = {
        version: replace(host, system=replace(host.system, libcuda=version))
        for version in (None, "535.183.01", "470.256.02", "580.65.06")
    }
    found = {v: targets_of_host(one, GPUS)[0].compat for v, one in loading.items()}
    assert {v for v, compat in found.items() if compat is not None} == {"580.65.06"}
