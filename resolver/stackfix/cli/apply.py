"""`stackfix apply`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stackfix.cli.failures import FINDINGS, NO_PLAN, UsageError
from stackfix.cli.options import project_options, target_options
from stackfix.cli.parser import Parser
from stackfix.cli.planning import make_plan, planning_options
from stackfix.cli.printing import print_line, print_note, print_text

__all__ = ["configure", "run"]

_ABOUT_WRITING = ("--yes", "--dry-run", "--validate", "--project", "--offline")
"""The options that go with a saved plan: those that do not say what to plan."""


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("folder", nargs="?", type=Path, metavar="[DIR]")
    parser.add_argument("-y", "--yes", action="store_true", help="Write without asking.")
    parser.add_argument(
        "--dry-run", action="store_true", help="Show what would be written, and write nothing."
    )
    parser.add_argument(
        "--validate",
        action="store_true",
        help="Prove the new pins in a scratch environment first; write nothing if that fails.",
    )
    parser.add_argument(
        "--undo", action="store_true", help="Take back the last change that apply wrote."
    )
    target_options(parser)
    planning_options(parser)
    project_options(parser)


def run(arguments: Namespace) -> int:
    """Write a plan to pyproject.toml and uv.lock, both or neither.

    DIR is a plan saved with `stackfix plan -o DIR`; without it a plan is made first, with the
    same options as `stackfix plan`. A project that changed since the plan was made is refused.

    Exit code: 0 written or nothing to do, 1 the validation failed, 2 bad input or refused, 3 no
    plan exists.
    """
    folder, answered = arguments.folder, arguments.yes or arguments.dry_run
    if arguments.undo:
        if folder is not None or arguments.dry_run or arguments.validate:
            raise UsageError("--undo stands alone: it takes back the last written change")
        return _undo(arguments.project)
    if folder is not None:
        for option in arguments.given:
            if option not in _ABOUT_WRITING:
                raise UsageError(f"{option} cannot change a saved plan")
    if not answered and not sys.stdin.isatty():  # said now, not after minutes of planning
        raise UsageError("there is no terminal to ask on: pass --yes to write")
    return _plan_and_write(arguments) if folder is None else _write_saved(folder, arguments)


def _plan_and_write(arguments: Namespace) -> int:
    from stackfix.plan.plan import Status
    from stackfix.report.plan_text import download_words, plan_text

    plan, origin = make_plan(arguments, quiet=False)
    print_text(plan_text(plan, origin=origin))
    if plan.status is Status.IMPOSSIBLE:
        return NO_PLAN
    if not plan.files:
        return 0
    files = {Path(path): data for path, data in plan.files.items()}
    base = {Path(path): digest for path, digest in plan.base.items()}
    if _confirmed(files, arguments):
        if arguments.validate and not _proven(arguments, Path(plan.root), files):
            return FINDINGS
        _write(Path(plan.root), files, base, download_words(plan))
    return 0


def _write_saved(folder: Path, arguments: Namespace) -> int:
    from stackfix.cli.asking import project_of_plan
    from stackfix.plan.plan import Status
    from stackfix.report.plan import load_plan
    from stackfix.wording import clean, size

    saved = load_plan(folder)
    if saved.status is Status.IMPOSSIBLE:
        print_line(f"{folder}: this plan found no way, there is nothing to write")
        return NO_PLAN
    if not saved.files:
        print_line(f"{folder}: this plan found nothing to do")
        return 0
    root = project_of_plan(saved, arguments.project).root
    width = max((len(row.package) for row in saved.moves), default=0)
    for row in saved.moves:
        print_line(clean(f"  {row.package:{width}}  {row.before} → {row.after}"))
    if saved.diff:
        print_line(clean(saved.diff.rstrip("\n")))
    if _confirmed(saved.files, arguments):
        if arguments.validate and not _proven(arguments, root, saved.files):
            return FINDINGS
        words = f"fetches up to {size(saved.download)}" if saved.download else ""
        _write(root, saved.files, saved.base, words)
    return 0


def _confirmed(files: Iterable[Path], arguments: Namespace) -> bool:
    names = ", ".join(sorted(str(path) for path in files))
    if arguments.dry_run:
        print_line(f"\nwould write {names}; nothing was written")
        return False
    return arguments.yes or _agreed(f"\nWrite {names}?")


def _agreed(question: str) -> bool:
    """Ask on the terminal; only a yes is one."""
    while True:
        try:
            answer = input(f"{question} [y/N]: ").strip().lower()
        except EOFError:
            raise KeyboardInterrupt from None
        if answer in ("y", "yes"):
            return True
        if answer in ("n", "no", ""):
            return False
        print_line("expected y or n")


def _proven(arguments: Namespace, root: Path, files: Any) -> bool:
    """Whether the new pins pass the validation; its report is printed."""
    from stackfix.cli.validate import prove_files
    from stackfix_lockfiles.project import Project

    passed = prove_files(
        Project.find(root),
        files,
        offline=arguments.offline,
        targets=arguments.targets,
        hosts=arguments.hosts,
        extras=arguments.extras,
        groups=arguments.groups,
        all_extras=arguments.all_extras,
    )
    if not passed:
        print_note("\nnothing was written")
    return passed


def _write(root: Path, files: Any, base: Any, fetches: str) -> None:
    from stackfix.report.plan_text import next_text
    from stackfix_lockfiles.transaction import commit

    commit(root, files, expected=base, label="stackfix apply")
    print_line(f"\n✓ wrote {', '.join(sorted(str(path) for path in files))}")
    steps = [("uv sync", fetches), ("stackfix apply --undo", "takes the change back")]
    print_text(next_text(steps))


def _undo(path: Path | None) -> int:
    from stackfix_lockfiles.project import Project
    from stackfix_lockfiles.transaction import undo

    root = Project.find(path or Path()).root
    label, restored = undo(root)
    names = ", ".join(sorted(os.fspath(file) for file in restored))
    print_line(f"✓ took back “{label}”: restored {names}")
    return 0
