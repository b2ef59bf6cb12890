"""A release as text, from its document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table

from stackfix.report.console import show
from stackfix.report.plain import assemble, plain
from stackfix.report.wording import listed

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["show_release"]

_SUPPORT = {
    "supported": ("green", "native code"),
    "jit": ("yellow", "compiled by the driver at first use"),
    "partial": ("red", "code for a part only"),
    "unsupported": ("red", "no code"),
    "unknown": ("dim", "not known"),
}
_MOST_REQUIREMENTS = 40


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
    yield from _section("Known bugs", [_bug(bug) for bug in document["known_bugs"]])
    yield from _section("Goes together with", [_coupling(one) for one in document["couplings"]])
    yield from _section("Overwrites files of", [_collision(one) for one in document["collisions"]])
    yield plain(f"\nfacts of {document['knowledge']}", "dim")


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
    if wheel["requires_python"]:
        row("Python", wheel["requires_python"])
    needed = list(_needed(wheel["requires"] or (), wheel["platform"]))
    if needed:
        row("requires", listed(needed, _MOST_REQUIREMENTS))
    for line in _sources(wheel["evidence"]):
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


def _bug(bug: Mapping[str, Any]) -> list[tuple[str, str]]:
    fixed = f" (fixed in {', '.join(bug['fixed'])})" if bug["fixed"] else ""
    lines = [
        (f"{bug['id']}  {bug['summary']}{fixed}", "yellow" if bug["severity"] != "info" else ""),
        (f"  {bug['effect']}", ""),
    ]
    if bug["workaround"]:
        lines.append((f"  instead: {bug['workaround']}", "green"))
    return lines + [(f"  {line}", "dim") for line in _sources(bug["evidence"])]


def _coupling(coupling: Mapping[str, Any]) -> list[tuple[str, str]]:
    versions = coupling["versions"] or coupling["relation"].replace("-", " ")
    lines = [(f"{coupling['needs']} {versions}: {coupling['why']}", "")]
    return lines + [(f"  {line}", "dim") for line in _sources(coupling["evidence"])]


def _collision(collision: Mapping[str, Any]) -> list[tuple[str, str]]:
    lines = [
        (f"{collision['with']} {collision['versions']}".rstrip() + f": {collision['path']}", "")
    ]
    return lines + [(f"  {line}", "dim") for line in _sources(collision["evidence"])]


def _section(title: str, items: Sequence[list[tuple[str, str]]]) -> Iterator[RenderableType]:
    if not items:
        return
    yield plain(f"\n{title}", "bold underline")
    for lines in items:
        for text, style in lines:
            deeper = len(text) - len(text.lstrip())
            yield Padding(plain(text.strip(), style), (0, 0, 0, 2 + deeper))


def _sources(evidence: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(one["line"]) for one in evidence]


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2))
