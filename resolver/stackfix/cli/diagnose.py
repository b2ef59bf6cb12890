"""`stackfix diagnose`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.cli.failures import FINDINGS, UsageError
from stackfix.cli.options import ANY_NUMBER, Choice, format_option
from stackfix.cli.parser import Parser
from stackfix.cli.printing import print_note
from stackfix.wording import one_line

if TYPE_CHECKING:
    from stackfix.diagnose.diagnosis import Diagnosis, StackMatch
    from stackfix_lockfiles.project import Project

__all__ = ["configure", "run"]


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("paths", **ANY_NUMBER, metavar="LOG…")
    parser.add_argument(
        "--project",
        type=Path,
        metavar="PATH",
        help="Compare the answer with this project's lock. Default: the one in or above this"
        " folder, if any.",
    )
    parser.add_argument("--no-project", action="store_true", help="Look at the logs alone.")
    parser.add_argument(
        "--redact",
        action="store_true",
        help="Leave out names, addresses, paths and tokens, for sharing.",
    )
    parser.add_argument("--watch", action="store_true", help="Follow growing logs until Ctrl-C.")
    parser.add_argument(
        "--exec",
        metavar="COMMAND",
        help="With --watch: run this when a cause appears. It finds STACKFIX_FAMILY, STACKFIX_RANK,"
        " STACKFIX_FILE and STACKFIX_LINE in its environment.",
    )
    format_option(parser)


def run(arguments: Namespace) -> int:
    """Name the fault that started a crash: which line, which rank, what to change.

    Takes the logs of one run: files, folders, or - for standard input; plain or compressed. NCCL's
    group-end error and its like are wrappers and are named as such.

    Exit code: 0 the cause was found, 1 it was not (or nothing is wrong), 2 bad input.
    """
    paths, redact, output_format = arguments.paths, arguments.redact, arguments.output_format
    if not paths:
        if sys.stdin.isatty():
            raise UsageError("expected at least one log, a folder, or - for standard input")
        paths = ("-",)
    if arguments.exec is not None and not arguments.watch:
        raise UsageError("--exec needs --watch")
    if arguments.watch:
        if "-" in paths:
            raise UsageError("--watch needs files, not standard input")
        return _follow(list(paths), redact, arguments.exec, output_format)
    from stackfix.diagnose import diagnose

    found = diagnose(paths)
    if not arguments.no_project:
        found = replace(found, stack_match=_stack_match(found, arguments.project))
    _print(found, redact, output_format)
    return 0 if found.found else FINDINGS


def _print(found: Diagnosis, redact: bool, output_format: str) -> None:
    from stackfix.cli.printing import print_result
    from stackfix.diagnose.redact import Redactor
    from stackfix.report.diagnosis import diagnosis_document, diagnosis_text

    document = diagnosis_document(found, Redactor.of(found) if redact else None)
    print_result(output_format, lambda: document, lambda: diagnosis_text(document))


def _follow(paths: list[str], redact: bool, reaction: str | None, output_format: str) -> int:
    import subprocess

    from stackfix.diagnose.watch import variables, watch

    for found in watch(paths):
        _print(found, redact, output_format)
        sys.stdout.flush()
        if reaction is not None:
            env = {**os.environ, **variables(found)}
            subprocess.run(reaction, shell=True, check=False, env=env)
    return 0


def _stack_match(found: Diagnosis, path: Path | None) -> StackMatch | None:
    """How the answer fits the project here; None where there is none. Uses no network."""
    from stackfix.errors import EXPECTED
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
    try:
        return _match_project(found, project)
    except EXPECTED as error:
        if path is not None:
            raise
        # Nobody asked for this project: one that cannot be judged is left out.
        print_note(f"note: not compared with the project: {one_line(str(error))}")
        return None


def _match_project(found: Diagnosis, project: Project) -> StackMatch:
    """The answer beside the lock, for the log's cards, the project's targets, or this host."""
    from stackfix.cli.asking import graph_of, machine, request_of
    from stackfix.diagnose.stack_match import stack_match
    from stackfix.plan.lock_state import audited
    from stackfix_lockfiles.lock import Lock

    graph = graph_of(project)
    lock = Lock.read(project.root / "uv.lock")
    named = tuple(dict.fromkeys(gpu.name for c in found.cards if (gpu := graph.gpus.find(c))))
    choice = Choice(
        project=Path(project.root),
        targets=named[:2],
        hosts=(),
        platforms=(),
        python=None,
        extras=(),
        groups=(),
        all_extras=False,
        offline=True,
    )
    request, _ = request_of(choice, project, graph)
    findings = audited(request, lock).findings
    return stack_match(found, findings, lock, machine(graph), graph.packages)
