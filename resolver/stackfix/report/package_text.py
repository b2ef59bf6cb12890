"""A package as text, from its document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from stackfix.report.console import show
from stackfix.report.plain import assemble, plain
from stackfix.report.ties_text import ties
from stackfix.wording import count

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["show_package"]

_KIND_STYLE = {"measured": "green", "metadata": "yellow", "documented": "yellow", "reported": "dim"}


def show_package(console: Console, document: Mapping[str, Any]) -> None:
    """Print the package's releases, each with how its wheels became known, then its ties."""
    show(console, _parts(document))


def _parts(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    what = f"  {document['role']} of {document['family']}" if document["role"] else ""
    known = count(len(document["releases"]), "release")
    yield assemble(
        (f"{document['package']}: {known}", "bold"),
        " are known" if len(document["releases"]) != 1 else " is known",
        (what, "dim"),
    )
    yield Padding(_releases(document["releases"]), (0, 0, 0, 2))
    yield from ties(document)
    yield plain(f"\nfacts of {document['knowledge']}", "dim")


def _releases(releases: Sequence[Mapping[str, Any]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    builds: dict[str, list[str]] = {}
    for release in releases:
        public, plus, local = release["version"].partition("+")
        builds.setdefault(public, []).extend([plus + local] if plus else [])
    of_index = {one["version"]: one for one in releases}
    for public, locals_ in builds.items():
        known = of_index.get(public)
        table.add_row(
            plain(public, "bold"),
            plain(known["date"] if known else "", "dim"),
            plain(_cuda(known)),
            _wheels(known),
            plain(" ".join(locals_), "dim"),
        )
    return table


def _cuda(release: Mapping[str, Any] | None) -> str:
    wheels = release["wheels"] if release else ()
    versions = dict.fromkeys(wheel["cuda"] for wheel in wheels if wheel["cuda"])
    return f"CUDA {', '.join(versions)}" if versions else ""


def _wheels(release: Mapping[str, Any] | None) -> Text:
    """Each platform with the strongest evidence there is for its wheel."""
    if release is None:
        return plain("")
    parts: list[str | tuple[str, str]] = [("withdrawn  ", "red")] if release["yanked"] else []
    for wheel in release["wheels"]:
        kind = "measured" if wheel["measured"] else wheel["evidence"][0]["kind"]
        if len(parts) > 0 and parts[-1] != ("withdrawn  ", "red"):
            parts.append(", ")
        parts += [f"{wheel['platform']} ", (kind, _KIND_STYLE[kind])]
    return assemble(*parts)
