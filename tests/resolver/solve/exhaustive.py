"""Every combination of frameworks put to real uv: what a plan is compared with.

Knows nothing of the solver: costs come from the versions, locks from uv, verdicts from the rules.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from stackfix.audit.lock_audit import audit
from stackfix.model.stack import Piece
from stackfix.plan.lock_state import lock_state
from stackfix.plan.request import Request
from stackfix.rules.judge import errors, judge_piece
from stackfix.solve.cost import FREE, Cost, cost, plus
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.uv import Uv
from tests.resolver.solve.made_registry import LINUX, MadeRegistry, pyproject

__all__ = ["Exhaustive", "price"]

Pins = Mapping[str, str]
PLATFORM = "linux_x86_64"


def price(made: MadeRegistry, before: Mapping[str, str], after: Mapping[str, str]) -> Cost:
    """What moving these frameworks costs, as DESIGN §7 orders moves."""
    total = FREE
    for name in made.frameworks:
        if name in before and name in after:
            total = plus(total, _one(made, name, before[name], after[name]))
    return total


def _one(made: MadeRegistry, name: str, before: str, after: str) -> Cost:
    old, new = Version(before), Version(after)
    order = sorted({Version(Version(version).public) for version in made.releases[name]})
    distance = abs(order.index(Version(old.public)) - order.index(Version(new.public)))
    moved = old.local != new.local
    return cost(
        old,
        new,
        known=True,
        same_index=not moved,
        new_index=moved and new.local is not None,
        distance=distance,
    )


@dataclass
class Exhaustive:
    """Tries combinations in a folder of its own; what uv refuses once it refuses with more pins."""

    made: MadeRegistry
    request: Request
    before: Mapping[str, str]
    """The frameworks that the targets install, with their locked versions."""
    outsiders: Mapping[str, str]
    """Packages outside the stack that stay, with their locked versions."""
    folder: Path
    uv: Uv = field(default_factory=Uv.find)
    asked: int = 0
    _locks: dict[str, bytes | None] = field(default_factory=dict)

    def cheapest(self, below: Cost | None, *, overrides: bool) -> tuple[Cost, Pins] | None:
        """The cheapest combination with a lock that no rule objects to, if cheaper than `below`."""
        for total, chosen in self._combinations():
            if below is not None and not total < below:
                return None
            if self._works(chosen, overrides):
                return total, chosen
        return None

    def _combinations(self) -> Iterator[tuple[Cost, Pins]]:
        names = list(self.before)
        everything = (
            dict(zip(names, versions, strict=True))
            for versions in product(*(self.made.releases[name] for name in names))
        )
        priced = [
            (price(self.made, self.before, chosen), chosen)
            for chosen in everything
            if not any(version in self._useless[name] for name, version in chosen.items())
        ]
        yield from sorted(priced, key=lambda pair: pair[0])

    @cached_property
    def _useless(self) -> Mapping[str, Sequence[str]]:
        """By package, the versions that some target can't run, whatever stands beside them."""
        graph, packages = self.request.graph, self.request.graph.packages
        return {
            name: [
                version
                for version in releases
                if (package := packages.get(name)) is not None
                for piece in [Piece.known(graph, package, Version(version), PLATFORM)]
                if any(errors(judge_piece(piece, t, graph)) for t in self.request.targets)
            ]
            for name, releases in self.made.releases.items()
        }

    def _works(self, chosen: Pins, overrides: bool) -> bool:
        parts = list(chosen.items())
        home = Version(chosen["torch"]).local if "torch" in chosen else None
        for everywhere in (True, False):
            # What fails in part fails as a whole, and other combinations have the same part.
            for count in range(len(parts) + 1):
                lock = self._lock(dict(parts[:count]), overrides, everywhere, home)
                if lock is None:
                    break
            else:
                if self._sound(lock, chosen):
                    return True
        return False

    def _sound(self, data: bytes, chosen: Pins) -> bool:
        request, lock = self.request, Lock.parse(data)
        after = lock_state(lock, request)
        installed = {p.name: str(p.version) for stack in after.stacks for p in stack}
        if any(installed.get(name, version) != version for name, version in chosen.items()):
            return False  # an override, or a fork, has another version there
        return not audit(
            lock, request.targets, request.selection, request.policy, graph=request.graph
        ).faults

    def _lock(
        self, pins: Pins, overrides: bool, everywhere: bool, home: str | None
    ) -> bytes | None:
        """The lock with these pins: in all forks, where every requirement may be edited, or where
        Linux installs them, with the requirements for other platforms left as they are.

        `home` is the index of PyTorch's that torch comes from."""
        made = self.made
        selected = "".join(f" and extra == '{extra}'" for extra in self.request.extras)
        where = "" if everywhere else f" ; {LINUX}{selected}"
        stays = () if everywhere else ("sys_platform != 'linux'",)
        text = pyproject(
            [_opened(made, text, stays) for text in made.dependencies],
            {
                extra: [
                    _opened(made, text, stays) if extra in self.request.extras else text
                    for text in texts
                ]
                for extra, texts in made.extras.items()
            },
            [
                *(_opened(made, text, stays) for text in made.constraints),
                *(f"{name}=={version}{where}" for name, version in pins.items()),
                *(
                    f"{name}!={version} ; {LINUX}{selected}"
                    for name, versions in self._useless.items()
                    for version in versions
                    if name != "torch" or Version(version).local == home
                ),
                *(f"{name}=={version}" for name, version in self.outsiders.items()),
            ],
            [
                text
                for text in made.overrides
                if overrides or Requirement(text).name not in made.releases
            ],
            {} if home is None else {"torch": self.request.graph.indexes.url(home)},
        )
        if text not in self._locks:
            self._locks[text] = self._ask(text)
        return self._locks[text]

    def _ask(self, text: str) -> bytes | None:
        project = self.folder / hashlib.sha256(text.encode()).hexdigest()[:16]
        project.mkdir(parents=True)
        (project / "pyproject.toml").write_text(text, encoding="utf-8")
        self.asked += 1
        finished = self.uv.run(["lock", "--python", sys.executable], cwd=project, timeout=60)
        assert finished.returncode in (0, 1), finished.stderr  # 1: no solution
        return (project / "uv.lock").read_bytes() if finished.returncode == 0 else None


def _opened(made: MadeRegistry, text: str, stays: Sequence[str]) -> str:
    """A requirement without what a plan may edit: limits of GPU packages, `!=` aside."""
    requirement = Requirement(text)
    marker = str(requirement.marker).replace('"', "'") if requirement.marker else ""
    if requirement.name not in made.releases or marker in stays:
        return text
    kept = ",".join(str(c) for c in requirement.specifier if c.operator == "!=")
    return f"{requirement.name}{kept}" + (f" ; {marker}" if marker else "")
