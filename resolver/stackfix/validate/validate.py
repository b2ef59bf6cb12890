"""`stackfix validate` from request to result."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stackfix.host.health import remarks
from stackfix.host.host import Host
from stackfix.model.policy import DEFAULT_POLICY, Policy
from stackfix.model.target import Target
from stackfix.validate.closure import CannotInstall, DiskShort, InstallRequest, kept_name
from stackfix.validate.folders import VENV, claimed, scratch_base, sweep
from stackfix.validate.install import announcement, install, prepare
from stackfix.validate.python import (
    EnvironmentPython,
    ask_python,
    compare_package,
    compare_with_lock,
    find_python,
    locked_versions,
)
from stackfix.validate.result import (
    Check,
    Outcome,
    ProvenEnvironment,
    StageResult,
    Validation,
    failure_in,
)
from stackfix.validate.runner import STAGE, allowed_memory, run_stages, stage_environment
from stackfix.validate.stages import StageInputs, stages
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.errors import InputError

__all__ = ["ValidationRequest", "validate"]


def _silent(text: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationRequest:
    """What is to be proven, and how."""

    graph: Graph
    host: Host
    targets: tuple[Target, ...]
    knowledge: tuple[Path, ...] = ()
    """The project's own facts."""
    policy: Policy = DEFAULT_POLICY
    """Findings that the project accepts."""
    install: InstallRequest | None = None
    """What to install, or what `python` is compared with; None: nothing."""
    python: Path | None = None
    """An existing environment: an interpreter, or a folder with one."""
    quick: bool = False
    keep: bool = False
    """Keep the scratch environment."""
    reuse: bool = False
    """Take the one that was kept for the same lock and choice, and keep it."""
    timeout: float | None = None
    """Seconds for each stage; None: each has its own."""
    progress: Callable[[str], None] = _silent
    """A line that the next one replaces."""
    tell: Callable[[str], None] = _silent
    """Lines that stay."""


def validate(request: ValidationRequest) -> Validation:
    """Run all stages. Raises InputError for what can be set right before anything is proven."""
    base = scratch_base()
    for folder in sweep(base):
        request.tell(f"removed {folder}, which an interrupted run left behind")
    if request.python is not None:
        python = ask_python(find_python(request.python))
        row = _row(Outcome.SKIPPED, f"{python.executable} exists already: nothing was installed")
        with _somewhere(base) as folder:
            return _prove(request, python, [row], folder, kept=None)
    assert request.install is not None
    keep_as = kept_name(request.install) if request.keep or request.reuse else None
    with claimed(base, keep_as=keep_as) as folder:
        for stale in folder.glob(f"{STAGE}*"):
            shutil.rmtree(stale, ignore_errors=True)
        if not request.reuse:
            shutil.rmtree(folder / VENV, ignore_errors=True)
        try:
            python, row = _install(request, request.install, folder)
        except (CannotInstall, DiskShort) as error:
            log = error.log if isinstance(error, CannotInstall) else ""
            return _nothing(request, _row(Outcome.FAILED, str(error), log=log))
        return _prove(request, python, [row], folder, kept=folder if keep_as else None)


@contextlib.contextmanager
def _somewhere(base: Path) -> Iterator[Path]:
    """A folder for what stages write, elsewhere where the user's cache cannot be written."""
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(claimed(base))
        except InputError:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stackfix-")))
        yield folder


def _install(
    request: ValidationRequest, wanted: InstallRequest, folder: Path
) -> tuple[EnvironmentPython, StageResult]:
    request.progress("preparing an environment")
    prepared = prepare(wanted, folder, request.graph)
    for line in announcement(
        prepared.closure, everything=wanted.everything, cached=prepared.cached
    ):
        request.tell(line)
    python = install(prepared, wanted, progress=request.progress)
    checks = [
        compare_package(package.name, package.version, python)
        for package in prepared.closure.packages
        if request.graph.packages.get(package.name) is not None
    ]
    checks += [
        Check(name=name, outcome=Outcome.SKIPPED, detail="no wheel: --all builds it")
        for name in prepared.closure.built
        if not wanted.everything
    ]
    checks += [
        Check(name=name, outcome=Outcome.SKIPPED, detail="in a folder named by an absolute path")
        for name in prepared.closure.in_place
    ]
    failure = failure_in(checks)
    return python, _row(Outcome.FAILED if failure else Outcome.PASSED, failure or "", checks)


def _prove(
    request: ValidationRequest,
    python: EnvironmentPython,
    rows: list[StageResult],
    folder: Path,
    *,
    kept: Path | None,
) -> Validation:
    scratch = request.python is None
    locked = locked_versions(request.install, python) if request.install else {}
    if request.python is not None and request.install is not None:
        rows.append(compare_with_lock(locked, python, request.graph))
    cards = tuple(card.name for card in request.host.visible)
    inputs = StageInputs(
        python=python,
        locked=locked,
        targets=request.targets,
        cards=cards,
        why_no_card=_why_no_card(request.host),
        graph=request.graph,
        knowledge=request.knowledge,
        policy=request.policy,
        quick=request.quick,
        memory=allowed_memory(),
        timeout=request.timeout,
    )
    env = stage_environment(os.environ, scratch=scratch)
    rows += run_stages(
        stages(inputs), env=env, graph=request.graph, folder=folder, progress=request.progress
    )
    installed = ProvenEnvironment(
        python=python.executable,
        version=python.version,
        scratch=scratch,
        kept=kept,
        packages={
            name: found.version
            for name, found in sorted(python.packages.items())
            if request.graph.packages.get(name) is not None
        },
    )
    return _validation(request, installed, rows)


def _nothing(request: ValidationRequest, row: StageResult) -> Validation:
    return _validation(request, None, [row])


def _validation(
    request: ValidationRequest, installed: ProvenEnvironment | None, rows: list[StageResult]
) -> Validation:
    held = request.install
    return Validation(
        project=held.project.name or held.project.root.name if held else None,
        lock=held.lock.digest if held else None,
        targets=request.targets,
        cards=tuple(card.name for card in request.host.visible),
        quick=request.quick,
        installed=installed,
        stages=tuple(rows),
        notes=remarks(request.host),
    )


def _row(
    outcome: Outcome, reason: str, checks: list[Check] | None = None, log: str = ""
) -> StageResult:
    return StageResult(
        name="install",
        title="installation",
        outcome=outcome,
        reason=reason,
        checks=tuple(checks or ()),
        log=log,
    )


def _why_no_card(host: Host) -> str:
    if host.cards:
        return f"CUDA_VISIBLE_DEVICES={host.visible_devices} hides all cards"
    return "this machine shows no NVIDIA card"
