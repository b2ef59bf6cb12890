"""Options and steps that `plan` and `apply` share."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from stackfix.cli.options import REPEATABLE, Choice
from stackfix.cli.parser import Parser, one_of
from stackfix.cli.printing import print_note

if TYPE_CHECKING:
    from stackfix.plan.plan import Plan

__all__ = ["make_plan", "planning_options"]

_STRATEGIES = ("least-change", "same-index", "newest")


def _requirement(text: str) -> str:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        Requirement(text)
    except InvalidRequirement:
        raise ArgumentTypeError(f'expected one like "torch<2.10", not {text!r}') from None
    return text


def _name(text: str) -> str:
    from packaging.utils import InvalidName, canonicalize_name

    try:
        return str(canonicalize_name(text, validate=True))
    except InvalidName:
        raise ArgumentTypeError("expected the name of a package") from None


def planning_options(parser: Parser) -> None:
    """Which move is wanted, and what has to be said of it."""
    parser.add_argument(
        "--strategy",
        **one_of(_STRATEGIES),
        default=_STRATEGIES[0],
        help="Which of several working moves is preferred: the smallest; the smallest without"
        " another package index (CUDA variants may change, as from jax[cuda13] to jax[cuda12]);"
        " or the newest versions, with other variants only where the declared ones can't run."
        " [default: %(default)s]",
    )
    parser.add_argument(
        "--allow-override",
        action="store_true",
        help="As a last resort, override a framework's exact pin of cuDNN or NCCL within its"
        " major: outside what the framework was tested with.",
    )
    parser.add_argument(
        "--why",
        **REPEATABLE,
        type=_name,
        metavar="PACKAGE",
        help="Say why this package moves, and why not less. Repeatable.",
    )
    parser.add_argument(
        "--why-not",
        **REPEATABLE,
        type=_requirement,
        metavar="REQUIREMENT",
        help='Say why the plan takes no such version, "torch==2.7.1". Repeatable.',
    )
    parser.add_argument(
        "--keep",
        **REPEATABLE,
        type=_name,
        metavar="PACKAGE",
        help="This package must stay at its locked version and its CUDA variant, such as"
        " jax[cuda12]. Repeatable.",
    )
    parser.add_argument(
        "--require",
        **REPEATABLE,
        type=_requirement,
        metavar="REQUIREMENT",
        help='The result must satisfy this, such as "torch<2.10"; "jax[cuda12]" asks for that'
        " variant. Repeatable.",
    )


def make_plan(arguments: Namespace, *, quiet: bool) -> tuple[Plan, str]:
    """The plan, and who named its targets. Shows progress on a terminal unless `quiet`."""
    from stackfix.cli.asking import find_project, graph_of, request_of
    from stackfix.plan.propose import propose
    from stackfix.report.text import progress

    choice = Choice.of(arguments)
    with progress(quiet=quiet) as tell:
        project = find_project(choice.project)
        graph = graph_of(project)
        request, selected = request_of(
            choice,
            project,
            graph,
            strategy=arguments.strategy,
            keep=arguments.keep,
            require=arguments.require,
            allow_override=arguments.allow_override,
            why=arguments.why,
            why_not=arguments.why_not,
            progress=tell,
        )
        plan = propose(request)
    for note in selected.notes:
        print_note(f"note: {note}")
    return plan, selected.origin.value
