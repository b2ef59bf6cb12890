"""Where PyTorch's packages may come from: the default index, or one of PyTorch's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stackfix.plan.request import Request, Strategy
from stackfix.solve.problem import SAME_INDEX, IndexChoice
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.edits import remove_index
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.sources import DeclaredIndex

__all__ = ["homes", "in_the_way"]


def homes(request: Request, lock: Lock) -> IndexChoice:
    """The homes that the project can be edited to take PyTorch's packages from, if it may."""
    if request.strategy == Strategy.SAME_INDEX:
        return SAME_INDEX
    table = request.graph.indexes
    named = {table.name_of(index.url) for index in request.project.source_indexes}
    reason = next(_barriers(request, lock), None)
    return IndexChoice(
        open=frozenset({None, *table.names()}),
        closed={} if reason is None else {None: reason},
        named=frozenset({None, *named}),
    )


def in_the_way(project: Project, graph: Graph) -> Iterator[DeclaredIndex]:
    """PyTorch's indexes that are asked for every package, and so come before the default one."""
    for index in project.indexes:
        if not index.explicit and graph.indexes.name_of(index.url) is not None:
            yield index


def _barriers(request: Request, lock: Lock) -> Iterator[str]:
    """Why uv would not take PyTorch's packages from the default index."""
    project, graph = request.project, request.graph
    for index in in_the_way(project, graph):
        where = f"{index.file} line {index.line}"
        if index.default:
            yield f"{index.url} is the project's default index ({where})"
            continue
        try:
            remove_index(project, index)
        except InputError:
            yield f"{index.url} is asked for every package ({where})"
            continue
        others = sorted({*_locked_from(index, lock, graph), *_sourced_from(index, project, graph)})
        if others:
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            yield (
                f"{index.url} is asked for every package ({where}), "
                f"and {', '.join(others[:3])}{more} come from it"
            )


def _locked_from(index: DeclaredIndex, lock: Lock, graph: Graph) -> Iterable[str]:
    """Packages outside the stack that come from an index: they are not the plan's to move."""
    url = index.url.rstrip("/")
    for package in lock.packages:
        source = package.source.index
        if source is not None and source.rstrip("/") == url and not graph.releases(package.name):
            yield package.name


def _sourced_from(index: DeclaredIndex, project: Project, graph: Graph) -> Iterable[str]:
    """Packages of no family of PyTorch's whose source names an index."""
    for source in project.sources:
        named = source.kind == "index" and source.value == index.name
        if named and source.package not in graph.packages.on_pytorch_indexes:
            yield source.package
