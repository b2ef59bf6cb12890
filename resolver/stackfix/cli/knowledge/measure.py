"""`stackfix knowledge measure`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stackfix.cli.failures import FINDINGS, UsageError
from stackfix.cli.knowledge.indexes import index_option, open_index, pinned
from stackfix.cli.options import REPEATABLE
from stackfix.cli.parser import Parser, file_path, one_of
from stackfix.cli.printing import print_note
from stackfix.model.target import PLATFORMS
from stackfix.wording import one_line

__all__ = ["configure", "run"]

_PLATFORMS = ("linux_x86_64", "any")


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("releases", nargs="+", metavar="PKG==VERSION…")
    parser.add_argument(
        "--into",
        type=file_path,
        metavar="FILE",
        help='Write the facts to FILE, for `[tool.stackfix] knowledge = ["FILE"]` in a project.',
    )
    parser.add_argument(
        "--platform",
        dest="platforms",
        **REPEATABLE,
        **one_of((*PLATFORMS, "any")),
        help=f"Whose wheels to measure. Repeatable. [default: {', '.join(_PLATFORMS)}]",
    )
    parser.add_argument(
        "--metadata-only", action="store_true", help="Read what the wheel requires, not its code."
    )
    parser.add_argument("--again", action="store_true", help="Also what is known already.")
    index_option(parser)


def run(arguments: Namespace) -> int:
    """Measure releases on the index: read their wheels' binaries and metadata, and note the facts.

    A wheel is read piece by piece, never run and not kept; what is known already is not fetched
    again, so an interrupted run goes on where it stopped. In a source checkout of stackfix the
    facts go to those that ship with it; otherwise name a file with --into.

    Exit code: 0 measured or known already, 1 a wheel that cannot be read or a release that is
    not there, 2 bad input.
    """
    import datetime

    from stackfix_knowledge.evidence import EvidenceKind
    from stackfix_knowledge.measure.measuring import Measuring

    wanted = pinned(arguments.releases)
    depth = EvidenceKind.METADATA if arguments.metadata_only else EvidenceKind.MEASURED
    failures = 0
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        print_note(one_line(line))

    names = [package_of(requirement.name) for requirement in wanted]
    with open_index(arguments.index) as index, _folder(arguments.into, names) as folder:
        measuring = Measuring(index, folder, today=datetime.date.today(), report=say)
        for requirement in wanted:
            failures += measuring.measure(
                requirement,
                depth=depth,
                platforms=arguments.platforms or _PLATFORMS,
                again=arguments.again,
            )
    if not said:
        print_note("all of it is known already (--again measures it anew)")
    return FINDINGS if failures else 0


def package_of(name: str) -> str:
    """The normalised name."""
    from packaging.utils import canonicalize_name

    return str(canonicalize_name(name))


@contextmanager
def _folder(own: Path | None, packages: list[str]) -> Iterator[Path]:
    """Where measuring writes to."""
    from stackfix_knowledge.measure.facts_file import measuring_into
    from stackfix_knowledge.reader import facts_folder

    shipped = facts_folder() / "wheels"
    if own is not None:
        with measuring_into(own, dict.fromkeys(packages), shipped) as folder:
            yield folder
        return
    if not _is_checkout(facts_folder()):
        raise UsageError("this is no source checkout of stackfix: name a file with --into")
    yield shipped


def _is_checkout(facts: Path) -> bool:
    """Whether the facts lie in the sources, as in a clone, and not where they were installed."""
    return (facts.parents[2] / "pyproject.toml").is_file() and facts.parents[1].name == "knowledge"
