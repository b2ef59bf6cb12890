"""`stackfix plan`."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.cli.failures import NO_PLAN
from stackfix.cli.options import format_option, project_options, target_options
from stackfix.cli.parser import Parser, folder_path
from stackfix.cli.planning import make_plan, planning_options

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stackfix.plan.plan import Plan

__all__ = ["configure", "run"]


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    target_options(parser)
    planning_options(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=folder_path,
        metavar="DIR",
        help="Save the plan and the new files in DIR, for `stackfix apply DIR`.",
    )
    project_options(parser)
    format_option(parser)


def run(arguments: Namespace) -> int:
    """Find the cheapest joint move of pins that supports the cards.

    Reads pyproject.toml and uv.lock, says what cannot run on the cards and why, and proposes the
    smallest set of pins that moves together. Without a uv.lock, uv locks a copy first; where it
    refuses, what clashes is named and the move counts from what the project asks for. Nothing in
    the project is written.

    Exit code: 0 a plan or nothing to do, 2 bad input, 3 no plan exists.
    """
    from stackfix.cli.printing import print_result
    from stackfix.plan.plan import Status
    from stackfix.report.plan import plan_document

    output, output_format = arguments.output, arguments.output_format
    plan, origin = make_plan(arguments, quiet=output_format == "json")
    if output is not None:
        from stackfix.report.plan import save_plan

        save_plan(plan, output)
    print_result(output_format, lambda: plan_document(plan), lambda: _text(plan, origin, output))
    return NO_PLAN if plan.status is Status.IMPOSSIBLE else 0


def _text(plan: Plan, origin: str, output: Path | None) -> Iterator[RenderableType]:
    from stackfix.report.plan_text import download_words, next_text, plan_text

    yield from plan_text(plan, origin=origin)
    if not plan.files:
        return
    if output is not None:
        apply, effect = f"stackfix apply {shlex.quote(str(output))}", f"writes {_names(plan)}"
    else:
        apply, effect = "stackfix apply", f"plans again, asks, and writes {_names(plan)}"
    yield from next_text([(apply, effect), ("uv sync", download_words(plan))])


def _names(plan: Plan) -> str:
    return ", ".join(sorted(str(path) for path in plan.files))
