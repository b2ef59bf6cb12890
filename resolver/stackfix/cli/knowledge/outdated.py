"""`stackfix knowledge outdated`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stackfix.cli.failures import FINDINGS
from stackfix.cli.knowledge.indexes import index_option, open_index
from stackfix.cli.known import package_name
from stackfix.cli.options import ANY_NUMBER, format_option
from stackfix.cli.parser import Parser
from stackfix.cli.printing import print_note, print_result

if TYPE_CHECKING:
    from stackfix_index.simple import Index
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.measure.comparing import Outdated
from stackfix.wording import one_line

__all__ = ["configure", "run"]

_AT_ONCE = 8
"""Pages asked for at the same time; an index takes a browser's number of connections well."""


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("packages", **ANY_NUMBER, metavar="[PKG]…")
    parser.add_argument(
        "--all", action="store_true", help="Also older releases that nobody measured."
    )
    index_option(parser)
    format_option(parser)


def run(arguments: Namespace) -> int:
    """List the releases on the index that are newer than what the facts know.

    Without PKG, of every package that there are facts about. `stackfix knowledge measure` takes
    what is listed. Exit code: 0 the index answered, 1 a package could not be looked up.
    """
    from stackfix.report.upkeep import outdated_document, outdated_lines
    from stackfix_knowledge.graph import Graph

    graph = Graph.load()
    names = [package_name(name, "names of packages") for name in arguments.packages]
    names = names or _measured()
    with open_index(arguments.index) as index:
        found, failures = _compare(names, graph, index)
    document = outdated_document(found, graph, older_too=arguments.all)
    print_result(
        arguments.output_format,
        lambda: document,
        lambda: outdated_lines(document, len(found)),
    )
    for line in failures:
        print_note(one_line(line))
    return FINDINGS if failures else 0


def _measured() -> list[str]:
    """The packages that there are facts about."""
    from stackfix_knowledge.reader import facts_folder

    return sorted(path.stem for path in (facts_folder() / "wheels").glob("*.toml"))


def _compare(names: Sequence[str], graph: Graph, index: Index) -> tuple[list[Outdated], list[str]]:
    from concurrent.futures import ThreadPoolExecutor

    from stackfix_index.errors import Unreadable
    from stackfix_knowledge.measure.comparing import compare

    def one(name: str) -> Outdated | Unreadable:
        package = graph.packages.get(name)
        judged = package is not None and package.judged
        try:
            return compare(name, releases[name], index, judged=judged)
        except Unreadable as error:
            return error

    # The graph reads files when it is first asked, which threads must not do at the same time.
    releases = {name: graph.releases(name) for name in names}
    _ = graph.packages
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        results = list(pool.map(one, names))
    return (
        [result for result in results if not isinstance(result, Unreadable)],
        [str(result) for result in results if isinstance(result, Unreadable)],
    )
