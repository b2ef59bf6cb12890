"""What a plan is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from stackfix.audit.selections import chosen_groups
from stackfix.model.policy import DEFAULT_POLICY, Policy
from stackfix.model.selection import Selection
from stackfix.model.target import Target
from stackfix_index.names import normalized
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project

__all__ = ["Request", "Strategy"]


class Strategy(StrEnum):
    """Which of several working moves is preferred."""

    LEAST_CHANGE = "least-change"
    SAME_INDEX = "same-index"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Inputs of `propose`: everything that a person chose, nothing that is computed.

    `python` None: the project's own, and that of every fork in which GPU packages differ.
    `keep` names packages that must stay at their locked version; `require` holds requirement
    strings that the result must satisfy.
    """

    project: Project
    graph: Graph
    targets: tuple[Target, ...]
    policy: Policy = DEFAULT_POLICY
    """What the project decides about findings."""
    python: str | None = None
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """Groups beside the project's default ones."""
    all_extras: bool = False
    strategy: Strategy = Strategy.LEAST_CHANGE
    keep: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    allow_override: bool = False
    """Whether a framework's exact pin of cuDNN or NCCL may be overridden, as a last resort."""
    why: tuple[str, ...] = ()
    """Packages whose move shall be explained."""
    why_not: tuple[str, ...] = ()
    """Requirement strings: why the plan does not take such a version."""
    offline: bool = False
    progress: Callable[[str], None] | None = None

    @property
    def selection(self) -> Selection:
        """Which environments of the lock are meant."""
        return Selection(
            extras=self.extras,
            all_extras=self.all_extras,
            groups=self.groups,
            python=self.python,
        )

    def knows_group(self, name: str) -> bool:
        """Whether the project has a dependency group of that name."""
        project = self.project
        return any(d.group == name for d in project.requirements) or any(
            g.group == name for g in project.included_groups
        )

    def groups_in(self, lock: Lock) -> tuple[str, ...] | None:
        """The groups asked for and the default ones beside them; None: the default ones as are."""
        default = self.project.default_groups
        if not self.groups or default == "all":
            return None
        asked = tuple(normalized(group) for group in self.groups)
        known = (normalized(name) for name in default if self.knows_group(name))
        return chosen_groups(asked, known, lock)

    def say(self, line: str) -> None:
        """Tell whoever watches what happens now."""
        if self.progress is not None:
            self.progress(line)
