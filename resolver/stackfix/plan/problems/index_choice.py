"""Where PyTorch's packages may come from: the default index, or one of PyTorch's own.

What the project can be edited to is known at once. Whether PyTorch's own indexes can be asked is
found out when a move first needs one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stackfix.errors import StackfixError
from stackfix.plan.request import Request, Strategy
from stackfix.solve.problem import SAME_INDEX, IndexChoice
from stackfix.solve.search import Combination
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.edits import remove_index
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.relock import answers
from stackfix_lockfiles.sources import DeclaredIndex

__all__ = ["IndexReach", "IndexesSilent", "before_default", "index_choice"]


def index_choice(request: Request, lock: Lock) -> IndexChoice:
    """The indexes that the project can be edited to take PyTorch's packages from, if it may."""
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


def before_default(project: Project, graph: Graph) -> Iterator[DeclaredIndex]:
    """PyTorch's indexes that are asked for every package, and so come before the default one."""
    for index in project.indexes:
        if not index.explicit and graph.indexes.name_of(index.url) is not None:
            yield index


def _barriers(request: Request, lock: Lock) -> Iterator[str]:
    """Why uv would not take PyTorch's packages from the default index."""
    project, graph = request.project, request.graph
    for index in before_default(project, graph):
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


class IndexesSilent(StackfixError):
    """PyTorch's indexes do not answer, and a move would need one: plan again without them."""


class IndexReach:
    """What is known of PyTorch's indexes in one run; all of them are at one host."""

    def __init__(self, request: Request, lock: Lock) -> None:
        self._request = request
        self._all = index_choice(request, lock)
        self._silent: str | None = None
        self._answered = request.offline  # then uv's cache has what it needs, or says so

    @property
    def choice(self) -> IndexChoice:
        """The indexes that a plan may use, as far as is known by now."""
        if self._silent is None or self._all == SAME_INDEX:
            return self._all
        names = self._request.graph.indexes.names()
        return replace(self._all, closed={**self._all.closed, **dict.fromkeys(names, self._silent)})

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line if moves to these indexes were left out."""
        if self._silent is None:
            return ()
        return (f"{self._silent}: builds of PyTorch's own indexes are left out",)

    def ask(self, combination: Combination) -> None:
        """See whether the indexes of a combination answer, before uv tries them again and again.

        Raises:
            IndexesSilent: they don't, which was not known so far.
        """
        if self._answered or self._silent is not None or self._all == SAME_INDEX:
            return
        if not _needs_one(combination):
            return
        url = self._request.graph.indexes.url("")
        if not answers(url):
            self._give_up(f"{url} does not answer")
        self._answered = True

    def failed(self, url: str, reason: str) -> None:
        """Note what uv said of an address.

        Raises:
            IndexesSilent: it is one of PyTorch's, which was not known so far.
        """
        base = self._request.graph.indexes.url("")
        if url.startswith(base) and self._silent is None and self._all != SAME_INDEX:
            self._give_up(f"{base}: {reason}")

    def uncached(self, combination: Combination) -> None:
        """Note that uv could not lock a combination offline.

        Raises:
            IndexesSilent: it would have needed one of these indexes.
        """
        if self._silent is None and self._all != SAME_INDEX and _needs_one(combination):
            self._give_up("offline")

    def _give_up(self, reason: str) -> None:
        self._silent = reason
        raise IndexesSilent(reason)


def _needs_one(combination: Combination) -> bool:
    """Whether a combination moves a package to, or on, one of PyTorch's indexes."""
    problem, versions = combination.problem, combination.solution.versions
    names = problem.graph.indexes.names()
    packages = problem.graph.packages.on_pytorch_indexes
    moved = ((name, versions[name]) for name in packages if name in versions)
    return any(v.local in names and problem.locked.get(name) != v for name, v in moved)
