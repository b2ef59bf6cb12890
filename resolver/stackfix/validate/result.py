"""What a validation found; reports only render it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from stackfix.model.target import Target
from stackfix_knowledge.logs.signatures import Remedy

__all__ = [
    "ON_CARDS",
    "Cause",
    "Check",
    "Outcome",
    "ProcessEnding",
    "ProvenEnvironment",
    "StageResult",
    "Validation",
    "failure_in",
]


ON_CARDS = frozenset({"conv", "attention", "nccl", "compiled", "jax-conv", "jax-collectives"})
"""Names of the stages that run on a card."""


class Outcome(StrEnum):
    """How a stage or one check of it ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that a stage looked at."""

    name: str
    outcome: Outcome
    detail: str = ""
    """What was found, what is wrong, or why it was not looked at."""


def failure_in(checks: Sequence[Check]) -> str | None:
    """What failed, in one line; None: nothing did."""
    failed = [check for check in checks if check.outcome is Outcome.FAILED]
    if not failed:
        return None
    more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
    return f"{failed[0].name}: {failed[0].detail}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnding:
    """How a stage's process ended and what it took."""

    exit_code: int | None
    """None: a signal ended it, or it could not be ended."""
    signal: str | None
    """ "SIGSEGV"; None: it ended by itself."""
    limit: Literal["time", "memory"] | None
    """The limit that ended it."""
    seconds: float
    memory: int
    """Most bytes of memory of its own that it and its children had at a time, as sampled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The fault that a stage's log names; see `stackfix.diagnose`."""

    family: str
    meaning: str
    line: str
    """The line of the log that shows it."""
    fixes: tuple[Remedy, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResult:
    """One row of the report."""

    name: str
    """For programs: install, lock, code, versions, import-PACKAGE, libraries, conv, attention,
    nccl, compiled, jax-conv or jax-collectives."""
    title: str
    """For people, "cuDNN convolutions"."""
    outcome: Outcome
    reason: str
    """Why it failed or was skipped, in one line; of a passed one, what it proved."""
    checks: tuple[Check, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the stage found that is neither right nor wrong."""
    ending: ProcessEnding | None = None
    """None: no process ran."""
    log: str = ""
    """What the process printed, its beginning and its end; empty for a stage that passed."""
    cause: Cause | None = None
    """Of a failed stage, what its log names; None: nothing that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenEnvironment:
    """The environment that was proven."""

    python: Path
    """Its interpreter."""
    version: str
    """Of Python."""
    scratch: bool
    """Whether it was made for this; False: it existed."""
    kept: Path | None
    """The folder of a scratch environment that was kept."""
    packages: Mapping[str, str]
    """The GPU packages in it, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """All stages of one run."""

    project: str | None
    """None: an environment without a project."""
    lock: str | None
    """sha256 of the uv.lock that was installed or compared with."""
    targets: tuple[Target, ...]
    cards: tuple[str, ...]
    """Names of the cards that the kernels could use."""
    quick: bool
    installed: ProvenEnvironment | None
    """None: nothing could be installed."""
    stages: tuple[StageResult, ...]
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[StageResult, ...]:
        return tuple(stage for stage in self.stages if stage.outcome is Outcome.FAILED)

    @property
    def skipped(self) -> tuple[StageResult, ...]:
        return tuple(stage for stage in self.stages if stage.outcome is Outcome.SKIPPED)

    @property
    def ran_on_a_card(self) -> bool:
        """Whether a stage that needs a card passed."""
        return any(
            stage.name in ON_CARDS and stage.outcome is Outcome.PASSED for stage in self.stages
        )
