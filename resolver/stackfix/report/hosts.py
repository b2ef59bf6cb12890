"""Hosts beside each other, as text and as JSON (`schema/hosts-1.json`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stackfix.report.console import show
from stackfix.report.plain import assemble, plain
from stackfix.wording import listed

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from stackfix.host.compare import HostComparison, HostDifference

__all__ = ["SCHEMA", "hosts_document", "show_hosts"]

SCHEMA = 1
"""Version of the JSON form. Rises only when a key changes its meaning or goes away."""


def hosts_document(comparison: HostComparison) -> dict[str, Any]:
    """The comparison as one JSON object; `values` stand in the order of `hosts`."""
    return {
        "schema": SCHEMA,
        "hosts": list(comparison.names),
        "same": comparison.same,
        "differences": [
            {"what": one.what, "decides": one.decides, "values": list(one.values)}
            for one in comparison.differences
        ],
        "untold": list(comparison.untold),
    }


def show_hosts(console: Console, comparison: HostComparison) -> None:
    """Print what differs, with the hosts by value."""
    show(console, _parts(comparison))


def _parts(comparison: HostComparison) -> Iterator[Text]:
    number = len(comparison.names)
    if comparison.same:
        yield assemble((f"{number} hosts", "bold"), ": same cards, driver and platform")
    else:
        decisive = [one.what for one in comparison.differences if one.decides]
        yield assemble((f"{number} hosts", "bold"), ": not the same ", " and ".join(decisive))
    for difference in comparison.differences:
        yield plain(difference.what, style="yellow" if difference.decides else "bold")
        for value, names in _by_value(difference, comparison.names).items():
            yield assemble(f"  {'not told' if value is None else value}  ", (listed(names), "dim"))
    if comparison.untold:
        yield plain(f"not told by all: {', '.join(comparison.untold)}", style="dim")


def _by_value(difference: HostDifference, names: tuple[str, ...]) -> dict[str | None, list[str]]:
    found: dict[str | None, list[str]] = {}
    for value, name in zip(difference.values, names, strict=True):
        found.setdefault(value, []).append(name)
    return found
