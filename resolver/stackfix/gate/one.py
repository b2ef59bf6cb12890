"""The check of one file, from its bytes to what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.audit.discover import LockFile
from stackfix.audit.ignored import Ignored, ignored_in
from stackfix.audit.judging import (
    Found,
    judge_other_forks,
    judge_places,
    lock_integrity,
    lock_wide,
    older_lock,
    other_linux,
)
from stackfix.audit.locations import Locations, in_repository
from stackfix.audit.metadata import MetadataReader
from stackfix.audit.reading import (
    EVERYTHING,
    Choice,
    Subject,
    named_indexes,
    parse,
    project_of,
    read_bytes,
)
from stackfix.audit.settings import Policy, nearest_settings, policy
from stackfix.gate.hits import hits_of
from stackfix.gate.result import Checked, Hit
from stackfix.model.finding import Finding, Severity
from stackfix.model.target import Target, short_names
from stackfix.rules.sf109_unmeasured import is_unknown
from stackfix.rules.sf500_not_judged import NotJudged
from stackfix.rules.sf502_disagrees import Disagrees
from stackfix.rules.sf505_other_index import NamedIndexes
from stackfix.targets.select import select_targets
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.project import Project, shown
from stackfix_lockfiles.pyproject import Pyproject

if TYPE_CHECKING:
    from stackfix.gate.base import Base

__all__ = ["Case", "Options", "check_one", "judged", "unreadable"]

NOT_JUDGED = NotJudged.code
_LINUX = "linux_x86_64"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What holds for every file of a run."""

    targets: tuple[str, ...] = ()
    """As people write them."""
    hosts: tuple[Path, ...] = ()
    platforms: tuple[str, ...] = ()
    choice: Choice = EVERYTHING
    fail_on: str | None = None
    base: Base | None = None
    online: bool = False
    spots: bool = False
    """Whether lines are wanted: reading pyproject.toml for them takes time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One file, and all that decides how it is judged."""

    file: LockFile
    options: Options
    project: Project | None
    graph: Graph
    targets: tuple[Target, ...]
    policy: Policy
    accepted: tuple[Ignored, ...]

    @property
    def name(self) -> str:
        """How errors call the file."""
        return shown(self.file.path.absolute())

    def read(self, data: bytes, name: str | None = None) -> Subject:
        """A state of the file. Raises InputError."""
        return parse(
            data, self.file, name or self.name, self.project, self.graph, self.options.choice
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the rules say of one state of the file, after the project's own decisions."""

    found: tuple[Found, ...]
    ignored: int
    unread: tuple[str, ...]


def check_one(file: LockFile, options: Options) -> Checked:
    """Check one file. Raises InputError, TargetError and FactsError where it cannot be judged."""
    case = _case(file, options)
    subject = case.read(read_bytes(file))
    result = judged(case, subject, case.project)
    spots = Locations(subject, case.project, file.path, wanted=options.spots)
    names = short_names(case.targets)
    stacks = [place.stack for t in case.targets for place in subject.places.of(t.platform)]
    is_stack = case.graph.packages.is_stack
    checked = Checked(
        path=spots.path,
        targets=tuple(names.values()),
        hits=hits_of(result.found, names, spots),
        gpu_packages=len({package.name for package in subject.packages if is_stack(package.name)}),
        unknown=tuple(
            sorted(
                {
                    f"{piece.name}=={piece.version}"
                    for target, stack in zip(_each(case, subject), stacks, strict=True)
                    for piece in stack
                    if is_unknown(piece, target)
                }
            )
        ),
        unread=result.unread,
        ignored=result.ignored,
        notes=tuple(_notes(case, subject)),
        judged=_environments(case, subject),
        fail_on=case.policy.fail_on,
    )
    if not case.targets and checked.gpu_packages:
        checked = replace(checked, hits=(*checked.hits, _no_targets(checked, spots)))
    if options.base is None:
        return checked
    from stackfix.gate.against import against

    return against(checked, case, subject, result, spots)


def unreadable(file: LockFile, error: Exception, options: Options) -> Checked:
    """A file that cannot be judged is a finding: the others go on."""
    return Checked(
        path=in_repository(file.path),
        hits=(
            Hit(
                code=NOT_JUDGED,
                severity=Severity.ERROR,
                package=file.path.name,
                version="",
                message=f"not judged: {error}",
            ),
        ),
        fail_on=Severity(options.fail_on or Severity.ERROR),
    )


def judged(case: Case, subject: Subject, project: Project | None) -> Judged:
    """Ask every rule, then leave out what the project accepts and weigh the rest as it says.

    `project` is the one that the lock stands beside, in the state that the lock is of.
    """
    found = list(judge_places(subject.places, case.targets, subject.packages))
    found += _unsupported(case, subject)
    unread: tuple[str, ...] = ()
    if (lock := subject.uv) is not None:
        wide = list(lock_wide(lock, case.graph, _indexes(project)))
        damaged = {
            (one.finding.package, one.finding.version)
            for one in wide
            if one.finding.code == Disagrees.code
        }
        statements = MetadataReader(lock, case.graph, damaged, online=case.options.online)
        found += judge_other_forks(subject.places, case.targets)
        # An entry with other files than its version has does not install that version.
        found = [f for f in found if (f.finding.package, f.finding.version) not in damaged]
        found += lock_integrity(subject.places, _platforms(case, subject), lock, statements)
        found += wide
        if project is not None:
            found += older_lock(lock, project, case.graph)
        if case.options.online:
            from stackfix.audit.online import unknown_hashes

            found += (Found(finding) for finding in unknown_hashes(lock))
        unread = tuple(sorted(statements.unread))
    kept = tuple(one for one in found if not _accepts(case, one.finding))
    return Judged(
        found=tuple(_weighed(kept, case.policy)), ignored=len(found) - len(kept), unread=unread
    )


def _indexes(project: Project | None) -> NamedIndexes | None:
    """The indexes that a project names; None without a project."""
    return named_indexes(project.uv_config.table, project.files) if project else None


def _case(file: LockFile, options: Options) -> Case:
    project = project_of(file)
    own = project.main if project else None
    nearest = nearest_settings(file.path.absolute().parent)
    settings = own if own and own.table("tool", "stackfix") else nearest
    graph = _graph(_overlays(settings))
    declared = [one for one in (own, nearest) if one is not None]
    return Case(
        file=file,
        options=options,
        project=project,
        graph=graph,
        targets=select_targets(
            named=options.targets,
            hosts=options.hosts,
            declared=declared,
            platforms=options.platforms,
            gpus=graph.gpus,
        ).targets,
        policy=policy(settings, options.fail_on),
        accepted=ignored_in(settings) if settings else (),
    )


def _each(case: Case, subject: Subject) -> Iterator[Target]:
    """The target of every stack: once for each environment of its platform."""
    for target in case.targets:
        for _ in subject.places.of(target.platform):
            yield target


def _platforms(case: Case, subject: Subject) -> tuple[str, ...]:
    """Where the lock has to agree with the wheels: the targets' platforms, and every other Linux
    that brings GPU packages of its own."""
    own = dict.fromkeys(target.platform for target in case.targets) or {_LINUX: None}
    return (*own, *other_linux(subject.places, tuple(own)))


def _unsupported(case: Case, subject: Subject) -> Iterator[Found]:
    for target in case.targets:
        if target.platform in subject.places.unsupported:
            yield Found(
                Finding(
                    code="SF501",
                    severity=Severity.ERROR,
                    package=case.file.path.name,
                    version="",
                    target=target,
                    message=f"the lock is not made for {target.platform} "
                    "(tool.uv.environments leaves it out)",
                )
            )


def _accepts(case: Case, finding: Finding) -> bool:
    today = date.today()
    return any(entry.covers(finding, today) for entry in case.accepted)


def _weighed(found: Sequence[Found], rules: Policy) -> Iterator[Found]:
    """The findings with the project's severities; those of rules that are off left out."""
    for one in found:
        severity = rules.severities.get(one.finding.code, one.finding.severity)
        if severity is one.finding.severity:
            yield one
        elif severity is not None:
            yield Found(replace(one.finding, severity=severity), one.place)


def _notes(case: Case, subject: Subject) -> Iterator[str]:
    today = date.today()
    for entry in case.accepted:
        if entry.until is not None and entry.until < today:
            what = f"{entry.code} ({entry.package})" if entry.package else entry.code
            yield f"the ignore of {what} ended on {entry.until}: {entry.reason}"
    for selection in subject.places.impossible:
        yield f"{selection.label or 'the plain environment'} cannot be installed: it conflicts"


def _environments(case: Case, subject: Subject) -> tuple[str, ...]:
    labels: dict[str, None] = {}
    for target in case.targets:
        for place in subject.places.of(target.platform):
            where = "" if place.stack.platform == _LINUX else place.stack.platform
            label = ", ".join(part for part in (place.label, where) if part)
            labels.setdefault(label)
    return tuple(label for label in labels if label)


def _no_targets(checked: Checked, spots: Locations) -> Hit:
    return Hit(
        code=NOT_JUDGED,
        severity=Severity.WARNING,
        package=Path(checked.path).name,
        version="",
        message=f"the lock holds {checked.gpu_packages} GPU packages, and nobody says which cards "
        "they have to run on",
        fix='[tool.stackfix] targets = ["H100:8@550.90"] in pyproject.toml, or --target',
        lock=spots.lock("", ""),
    )


def _overlays(settings: Pyproject | None) -> tuple[Path, ...]:
    if settings is None:
        return ()
    paths = settings.table("tool", "stackfix").get("knowledge", [])
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise settings.fault(("tool", "stackfix", "knowledge"), "expected a list of paths")
    folder = Path(settings.shown).absolute().parent
    return tuple(folder / path for path in paths)


@lru_cache(maxsize=8)
def _graph(overlays: tuple[Path, ...]) -> Graph:
    """The facts, read once for all files of a run that add the same ones."""
    return Graph.load(overlays)
