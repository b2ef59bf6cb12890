"""Checks of the facts beyond what reading them refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stackfix_knowledge.graph import Graph
from stackfix_knowledge.lint.decisions import Decisions
from stackfix_knowledge.lint.problem import Kind, Problem
from stackfix_knowledge.lint.tables import lint_table
from stackfix_knowledge.lint.verdicts import borderline, disputed
from stackfix_knowledge.lint.wheels import lint_wheels
from stackfix_knowledge.packages import PackageTable
from stackfix_knowledge.reader import Entry, FactsError, facts_folder, read_file

__all__ = ["Kind", "Problem", "lint_own", "lint_shipped"]


def lint_shipped() -> Iterator[Problem]:
    """Check every shipped facts file."""
    folder = facts_folder()
    tables = [path for path in sorted(folder.rglob("*.toml")) if path.parent.name != "wheels"]
    # Without the table of packages nothing else can be read.
    packages = PackageTable(()) if _broken(folder / "packages.toml") else PackageTable.load()
    faults = [
        problem
        for path in tables
        for problem in lint_table(path, path.relative_to(folder).as_posix(), packages)
    ]
    yield from faults
    graph = None if faults else Graph.load()
    wheels = sorted((folder / "wheels").glob("*.toml"))
    decisions = Decisions() if faults else Decisions.load()
    for path in wheels:
        yield from _wheels(path, path.stem, graph, decisions)
    if wheels:
        yield from decisions.in_vain()


def lint_own(path: Path) -> Iterator[Problem]:
    """Check an overlay file of a project."""
    try:
        graph = Graph.load([path])
        file = read_file(path)
    except FactsError as error:
        text = f"expected {error.expected}"
        yield Problem(kind=Kind.FAULT, file=error.file, place=error.place, text=text)
        return
    entries = [file] if "package" in file else list(file.entries("wheels"))
    for entry in entries:
        yield from _entry(entry, entry.text("package"), graph, Decisions.load())


def _broken(path: Path) -> bool:
    try:
        read_file(path)
        PackageTable.load()
    except FactsError:
        return True
    return False


def _wheels(
    path: Path, package: str, graph: Graph | None, decisions: Decisions
) -> Iterator[Problem]:
    try:
        file = read_file(path, shown_as=f"wheels/{path.name}")
    except FactsError as error:
        text = f"expected {error.expected}"
        yield Problem(kind=Kind.FAULT, file=error.file, place=error.place, text=text)
        return
    yield from _entry(file, package, graph, decisions)


def _entry(
    file: Entry, package: str, graph: Graph | None, decisions: Decisions
) -> Iterator[Problem]:
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
