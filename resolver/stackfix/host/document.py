"""The host as JSON: written by `stackfix host --format json`, read by `--host FILE`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

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
from stackfix_lockfiles.errors import InputError

__all__ = ["from_document", "read_host", "to_document"]

_MOST_BYTES = 4 << 20
"""A host with a thousand cards takes a tenth of this; more is not a host."""

T = TypeVar("T")
Choice = TypeVar("Choice", bound=StrEnum)


def to_document(host: Host) -> dict[str, Any]:
    """The JSON object, as `report/schema/host-1.json` describes it."""
    return {"schema": SCHEMA, **asdict(host), "source": host.source.value}


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
    reader = _Reader(path)
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
    )


def _system(reader: _Reader, system: Mapping[str, Any]) -> System:
    """Keys after `wsl` are missing from files that older releases wrote."""
    iommu = system.get("iommu")
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
        iommu=None if iommu is None else reader.choice(system, "iommu", Iommu, "system"),
        ptxas=reader.optional(system, "ptxas", str, "system"),
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


def _card(reader: _Reader, data: Mapping[str, Any], place: str) -> Card:
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
    )


def _peers(reader: _Reader, data: Mapping[str, Any], place: str) -> tuple[int, ...] | None:
    if data.get("peers") is None:
        return None
    found = reader.sequence(data, "peers", place)
    return tuple(reader.whole(peer, f"{place}.peers[{at}]") for at, peer in enumerate(found))


_WORDS = {str: "a string", int: "a whole number", bool: "true or false"}


class _Reader:
    """Typed access that knows the path of what it reads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def mapping(self, value: object, place: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise InputError(self._path, "expected a JSON object", place=place or None)
        return value

    def sequence(self, data: Mapping[str, Any], key: str, place: str = "") -> list[object]:
        value = data.get(key, [])
        if not isinstance(value, list):
            raise InputError(self._path, "expected a list", place=_join(place, key))
        return value

    def mappings(
        self, data: Mapping[str, Any], key: str, place: str
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The objects of a list, each with its place."""
        for index, item in enumerate(self.sequence(data, key, place)):
            inner = f"{_join(place, key)}[{index}]"
            yield inner, self.mapping(item, inner)

    def whole(self, value: object, place: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise InputError(self._path, f"expected {_WORDS[int]}", place=place)
        return value

    def choice(
        self, data: Mapping[str, Any], key: str, kind: type[Choice], place: str = ""
    ) -> Choice:
        value = self.value(data, key, str, place)
        if value not in list(kind):
            raise InputError(
                self._path, "expected one of " + ", ".join(kind), place=_join(place, key)
            )
        return kind(value)

    def optional(
        self, data: Mapping[str, Any], key: str, kind: type[T], place: str = ""
    ) -> T | None:
        return None if data.get(key) is None else self.value(data, key, kind, place)

    def value(self, data: Mapping[str, Any], key: str, kind: type[T], place: str = "") -> T:
        value = data.get(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise InputError(self._path, f"expected {_WORDS[kind]}", place=_join(place, key))
        return value


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key
