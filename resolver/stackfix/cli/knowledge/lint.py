"""`stackfix knowledge lint`."""

from __future__ import annotations

from pathlib import Path

import click

from stackfix.cli.failures import FINDINGS
from stackfix.cli.options import format_option

__all__ = ["command"]


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
    from stackfix.cli.printing import print_result
    from stackfix.report.upkeep import lint_document, lint_lines
    from stackfix_knowledge.lint.lint import lint_own, lint_shipped
    from stackfix_knowledge.lint.remark import RemarkKind

    remarks = [
        remark for path in files for remark in lint_own(path)
    ] if files else list(lint_shipped())  # fmt: skip
    print_result(output_format, lambda: lint_document(remarks), lambda: lint_lines(remarks))
    return FINDINGS if any(remark.kind is RemarkKind.FAULT for remark in remarks) else 0
