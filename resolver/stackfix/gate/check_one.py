"""The check of one file, from its bytes to what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from stackfix.audit.locations import Locations, in_repository
from stackfix.audit.lock_audit import Audit
from stackfix.audit.lock_files import LockFile, read_bytes
from stackfix.gate.hits import hits_of
from stackfix.gate.result import Checked, Hit
from stackfix.gate.subject import Options, subject_of
from stackfix.model.finding import Severity
from stackfix.model.target import short_names
from stackfix.rules.sf500_not_judged import NotJudged

__all__ = ["check_one", "unreadable"]

NOT_JUDGED = NotJudged.code
_LINUX = "linux_x86_64"


def check_one(file: LockFile, options: Options) -> Checked:
    """Check one file. Raises InputError, TargetError and FactsError where it cannot be judged."""
    subject = subject_of(file, options)
    result = subject.audited(read_bytes(file), subject.name, subject.project)
    locations = Locations(result.lock, subject.project, file.path, wanted=options.lines)
    names = short_names(subject.targets)
    is_stack = subject.graph.packages.is_stack
    checked = Checked(
        path=locations.path,
        targets=tuple(names.values()),
        hits=hits_of(result.found, names, locations),
        gpu_packages=len({one.name for one in result.lock.packages if is_stack(one.name)}),
        unknown=result.unknown,
        unread=result.unread,
        ignored=result.accepted,
        notes=tuple(_notes(result)),
        judged=_environments(result),
        fail_on=subject.policy.fail_on,
    )
    if not subject.targets and checked.gpu_packages:
        checked = replace(checked, hits=(*checked.hits, _no_targets(checked, locations)))
    if options.base is None:
        return checked
    from stackfix.gate.against import against

    return against(checked, subject, options.base, result, locations)


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


def _notes(result: Audit) -> Iterator[str]:
    for entry in result.policy.over:
        what = f"{entry.code} ({entry.package})" if entry.package else entry.code
        yield f"the ignore of {what} ended on {entry.until}: {entry.reason}"
    for choice in result.environments.impossible:
        yield f"{choice.label or 'the plain environment'} cannot be installed: it conflicts"


def _environments(result: Audit) -> tuple[str, ...]:
    labels: dict[str, None] = {}
    for _, environment in result.judged:
        platform = environment.stack.platform
        where = "" if platform == _LINUX else platform
        labels.setdefault(", ".join(part for part in (environment.label, where) if part))
    return tuple(label for label in labels if label)


def _no_targets(checked: Checked, locations: Locations) -> Hit:
    return Hit(
        code=NOT_JUDGED,
        severity=Severity.WARNING,
        package=Path(checked.path).name,
        version="",
        message=f"the lock holds {checked.gpu_packages} GPU packages, and nobody says which cards "
        "they have to run on",
        fix='[tool.stackfix] targets = ["H100:8@550.90"] in pyproject.toml, or --target',
        lock=locations.lock("", ""),
    )
