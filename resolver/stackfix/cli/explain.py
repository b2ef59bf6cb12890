"""`stackfix explain`."""

from __future__ import annotations

import re
from argparse import Namespace

from stackfix.cli.known import graph_at, package_name, print_known, project_option
from stackfix.cli.options import format_option
from stackfix.cli.parser import Parser
from stackfix.cli.printing import print_line

__all__ = ["configure", "run"]

_CODE = re.compile(r"SF\d{3}", re.IGNORECASE)


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("subject", metavar="CODE|PKG==VERSION")
    project_option(parser)
    format_option(parser)


def run(arguments: Namespace) -> int:
    """Explain a rule (SF101), or all that is known about a release (torch==2.7.1).

    Every fact is shown with where it comes from. A package without a version (torch) lists the
    releases that are known. The same as `stackfix knowledge show`, which also takes cards.
    """
    subject, output_format = arguments.subject, arguments.output_format
    if _CODE.fullmatch(subject):
        return _rule(subject.upper(), output_format)
    text, separator, version = subject.partition("==")
    name = package_name(text, "a code like SF101 or a release like torch==2.7.1")
    print_known(
        name, version.strip() if separator else None, graph_at(arguments.project), output_format
    )
    return 0


def _rule(code: str, output_format: str) -> int:
    from stackfix.documents.document import dump
    from stackfix.errors import StackfixError
    from stackfix.rules.catalogue import explain

    text = explain(code)
    if text is None:
        raise StackfixError(f"no rule has the code {code}")
    if output_format == "json":
        print_line(dump({"schema": 1, "code": code, "text": text}), end="")
    else:
        print_line(text)
    return 0
