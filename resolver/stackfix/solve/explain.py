"""Puts resolvelib's causes into words: who asks for what, and why that can't be had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet

from stackfix.solve.candidates import Candidates
from stackfix.solve.problem import PLAN, Asked, Problem, StackRequirement

__all__ = ["Conflict", "explain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Why a choice of frameworks cannot be completed."""

    reason: str
    about: str | None = None
    """The package that no version could be found for."""
    lifts: tuple[str, ...] = ()
    """What outside the pins would clear it: "driver 570.26 or newer"."""


def explain(causes: Sequence[Asked], problem: Problem, domain: Candidates) -> Conflict:
    """The conflict behind a failed resolution.

    When a single demand admits only versions that fail by themselves, the fault of that version is
    the reason; else the demands that exclude each other are.
    """
    demands = list(dict.fromkeys(cause.requirement for cause in causes))
    if not demands:
        return Conflict(reason="no combination of versions is left")
    name = demands[0].name
    if demands[0].owner is not None:
        makers = " and ".join(sorted({demand.origin for demand in demands}))
        if name.startswith("index:"):
            return Conflict(reason=f"{makers} come from different indexes")
        if name.startswith("cuda:"):
            return Conflict(reason=f"{makers} are builds for different CUDA majors")
        return Conflict(reason=f"{makers} install the same file")
    limiting = _excluding([demand for demand in demands if demand.specifier])
    # The version in question is named by whoever reports the failure.
    others = [demand for demand in limiting if demand.origin != PLAN or demand.name != name]
    against = others if others and len(others) < len(limiting) else limiting
    asked = " and ".join(_said(demand) for demand in against[:4] or demands[:2])
    if not problem.is_stack(name):
        return Conflict(reason=_outside(name, demands, problem), about=name)
    refused = domain.refused(name)
    joint = SpecifierSet()
    for demand in demands:
        joint &= problem.overrides.get(name, demand.specifier)
    faults = {
        reason for version, reason in refused.items() if joint.contains(version, prereleases=True)
    }
    if name in problem.overrides:
        asked += f", while an override holds {name}{problem.overrides[name]}"
    if name in problem.held and problem.locked.get(name) is not None:
        asked += f", while {name} stays at {problem.locked[name]} ({problem.held[name]})"
    if faults:
        return Conflict(reason=f"{asked}, but {sorted(faults)[0]}", about=name)
    bare = _without_extra(demands[0].key, joint, domain)
    if bare is not None:
        return Conflict(reason=bare, about=name)
    hopeless = _hopeless(demands[0].key, joint, domain)
    if hopeless is not None:
        return Conflict(reason=hopeless, about=name)
    if len(limiting) < 2:
        return Conflict(reason=f"{asked}, and no known release of {name} fits", about=name)
    if against is not limiting:
        return Conflict(reason=asked, about=name)
    return Conflict(reason=f"{asked}: they exclude each other", about=name)


def _without_extra(key: str, admitted: SpecifierSet, domain: Candidates) -> str | None:
    """Where the admitted versions lack the extra that is asked for, says so of the preferred."""
    name, bracket, extra = key.partition("[")
    if not bracket:
        return None
    choices = [
        choice
        for choice in domain.choices(name)
        if admitted.contains(choice.version, prereleases=True)
    ]
    if not choices or any(domain.offers(key, choice.release) for choice in choices):
        return None
    return f"{name} {choices[0].version} has no extra {extra[:-1]}"


def _hopeless(key: str, admitted: SpecifierSet, domain: Candidates) -> str | None:
    """What the preferred of the admitted versions asks for and can't have."""
    reasons = (
        domain.hopeless(key, choice.version, choice.release)
        for choice in domain.choices(key.partition("[")[0])
        if admitted.contains(choice.version, prereleases=True)
        and domain.offers(key, choice.release)
    )
    return next((reason for reason in reasons if reason is not None), None)


def _excluding(demands: list[StackRequirement]) -> list[StackRequirement]:
    """The demands that exclude what one of them pins; all of them where none pins."""
    pins = [demand for demand in demands if str(demand.specifier).startswith("==")]
    for pin in pins:
        version = str(pin.specifier).lstrip("=")
        if "*" in version or "," in version:
            continue
        against = [d for d in demands if not d.specifier.contains(version, prereleases=True)]
        if against:
            return [pin, *against]
    return demands


def _said(demand: StackRequirement) -> str:
    if demand.origin == PLAN:
        return str(demand).replace("===", " ")
    return f"{demand.origin} needs {demand}"


def _outside(name: str, demands: Sequence[StackRequirement], problem: Problem) -> str:
    asked = " and ".join(_said(d) for d in demands if not d.unmoved)
    override = problem.overrides.get(name)
    if override is not None:
        return f"{asked}, but the project's override holds {name}{override}"
    declared = " and ".join(f"{d.origin} asks for {d}" for d in problem.declared.get(name, ()))
    return f"{asked}" + (f", but {declared}" if declared else ": they exclude each other")
