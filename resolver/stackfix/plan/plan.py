"""The plan: what is wrong, what moves together, and the files that make it so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath

from stackfix.model.finding import Finding
from stackfix.model.target import Target
from stackfix.plan.rebuilds import Rebuild
from stackfix_lockfiles.edits import Edit

__all__ = [
    "Answer",
    "JudgedSelection",
    "Move",
    "NextStep",
    "Obstacle",
    "Plan",
    "Status",
    "VariantChange",
]


class Status(StrEnum):
    """How a plan ended."""

    NOTHING_TO_DO = "nothing-to-do"
    PLANNED = "planned"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSelection:
    """What of the project is judged: as `uv sync` would install it."""

    platforms: tuple[str, ...]
    python: str
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """Groups beside the project's default ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantChange:
    """What the project asks for in place of another variant of the same product."""

    before: str
    """ "jax[cuda13]", "cupy-cuda12x"."""
    after: str
    """ "jax[cuda12]", "cupy-cuda13x"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One package's change of version, index or variant."""

    package: str
    before: str | None
    """Locked version(s), "9.10.1.4, 9.5.1.17" where forks differ; None: the package is new."""
    after: str | None
    """None: the package leaves the lock."""
    because: str
    """The chain from a finding, or from the requirement that drags it."""
    asked: bool = False
    """True: `before` is what the project asks for, which uv cannot lock; a version or a range."""
    dragged: bool = False
    """True: no finding names it, another move needs it."""
    fork: str | None = None
    index: str | None = None
    variant: VariantChange | None = None
    """Where the package stands in for another one, `before` is that one's version."""
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Why one version of a framework cannot be part of a plan."""

    package: str
    versions: tuple[str, ...]
    reason: str
    ways_out: tuple[str, ...] = ()
    """What outside the pins would open the way: "driver 570.26 or newer"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one `--why` or `--why-not`."""

    question: str
    """ "why torch", "why not torch==2.7.1"."""
    lines: tuple[str, ...]
    obstacles: tuple[Obstacle, ...] = ()
    """Versions in question that cannot be taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """A further step that would clear warnings: offered, or refused with the reason."""

    offer: str
    possible: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that `stackfix plan` knows when it ends; reports only render it."""

    status: Status
    project: str
    root: str
    targets: tuple[Target, ...]
    selection: JudgedSelection
    findings: tuple[Finding, ...]
    moves: tuple[Move, ...] = ()
    remaining: tuple[Finding, ...] = ()
    """Findings that stay after the moves (all of them when there is nothing to do)."""
    edits: tuple[Edit, ...] = ()
    drift: tuple[str, ...] = ()
    """Changes of the lock that no move asked for, one line each."""
    rebuilds: tuple[Rebuild, ...] = ()
    """Packages built from source that have to be built anew against a framework that moves."""
    next_step: NextStep | None = None
    obstacles: tuple[Obstacle, ...] = ()
    ways_out: tuple[str, ...] = ()
    """What would make an impossible plan possible, most useful first."""
    warnings: tuple[str, ...] = ()
    gpu_packages: int = 0
    unknown: tuple[str, ...] = ()
    """GPU packages of the environment that nobody measured, `name==version`."""
    download: int = 0
    """Bytes of wheels that `uv sync` fetches for the changed packages, at most."""
    knowledge: str = ""
    files: Mapping[PurePosixPath, bytes] = field(default_factory=dict)
    """New content by path relative to the project's root; only files that change."""
    base: Mapping[PurePosixPath, str | None] = field(default_factory=dict)
    """sha256 of each file read for the plan when it was made; None: it did not exist."""
    diff: str = ""
    """Unified diff of pyproject files (the lock's is told by the moves)."""
    answers: tuple[Answer, ...] = ()
    """To what was asked with `--why` and `--why-not`."""
    tried: int = 0
    """Combinations of framework versions looked at."""
