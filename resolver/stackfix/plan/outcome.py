"""The four ways a plan can end, each as a Plan."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from stackfix.plan.attempt import Attempt, Rejected
from stackfix.plan.case import Case
from stackfix.plan.explain.obstacles import grouped, of_rejected
from stackfix.plan.lock_state import LockState, unknown
from stackfix.plan.moves import moves
from stackfix.plan.plan import JudgedSelection, NextStep, Plan, Status
from stackfix.plan.rebuilds import rebuilds
from stackfix.solve.search import Exclusion
from stackfix_lockfiles.diff import Drift, DriftKind, diff, drift
from stackfix_lockfiles.errors import without_credentials

__all__ = ["impossible", "no_gpu", "nothing_to_do", "planned"]


def no_gpu(case: Case) -> Plan:
    """Nothing that would be installed uses the GPU; says which extras or groups would."""
    stack = {
        package.name
        for package in case.before.lock.packages
        if case.request.graph.packages.get(package.name) is not None
    }
    note = "nothing here uses the GPU"
    if stack:
        note += (
            f"; the lock holds {', '.join(sorted(stack)[:4])} for other extras, groups or platforms"
        )
    return _plan(case, Status.NOTHING_TO_DO, remaining=(), warnings=(note,))


def nothing_to_do(case: Case, step: NextStep | None, warnings: Sequence[str]) -> Plan:
    """No error on any target; warnings may remain."""
    return _plan(
        case, Status.NOTHING_TO_DO, remaining=case.findings, next_step=step, warnings=warnings
    )


def planned(
    case: Case, made: Attempt, step: NextStep | None, warnings: Sequence[str], tried: int
) -> Plan:
    """A joint move that clears every error."""
    changes = diff(case.origin, made.after.lock) if case.origin else ()
    lock_path = PurePosixPath("uv.lock")
    files = {PurePosixPath(path.as_posix()): data for path, data in made.files.items()}
    return _plan(
        case,
        Status.PLANNED,
        moves=moves(changes, case, made),
        remaining=made.remaining,
        edits=made.edits,
        drift=_drift_lines(drift(case.origin, made.after.lock) if case.origin else ()),
        rebuilds=rebuilds(case.before, made.after, case.request.graph) if case.origin else (),
        next_step=step,
        warnings=(*warnings, *made.warnings),
        download=_download(case.before if case.origin else None, made.after),
        files={**files, lock_path: made.lock},
        diff=_unified(case, made),
        tried=tried,
    )


def impossible(
    case: Case,
    exclusions: Iterable[Exclusion],
    rejected: Sequence[Rejected],
    ways_out: Sequence[str],
    warnings: Sequence[str],
    tried: int,
) -> Plan:
    """No combination works: every reason, and what outside the pins would open a way."""
    return _plan(
        case,
        Status.IMPOSSIBLE,
        remaining=case.findings,
        obstacles=(*grouped(exclusions), *of_rejected(rejected)),
        ways_out=tuple(ways_out),
        warnings=warnings,
        tried=tried,
    )


def _plan(case: Case, status: Status, *, warnings: Sequence[str] = (), **found: object) -> Plan:
    request, project = case.request, case.request.project
    return Plan(
        status=status,
        project=project.name or project.root.name,
        root=str(project.root),
        targets=request.targets,
        selection=JudgedSelection(
            platforms=tuple(
                dict.fromkeys(environment.platform for environment in case.before.environments)
            ),
            python=case.before.python,
            extras=request.extras,
            groups=request.groups,
        ),
        findings=case.findings,
        gpu_packages=len(case.before.gpu_packages),
        unknown=unknown(case.before.environments),
        knowledge=request.graph.version,
        base=base_digests(case),
        warnings=(*case.notes, *warnings),
        **found,  # type: ignore[arg-type]  # each keyword is a field of Plan
    )


def base_digests(case: Case) -> dict[PurePosixPath, str | None]:
    """sha256 of everything the plan was made from; None for a lock that did not exist."""
    project = case.request.project
    found: dict[PurePosixPath, str | None] = {
        PurePosixPath(file.path.as_posix()): hashlib.sha256(file.data).hexdigest()
        for file in project.files
    }
    if project.uv_config.is_uv_toml:
        file = project.uv_config.file
        found[PurePosixPath(file.path.as_posix())] = hashlib.sha256(file.data).hexdigest()
    known = project.read_lock().digest if project.lock_path.exists() else None
    found[PurePosixPath("uv.lock")] = known
    return found


def _drift_lines(found: Iterable[Drift]) -> tuple[str, ...]:
    """One line for each kind of drift: what uv rewrote without being asked."""
    lines: list[str] = []
    touched: dict[DriftKind, set[str]] = {}
    for one in found:
        if one.package is None:
            lines.append(one.detail)
        else:
            touched.setdefault(one.kind, set()).add(one.package)
    for kind, packages in touched.items():
        lines.append(f"{kind} of {len(packages)} packages")
    return tuple(lines)


def _download(before: LockState | None, after: LockState) -> int:
    """Bytes of the wheels of changed packages, for the first target: what one `uv sync` fetches.

    Those of all packages where nothing could be installed before.
    """
    new = after.stacks[0].environment
    old = before.stacks[0].environment if before else None
    if new is None:
        return 0
    total = 0
    for name, package in new.installed.items():
        known = old.installed.get(name) if old else None
        if known is None or known.version != package.version:
            file = new.platform.wheel(package, new.python)
            total += file.size or 0 if file else 0
    return total


def _unified(case: Case, made: Attempt) -> str:
    """The edits of the user's own files as a unified diff, to be shown: without credentials."""
    lines: list[str] = []
    for path, data in sorted(made.files.items()):
        old = _original(case, path).decode("utf-8").splitlines(keepends=True)
        new = data.decode("utf-8").splitlines(keepends=True)
        name = path.as_posix()
        lines += difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    text = "".join(line if line.endswith("\n") else line + "\n" for line in lines)
    return without_credentials(text)


def _original(case: Case, path: Path) -> bytes:
    project = case.request.project
    if path == project.uv_config.file.path:
        return project.uv_config.file.data
    return project.file(path).data
