"""The host as JSON, there and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stackfix.documents.document import as_json, dump
from stackfix.host.document import host_document, read_host
from stackfix.host.host import (
    UNLIMITED,
    Card,
    CardLink,
    CardSource,
    Fabric,
    FabricState,
    FoundBy,
    Host,
    Iommu,
    KernelLog,
    MemoryRepairs,
    MigInstance,
    NetworkInterface,
    NvLinks,
    PciRoute,
    PeerAccess,
    RepairUnit,
    System,
    SystemLibrary,
    XidReport,
)
from stackfix_lockfiles.errors import InputError

HOST = Host(
    source=CardSource.NVML,
    cards=(
        Card(
            index=0,
            name="NVIDIA GeForce RTX 5090",
            capability="12.0",
            memory=32 << 30,
            numa=0,
            peers=(1,),
            ecc=True,
            ecc_errors=2,
            ecc_corrected=7,
            repairs=MemoryRepairs(
                unit=RepairUnit.ROWS, corrected=1, uncorrected=0, pending=True, failed=False
            ),
            nvlinks=NvLinks(active=18, inactive=0, switched=True),
            fabric=Fabric(state=FabricState.COMPLETED, troubles=("unhealthy route",)),
        ),
        Card(
            index=1,
            name="NVIDIA A100-SXM4-80GB",
            capability="8.0",
            visible=False,
            mig=(MigInstance(uuid="MIG-one", memory=10 << 30),),
        ),
    ),
    system=System(
        platform="linux_x86_64",
        python="3.11.7",
        shm=64 << 20,
        memory_limit=8 << 30,
        memlock=UNLIMITED,
        sys_nice=False,
        numa_nodes=2,
        iommu=Iommu.TRANSLATED,
        ptxas="/usr/local/cuda/bin/ptxas",
        ptxas_version="12.8.93",
        nvswitches=4,
        fabric_manager=True,
        fabric_manager_version="570.133.07",
        library_path="/opt/lib",
        libraries=(
            SystemLibrary(
                name="cudnn",
                path="/opt/lib/libcudnn.so.9",
                found=FoundBy.LD_LIBRARY_PATH,
                version="9.5.1",
            ),
        ),
        interfaces=(NetworkInterface(name="eth0", default=True), NetworkInterface(name="eth1")),
    ),
    driver="570.133.07",
    cuda_driver="12.8",
    notes=("a note",),
    links=(
        CardLink(
            one=0, other=1, route=PciRoute.SYS, nvlinks=18, access=PeerAccess.OK, atomics=True
        ),
    ),
    kernel_log=KernelLog(
        source="/dev/kmsg",
        reports=(XidReport(number=31, pci="0000:01:00", card=0, count=2, text="x", ago=60),),
    ),
)


def save(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    assert read_host(save(tmp_path / "host.json", as_json(host_document(HOST)))) == HOST


def test_a_file_of_an_older_release_is_read(tmp_path: Path) -> None:
    document = json.loads(dump(host_document(HOST)))
    kept = ("platform", "python", "kernel", "glibc", "shm", "container", "wsl")
    document["system"] = {key: document["system"][key] for key in kept}
    for card in document["cards"]:
        for key in set(card) - _OLDEST_CARD:
            del card[key]
    for key in ("links", "kernel_log", "troubles"):
        del document[key]
    host = read_host(save(tmp_path / "host.json", document))
    assert host.system == System(platform="linux_x86_64", python="3.11.7", shm=64 << 20)
    assert host.cards[0] == Card(
        index=0, name="NVIDIA GeForce RTX 5090", capability="12.0", memory=32 << 30
    )
    assert (host.links, host.kernel_log) == ((), None)


_OLDEST_CARD = {"index", "name", "capability", "memory", "uuid", "pci", "visible", "mig"}


def _without_cards_name(document: dict[str, Any]) -> None:
    del document["cards"][0]["name"]


def _memory_as_text(document: dict[str, Any]) -> None:
    document["cards"][1]["mig"][0]["memory"] = "10 GiB"


def _newer_schema(document: dict[str, Any]) -> None:
    document["schema"] = 2


def _other_source(document: dict[str, Any]) -> None:
    document["source"] = "guess"


def _cards_as_object(document: dict[str, Any]) -> None:
    document["cards"] = {}


def _peer_as_text(document: dict[str, Any]) -> None:
    document["cards"][0]["peers"] = ["1"]


def _other_iommu(document: dict[str, Any]) -> None:
    document["system"]["iommu"] = "maybe"


def _interface_without_name(document: dict[str, Any]) -> None:
    del document["system"]["interfaces"][1]["name"]


def _other_state(document: dict[str, Any]) -> None:
    document["cards"][0]["fabric"]["state"] = "maybe"


def _repairs_as_list(document: dict[str, Any]) -> None:
    document["cards"][0]["repairs"] = []


def _other_route(document: dict[str, Any]) -> None:
    document["links"][0]["route"] = "AIR"


def _xid_as_text(document: dict[str, Any]) -> None:
    document["kernel_log"]["reports"][0]["number"] = "31"


def _log_as_text(document: dict[str, Any]) -> None:
    document["kernel_log"] = "clean"


def _index_as_bool(document: dict[str, Any]) -> None:
    document["cards"][0]["index"] = True


@pytest.mark.parametrize(
    ("spoil", "place"),
    [
        (_without_cards_name, "cards[0].name: expected a string"),
        (_memory_as_text, "cards[1].mig[0].memory: expected a whole number"),
        (_newer_schema, "schema: expected 1"),
        (_other_source, "source: expected one of nvml, proc, none"),
        (_cards_as_object, "cards: expected a list"),
        (_peer_as_text, "cards[0].peers[0]: expected a whole number"),
        (_other_iommu, "system.iommu: expected one of off, on, passthrough, translated"),
        (_interface_without_name, "system.interfaces[1].name: expected a string"),
        (_other_state, "cards[0].fabric.state: expected one of not started, in progress"),
        (_repairs_as_list, "cards[0].repairs: expected a JSON object"),
        (_other_route, "links[0].route: expected one of BOARD, PIX"),
        (_xid_as_text, "kernel_log.reports[0].number: expected a whole number"),
        (_log_as_text, "kernel_log: expected a JSON object"),
        (_index_as_bool, "cards[0].index: expected a whole number"),
    ],
)
def test_a_fault_is_named_with_file_and_place(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], None], place: str
) -> None:
    document = json.loads(dump(host_document(HOST)))
    spoil(document)
    with pytest.raises(InputError) as fault:
        read_host(save(tmp_path / "host.json", document))
    assert str(fault.value).startswith(f"{tmp_path / 'host.json'}: {place}")


@pytest.mark.parametrize("text", [b"", b"not json", b"\xff\xfe", b"[" * 100_000, b"[]", b"7"])
def test_what_is_no_host_is_one_line(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "host.json"
    path.write_bytes(text)
    with pytest.raises(InputError, match=r"host\.json: expected"):
        read_host(path)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_host(tmp_path / "host.json")


def test_a_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "host.json"
    with path.open("wb") as file:
        file.truncate(1 << 33)
    with pytest.raises(InputError, match="at most 4 MiB"):
        read_host(path)
