"""A plan in a folder: written by `stackfix plan -o DIR`, read by `stackfix apply DIR`.

The folder holds `plan.json` (see `schema/plan-1.json`), `changes.diff`, and the new files under
`files/` at their place below the project's root.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from stackfix.report.exchanged import exchanged_words
from stackfix.report.json import SCHEMA, dump, plan_document
from stackfix_lockfiles.errors import InputError

if TYPE_CHECKING:
    from stackfix.plan.plan import Plan

__all__ = ["SavedPlan", "load_plan", "save_plan"]

_PLAN = "plan.json"
_FILES = "files"
_DIFF = "changes.diff"
_WRITABLE = ("pyproject.toml", "uv.lock", "uv.toml")
"""A plan may have come from anywhere: it can write these files and no others."""
_MOST_BYTES = 256 << 20
_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPlan:
    """What `apply` needs of a saved plan."""

    status: str
    root: Path
    """The project's folder when the plan was made."""
    files: Mapping[Path, bytes]
    """New content by path below the root."""
    base: Mapping[Path, str | None]
    """sha256 that each file must still have; None: it must not exist."""
    moves: tuple[tuple[str, str | None, str | None], ...]
    """Package, from ("asked 2.7.1" where that was never locked), to."""
    diff: str
    download: int
    """Bytes."""

    def require_unchanged(self, root: Path) -> None:
        """Raise InputError where a project is no longer what the plan was made from."""
        for path, digest in self.base.items():
            file = root / path
            found = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None
            if found != digest:
                raise InputError(file, "expected it as it was when the plan was made: plan again")


def save_plan(plan: Plan, folder: Path) -> None:
    """Write the plan into `folder`, replacing an older plan there and nothing else.

    Raises InputError when the folder holds other things or is part of what the plan would change.
    """
    root = Path(plan.root).resolve()
    if folder.resolve() == root:
        raise InputError(folder, "expected a folder of its own for the plan, not the project's")
    if folder.exists() and not folder.is_dir():
        raise InputError(folder, "expected a folder for the plan, found a file")
    if folder.is_dir() and not (folder / _PLAN).exists() and any(folder.iterdir()):
        raise InputError(folder, "expected an empty folder or one with an older plan")
    shutil.rmtree(folder / _FILES, ignore_errors=True)
    (folder / _PLAN).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    for path, data in plan.files.items():
        target = folder / _FILES / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    (folder / _DIFF).write_text(plan.diff, encoding="utf-8")
    # Last: a folder with a plan.json is a whole plan.
    (folder / _PLAN).write_text(dump(plan_document(plan)), encoding="utf-8")


def load_plan(folder: Path) -> SavedPlan:
    """The plan in `folder`. Raises InputError with file and place for anything unexpected."""
    file = folder / _PLAN
    document = _document(file)
    if document.get("schema") != SCHEMA:
        raise InputError(
            file, f"expected {SCHEMA}, the version this stackfix reads", place="schema"
        )
    base = {
        _path(file, "base", key): _digest(file, "base", key, value, absent=True)
        for key, value in _mapping(file, document, "base").items()
    }
    files: dict[Path, bytes] = {}
    for key, value in _mapping(file, document, "files").items():
        path = _path(file, "files", key)
        data = _read(folder / _FILES / path)
        if hashlib.sha256(data).hexdigest() != _digest(file, "files", key, value):
            raise InputError(folder / _FILES / path, f"expected the content that {_PLAN} names")
        if path not in base:
            raise InputError(file, f"expected the digest of {key}", place="base")
        files[path] = data
    download = document.get("download")
    return SavedPlan(
        status=_text(file, document, "status"),
        root=Path(_text(file, document, "root")),
        files=files,
        base=base,
        moves=tuple(_moves(file, document)),
        diff=_text(file, document, "diff"),
        download=download if isinstance(download, int) else 0,
    )


def _document(file: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(_read(file))
    except (ValueError, RecursionError):
        raise InputError(file, "expected the JSON that `stackfix plan -o` writes") from None
    if not isinstance(document, dict):
        raise InputError(file, "expected a JSON object")
    return document


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(file, f"expected a readable file ({error.strerror})") from None
    if len(data) > _MOST_BYTES:
        raise InputError(file, f"expected at most {_MOST_BYTES >> 20} MiB")
    return data


def _path(file: Path, place: str, key: str) -> Path:
    path = PurePosixPath(key)
    if path.is_absolute() or ".." in path.parts or "\\" in key or path.name not in _WRITABLE:
        raise InputError(
            file, f"expected paths of {', '.join(_WRITABLE)} below the project", place=place
        )
    return Path(path)


def _digest(file: Path, place: str, key: str, value: object, *, absent: bool = False) -> str | None:
    if absent and value is None:
        return None
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        raise InputError(file, "expected a sha256 in hexadecimal", place=f"{place}[{key!r}]")
    return value


def _mapping(file: Path, document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = document.get(key)
    if not isinstance(value, dict):
        raise InputError(file, "expected a JSON object", place=key)
    return value


def _text(file: Path, document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str):
        raise InputError(file, "expected a string", place=key)
    return value


def _moves(file: Path, document: Mapping[str, Any]) -> Iterator[tuple[str, str | None, str | None]]:
    moves = document.get("moves")
    if not isinstance(moves, list) or not all(isinstance(move, dict) for move in moves):
        raise InputError(file, "expected a list of moves", place="moves")
    rows = [(str(move.get("package")), _from(move), move.get("to")) for move in moves]
    arrived = {package: after for package, _, after in rows}
    for row, move in zip(rows, moves, strict=True):
        variant = move.get("variant")
        if not isinstance(variant, dict):
            yield row
            continue
        names = str(variant.get("from")), str(variant.get("to"))
        told = exchanged_words(*row, names, arrived)
        if told is not None:
            yield told


def _from(move: Mapping[str, Any]) -> str | None:
    """Where a move starts; what was asked for, and never locked, is told as that."""
    before = move.get("from")
    return f"asked {before}" if before and move.get("asked") is True else before
