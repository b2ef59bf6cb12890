"""What uv is asked for: pins, also for some of the extras or groups that exclude each other; forks.

`--upgrade-package torch==2.8.0 ; extra == 'cu128'` does too much: where `cu128` is off, torch is
free, and uv takes the newest there (tried with uv 0.13.9). Groups have no marker at all. So the
extra or group itself asks for the pins, in the scratch copy and while uv locks a first time. From
that lock uv locks again without them, and keeps what it says.

uv starts from the forks that the old lock lists, and each needs wheels for all its platforms; forks
that an older uv, or another torch, once asked for can be in the way (one for Macs that are neither
arm64 nor x86_64, where torch has no wheels). Without the list uv forks anew; versions stay as
locked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stackfix_index.names import normalized
from stackfix_lockfiles import toml
from stackfix_lockfiles.lock import ConflictItem
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.scratch import Scratch
from stackfix_lockfiles.uv import in_one_line

__all__ = ["asked_within", "forget_forks", "in_the_way", "requirements"]


def requirements(pins: Mapping[str, str | Sequence[str]]) -> list[str]:
    """The pins as requirements: `torch==2.8.0 ; sys_platform == 'linux'`."""
    found = []
    for name, value in sorted(pins.items()):
        for text in [value] if isinstance(value, str) else value:
            version, _, marker = text.partition(";")
            condition = f" ; {marker.strip()}" if marker.strip() else ""
            found.append(f"{name}=={version.strip()}{condition}")
    return found


@contextmanager
def asked_within(
    copy: Scratch, project: Project, items: Collection[ConflictItem], texts: Sequence[str]
) -> Iterator[None]:
    """Let these extras and groups ask for more, in the scratch copy, for a while."""
    paths = {item: _pyproject(copy, project, item.package) for item in items}
    for item, path in paths.items():
        document = toml.loads(path.read_text("utf-8"), path)
        _array(document, item).extend(texts)
        _write(path, document)
    yield
    for item, path in paths.items():
        document = toml.loads(path.read_text("utf-8"), path)
        del _array(document, item)[-len(texts) :]
        _write(path, document)


def _pyproject(copy: Scratch, project: Project, package: str) -> Path:
    for file in project.files:
        if file.name is not None and normalized(file.name) == package:
            return copy.root / file.path
    return copy.root / project.main.path


def _array(document: dict[str, Any], item: ConflictItem) -> list[Any]:
    """The array of an extra or group; made if there is none."""
    if item.extra is not None:
        table = document.setdefault("project", {}).setdefault("optional-dependencies", {})
    else:
        table = document.setdefault("dependency-groups", {})
    name = item.extra or item.group or ""
    key = next((key for key in table if normalized(key) == name), name)
    array = table.setdefault(key, [])
    assert isinstance(array, list)
    return array


def _write(path: Path, document: Mapping[str, Any]) -> None:
    import rtoml

    path.write_text(rtoml.dumps(document), "utf-8")


_NO_WHEELS = re.compile(r"has no \S+-compatible wheels|has no wheels with a matching")
_LISTED = re.compile(r"^resolution-markers = \[\n(?:    .*\n)*\]\n", re.MULTILINE)


def in_the_way(stderr: str) -> bool:
    """Whether uv failed because a fork has no wheels."""
    said = in_one_line(stderr)
    return "for split" in said and _NO_WHEELS.search(said) is not None


def forget_forks(lock: Path) -> bool:
    """Take the list of forks out of a lock file; False if it has none."""
    try:
        head, mark, rest = lock.read_bytes().partition(b"\n[[package]]\n")
    except FileNotFoundError:
        return False
    text, count = _LISTED.subn("", head.decode("utf-8"), count=1)
    if count:
        lock.write_bytes(text.encode("utf-8") + mark + rest)
    return bool(count)
