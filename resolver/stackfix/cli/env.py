"""`stackfix env`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.cli.options import format_option, selection_options
from stackfix.cli.parser import Parser, file_path

if TYPE_CHECKING:
    from stackfix.host.host import Host
    from stackfix_knowledge.graph import Graph

__all__ = ["configure", "run"]


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--host",
        type=file_path,
        metavar="FILE",
        help="A machine elsewhere: the output of `stackfix host --format json` there.",
    )
    parser.add_argument(
        "--project",
        type=Path,
        metavar="PATH",
        help="The project's folder. Default: the current one or one above.",
    )
    selection_options(parser)
    format_option(parser)


def run(arguments: Namespace) -> int:
    """Print the environment to set before the first step, for the locked stack on this host.

    Each line gives its reason; what may or may not apply is a comment. A shell takes it by
    `stackfix env > gpu.env && . ./gpu.env`. Nothing in the project is written.
    """
    from stackfix.audit.lock_audit import audit
    from stackfix.audit.settings import policy
    from stackfix.cli.asking import find_project, graph_of, settings_of
    from stackfix.cli.printing import print_result
    from stackfix.env.advise import advise
    from stackfix.errors import StackfixError
    from stackfix.model.selection import Selection
    from stackfix.report.environment import environment_document, environment_lines
    from stackfix.targets.hosts import targets_of_host
    from stackfix_lockfiles.lock import Lock

    found = find_project(arguments.project)
    graph = graph_of(found)
    host = _host(arguments.host, graph)
    targets = targets_of_host(host, graph.gpus)
    if not targets:
        raise StackfixError(
            f"{arguments.host or 'this machine'} shows no usable NVIDIA card: give --host FILE,"
            " from `stackfix host --format json` on the machine that has one"
        )
    selection = Selection(
        extras=arguments.extras, groups=arguments.groups, all_extras=arguments.all_extras
    )
    settings = settings_of(found)
    lock = Lock.read(found.root / "uv.lock")
    audited = audit(lock, targets, selection, policy(settings), graph=graph, project=found)
    stack = audited.environments.plainest(targets[0].platform).stack
    advice = advise(stack, host, targets, graph)
    print_result(
        arguments.output_format,
        lambda: environment_document(advice, targets),
        lambda: environment_lines(advice, targets),
    )
    return 0


def _host(path: Path | None, graph: Graph) -> Host:
    if path is None:
        from stackfix.cli.asking import machine

        return machine(graph)
    from stackfix.host.document import read_host

    return read_host(path)
