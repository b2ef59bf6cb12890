"""A plan as a document, and in a folder: `stackfix plan -o DIR` writes it, `apply DIR` reads it.

The folder holds `plan.json` (see `schema/plan-1.json`), `changes.diff`, and the new files under
`files/` at their place below the project's root.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, TypeVar

from msgspec import Meta, field

from stackfix.documents.document import Count, Digest, Document, dump
from stackfix.documents.finding import FindingDocument
from stackfix.documents.reading import read, read_bytes
from stackfix.documents.target import TargetDocument
from stackfix.plan.plan import JudgedSelection, Move, NextStep, Status
from stackfix.plan.rebuilds import Rebuild
from stackfix_lockfiles.errors import InputError

if TYPE_CHECKING:
    from stackfix.plan.plan import Plan

__all__ = [
    "MoveRow",
    "PlanDocument",
    "SavedPlan",
    "load_plan",
    "move_rows",
    "plan_document",
    "save_plan",
]

_PLAN = "plan.json"
_FILES = "files"
_DIFF = "changes.diff"
_WRITABLE = ("pyproject.toml", "uv.lock", "uv.toml")
"""A plan may have come from anywhere: it can write these files and no others."""
_MOST_BYTES = 256 << 20


class EditDocument(Document):
    """One change of one file. `old` null adds, `new` null removes, both replace."""

    file: str
    """Relative to the workspace root."""
    table: str
    """Dotted path of the array or table."""
    line: int | None
    """1-based line of what is replaced or removed; null for additions."""
    old: str | None
    new: str | None
    why: str


class VariantDocument(Document):
    """One variant of a product in place of another."""

    before: str = field(name="from")
    after: str = field(name="to")


class MoveDocument(Document):
    """One package's change of version, index or variant."""

    package: str
    before: str | None = field(name="from")
    """null: the package is new."""
    after: str | None = field(name="to")
    """null: the package leaves."""
    asked: bool
    """true: uv can lock no such project, and "from" is what it asks for: a version or a range."""
    because: str
    """The chain from a finding, or from the requirement that drags it."""
    dragged: bool
    """true: no finding names it, another move needs it."""
    fork: str | None
    index: str | None
    variant: VariantDocument | None
    """What the project asks for in place of another variant of the same product: from jax[cuda13]
    to jax[cuda12]."""
    edits: tuple[EditDocument, ...]


class ObstacleDocument(Document):
    """Why some versions of a framework cannot be part of a plan."""

    package: str
    versions: tuple[str, ...]
    reason: str
    ways_out: tuple[str, ...] = field(name="lifts")
    """What outside the pins would open the way."""


class AnswerDocument(Document):
    """The answer to one `--why` or `--why-not`."""

    question: str
    lines: tuple[str, ...]
    obstacles: tuple[ObstacleDocument, ...]
    """Versions in question that cannot be taken."""


class PlanDocument(Document, kw_only=True):
    """What `stackfix plan --format json` prints and `stackfix plan -o DIR` saves as plan.json."""

    schema: Literal[1]
    status: Status
    project: str
    """Name of the project."""
    root: str
    """Absolute folder of the project when the plan was made."""
    targets: Annotated[tuple[TargetDocument, ...], Meta(min_length=1)]
    selection: JudgedSelection
    findings: tuple[FindingDocument, ...]
    """What is wrong with the lock as it is."""
    moves: tuple[MoveDocument, ...]
    """What changes together."""
    edits: tuple[EditDocument, ...]
    """All edits of pyproject.toml files (and uv.toml)."""
    remaining: tuple[FindingDocument, ...]
    """What stays after the moves: never an error when status is planned."""
    drift: tuple[str, ...]
    """Changes of the lock that no move asked for."""
    rebuilds: tuple[Rebuild, ...] = ()
    """Packages built from source that have to be built anew after the move."""
    next_step: NextStep | None
    obstacles: tuple[ObstacleDocument, ...]
    ways_out: tuple[str, ...] = field(name="lifts")
    """What outside the pins would make an impossible plan possible."""
    answers: tuple[AnswerDocument, ...]
    """Answers to --why and --why-not."""
    warnings: tuple[str, ...]
    gpu_packages: Count
    unknown: tuple[str, ...]
    """GPU packages that nobody measured, name==version."""
    download: Count
    """Bytes that `uv sync` fetches at most."""
    tried: Count
    """Combinations of framework versions looked at."""
    knowledge: str
    """Version of the facts."""
    diff: str
    """Unified diff of the pyproject files."""
    files: dict[str, Digest]
    """sha256 of each new file, by path below the root."""
    base: dict[str, Digest | None]
    """sha256 of each file that the plan was made from; null: it did not exist."""


def plan_document(plan: Plan) -> PlanDocument:
    """The plan as a document. The new files stand in it by digest."""
    return PlanDocument.of(
        plan,
        schema=1,
        files={str(path): hashlib.sha256(data).hexdigest() for path, data in plan.files.items()},
    )


M = TypeVar("M", bound="Move | MoveDocument")


class MoveRow(NamedTuple):
    """A move as one line says it: jax[cuda13], 0.8.0, jax[cuda12]."""

    package: str
    before: str
    """ "2.7.1"; "asked 2.7.1" where that was never locked; "new"."""
    after: str
    """ "2.8.0"; "leaves"; or the variant in its place, with the version where that is another."""


def move_rows(moves: Sequence[M]) -> Iterator[tuple[M, MoveRow]]:
    """The moves, each with its line. Of two variants that change places, the line of the one that
    leaves tells it, and the one that arrives has none."""
    arrived = {move.package: move.after for move in moves}
    for move in moves:
        package, before, after = move.package, move.before or "new", move.after or "leaves"
        if move.asked and move.before:
            before = f"asked {before}"
        if move.variant is not None:
            old, new = move.variant.before, move.variant.after
            if package == new != old:
                continue
            version = move.after or arrived.get(new)
            package, after = old, new if version in {None, move.before} else f"{new} {version}"
        yield move, MoveRow(package, before, after)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPlan:
    """What `apply` needs of a saved plan."""

    status: Status
    root: Path
    """The project's folder when the plan was made."""
    files: Mapping[Path, bytes]
    """New content by path below the root."""
    base: Mapping[Path, str | None]
    """sha256 that each file must still have; None: it must not exist."""
    moves: tuple[MoveRow, ...]
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
    document = read(file, PlanDocument, writer="stackfix plan -o", most=_MOST_BYTES)
    base = {_path(file, "base", key): digest for key, digest in document.base.items()}
    files: dict[Path, bytes] = {}
    for key, digest in document.files.items():
        path = _path(file, "files", key)
        data = read_bytes(folder / _FILES / path, _MOST_BYTES)
        if hashlib.sha256(data).hexdigest() != digest:
            raise InputError(folder / _FILES / path, f"expected the content that {_PLAN} names")
        if path not in base:
            raise InputError(file, f"expected the digest of {key}", place="base")
        files[path] = data
    return SavedPlan(
        status=document.status,
        root=Path(document.root),
        files=files,
        base=base,
        moves=tuple(row for _, row in move_rows(document.moves)),
        diff=document.diff,
        download=document.download,
    )


def _path(file: Path, place: str, key: str) -> Path:
    path = PurePosixPath(key)
    if path.is_absolute() or ".." in path.parts or "\\" in key or path.name not in _WRITABLE:
        raise InputError(
            file, f"expected paths of {', '.join(_WRITABLE)} below the project", place=place
        )
    return Path(path)
