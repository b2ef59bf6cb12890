"""`stackfix knowledge lint`."""

from __future__ import annotations

from pathlib import Path

import click

from stackfix.cli.failures import FINDINGS
from stackfix.cli.options import format_option
from stackfix.wording import count, one_line

__all__ = ["command"]

_TITLES = {
    "fault": "Wrong",
    "borderline": "Shares near a threshold: see whether the verdict is right",
    "decided": "Shares near a threshold that somebody looked at",
    "disputed": "Documents and measurements disagree",
}


@click.command("lint")
@click.argument(
    "files",
    nargs=-1,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="[FILE]…",
)
@format_option
def command(files: tuple[Path, ...], output_format: str) -> int:
    """Check the facts: shape, sources, ranges, order; and list what a person should look at.

    Without FILE, the facts that ship with stackfix; with it, a project's own (those that
    `[tool.stackfix] knowledge` names).

    Exit code: 0 nothing wrong, 1 something wrong.
    """
    from stackfix_knowledge.lint.lint import lint_own, lint_shipped
    from stackfix_knowledge.lint.remark import RemarkKind

    problems = [
        problem for path in files for problem in lint_own(path)
    ] if files else list(lint_shipped())  # fmt: skip
    wrong = [problem for problem in problems if problem.kind is RemarkKind.FAULT]
    if output_format == "json":
        from stackfix.report.json import dump

        click.echo(
            dump(
                {
                    "schema": 1,
                    "problems": [
                        {
                            "kind": problem.kind.value,
                            "file": problem.file,
                            "place": problem.place,
                            "text": problem.text,
                        }
                        for problem in problems
                    ],
                }
            ),
            nl=False,
        )
        return FINDINGS if wrong else 0
    for kind, title in _TITLES.items():
        lines = [str(problem) for problem in problems if problem.kind == kind]
        if lines:
            click.echo(f"{title}:")
            for line in lines:
                click.echo(f"  {one_line(line)}")
    if not wrong:
        open_ones = [problem for problem in problems if problem.kind is not RemarkKind.DECIDED]
        rest = f", {count(len(open_ones), 'place')} to look at" if open_ones else ""
        click.echo(f"✓ nothing wrong{rest}")
    return FINDINGS if wrong else 0
