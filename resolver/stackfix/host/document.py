"""The host as JSON: written by `stackfix host --format json`, read by `--host FILE`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stackfix.host.fabric import Fabric, FabricState, NvLinks
from stackfix.host.health import troubles
from stackfix.host.host import (
    SCHEMA,
    Card,
    Found,
    Host,
    Interface,
    Iommu,
    Library,
    MigInstance,
    Source,
    System,
)
from stackfix.host.kernel_log import KernelLog, XidReport
from stackfix.host.link import Access, Link, Route
from stackfix.host.memory import Repairs, Unit
from stackfix.host.reader import Reader
from stackfix_lockfiles.errors import InputError

__all__ = ["from_document", "read_host", "to_document"]

_MOST_BYTES = 4 << 20
"""A host with a thousand cards takes a tenth of this; more is not a host."""


def to_document(host: Host) -> dict[str, Any]:
    """The JSON object, as `report/schema/host-1.json` describes it.

    Its `troubles` are for other programs; who reads the host back judges it anew.
    """
    found = [asdict(trouble) for trouble in troubles(host)]
    return {"schema": SCHEMA, **asdict(host), "source": host.source.value, "troubles": found}


def read_host(path: Path) -> Host:
    """The host in a file. Raises InputError, which names the file and the place in it."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(path, f"expected a readable file ({error.strerror})") from None
    if len(data) > _MOST_BYTES:
        raise InputError(path, "expected at most 4 MiB of JSON")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise InputError(
            path, "expected the JSON that `stackfix host --format json` writes"
        ) from None
    return from_document(document, path)


def from_document(document: object, path: Path) -> Host:
    """The host in a parsed JSON object; `path` only names it in errors. Raises InputError."""
    reader = Reader(path)
    top = reader.mapping(document, "")
    schema = top.get("schema")
    if schema != SCHEMA:
        raise InputError(
            path, f"expected {SCHEMA}, the version this stackfix reads", place="schema"
        )
    system = reader.mapping(top.get("system"), "system")
    return Host(
        source=reader.choice(top, "source", Source),
        cards=tuple(
            _card(reader, reader.mapping(card, f"cards[{index}]"), f"cards[{index}]")
            for index, card in enumerate(reader.sequence(top, "cards"))
        ),
        system=_system(reader, system),
        driver=reader.optional(top, "driver", str),
        cuda_driver=reader.optional(top, "cuda_driver", str),
        visible_devices=reader.optional(top, "visible_devices", str),
        notes=tuple(str(note) for note in reader.sequence(top, "notes")),
        links=tuple(_link(reader, link, place) for place, link in reader.mappings(top, "links")),
        kernel_log=_kernel_log(reader, reader.optional_mapping(top, "kernel_log")),
    )


def _system(reader: Reader, system: Mapping[str, Any]) -> System:
    """Keys after `wsl` are missing from files that older releases wrote."""
    return System(
        platform=reader.value(system, "platform", str, "system"),
        python=reader.value(system, "python", str, "system"),
        kernel=reader.optional(system, "kernel", str, "system"),
        glibc=reader.optional(system, "glibc", str, "system"),
        shm=reader.optional(system, "shm", int, "system"),
        container=reader.value(system, "container", bool, "system"),
        wsl=reader.value(system, "wsl", bool, "system"),
        memory_limit=reader.optional(system, "memory_limit", int, "system"),
        memlock=reader.optional(system, "memlock", int, "system"),
        sys_nice=reader.optional(system, "sys_nice", bool, "system"),
        numa_nodes=reader.optional(system, "numa_nodes", int, "system"),
        iommu=reader.optional_choice(system, "iommu", Iommu, "system"),
        ptxas=reader.optional(system, "ptxas", str, "system"),
        ptxas_version=reader.optional(system, "ptxas_version", str, "system"),
        nvswitches=reader.optional(system, "nvswitches", int, "system"),
        fabric_manager=reader.optional(system, "fabric_manager", bool, "system"),
        fabric_manager_version=reader.optional(system, "fabric_manager_version", str, "system"),
        libcuda=reader.optional(system, "libcuda", str, "system"),
        library_path=reader.optional(system, "library_path", str, "system"),
        libraries=tuple(
            Library(
                name=reader.value(library, "name", str, place),
                path=reader.value(library, "path", str, place),
                found=reader.choice(library, "found", Found, place),
                version=reader.optional(library, "version", str, place),
            )
            for place, library in reader.mappings(system, "libraries", "system")
        ),
        interfaces=tuple(
            Interface(
                name=reader.value(interface, "name", str, place),
                default=reader.value(interface, "default", bool, place),
            )
            for place, interface in reader.mappings(system, "interfaces", "system")
        ),
    )


def _card(reader: Reader, data: Mapping[str, Any], place: str) -> Card:
    instances = []
    for index, item in enumerate(reader.sequence(data, "mig", place)):
        inner = f"{place}.mig[{index}]"
        instance = reader.mapping(item, inner)
        instances.append(
            MigInstance(
                uuid=reader.value(instance, "uuid", str, inner),
                memory=reader.optional(instance, "memory", int, inner),
            )
        )
    return Card(
        index=reader.value(data, "index", int, place),
        name=reader.value(data, "name", str, place),
        capability=reader.optional(data, "capability", str, place),
        memory=reader.optional(data, "memory", int, place),
        uuid=reader.optional(data, "uuid", str, place),
        pci=reader.optional(data, "pci", str, place),
        visible=reader.value(data, "visible", bool, place),
        mig=tuple(instances),
        numa=reader.optional(data, "numa", int, place),
        peers=_peers(reader, data, place),
        ecc=reader.optional(data, "ecc", bool, place),
        ecc_errors=reader.optional(data, "ecc_errors", int, place),
        ecc_corrected=reader.optional(data, "ecc_corrected", int, place),
        repairs=_repairs(reader, reader.optional_mapping(data, "repairs", place), place),
        nvlinks=_nvlinks(reader, reader.optional_mapping(data, "nvlinks", place), place),
        fabric=_fabric(reader, reader.optional_mapping(data, "fabric", place), place),
    )


def _repairs(reader: Reader, data: Mapping[str, Any] | None, place: str) -> Repairs | None:
    if data is None:
        return None
    place = f"{place}.repairs"
    return Repairs(
        unit=reader.choice(data, "unit", Unit, place),
        corrected=reader.value(data, "corrected", int, place),
        uncorrected=reader.value(data, "uncorrected", int, place),
        pending=reader.optional(data, "pending", bool, place),
        failed=reader.optional(data, "failed", bool, place),
    )


def _nvlinks(reader: Reader, data: Mapping[str, Any] | None, place: str) -> NvLinks | None:
    if data is None:
        return None
    place = f"{place}.nvlinks"
    return NvLinks(
        active=reader.value(data, "active", int, place),
        inactive=reader.value(data, "inactive", int, place),
        switched=reader.optional(data, "switched", bool, place),
    )


def _fabric(reader: Reader, data: Mapping[str, Any] | None, place: str) -> Fabric | None:
    if data is None:
        return None
    place = f"{place}.fabric"
    return Fabric(
        state=reader.choice(data, "state", FabricState, place),
        fault=reader.optional(data, "fault", str, place),
        troubles=tuple(str(one) for one in reader.sequence(data, "troubles", place)),
    )


def _link(reader: Reader, data: Mapping[str, Any], place: str) -> Link:
    return Link(
        one=reader.value(data, "one", int, place),
        other=reader.value(data, "other", int, place),
        route=reader.optional_choice(data, "route", Route, place),
        nvlinks=reader.optional(data, "nvlinks", int, place),
        access=reader.optional_choice(data, "access", Access, place),
        atomics=reader.optional(data, "atomics", bool, place),
    )


def _kernel_log(reader: Reader, data: Mapping[str, Any] | None) -> KernelLog | None:
    if data is None:
        return None
    return KernelLog(
        source=reader.optional(data, "source", str, "kernel_log"),
        unread=reader.optional(data, "unread", str, "kernel_log"),
        reports=tuple(
            XidReport(
                number=reader.value(report, "number", int, place),
                pci=reader.value(report, "pci", str, place),
                card=reader.optional(report, "card", int, place),
                switch=reader.value(report, "switch", bool, place),
                count=reader.value(report, "count", int, place),
                text=reader.value(report, "text", str, place),
                ago=reader.optional(report, "ago", int, place),
            )
            for place, report in reader.mappings(data, "reports", "kernel_log")
        ),
    )


def _peers(reader: Reader, data: Mapping[str, Any], place: str) -> tuple[int, ...] | None:
    if data.get("peers") is None:
        return None
    found = reader.sequence(data, "peers", place)
    return tuple(reader.whole(peer, f"{place}.peers[{at}]") for at, peer in enumerate(found))
