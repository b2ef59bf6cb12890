"""What is set for a stack on a host, and what is only offered."""

from __future__ import annotations

from dataclasses import replace

import pytest
from packaging.version import Version

from stackfix.env.advise import Advice, Variable, advise
from stackfix.env.observe import OBSERVERS
from stackfix.host.host import CardLink, Fabric, FabricState, Host, Iommu, NetworkInterface, NvLinks
from stackfix.model.stack import Piece, Stack
from stackfix.targets.hosts import targets_of_host
from tests.resolver.making import graph
from tests.resolver.targets.test_hosts import RTX_5090, a_card, a_host

FAULTY = "2.26.2"
"""Fails to allocate host memory where NUMA calls are forbidden; 2.26.3 does not."""


def a_stack(**versions: str) -> Stack:
    pieces = {}
    for key, version in versions.items():
        name = key.replace("_", "-")
        package = graph().packages.get(name)
        assert package is not None
        pieces[name] = Piece.known(graph(), package, Version(version), "linux_x86_64")
    return Stack(platform="linux_x86_64", python="3.11", pieces=pieces)


def machine(
    count: int = 2,
    *,
    container: bool = False,
    sys_nice: bool | None = None,
    numa_nodes: int | None = 2,
    peers: bool | None = True,
    driver: str = "570.133.07",
    name: str = RTX_5090,
    capability: str = "12.0",
    interfaces: tuple[NetworkInterface, ...] = (NetworkInterface(name="eth0", default=True),),
) -> Host:
    everyone = set(range(count))
    cards = (
        replace(
            a_card(index, name, capability),
            peers=None if peers is None else tuple(everyone - {index}) if peers else (),
        )
        for index in range(count)
    )
    host = a_host(*cards, driver=driver)
    system = replace(
        host.system,
        container=container,
        sys_nice=sys_nice,
        numa_nodes=numa_nodes,
        interfaces=interfaces,
    )
    return replace(host, system=system)


def advice(stack: Stack, host: Host) -> Advice:
    return advise(stack, host, targets_of_host(host, graph().gpus), graph())


def named(found: Advice, name: str) -> Variable | None:
    return next((variable for variable in found.variables if variable.name == name), None)


def cumem(version: str, host: Host) -> Variable | None:
    return named(advice(a_stack(nvidia_nccl_cu12=version), host), "NCCL_CUMEM_HOST_ENABLE")


def is_set(variable: Variable | None) -> bool:
    return variable is not None and variable.set


def test_nccl_tells_of_itself_wherever_it_is_locked() -> None:
    variable = named(advice(a_stack(nvidia_nccl_cu12=FAULTY), machine(1)), "NCCL_DEBUG")
    assert variable is not None
    assert (variable.value, variable.set) == ("INFO", True)
    assert named(advice(a_stack(jax="0.5.3"), machine()), "NCCL_DEBUG") is None


def test_jax_leaves_a_tenth_of_the_memory_and_torch_is_thought_of() -> None:
    name = "XLA_PYTHON_CLIENT_MEM_FRACTION"
    alone = named(advice(a_stack(jax="0.5.3"), machine()), name)
    both = named(advice(a_stack(jax="0.5.3", torch="2.7.1"), machine()), name)
    assert alone is not None
    assert both is not None
    assert alone.value == both.value == "0.9"
    assert "torch" not in alone.reasons[0]
    assert "torch" in both.reasons[0]
    assert named(advice(a_stack(torch="2.7.1"), machine()), name) is None


@pytest.mark.parametrize(
    ("host", "words"),
    [
        (machine(container=True, sys_nice=False), "lacks the capability SYS_NICE"),
        (machine(numa_nodes=0), "knows no NUMA nodes"),
        (machine(container=True, sys_nice=None), "not known whether this container"),
        (machine(numa_nodes=None), "not known whether this machine has NUMA"),
    ],
)
def test_host_allocations_are_off_where_the_fault_bites_or_may(host: Host, words: str) -> None:
    variable = cumem(FAULTY, host)
    assert variable is not None
    assert (variable.value, variable.set) == ("0", True)
    assert any(words in reason for reason in variable.reasons)
    assert "nccl-host-memory-needs-numa" in variable.advisories


@pytest.mark.parametrize(
    "host",
    [
        machine(),
        machine(container=True, sys_nice=True),
        machine(1, container=True, sys_nice=False),
    ],
)
def test_they_stay_on_where_the_host_shows_that_it_does_not_bite(host: Host) -> None:
    assert not is_set(cumem(FAULTY, host))


@pytest.mark.parametrize("version", ["2.23.4", "2.26.3"])
def test_they_stay_on_where_the_locked_nccl_has_no_fault(version: str) -> None:
    assert not is_set(cumem(version, machine(container=True, sys_nice=False)))


def test_cards_that_cannot_reach_each_other_need_them_off_before_cuda_13() -> None:
    variable = cumem("2.27.3", machine(peers=False))
    assert variable is not None
    assert variable.set
    assert variable.advisories == ("nccl-host-memory-needs-p2p",)
    assert "cards 0 and 1 cannot reach each other" in variable.reasons[0]
    assert is_set(cumem("2.27.3", machine(peers=None)))
    assert not is_set(cumem("2.27.3", machine(peers=True)))
    assert not is_set(cumem("2.27.3", machine(peers=False, driver="580.82.07")))


def h100s(
    *, switched: bool | None = None, nvlinks: int | None = None, nvswitches: int | None = None
) -> Host:
    host = machine(2, name="NVIDIA H100 80GB HBM3", capability="9.0")
    links = None if switched is None else NvLinks(active=18, inactive=0, switched=switched)
    return replace(
        host,
        cards=tuple(replace(card, nvlinks=links) for card in host.cards),
        links=(CardLink(one=0, other=1, nvlinks=nvlinks),),
        system=replace(host.system, nvswitches=nvswitches),
    )


def nvls(version: str, host: Host) -> Variable | None:
    return named(advice(a_stack(nvidia_nccl_cu12=version), host), "NCCL_NVLS_ENABLE")


def test_a_condition_that_no_host_can_tell_leaves_the_choice() -> None:
    variable = nvls("2.28.3", h100s(switched=True, nvlinks=18))
    assert variable is not None
    assert not variable.set
    assert "only if NVLink switches, and resources that run out" in variable.reasons[0]


@pytest.mark.parametrize("host", [h100s(switched=True, nvlinks=18), h100s(nvswitches=4)])
def test_a_hang_on_switches_is_avoided_where_the_cards_hang_on_some(host: Host) -> None:
    variable = nvls("2.30.4", host)
    assert variable is not None
    assert (variable.value, variable.set) == ("0", True)
    assert "here the cards hang on NVLink switches" in variable.reasons[0]


def test_it_costs_bandwidth_and_is_only_offered_where_switches_are_not_known() -> None:
    variable = nvls("2.30.4", h100s())
    assert variable is not None
    assert not variable.set
    assert nvls("2.30.4", h100s(nvlinks=0, nvswitches=0)) is None


def test_a_fabric_that_is_not_set_up_is_noted_with_what_helps() -> None:
    host = h100s(switched=True, nvlinks=18)
    fabric = Fabric(state=FabricState.NOT_STARTED)
    waiting = replace(host, cards=tuple(replace(card, fabric=fabric) for card in host.cards))
    (note,) = advice(a_stack(nvidia_nccl_cu12="2.27.3"), waiting).notes
    assert "CUDA fails with error 802. Install the Fabric Manager" in note
    assert advice(a_stack(nvidia_nccl_cu12="2.27.3"), host).notes == ()


def test_cards_that_differ_are_counted_by_their_address() -> None:
    host = machine(2)
    mixed = replace(host, cards=(host.cards[0], replace(host.cards[1], name="NVIDIA L4")))
    variable = named(advice(a_stack(torch="2.7.1"), mixed), "CUDA_DEVICE_ORDER")
    assert variable is not None
    assert (variable.value, variable.set) == ("PCI_BUS_ID", True)
    assert named(advice(a_stack(torch="2.7.1"), host), "CUDA_DEVICE_ORDER") is None


@pytest.mark.parametrize(
    ("iommu", "nvlinks", "offered"),
    [
        (Iommu.TRANSLATED, 0, True),
        (Iommu.TRANSLATED, 18, False),
        (Iommu.TRANSLATED, None, False),
        (Iommu.PASSTHROUGH, 0, False),
    ],
)
def test_peer_to_peer_through_a_translating_iommu_may_be_left_out(
    iommu: Iommu, nvlinks: int | None, offered: bool
) -> None:
    host = machine()
    host = replace(
        host,
        links=(CardLink(one=0, other=1, nvlinks=nvlinks),),
        system=replace(host.system, iommu=iommu),
    )
    variable = named(advice(a_stack(nvidia_nccl_cu12="2.27.3"), host), "NCCL_P2P_DISABLE")
    assert (variable is not None) == offered
    assert not is_set(variable)


def test_a_change_of_behaviour_is_offered_and_not_set() -> None:
    variable = named(advice(a_stack(nvidia_nccl_cu12="2.28.3"), machine()), "NCCL_MIN_CTAS")
    assert variable is not None
    assert (variable.value, variable.set) == ("32", False)


def test_a_workaround_without_a_fixed_value_is_a_note() -> None:
    host = machine(1, name="NVIDIA Thor", capability="11.0")
    (note,) = advice(a_stack(triton="3.5.0"), host).notes
    assert "TRITON_PTXAS_PATH" in note
    assert advice(a_stack(triton="3.5.0"), machine(1)).notes == ()


ETH0, ETH1 = NetworkInterface(name="eth0"), NetworkInterface(name="eth1")
ROUTED = NetworkInterface(name="eth1", default=True)
DOCKER, IB = NetworkInterface(name="docker0"), NetworkInterface(name="ib0")


@pytest.mark.parametrize(
    ("interfaces", "value"),
    [((ETH0, ROUTED), "=eth1"), ((ETH0, ETH1), None), ((ETH0, ROUTED, DOCKER), "=eth1")],
)
def test_several_interfaces_make_the_network_a_guess(
    interfaces: tuple[NetworkInterface, ...], value: str | None
) -> None:
    host = machine(interfaces=interfaces)
    variable = named(advice(a_stack(nvidia_nccl_cu12="2.27.3"), host), "NCCL_SOCKET_IFNAME")
    assert variable is not None
    assert (variable.value, variable.set) == (value, value is not None)
    assert "eth0, eth1" in variable.reasons[0]


@pytest.mark.parametrize("interfaces", [(), (ETH0,), (ROUTED, DOCKER), (ETH0, ROUTED, IB)])
def test_one_candidate_is_no_guess(interfaces: tuple[NetworkInterface, ...]) -> None:
    host = machine(interfaces=interfaces)
    found = advice(a_stack(nvidia_nccl_cu12="2.27.3"), host)
    assert named(found, "NCCL_SOCKET_IFNAME") is None


def test_a_host_that_tells_little_says_so() -> None:
    found = advice(a_stack(jax="0.5.3"), a_host(a_card(0, RTX_5090, "12.0")))
    assert found.notes == ("the host tells neither NUMA nodes nor network interfaces",)


def test_every_condition_that_a_host_is_asked_about_is_one_of_an_advisory() -> None:
    advisories = [*graph().advisories("nvidia-nccl-cu12"), *graph().advisories("nvidia-nccl-cu13")]
    known = {text for one in advisories for text in one.conditions.unobservable}
    assert set(OBSERVERS) <= known
