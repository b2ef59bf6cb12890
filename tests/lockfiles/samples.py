"""Inputs of these tests: trimmed locks of real projects, and small ones made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stackfix_lockfiles.lock import Lock

DATA = Path(__file__).parent / "data"
OPENPI = DATA / "openpi"
"""A workspace of two, one group not installed by default, overrides, a git dependency."""
RESSELT = DATA / "resselt"
"""Four extras in conflict, each with a torch from another index."""

REGISTRY = '{ registry = "https://index.example/simple" }'
HEAD = 'version = 1\nrevision = 3\nrequires-python = ">=3.11"\n'


def package(name: str, version: str = "1.0", source: str = REGISTRY, **keys: str) -> str:
    """Return a `[[package]]`; keyword arguments are further keys (`_` for `-`) as TOML."""
    lines = [f'[[package]]\nname = "{name}"']
    if version:
        lines.append(f'version = "{version}"')
    lines.append(f"source = {source}")
    lines += [f"{key.replace('_', '-')} = {value}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


def root(name: str = "robot", **keys: str) -> str:
    """Return the root project's `[[package]]`."""
    return package(name, "0.1.0", '{ virtual = "." }', **keys)


def lock(*blocks: str, head: str = HEAD) -> Lock:
    """Return a lock made of these blocks."""
    return Lock.parse("\n".join((head, *blocks)).encode())


def write_project(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder, line endings as given, and return the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder
