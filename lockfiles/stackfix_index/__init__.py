"""Package indexes: which ones there are, what they list, and parts of the files they serve.

A name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackfix_index.client import Client
    from stackfix_index.configured import NamedIndex, default_index
    from stackfix_index.errors import Refused, Unreadable
    from stackfix_index.remote import RemoteFile
    from stackfix_index.simple import Index, IndexFile
    from stackfix_index.wheel import Wheel, metadata_of, read_metadata

    __version__: str

__all__ = [
    "Client",
    "Index",
    "IndexFile",
    "NamedIndex",
    "Refused",
    "RemoteFile",
    "Unreadable",
    "Wheel",
    "__version__",
    "default_index",
    "metadata_of",
    "read_metadata",
]

_HOMES = {
    "Client": "client",
    "Index": "simple",
    "IndexFile": "simple",
    "NamedIndex": "configured",
    "Refused": "errors",
    "RemoteFile": "remote",
    "Unreadable": "errors",
    "Wheel": "wheel",
    "default_index": "configured",
    "metadata_of": "wheel",
    "read_metadata": "wheel",
}
"""The module of each name, below this package."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("stackfix")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
