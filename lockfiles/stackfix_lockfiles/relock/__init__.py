"""A new uv.lock, made by uv, in a scratch copy, without running any package's code.

uv would clone git packages and build sdists to learn what they depend on. Builds cannot run here:
`PYTHONHOME` names a folder that does not exist, so every Python that uv starts for one dies
before its first line of code (uv asks interpreters about themselves with `-I`, which ignores it).
`--no-build` is no way: uv then refuses such packages even where their metadata is given. What the
old lock recorded is given to uv as `dependency-metadata` instead: for sdist-only packages at once,
for git and URL packages where their source cannot be read, for then their own version limits count.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stackfix_lockfiles.lock import ConflictItem
from stackfix_lockfiles.packages import SourceKind
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.relock.asking import asked_within, forget_forks, in_the_way, requirements
from stackfix_lockfiles.relock.reach import TIMED_OUT, answers, out_of_reach, set_aside
from stackfix_lockfiles.relock.refusals import (
    IndexUnreachable,
    NotCached,
    RelockRefused,
    Unsolvable,
    refusal,
)
from stackfix_lockfiles.relock.result import for_project, other_index
from stackfix_lockfiles.scratch import Known, Scratch, scratch
from stackfix_lockfiles.scratch.known import known
from stackfix_lockfiles.uv import Finished, TimedOut, Uv, in_one_line
from stackfix_lockfiles.uv.python import (
    admitted,
    ignores_pythonhome,
    is_missing,
    keyring_path,
    stand_in,
)
from stackfix_lockfiles.uv.variables import offline as set_offline
from stackfix_lockfiles.uv.variables import recorded, unheeded

__all__ = [
    "IndexUnreachable",
    "NotCached",
    "RelockRefused",
    "Relocked",
    "Unsolvable",
    "answers",
    "relock",
]

TIMEOUT = 900.0
"""Seconds uv gets for one lock."""
SOURCE_PATIENCE = 60.0
"""Seconds uv gets while it may still be cloning; then the old lock's record is used."""
ROUNDS = 4
"""Runs in which single unreadable packages are set aside, before all of them are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relocked:
    """A lock that uv made for the project."""

    lock: bytes
    """The new uv.lock."""
    warnings: tuple[str, ...] = ()
    """One line each: what could not be read, and so did not limit the result."""


def relock(
    project: Project,
    files: Mapping[Path, bytes],
    *,
    pins: Mapping[str, str | Sequence[str]],
    within: Collection[ConflictItem] = (),
    uv: Uv | None = None,
    python: str | None = None,
    offline: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Relocked:
    """Lock the project with `files` (relative paths) in place of its own; write nothing in it.

    `pins` maps package names to the version that uv shall move to, or to several texts where forks
    differ; a text may carry a marker: `2.8.0 ; sys_platform == 'linux'`. With `within`, they hold
    where one of these extras or groups is on, which exclude others; those are not moved, unless uv
    likes to share a version that they admit too. All else stays as locked as it can. `python` is an
    interpreter or version for uv; by default what uv finds, or a stand-in. Works on a project
    without a uv.lock too.

    Raises:
        Unsolvable: uv finds no solution.
        RelockRefused: uv cannot go on for another reason.
        IndexUnreachable: an index does not answer.
        InputError: a file of the project is broken, or there is no usable uv.
    """
    uv = uv or Uv.find(_required_version(project))
    lock = project.read_lock() if project.lock_path.is_file() else None
    offline = offline or set_offline()
    asked = requirements(pins)
    upgrades = [part for text in asked for part in ("--upgrade-package", text)]
    with scratch(project, files, lock) as copy:
        heeded = recorded(lock, copy.settings_table())
        run = _LockRun(
            uv=uv,
            copy=copy,
            args=("lock", *([] if within else upgrades), *(("--offline",) if offline else ())),
            settings={
                **keyring_path(copy.base),
                **copy.environment,
                **heeded,
                "PYTHONHOME": str(copy.base / "no-python-runs-here"),
                "UV_PYTHON_DOWNLOADS": "never",
            },
            python=python,
            wished=project.python_version,
            requires_python=lock.requires_python if lock else project.requires_python,
            offline=offline,
            progress=progress,
        )
        entries = known(lock, copy.dynamic) if lock else ()
        if within:
            with asked_within(copy, project, within, asked):
                injected = _lock(run, entries, offline)
            if (stderr := _try(run, TIMEOUT)) is not None:
                raise refusal(run.readable(stderr), offline=offline)
        else:
            injected = _lock(run, entries, offline)
        try:
            data = copy.lock.read_bytes()
        except FileNotFoundError:
            raise RelockRefused("uv wrote no uv.lock") from None
        return Relocked(
            lock=for_project(data, injected, copy.unversioned),
            warnings=(
                *_warnings(injected, run),
                *other_index(lock, data),
                *unheeded(heeded, copy.settings_table()),
            ),
        )


@dataclass(slots=True, kw_only=True)
class _LockRun:
    """`uv lock` in the scratch copy, as often as needed."""

    uv: Uv
    copy: Scratch
    args: tuple[str, ...]
    settings: Mapping[str, str]
    """Variables for uv, over those of the user's set-up."""
    python: str | None
    wished: str | None
    requires_python: str | None
    offline: bool
    progress: Callable[[str], None] | None
    forked_anew: bool = False
    """Whether the old lock's forks were in the way and are given up."""

    def __call__(self, timeout: float) -> Finished:
        """Run once; a missing interpreter is replaced by a stand-in and uv run again."""
        wished = os.environ.get("UV_PYTHON") or self.wished
        if self.python is None and ignores_pythonhome(wished):
            self._stand_in()
        finished = self._once(timeout)
        missing = finished.returncode and is_missing(finished.stderr)
        if missing and self.python is None and self._stand_in():
            finished = self._once(timeout)
        return finished

    def _stand_in(self) -> bool:
        version = admitted(self.requires_python, self.wished)
        if version is not None:
            self.python = str(stand_in(self.copy.base, version))
        return version is not None

    def readable(self, stderr: str) -> str:
        """uv's output with the project's own paths in place of the copy's."""
        return self.copy.readable(stderr)

    def _once(self, timeout: float) -> Finished:
        python = () if self.python is None else ("--python", self.python)
        return self.uv.run(
            [*self.args, *python],
            cwd=self.copy.root,
            settings=self.settings,
            timeout=timeout,
            progress=self.progress,
        )


def _lock(run: _LockRun, entries: Sequence[Known], offline: bool) -> tuple[Known, ...]:
    """Run uv until it locks; returns the metadata that it had to be given."""
    remote = {entry.name: entry for entry in entries if entry.kind in _REMOTE}
    injected: list[Known] = list(
        run.copy.inject([entry for entry in entries if entry.name not in remote])
    )
    if remote:
        cache = _cache(run)
        dead = out_of_reach(remote.values(), cache=cache, offline=offline)
        injected += _inject(run, remote, dead)
    for number in range(ROUNDS + 2):
        stderr = _try(run, SOURCE_PATIENCE if remote else TIMEOUT)
        if stderr is None:
            return tuple(injected)
        names = set_aside(in_one_line(stderr), remote) if number < ROUNDS - 1 else set(remote)
        if not names and in_the_way(stderr) and forget_forks(run.copy.lock):
            run.forked_anew = True
            continue
        if not names:
            raise refusal(run.readable(stderr), offline=offline)
        injected += _inject(run, remote, names)
    raise AssertionError("the last round sets everything aside")


_REMOTE = (SourceKind.GIT, SourceKind.URL)


def _try(run: _LockRun, timeout: float) -> str | None:
    """What uv said when it failed, None when it locked; TIMED_OUT when it took too long."""
    try:
        finished = run(timeout)
    except TimedOut as error:
        if timeout == TIMEOUT:
            raise RelockRefused(str(error)) from None
        return TIMED_OUT
    return finished.stderr if finished.returncode else None


def _inject(run: _LockRun, remote: dict[str, Known], names: Collection[str]) -> tuple[Known, ...]:
    return run.copy.inject([remote.pop(name) for name in sorted(names)])


def _cache(run: _LockRun) -> Path | None:
    asked = run.uv.run(["cache", "dir"], cwd=run.copy.root, settings=run.settings, timeout=20)
    return Path(asked.stdout.strip()) if not asked.returncode and asked.stdout.strip() else None


def _warnings(injected: Sequence[Known], run: _LockRun) -> list[str]:
    lines = []
    if run.forked_anew:
        lines.append(
            "the forks (resolution-markers) of the old uv.lock have no solution; "
            "they were made anew, with the locked versions"
        )
    if unread := [entry for entry in injected if not entry.complete]:
        names = ", ".join(f"{entry.name} {entry.version} ({_origin(entry)})" for entry in unread)
        lines.append(
            f"not read: {names}; their dependencies are those of the old uv.lock, "
            "and version limits that they set were not seen"
        )
    lines += [
        f"{name}: its dependencies are only known to its build, which stackfix does not run"
        for name in sorted(run.copy.unknown)
    ]
    return lines


def _origin(entry: Known) -> str:
    return "sdist" if entry.kind is SourceKind.REGISTRY else str(entry.kind)


def _required_version(project: Project) -> str | None:
    value = project.uv_config.table.get("required-version")
    return value if isinstance(value, str) else None
