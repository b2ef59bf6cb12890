"""`stackfix knowledge lint`."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from pathlib import Path

from stackfix.cli.failures import FINDINGS
from stackfix.cli.options import ANY_NUMBER, format_option
from stackfix.cli.parser import Parser, file_path

__all__ = ["configure", "run"]


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("files", **ANY_NUMBER, type=_existing, metavar="[FILE]…")
    format_option(parser)


def _existing(text: str) -> Path:
    path = file_path(text)
    if not path.exists():
        raise ArgumentTypeError(f"File {text!r} does not exist")
    return path


def run(arguments: Namespace) -> int:
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
        remark for path in arguments.files for remark in lint_own(path)
    ] if arguments.files else list(lint_shipped())  # fmt: skip
    print_result(
        arguments.output_format, lambda: lint_document(remarks), lambda: lint_lines(remarks)
    )
    return FINDINGS if any(remark.kind is RemarkKind.FAULT for remark in remarks) else 0
