"""`stackfix diagnose`."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stackfix.cli.failures import FINDINGS
from stackfix.cli.options import format_option

if TYPE_CHECKING:
    from stackfix.diagnose.diagnosis import Diagnosis, StackMatch
    from stackfix.diagnose.redact import Redactor

__all__ = ["command"]


@click.command("diagnose")
@click.argument("paths", nargs=-1, metavar="LOG…")
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Tie the answer to this project's lock. Default: the one in or above this folder, if any.",
)
@click.option("--no-project", is_flag=True, help="Look at the logs alone.")
@click.option(
    "--redact", is_flag=True, help="Leave out names, addresses, paths and tokens, for sharing."
)
@click.option("--watch", "following", is_flag=True, help="Follow growing logs until Ctrl-C.")
@click.option(
    "--exec",
    "reaction",
    metavar="COMMAND",
    help="With --watch: run this when a cause appears. It finds STACKFIX_FAMILY, STACKFIX_RANK,"
    " STACKFIX_FILE and STACKFIX_LINE in its environment.",
)
@format_option
def command(
    paths: tuple[str, ...],
    project: Path | None,
    no_project: bool,
    redact: bool,
    following: bool,
    reaction: str | None,
    output_format: str,
) -> int:
    """Name the fault that started a crash: which line, which rank, what to change.

    Takes the logs of one run: files, folders, or - for standard input; plain or compressed. NCCL's
    group-end error and its like are wrappers and are named as such.

    Exit code: 0 the cause was found, 1 it was not (or nothing is wrong), 2 bad input.
    """
    if not paths:
        if sys.stdin.isatty():
            raise click.UsageError("expected at least one log, a folder, or - for standard input")
        paths = ("-",)
    if reaction is not None and not following:
        raise click.UsageError("--exec needs --watch")
    if following:
        if "-" in paths:
            raise click.UsageError("--watch needs files, not standard input")
        return _follow(list(paths), redact, reaction, output_format)
    from stackfix.diagnose import diagnose

    found = diagnose(paths)
    if not no_project:
        found = replace(found, stack_match=_stack_match(found, project))
    _print(found, redact, output_format)
    return 0 if found.found else FINDINGS


def _print(found: Diagnosis, redact: bool, output_format: str) -> None:
    redactor = _redactor(found) if redact else None
    if output_format == "json":
        from stackfix.report.diagnosis_json import diagnosis_document
        from stackfix.report.json import dump

        click.echo(dump(diagnosis_document(found, redactor)), nl=False)
    else:
        from stackfix.report.console import output_console
        from stackfix.report.diagnosis_text import show_diagnosis

        show_diagnosis(output_console(), found, redactor)


def _redactor(found: Diagnosis) -> Redactor:
    from stackfix.diagnose.redact import Redactor

    events = (*found.cause, *found.wrappers, *found.collateral, *found.others)
    return Redactor(event.host for event in events if event.host)


def _follow(paths: list[str], redact: bool, reaction: str | None, output_format: str) -> int:
    import subprocess

    from stackfix.diagnose.watch import watch

    for found in watch(paths):
        _print(found, redact, output_format)
        sys.stdout.flush()
        if reaction is not None:
            first = found.cause[0]
            told = {
                "STACKFIX_FAMILY": found.family.name,
                "STACKFIX_RANK": "" if found.rank is None else str(found.rank),
                "STACKFIX_FILE": first.file,
                "STACKFIX_LINE": str(first.line),
            }
            subprocess.run(reaction, shell=True, check=False, env={**os.environ, **told})
    return 0


def _stack_match(found: Diagnosis, path: Path | None) -> StackMatch | None:
    """How the answer fits the project here; None where there is none. Uses no network."""
    from stackfix_lockfiles.errors import InputError
    from stackfix_lockfiles.project import Project

    try:
        project = Project.find(path or Path())
    except InputError:
        if path is not None:
            raise
        return None
    if not (project.root / "uv.lock").is_file():
        return None
    from stackfix.cli.tying import tie_to_project

    return tie_to_project(found, project, quiet=path is None)
