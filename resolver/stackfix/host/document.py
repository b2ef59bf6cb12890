"""The host as JSON: written by `stackfix host --format json`, read by `--host FILE`."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Literal

from stackfix.documents.document import Document
from stackfix.documents.reading import read
from stackfix.host.health import Trouble, troubles
from stackfix.host.host import Card, CardLink, CardSource, Host, KernelLog, System

__all__ = ["HostDocument", "host_document", "read_host"]

_MOST_BYTES = 4 << 20
"""A host with a thousand cards takes a tenth of this; more is not a host."""


class HostDocument(Document, kw_only=True):
    """What `stackfix host --format json` prints and `--host FILE` reads."""

    schema: Literal[1]
    source: CardSource
    """Where the knowledge about the cards comes from."""
    cards: tuple[Card, ...]
    system: System
    driver: str | None = None
    cuda_driver: str | None = None
    """Highest CUDA version the driver implements."""
    visible_devices: str | None = None
    """CUDA_VISIBLE_DEVICES; null: not set."""
    notes: tuple[str, ...] = ()
    """What could not be found out and why."""
    links: tuple[CardLink, ...] = ()
    """One for each pair of cards, the lower index first; null in it: not known."""
    kernel_log: KernelLog | None = None
    """What the driver told the kernel's log; null: a file that an older release wrote."""
    troubles: tuple[Trouble, ...] = ()
    """What is wrong with the machine, worst first: told by `stackfix host`, not read back."""


def host_document(host: Host) -> HostDocument:
    """The host, and what is wrong with it for other programs; who reads it back judges it anew."""
    return HostDocument.of(host, schema=1, troubles=troubles(host))


def read_host(path: Path) -> Host:
    """The host in a file. Raises InputError, which names the file and the place in it.

    Files of older releases lack keys, and have the defaults then.
    """
    document = read(path, HostDocument, writer="stackfix host --format json", most=_MOST_BYTES)
    return Host(**{field.name: getattr(document, field.name) for field in fields(Host)})
