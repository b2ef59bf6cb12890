"""`stackfix check`."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from stackfix.cli.failures import FINDINGS
from stackfix.cli.options import ANY_NUMBER, REPEATABLE, format_option, target_options
from stackfix.cli.parser import Parser, one_of

if TYPE_CHECKING:
    from stackfix.gate.subject import Options

__all__ = ["configure", "run"]

_FORMATS = ("text", "json", "markdown", "sarif", "github", "gitlab", "junit")


def _output(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if name not in _FORMATS or not equals or not path:
        raise ArgumentTypeError(
            f"expected FORMAT=FILE with one of {', '.join(_FORMATS)}, not {text!r}"
        )
    return name, Path(path)


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("paths", **ANY_NUMBER, type=Path, metavar="[PATH]...")
    parser.add_argument(
        "--base",
        metavar="REF|FILE",
        help="Show only what changed since a commit, or against another lock: what the change makes"
        " worse, what it repairs, what moved and for which targets that matters.",
    )
    parser.add_argument(
        "--fail-on",
        **one_of(("error", "warning")),
        help="The least severity that fails. Default: the project's fail-on, else error.",
    )
    parser.add_argument(
        "--online",
        action="store_true",
        help="Ask the index for the metadata and hashes that neither facts nor caches hold.",
    )
    format_option(parser, _FORMATS)
    parser.add_argument(
        "--output",
        dest="outputs",
        **REPEATABLE,
        type=_output,
        metavar="FORMAT=FILE",
        help="Write the result to a file as well. Repeatable.",
    )
    target_options(parser)


def run(arguments: Namespace) -> int:
    """Check that locks support the cards they have to run on: the gate for CI.

    PATH is a folder (every uv.lock below it), a uv.lock, a pylock.toml or a requirements.txt with
    pinned versions; default: the current folder. The cards are those in [tool.stackfix] targets of
    pyproject.toml, unless --target or --host name others. What can be installed together is judged
    together, what conflicts is judged apart, and so is every fork for Linux. Nothing of a project
    is run, and without --online no network is used.

    Exit code: 0 nothing found, 1 findings, 2 bad input.
    """
    gc.disable()  # one lock is over before it pays; the workers for many locks turn it on again
    from stackfix.gate.run import check
    from stackfix.report.formats import PLACED, format_named
    from stackfix.report.formats.interface import Totals

    output_format, outputs = arguments.output_format, arguments.outputs
    options = _options(arguments)
    if PLACED.intersection((output_format, *(name for name, _ in outputs))):
        from dataclasses import replace

        options = replace(options, lines=True)
    totals = Totals()
    with contextlib.ExitStack() as stack:
        writers = [(format_named(output_format, colour=_colour()), sys.stdout)]
        for name, path in outputs:
            file = stack.enter_context(_written(path))
            writers.append((format_named(name), file))
        for form, file in writers:
            _write(file, form.begin())
        for checked in check(arguments.paths or (Path(),), options):
            totals.add(checked)
            for form, file in writers:
                _write(file, form.lock(checked))
            sys.stdout.flush()
        for form, file in writers:
            _write(file, form.end(totals))
    return FINDINGS if totals.failing else 0


def _options(arguments: Namespace) -> Options:
    from stackfix.gate.subject import Options
    from stackfix.model.selection import Selection

    parsed = None
    if arguments.base is not None:
        from stackfix.gate.base import parse_base

        parsed = parse_base(arguments.base)
    if arguments.targets:  # a wrong one is the command line's fault, not a finding about a lock
        from stackfix.targets.select import select_targets
        from stackfix_knowledge.cards.gpus import GpuTable

        select_targets(named=arguments.targets, gpus=GpuTable.load())
    return Options(
        targets=arguments.targets,
        hosts=arguments.hosts,
        platforms=arguments.platforms,
        selection=Selection(
            every=not (arguments.extras or arguments.groups or arguments.all_extras),
            python=arguments.python,
            extras=arguments.extras,
            groups=arguments.groups,
            all_extras=arguments.all_extras,
        ),
        fail_on=arguments.fail_on,
        base=parsed,
        online=arguments.online,
    )


def _colour() -> bool:
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


@contextlib.contextmanager
def _written(path: Path) -> Iterator[TextIO]:
    """A file that is there whole or, after an error, as it was."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            yield file
        os.replace(partial, path)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def _write(file: TextIO, parts: Iterable[str]) -> None:
    for part in parts:
        file.write(part)
