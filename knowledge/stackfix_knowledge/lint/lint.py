"""Checks of the facts beyond what reading them refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stackfix_knowledge.graph import Graph
from stackfix_knowledge.lint.files import lint_table, lint_wheels
from stackfix_knowledge.lint.remark import Remark
from stackfix_knowledge.lint.verdicts import Decisions, borderline, disputed
from stackfix_knowledge.reader import Entry, FactsError, facts_folder, read_file
from stackfix_knowledge.stack.packages import PackageTable

__all__ = ["lint_own", "lint_shipped"]


def lint_shipped() -> Iterator[Remark]:
    """Check every shipped facts file."""
    folder = facts_folder()
    tables = [path for path in sorted(folder.rglob("*.toml")) if path.parent.name != "wheels"]
    # Without the table of packages nothing else can be read.
    packages = PackageTable({}) if _broken(folder / "packages.toml") else PackageTable.load()
    faults = [
        fault
        for path in tables
        for fault in lint_table(path, path.relative_to(folder).as_posix(), packages)
    ]
    yield from faults
    graph = None if faults else Graph.load()
    wheels = sorted((folder / "wheels").glob("*.toml"))
    decisions = Decisions() if faults else Decisions.load()
    for path in wheels:
        yield from _wheels(path, path.stem, graph, decisions)
    if wheels:
        yield from decisions.in_vain()


def lint_own(path: Path) -> Iterator[Remark]:
    """Check an overlay file of a project."""
    try:
        graph = Graph.load([path])
        file = read_file(path)
    except FactsError as error:
        yield Remark.refusal(error)
        return
    entries = [file] if "package" in file else list(file.entries("wheels"))
    for entry in entries:
        yield from _entry(entry, entry.text("package"), graph, Decisions.load())


def _broken(path: Path) -> bool:
    try:
        read_file(path)
        tuple(PackageTable.load())
    except FactsError:
        return True
    return False


def _wheels(
    path: Path, package: str, graph: Graph | None, decisions: Decisions
) -> Iterator[Remark]:
    try:
        file = read_file(path, shown_as=f"wheels/{path.name}")
    except FactsError as error:
        yield Remark.refusal(error)
        return
    yield from _entry(file, package, graph, decisions)


def _entry(
    file: Entry, package: str, graph: Graph | None, decisions: Decisions
) -> Iterator[Remark]:
    """The releases of one package, and their verdicts where all of them can be read."""
    faults = list(lint_wheels(file, package))
    yield from faults
    if faults or graph is None:
        return
    own = {str(entry.version("version")) for entry in file.entries("release")}
    releases = [release for release in graph.releases(package) if str(release.version) in own]
    cards = sorted({gpu.capability for gpu in graph.gpus})
    yield from borderline(releases, cards, file.file, decisions)
    yield from disputed(releases, graph, cards, file.file)
