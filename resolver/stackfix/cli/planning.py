"""Options and steps that `plan` and `apply` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stackfix.cli.options import Choice

if TYPE_CHECKING:
    from stackfix.plan.plan import Plan

__all__ = ["make_plan", "planning_options"]

Command = TypeVar("Command", bound=Callable[..., Any])

_STRATEGIES = ("least-change", "same-index", "newest")


def _requirements(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    from packaging.requirements import InvalidRequirement, Requirement

    for value in values:
        try:
            Requirement(value)
        except InvalidRequirement:
            raise click.BadParameter(f'expected one like "torch<2.10", not {value!r}') from None
    return values


def _names(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    from packaging.utils import InvalidName, canonicalize_name

    try:
        return tuple(str(canonicalize_name(value, validate=True)) for value in values)
    except InvalidName:
        raise click.BadParameter("expected the name of a package") from None


def planning_options(command: Command) -> Command:
    """`--strategy`, `--keep`, `--require`, `--allow-override`."""
    for option in (
        click.option(
            "--require",
            multiple=True,
            callback=_requirements,
            metavar="REQUIREMENT",
            help='The result must satisfy this, such as "torch<2.10"; "jax[cuda12]" asks for that'
            " variant. Repeatable.",
        ),
        click.option(
            "--keep",
            multiple=True,
            callback=_names,
            metavar="PACKAGE",
            help="This package must stay at its locked version and its CUDA variant, such as"
            " jax[cuda12]. Repeatable.",
        ),
        click.option(
            "--why-not",
            multiple=True,
            callback=_requirements,
            metavar="REQUIREMENT",
            help='Say why the plan takes no such version, "torch==2.7.1". Repeatable.',
        ),
        click.option(
            "--why",
            multiple=True,
            callback=_names,
            metavar="PACKAGE",
            help="Say why this package moves, and why not less. Repeatable.",
        ),
        click.option(
            "--allow-override",
            is_flag=True,
            help="As a last resort, override a framework's exact pin of cuDNN or NCCL within its"
            " major: outside what the framework was tested with.",
        ),
        click.option(
            "--strategy",
            type=click.Choice(_STRATEGIES),
            default=_STRATEGIES[0],
            show_default=True,
            help="Which of several working moves is preferred: the smallest; the smallest without"
            " another package index (CUDA variants may change, as from jax[cuda13] to jax[cuda12]);"
            " or the newest versions, with other variants only where the declared ones can't run.",
        ),
    ):
        command = option(command)
    return command


def make_plan(choice: Choice, options: dict[str, Any], *, quiet: bool) -> tuple[Plan, str]:
    """The plan, and who named its targets. Shows progress on a terminal unless `quiet`."""
    from stackfix.cli.asking import find_project, graph_of, request_of
    from stackfix.plan.propose import propose
    from stackfix.report.text import progress

    with progress(quiet=quiet) as tell:
        project = find_project(choice.project)
        graph = graph_of(project)
        request, selected = request_of(choice, project, graph, progress=tell, **options)
        plan = propose(request)
    for note in selected.notes:
        click.echo(f"note: {note}", err=True)
    return plan, selected.origin.value
