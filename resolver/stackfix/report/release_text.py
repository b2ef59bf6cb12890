"""A release as text, from its document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table

from stackfix.report.console import show
from stackfix.report.plain import assemble, plain
from stackfix.report.ties_text import sources, ties
from stackfix.wording import count, listed

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

__all__ = ["show_release"]

_SUPPORT = {
    "supported": ("green", "native code"),
    "jit": ("yellow", "compiled by the driver at first use"),
    "partial": ("red", "code for a part only"),
    "unsupported": ("red", "no code"),
    "unknown": ("dim", "not known"),
}
_MOST_REQUIREMENTS = 40
_MOST_SETS = 6


def show_release(console: Console, document: Mapping[str, Any]) -> None:
    """Print all that is known about a release, each fact with where it comes from."""
    show(console, _parts(document))


def _parts(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    origin = f"index {document['index']}" if document["index"] else "default index"
    yield assemble(
        (f"{document['package']} {document['version']}", "bold"),
        (f"  {document['date'] or 'date not known'}, {origin}", "dim"),
        ("  withdrawn by its maintainers" if document["yanked"] else "", "red"),
    )
    for wheel in document["wheels"]:
        yield plain(f"\n{wheel['file']}", "underline")
        yield _indented(_wheel(wheel))
    yield from _libraries(document)
    yield from _matrix(document["vendor_matrix"])
    yield from ties(document)
    yield plain(f"\nfacts of {document['knowledge']}", "dim")


def _libraries(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The libraries of the wheel for the platform, each with its most frequent images."""
    if not document["libraries"]:
        return
    yield plain(f"\nGPU code of the wheel for {document['platform']}", "bold underline")
    for verdict in document["verdicts"]:
        style, words = _SUPPORT[verdict["state"]]
        yield _indented(
            assemble((verdict["target"], "bold"), "  ", (f"{verdict['state']} ({words})", style))
        )
    for library in document["libraries"]:
        aside = ", an optional feature" if library["optional"] else ""
        yield _indented(
            assemble(
                (library["name"], "bold"),
                f"  {count(library['containers'], 'container')}, {library['judged']} of them over"
                f" several generations{aside}",
            )
        )
        for verdict in library["verdicts"]:
            yield _deeper(_shares(verdict))
        for images in library["sets"][:_MOST_SETS]:
            yield _deeper(plain(f"{images['count']:6} × {' '.join(images['images'])}", "dim"))
        if len(library["sets"]) > _MOST_SETS:
            rest = len(library["sets"]) - _MOST_SETS
            yield _deeper(plain(f"{count(rest, 'further set')} of images (--format json)", "dim"))


def _shares(verdict: Mapping[str, Any]) -> Text:
    judged = verdict["judged"]
    total = sum(judged.values())
    state = verdict["state"] or "not judged"
    counts = ", ".join(
        f"{verdict[key]} {name}"
        for key, name in (("native", "native"), ("jit", "JIT"), ("none", "none"))
    )
    counted = f" ({judged['native']} native, {judged['jit']} JIT of {total} that count)"
    return assemble(
        f"{verdict['target']}: ",
        (state, _SUPPORT[verdict["state"]][0] if verdict["state"] else "dim"),
        f", {counts}",
        (counted if verdict["state"] else "", "dim"),
    )


def _matrix(matrix: Mapping[str, Any] | None) -> Iterator[RenderableType]:
    if matrix is None:
        return
    yield plain(f"\nThe vendor's matrix (of {matrix['documents']})", "bold underline")
    yield _indented(plain(f"lists {', '.join(matrix['capabilities'])}"))
    for line in sources(matrix["evidence"]):
        yield _indented(plain(line, "dim"))


def _deeper(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 4))


def _wheel(wheel: Mapping[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))

    def row(name: str, value: str, style: str = "") -> None:
        table.add_row(plain(name, "dim"), plain(value, style))

    row("platform", wheel["platform"])
    if wheel["cpu_only"]:
        row("GPU", "none: a build for the processor alone", "red")
    elif wheel["cuda"]:
        row("CUDA", wheel["cuda"])
    if wheel["runs_on"] is None:
        row("GPU code", "nobody measured it", "dim")
    else:
        row("GPU code", ", ".join(wheel["architectures"]) or "none")
        for support, capabilities in wheel["runs_on"].items():
            style, words = _SUPPORT[support]
            row(support, f"{', '.join(capabilities)} ({words})", style)
    for name, version in wheel["built_against"].items():
        row("built with", f"{name} {version}")
    if wheel["needs"]:
        row("loads", listed(wheel["needs"], _MOST_REQUIREMENTS))
    for ptxas in wheel["ptxas"]:
        row("ptxas", f"CUDA {ptxas['cuda']}: {listed(ptxas['targets'], _MOST_REQUIREMENTS)}")
    if wheel["requires_python"]:
        row("Python", wheel["requires_python"])
    needed = list(_needed(wheel["requires"] or (), wheel["platform"]))
    if needed:
        row("requires", listed(needed, _MOST_REQUIREMENTS))
    for line in sources(wheel["evidence"]):
        row("source", line, "dim")
    return table


def _needed(requirements: Sequence[str], platform: str) -> Iterator[str]:
    """The requirements that hold on the platform, without markers and extras; JSON has them all."""
    from packaging.requirements import InvalidRequirement, Requirement

    from stackfix_lockfiles.platforms import Platform

    name = "linux_x86_64" if platform == "any" else platform
    markers = Platform.parse(name).markers("3.12.0")
    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            yield text
            continue
        if requirement.marker is None or requirement.marker.evaluate({**markers, "extra": ""}):
            requirement.marker = None
            yield str(requirement)


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2))
