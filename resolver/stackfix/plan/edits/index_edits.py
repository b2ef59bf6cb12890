"""The edits that make uv take PyTorch's packages from where a solution has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from packaging.markers import InvalidMarker, Marker
from packaging.version import Version

from stackfix.plan.edits.scope import Scope
from stackfix.plan.problems.index_choice import before_default
from stackfix.solve.problem import IndexName, Problem
from stackfix_lockfiles import edits as editing
from stackfix_lockfiles.edits import Edit
from stackfix_lockfiles.lock import ConflictItem
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.sources import DeclaredSource

__all__ = ["IndexEdits"]


class IndexEdits:
    """Sources and indexes for one solution.

    A source of a package holds where its marker, extra or group does: only those that the targets
    install by are changed, the others stay. An index that no source names any more is taken out.
    """

    def __init__(
        self, project: Project, problem: Problem, versions: Mapping[str, Version], where: Scope
    ) -> None:
        self._project = project
        self._problem = problem
        self._versions = versions
        self._where = where
        self._table = problem.graph.indexes

    def moved(self) -> dict[str, IndexName]:
        """The packages that come from elsewhere than their lock says, with their new index."""
        found: dict[str, IndexName] = {}
        for name in self._problem.graph.packages.on_pytorch_indexes:
            version, locked = self._versions.get(name), self._problem.locked.get(name)
            if version is None or version == locked:
                continue
            index = version.local if version.local in self._table.names() else None
            present = {self._table.name_of(url) for url in self._urls(name)}
            if present != {index} and (present or index is not None):
                found[name] = index
        return found

    def is_shared(self) -> bool:
        """Whether requirements that the chosen extras and groups share with others change index.

        A source of an extra counts for what that extra asks for, and for nothing else: neither for
        what others ask for, nor for an override.
        """
        moved = self.moved()
        if not self._problem.overrides.keys().isdisjoint(moved):
            return True
        return any(
            declared.name in moved
            and self._where.reaches(declared, self._project)
            and not self._where.owns(declared, self._project)
            for declared in self._project.requirements
        )

    def edits(self) -> Iterator[Edit]:
        """The edits, in the order in which they are applied."""
        moved = self.moved()
        replaced: list[DeclaredSource] = []
        added: set[str] = set()
        for name, new in moved.items():
            version = self._versions[name]
            present = self._present(name)
            replaced += present
            if new is None:
                why = f"{name} {version} comes from the default index"
                for source in present:
                    yield editing.remove_source(self._project, source, why=why)
                continue
            why = f"{name} {version} comes from this index"
            index = self._named(new)
            label = index or f"pytorch-{new}"
            if index is None and label not in added:
                added.add(label)
                yield editing.add_index(self._project, label, self._table.url(new), why=why)
            yield from self._sources(name, present, label, why)
        yield from self._without_indexes(replaced, gone=None in moved.values())

    def _urls(self, name: str) -> set[str]:
        """The indexes that the targets take a package from: as locked, else as its version says."""
        pieces = (environment.stack.get(name) for environment in self._problem.environments)
        locked = (piece.locked for piece in pieces if piece is not None)
        found = {p.source.index for p in locked if p is not None and p.source.index is not None}
        version = self._problem.locked.get(name)
        if not found and version is not None and version.local in self._table.names():
            return {self._table.url(version.local or "")}
        return found

    def _named(self, index: str) -> str | None:
        """What the project calls an index of PyTorch's that it has."""
        known = self._project.source_indexes
        return next((i.name for i in known if i.name and self._table.name_of(i.url) == index), None)

    def _present(self, name: str) -> list[DeclaredSource]:
        """The sources by which the environments install a package."""
        urls = {url.rstrip("/") for url in self._urls(name)}
        address = {
            index.name: index.url.rstrip("/")
            for index in (*self._project.indexes, *self._project.source_indexes)
        }
        found = []
        for source in self._project.sources:
            if source.package != name or source.kind != "index":
                continue
            if address.get(source.value) not in urls or not self._holds(source):
                continue
            if self._where.chosen and not self._is_chosen(source):
                continue
            found.append(source)
        return found

    def _holds(self, source: DeclaredSource) -> bool:
        """Whether a source's marker holds on some environment."""
        if source.marker is None:
            return True
        try:
            marker = Marker(source.marker)
        except InvalidMarker:
            return False
        return any(environment.holds(marker) for environment in self._problem.environments)

    def _is_chosen(self, source: DeclaredSource) -> bool:
        return any(_of(source, item) for item in self._where.chosen)

    def _sources(
        self, name: str, present: Iterable[DeclaredSource], index: str, why: str
    ) -> Iterator[Edit]:
        """The source in place of those present; where there is none, a new one."""
        scopes = []
        for source in present:
            scopes.append((source.extra, source.group))
            yield editing.add_source(
                self._project,
                name,
                index,
                marker=source.marker,
                extra=source.extra,
                group=source.group,
                file=source.file,
                why=why,
            )
        if self._where.chosen:
            for item in self._where.chosen:
                if (item.extra, item.group) not in scopes:
                    yield editing.add_source(
                        self._project, name, index, extra=item.extra, group=item.group, why=why
                    )
        elif not scopes:
            marker = self._systems() if self._elsewhere(name) else None
            yield editing.add_source(self._project, name, index, marker=marker, why=why)

    def _elsewhere(self, name: str) -> bool:
        """Whether the package has sources, which hold on other systems than the environments'."""
        return any(
            source.package == name and source.marker is not None for source in self._project.sources
        )

    def _systems(self) -> str:
        systems = sorted(
            {environment.markers["sys_platform"] for environment in self._problem.environments}
        )
        return " or ".join(f"sys_platform == '{system}'" for system in systems)

    def _without_indexes(self, replaced: Iterable[DeclaredSource], *, gone: bool) -> Iterator[Edit]:
        """Indexes that nothing names any more; with `gone`, also those before the default one."""
        taken = list(replaced)
        left = {s.value for s in self._project.sources if s.kind == "index" and s not in taken}
        unused = {source.value for source in taken} - left
        for index in self._project.source_indexes:
            if index.explicit and index.name in unused:
                why = "no package comes from this index any more"
                yield editing.remove_index(self._project, index, why=why)
        if gone:
            for index in before_default(self._project, self._problem.graph):
                why = "it comes before the default index"
                yield editing.remove_index(self._project, index, why=why)


def _of(source: DeclaredSource, item: ConflictItem) -> bool:
    """Whether a source is that of an extra or group."""
    return (source.extra, source.group) == (item.extra, item.group)
