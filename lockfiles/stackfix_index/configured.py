"""Which package indexes a user has set up, for uv or for pip."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from stackfix_index.errors import Unreadable

__all__ = ["INDEX_VARIABLES", "NamedIndex", "default_index", "entries", "named_index"]

INDEX_VARIABLES: Mapping[str, str | None] = {
    "UV_INDEX": None,
    "UV_EXTRA_INDEX_URL": " ",
    "UV_FIND_LINKS": ",",
    "UV_DEFAULT_INDEX": "\0",
    "UV_INDEX_URL": "\0",
}
"""uv's variables that hold addresses, and what separates several in one (None: any blanks)."""
_MAY_NAME = ("UV_INDEX", "UV_DEFAULT_INDEX")
"""Those in which an address may follow a name, `ours=https://…`."""
_MAX_BYTES = 1 << 20
"""Of a configuration file of pip's."""
_PATIENCE = 20.0
"""Seconds for uv to say its index; it asks nobody."""


@dataclass(frozen=True, slots=True)
class NamedIndex:
    """An index as a variable writes it."""

    name: str | None
    url: str
    """Address or path, with the credentials that were written in it."""

    def __str__(self) -> str:
        return self.url if self.name is None else f"{self.name}={self.url}"


def named_index(text: str) -> NamedIndex:
    """Split `name=address` as uv does: at the first `=`, if no `:` stands before it.

    An address may have any number of `=` itself, in a password or a query.
    """
    name, equals, url = text.partition("=")
    return NamedIndex(name, url) if equals and ":" not in name else NamedIndex(None, text)


def entries(variable: str, value: str) -> Iterator[NamedIndex]:
    """Yield the indexes in the value of one of `INDEX_VARIABLES`."""
    for text in value.split(INDEX_VARIABLES[variable]):
        if text.strip():
            yield named_index(text) if variable in _MAY_NAME else NamedIndex(None, text)


def default_index(environment: Mapping[str, str] = os.environ) -> str:
    """The address of the index that uv or pip would ask, with its credentials.

    From variables of uv's and pip's, else pip's configuration, else what uv takes by itself.

    Raises:
        Unreadable: there is no uv to say that.
    """
    for variable in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        for index in entries(variable, environment.get(variable, "")):
            return index.url
    return environment.get("PIP_INDEX_URL") or _pips_index(environment) or _uvs_index()


def _pips_index(environment: Mapping[str, str]) -> str | None:
    """`index-url` of pip's `[global]` section; a file that is read later wins."""
    import configparser

    found = None
    for path in _pips_files(environment):
        parser = configparser.RawConfigParser()
        try:
            with path.open("rb") as file:
                parser.read_string(file.read(_MAX_BYTES).decode("utf-8", "replace"))
        except (OSError, configparser.Error):
            continue
        found = parser.get("global", "index-url", fallback=found)
    return found


def _pips_files(environment: Mapping[str, str]) -> Iterator[Path]:
    """pip's configuration files in the order in which it reads them.

    Source: pip's documentation, "Configuration" (topics/configuration), for Unix and macOS.
    """
    if (named := environment.get("PIP_CONFIG_FILE")) == os.devnull:
        return
    if named:
        yield Path(named)
    home = Path(environment.get("HOME") or Path.home())
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    if sys.platform == "darwin":
        support = Path("Library/Application Support/pip")
        yield Path("/") / support / "pip.conf"
        if (home / support).is_dir():
            config = (home / support).parent
    else:
        for folder in environment.get("XDG_CONFIG_DIRS", "/etc/xdg").split(os.pathsep):
            yield Path(folder) / "pip" / "pip.conf"
        yield Path("/etc/pip.conf")
    yield home / ".pip" / "pip.conf"
    yield config / "pip" / "pip.conf"
    yield Path(environment.get("VIRTUAL_ENV") or sys.prefix) / "pip.conf"


def _uvs_index() -> str:
    """The index that uv takes where nothing is set, as `--emit-index-url` writes it."""
    command = ["pip", "compile", "--emit-index-url", "--offline", "--quiet", "--no-header"]
    import subprocess

    try:
        import uv

        run = subprocess.run(
            [uv.find_uv_bin(), *command, "--python", sys.executable, "--no-config", "-"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
            text=True,
            env={name: os.environ[name] for name in os.environ if not name.startswith("UV_")},
        )
        said = run.stdout
    except (ImportError, OSError, subprocess.TimeoutExpired):
        said = ""
    option, _, address = said.strip().partition(" ")
    if option != "--index-url":
        raise Unreadable("index", None, "the address of a package index, in UV_DEFAULT_INDEX")
    return address
