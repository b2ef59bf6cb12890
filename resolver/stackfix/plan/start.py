"""Where a plan starts: the project's lock, one that uv makes of it now, or what the project asks.

A lock that no longer fits pyproject.toml is brought up to date in the scratch copy first. Where uv
refuses that, or there is no lock and uv can make none, the move is counted from what the project
asks for, and the clash is the first thing that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from stackfix.model.finding import Finding
from stackfix.plan.case import Case
from stackfix.plan.lock_state import LockState, audited, lock_state
from stackfix.plan.request import Request
from stackfix.plan.unlockable.asked import asked_of, named_alone, standing
from stackfix.plan.unlockable.clashes import Clash, clashes
from stackfix.plan.unlockable.conflicts import chosen, conflicts, rivals_over
from stackfix.plan.unlockable.relaxed_lock import Unlockable, relaxed_lock
from stackfix.plan.unlockable.wording import refused, told
from stackfix.rules.judge import judge
from stackfix.rules.sf304_missing_library import MissingLibrary
from stackfix.rules.sf507_older_lock import OlderLock
from stackfix_index.names import normalized
from stackfix_lockfiles.diff import diff
from stackfix_lockfiles.edits import Edit, add_conflict, apply_edits
from stackfix_lockfiles.lock import ConflictItem, Lock
from stackfix_lockfiles.outdated import Difference, differences
from stackfix_lockfiles.relock import IndexUnreachable, RelockRefused, Unsolvable, relock

__all__ = ["Unlockable", "start"]

MOST = 3
"""Differences between lock and project that are named."""


def start(request: Request) -> Case:
    """The case of a request, with what is wrong at its start.

    Raises:
        InputError: the project, its lock or the selection is broken.
        Unlockable: uv can lock the project with no versions of the stack.
        IndexUnreachable, RelockRefused: uv could not go on.
    """
    project = request.project
    if not project.lock_path.exists():
        request.say("locking the project, which has no uv.lock yet")
        try:
            return _case(request, _locked(request, {}))
        except Unsolvable as refusal:
            return _clashing(request, refusal)
    lock = project.read_lock()
    found = differences(project, lock)
    return _brought_up(request, lock, found) if found else _case(request, lock)


def _brought_up(request: Request, lock: Lock, found: Sequence[Difference]) -> Case:
    """The case of a lock that no longer fits pyproject.toml: brought up to date, where uv can."""
    request.say("bringing uv.lock up to date in a copy: it no longer fits pyproject.toml")
    try:
        new = _locked(request, {})
    except Unsolvable as refusal:
        case = _clashing(request, refusal)
        return replace(case, notes=(_out_of_date(found), *case.notes))
    except (RelockRefused, IndexUnreachable) as failure:
        why = failure.reason.splitlines()[0]
        rest = f"planned with it as it is, since uv could not bring it up to date: {why}"
        outdated = _outdated(request, found)
        return replace(_case(request, lock, outdated), notes=(f"{_out_of_date(found)}; {rest}",))
    still = differences(request.project, new)
    real = [difference for difference in found if difference not in still]
    if not real:  # uv writes it so, whatever the files say
        return _case(request, lock)
    changed = len(diff(lock, new))
    rest = f"planned from what `uv lock` makes of it, which moves {changed} of its packages"
    return replace(
        _case(request, new),
        outdated=_outdated(request, real),
        on_disk=lock,
        notes=(f"{_out_of_date(real)}; {rest}",),
    )


def _outdated(request: Request, found: Sequence[Difference]) -> tuple[Finding, ...]:
    return tuple(request.policy.applied(OlderLock().judge(found, request.graph)))


def _out_of_date(found: Sequence[Difference]) -> str:
    more = f" and {len(found) - MOST} more" if len(found) > MOST else ""
    return f"uv.lock is out of date: {'; '.join(map(str, found[:MOST]))}{more}"


def _locked(request: Request, files: Mapping[Path, bytes]) -> Lock:
    made = relock(
        request.project, files, pins={}, offline=request.offline, progress=request.progress
    )
    return Lock.parse(made.lock)


def _case(request: Request, lock: Lock, first: Sequence[Finding] = ()) -> Case:
    """The case of a lock that uv made or would make, with `first` among its findings."""
    found = audited(request, lock)
    return Case(
        request=request,
        before=lock_state(lock, request, found.environments),
        findings=(*first, *found.findings),
        origin=lock,
        walked=found.environments,
    )


def _clashing(request: Request, refusal: Unsolvable) -> Case:
    """The case of a project that does not lock: from alternatives, or from what is asked."""
    found = clashes(request)
    rivals = {clash.package: items for clash in found if (items := _rivals(request, clash))}
    first = [told(clash, rivals=clash.package in rivals) for clash in found]
    if rivals and (case := _apart(request, first, rivals)):
        return case
    wide = _widened(request, found)
    relaxed = relaxed_lock(wide, found, refusal)
    seen = lock_state(relaxed.lock, wide)
    asked = asked_of(wide, seen)
    before = standing(wide, seen, asked, relaxed.names, _explained(found, seen))
    clashing = {
        name: one for clash, one in zip(found, first, strict=True) for name in clash.packages
    }
    if unexplained := relaxed.names - {clash.set_aside for clash in found}:
        name = _named(unexplained, refusal.reason)
        words = refused(name, asked[name].text if name in asked else "", refusal.reason)
        first.append(words)
        clashing = {**dict.fromkeys(unexplained, words), **clashing}
    old = request.project.read_lock() if request.project.lock_path.exists() else None
    found_alone = wide.policy.applied(_of_named(wide, before))
    return Case(
        request=wide,
        before=before,
        findings=(*first, *found_alone),
        origin=old,
        asked=asked,
        clashing=clashing,
        notes=tuple(_notes(request, wide)),
    )


def _of_named(request: Request, before: LockState) -> Iterator[Finding]:
    """What is wrong with what the project names; what is missing beside it is nobody's word."""
    stacks = [
        (environment.target, environment.stack)
        for environment in named_alone(request, before).environments
    ]
    found = judge(stacks, {}, request.graph)
    return (finding for finding in found if finding.code != MissingLibrary.code)


def _explained(found: Sequence[Clash], seen: LockState) -> frozenset[str]:
    """The packages set aside whose clash the facts explain for the very builds that are locked.

    What PyTorch's own indexes build is another wheel than the one whose metadata was read.
    """
    builds = {piece.title for stack in seen.stacks for piece in stack if piece.version.local}
    names = {title.partition(" ")[0] for title in builds}
    return frozenset(
        clash.set_aside
        for clash in found
        if not any(
            side.maker and side.maker.name in names and side.maker.title not in builds
            for side in clash.sides
        )
    )


def _named(names: frozenset[str], reason: str) -> str:
    """The package that uv speaks of first."""
    spoken = [name for name in names if name in reason]
    return min(spoken or names, key=lambda name: (reason.find(name), name))


def _rivals(request: Request, clash: Clash) -> tuple[ConflictItem, ...]:
    one, other = clash.sides
    return rivals_over(request, clash.package, one.root, other.root)


def _apart(
    request: Request, first: Sequence[Finding], rivals: Mapping[str, tuple[ConflictItem, ...]]
) -> Case | None:
    """The case with the rivals declared to exclude each other; None where that is not all."""
    edits: dict[tuple[ConflictItem, ...], Edit] = {}
    for package, items in rivals.items():
        why = f"they ask for different versions of {package}"
        edits.setdefault(items, add_conflict(request.project, items, why=why))
    repairs = tuple(edits.values())
    request.say("locking with the extras that clash declared as conflicts")
    try:
        lock = _locked(request, apply_edits(request.project, repairs))
    except Unsolvable:
        return None
    notes = [
        f"{', '.join(map(str, items))} become alternatives, each locked on its own; "
        "to install them together, plan with all of them chosen"
        for items in edits
    ]
    return replace(_case(request, lock, first), repairs=repairs, notes=tuple(notes))


def _widened(request: Request, found: Sequence[Clash]) -> Request:
    """The request with the extras and groups that clash, for uv locks all of them together."""
    known = chosen(request)
    barred = {item for rivals in conflicts(request) if known & {*rivals} for item in rivals}
    roots = [
        side.root
        for clash in found
        for side in clash.sides
        if (side.root.extra, side.root.group) not in barred
    ]
    extras = {d.extra for d in roots if d.extra and (d.extra, None) not in known}
    groups = {d.group for d in roots if d.group and (None, d.group) not in known}
    return replace(
        request,
        extras=(*request.extras, *sorted(extras)),
        groups=(*request.groups, *sorted(groups)),
    )


def _notes(request: Request, wide: Request) -> list[str]:
    """What was added to the selection."""
    before = {normalized(name) for name in (*request.extras, *request.groups)}
    extras = [f"extra {name}" for name in wide.extras if normalized(name) not in before]
    groups = [f"group {name}" for name in wide.groups if normalized(name) not in before]
    added = ", ".join((*extras, *groups))
    if not added:
        return []
    return [f"planned with {added} too: uv locks every extra and group"]
