"""What outside the pins would make a plan possible: a newer driver, or a fleet taken apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.version import Version

from stackfix.plan.case import Case
from stackfix.plan.declared import world
from stackfix.plan.exchanging import worlds
from stackfix.plan.fleet import smallest_split, uv_sketch
from stackfix.rules.finding import Finding
from stackfix.rules.judge import errors
from stackfix.solve.domain import Domain
from stackfix.solve.joint import Joint
from stackfix.solve.search import Found, Search
from stackfix.solve.world import Demand, Site
from stackfix.targets.target import Target
from stackfix_knowledge.driver import DriverVersion
from stackfix_knowledge.graph import Graph

__all__ = ["lifts", "raised"]

CUDA_MAJORS = (11, 12, 13)


def lifts(case: Case, demands: Sequence[Demand]) -> tuple[str, ...]:
    """Ways out, each tried in the solver before it is named."""
    if case.clashing and _solved(case, case.before.sites, demands) is not None:
        return ()  # what is left is uv's refusal, and no driver changes that
    found = list(_by_driver(case, demands))
    if len(case.before.sites) > 1:
        found += _by_split(case, demands)
    return tuple(found)


def raised(target: Target, graph: Graph) -> Iterator[DriverVersion]:
    """Newer drivers worth trying, the lowest first: the card's first, then each CUDA major's."""
    if target.driver is None:
        return
    first = graph.cuda.first_driver(target.capability)
    wanted = [first.value] if first else []
    for major in CUDA_MAJORS:
        minimum = graph.cuda.minimum_driver(major, target.platform)
        if minimum is not None:
            wanted.append(minimum.value)
    for at_least in sorted(set(wanted)):
        advised = graph.cuda.advised_driver(target.capability, at_least)
        if advised is not None and advised.value > target.driver:
            yield advised.value


def _by_driver(case: Case, demands: Sequence[Demand]) -> Iterator[str]:
    """The lowest driver, for each kind of card that is held back by its own, that opens a plan."""
    graph = case.request.graph
    for target in dict.fromkeys(site.target for site in case.before.sites):
        last = graph.cuda.last_branch(target.capability)
        if last and target.driver and target.driver.branch > last.value:
            yield f"the {target.short}: a driver of branch {last.value}, the last that supports it"
        for driver in dict.fromkeys(raised(target, graph)):
            sites = _with(case.before.sites, target, replace(target, driver=driver))
            outcome = _solved(case, sites, demands)
            if outcome is not None:
                yield f"driver {driver} or newer for the {target.short}: then {outcome.words}"
                break


def _by_split(case: Case, demands: Sequence[Demand]) -> Iterator[str]:
    """What each card alone would need, and the fewest locks that serve all of them."""
    targets = list(dict.fromkeys(site.target for site in case.before.sites))
    solved: dict[frozenset[Target], _Outcome | None] = {}

    def outcome(group: frozenset[Target]) -> _Outcome | None:
        if group not in solved:
            sites = tuple(site for site in case.before.sites if site.target in group)
            solved[group] = _solved(case, sites, demands)
        return solved[group]

    for target in targets:
        alone = outcome(frozenset({target}))
        yield f"{target.short} alone: {alone.words if alone else 'no plan either'}"
    groups = smallest_split(targets, lambda group: outcome(group) is not None)
    if groups is None or len(groups) < 2:
        return
    found = [outcome(frozenset(group)) for group in groups]
    named = "; ".join(
        f"{', '.join(target.short for target in group)}: {one.words}"
        for group, one in zip(groups, found, strict=True)
        if one is not None
    )
    pins = [one.pins if one is not None else () for one in found]
    yield f"{len(groups)} locks serve them all: {named}"
    yield "as extras of one project that exclude each other:\n" + uv_sketch(groups, pins)


def _with(sites: Sequence[Site], old: Target, new: Target) -> tuple[Site, ...]:
    return tuple(replace(s, target=new) if s.target == old else s for s in sites)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A move that works on some sites."""

    words: str
    pins: tuple[str, ...]
    """The frameworks' requirements."""


def _solved(case: Case, sites: tuple[Site, ...], demands: Sequence[Demand]) -> _Outcome | None:
    """The cheapest move on these sites; None: there is none."""
    before = replace(case.before, sites=sites)
    faults: list[Finding] = errors(case.kept(before.findings(case.request.graph)))
    scene = world(case.request, before, demands)
    if not faults and not case.clashing:
        frameworks = Search(scene, Domain(scene)).frameworks()
        pins = tuple(f"{name}=={scene.locked[name].public}" for name in frameworks)
        return _Outcome("nothing has to move", pins)
    around = worlds(case.request, before, scene, demands)
    found = next(Joint(around.all).solutions(), None)
    if found is None:
        return None
    pins = tuple(f"{name}=={version.public}" for name, version in sorted(found.chosen.items()))
    return _Outcome(_words(found, scene.locked), pins)


def _words(found: Found, locked: Mapping[str, Version]) -> str:
    moved = [
        f"{name} {found.world.start(name)} → {version}"
        for name, version in found.chosen.items()
        if locked.get(name) != version
    ]
    exchange = found.world.exchange
    moved += (f"{old} → {new}" for old, new in (exchange.swaps if exchange else {}).items())
    return ", ".join(moved) or "the libraries move and no framework does"
