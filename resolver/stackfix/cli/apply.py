"""`stackfix apply`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from stackfix.cli.failures import FINDINGS, NO_PLAN
from stackfix.cli.options import Choice, project_options, target_options
from stackfix.cli.planning import make_plan, planning_options

__all__ = ["command"]


@click.command("apply")
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option(
    "--validate",
    "prove",
    is_flag=True,
    help="Prove the new pins in a scratch environment first; write nothing if that fails.",
)
@click.option("--undo", is_flag=True, help="Take back the last change that apply wrote.")
@target_options
@planning_options
@project_options
def command(
    folder: Path | None, yes: bool, dry_run: bool, prove: bool, undo: bool, **options: Any
) -> int:
    """Write a plan to pyproject.toml and uv.lock, both or neither.

    DIR is a plan saved with `stackfix plan -o DIR`; without it a plan is made first, with the
    same options as `stackfix plan`. A project that changed since the plan was made is refused.

    Exit code: 0 written or nothing to do, 1 the validation failed, 2 bad input or refused, 3 no
    plan exists.
    """
    choice = Choice.take(options)
    if undo:
        if folder is not None or dry_run or prove:
            raise click.UsageError("--undo stands alone: it takes back the last written change")
        return _undo(choice.project)
    if folder is None:
        return _plan_and_write(choice, options, yes=yes, dry_run=dry_run, prove=prove)
    _refuse_planning_options()
    return _write_saved(folder, choice, yes=yes, dry_run=dry_run, prove=prove)


def _refuse_planning_options() -> None:
    """A saved plan is written as it is: an option that would change it must not be ignored."""
    context = click.get_current_context()
    known = {"folder", "yes", "dry_run", "prove", "undo", "project", "offline"}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name not in known and source is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(f"{parameter.opts[-1]} cannot change a saved plan")


def _plan_and_write(
    choice: Choice, options: dict[str, Any], *, yes: bool, dry_run: bool, prove: bool
) -> int:
    from stackfix.cli.printing import print_text
    from stackfix.plan.plan import Status
    from stackfix.report.plan_text import download_words, plan_text

    _ask_is_possible(yes or dry_run)
    plan, origin = make_plan(choice, options, quiet=False)
    print_text(plan_text(plan, origin=origin))
    if plan.status is Status.IMPOSSIBLE:
        return NO_PLAN
    if not plan.files:
        return 0
    files = {Path(path): data for path, data in plan.files.items()}
    base = {Path(path): digest for path, digest in plan.base.items()}
    if _confirmed(files, yes=yes, dry_run=dry_run):
        if prove and not _proven(choice, Path(plan.root), files):
            return FINDINGS
        _write(Path(plan.root), files, base, download_words(plan))
    return 0


def _write_saved(folder: Path, choice: Choice, *, yes: bool, dry_run: bool, prove: bool) -> int:
    from stackfix.cli.asking import project_of_plan
    from stackfix.plan.plan import Status
    from stackfix.report.plan import load_plan
    from stackfix.wording import clean, size

    _ask_is_possible(yes or dry_run)
    saved = load_plan(folder)
    if saved.status is Status.IMPOSSIBLE:
        click.echo(f"{folder}: this plan found no way, there is nothing to write")
        return NO_PLAN
    if not saved.files:
        click.echo(f"{folder}: this plan found nothing to do")
        return 0
    root = project_of_plan(saved, choice.project).root
    width = max((len(row.package) for row in saved.moves), default=0)
    for row in saved.moves:
        click.echo(clean(f"  {row.package:{width}}  {row.before} → {row.after}"))
    if saved.diff:
        click.echo(clean(saved.diff.rstrip("\n")))
    if _confirmed(saved.files, yes=yes, dry_run=dry_run):
        if prove and not _proven(choice, root, saved.files):
            return FINDINGS
        words = f"fetches up to {size(saved.download)}" if saved.download else ""
        _write(root, saved.files, saved.base, words)
    return 0


def _ask_is_possible(answered: bool) -> None:
    """Refuse early, before minutes of planning, where nobody could be asked."""
    if not answered and not sys.stdin.isatty():
        raise click.UsageError("there is no terminal to ask on: pass --yes to write")


def _confirmed(files: dict[Path, bytes] | Any, *, yes: bool, dry_run: bool) -> bool:
    names = ", ".join(sorted(str(path) for path in files))
    if dry_run:
        click.echo(f"\nwould write {names}; nothing was written")
        return False
    return yes or click.confirm(f"\nWrite {names}?", default=False)


def _proven(choice: Choice, root: Path, files: Any) -> bool:
    """Whether the new pins pass the validation; its report is printed."""
    from stackfix.cli.validate import prove_files
    from stackfix_lockfiles.project import Project

    passed = prove_files(
        Project.find(root),
        files,
        offline=choice.offline,
        targets=choice.targets,
        hosts=choice.hosts,
        extras=choice.extras,
        groups=choice.groups,
        all_extras=choice.all_extras,
    )
    if not passed:
        click.echo("\nnothing was written", err=True)
    return passed


def _write(root: Path, files: Any, base: Any, fetches: str) -> None:
    from stackfix.cli.printing import print_text
    from stackfix.report.plan_text import next_text
    from stackfix_lockfiles.transaction import commit

    commit(root, files, expected=base, label="stackfix apply")
    click.echo(f"\n✓ wrote {', '.join(sorted(str(path) for path in files))}")
    steps = [("uv sync", fetches), ("stackfix apply --undo", "takes the change back")]
    print_text(next_text(steps))


def _undo(path: Path) -> int:
    from stackfix_lockfiles.project import Project
    from stackfix_lockfiles.transaction import undo

    root = Project.find(path).root
    label, restored = undo(root)
    names = ", ".join(sorted(os.fspath(file) for file in restored))
    click.echo(f"✓ took back “{label}”: restored {names}")
    return 0
