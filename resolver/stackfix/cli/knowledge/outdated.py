"""`stackfix knowledge outdated`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from stackfix.cli.failures import FINDINGS
from stackfix.cli.knowledge.indexes import index_option, open_index
from stackfix.cli.known import package_name
from stackfix.cli.options import format_option

if TYPE_CHECKING:
    from stackfix_index.simple import Index
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.measure.comparing import Outdated
from stackfix.wording import one_line

__all__ = ["command"]

_AT_ONCE = 8
"""Pages asked for at the same time; an index takes a browser's number of connections well."""


@click.command("outdated")
@click.argument("packages", nargs=-1, metavar="[PKG]…")
@click.option("--all", "older_too", is_flag=True, help="Also older releases that nobody measured.")
@index_option
@format_option
def command(
    packages: tuple[str, ...], older_too: bool, address: str | None, output_format: str
) -> int:
    """List the releases on the index that are newer than what the facts know.

    Without PKG, of every package that there are facts about. `stackfix knowledge measure` takes
    what is listed. Exit code: 0 the index answered, 1 a package could not be looked up.
    """
    from stackfix.cli.printing import print_result
    from stackfix.report.upkeep import outdated_document, outdated_lines
    from stackfix_knowledge.graph import Graph

    graph = Graph.load()
    names = [package_name(name, "names of packages") for name in packages] or _measured()
    with open_index(address) as index:
        found, failures = _compare(names, graph, index)
    document = outdated_document(found, graph, older_too=older_too)
    print_result(output_format, lambda: document, lambda: outdated_lines(document, len(found)))
    for line in failures:
        click.echo(one_line(line), err=True)
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
