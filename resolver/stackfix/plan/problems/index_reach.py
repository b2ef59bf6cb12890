"""Whether PyTorch's own indexes can be asked: found out when a move first needs one of them."""

from __future__ import annotations

from dataclasses import replace

from stackfix.errors import StackfixError
from stackfix.plan.problems.index_choice import homes
from stackfix.plan.request import Request
from stackfix.solve.problem import SAME_INDEX, IndexChoice
from stackfix.solve.search import Found
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.relock import answers

__all__ = ["IndexReach", "IndexesSilent"]


class IndexesSilent(StackfixError):
    """PyTorch's indexes do not answer, and a move would need one: plan again without them."""


class IndexReach:
    """What is known of PyTorch's indexes in one run; all of them are at one host."""

    def __init__(self, request: Request, lock: Lock) -> None:
        self._request = request
        self._all = homes(request, lock)
        self._silent: str | None = None
        self._answered = request.offline  # then uv's cache has what it needs, or says so

    @property
    def homes(self) -> IndexChoice:
        """The homes that a plan may use, as far as is known by now."""
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

    def ask(self, found: Found) -> None:
        """See whether a solution's indexes answer, before uv tries them again and again.

        Raises:
            IndexesSilent: they don't, which was not known so far.
        """
        if self._answered or self._silent is not None or self._all == SAME_INDEX:
            return
        if not _needs_one(found):
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

    def uncached(self, found: Found) -> None:
        """Note that uv could not lock a solution offline.

        Raises:
            IndexesSilent: it would have needed one of these indexes.
        """
        if self._silent is None and self._all != SAME_INDEX and _needs_one(found):
            self._give_up("offline")

    def _give_up(self, reason: str) -> None:
        self._silent = reason
        raise IndexesSilent(reason)


def _needs_one(found: Found) -> bool:
    """Whether a solution moves a package to, or on, one of PyTorch's indexes."""
    problem, versions = found.problem, found.solution.versions
    names = problem.graph.indexes.names()
    packages = problem.graph.packages.on_pytorch_indexes
    moved = ((name, versions[name]) for name in packages if name in versions)
    return any(v.local in names and problem.locked.get(name) != v for name, v in moved)
