"""Findings as a table: the package, the rule, what is wrong, what helps, and who says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from stackfix.report.groups import Fault, Group, alike, group
from stackfix.report.plain import plain
from stackfix.wording import listed

if TYPE_CHECKING:
    from rich.text import Text

    from stackfix.model.finding import Finding
    from stackfix.model.target import Target

__all__ = ["findings_table"]

_STYLE = {"error": "bold red", "warning": "yellow", "info": "dim"}
_MARK = {"error": "✗", "warning": "!", "info": "·"}


def findings_table(findings: Iterable[Finding], targets: Sequence[Target]) -> Table | None:
    """Errors and warnings by package; None without any.

    Infos are left out: what nobody measured is told in one line elsewhere.
    """
    groups = group(findings, [target.short for target in targets])
    told = [one for one in groups if one.severity != "info"]
    if not told:
        return None
    table = Table.grid(padding=(0, 2, 0, 0))
    for same in alike(told):
        first = same[0]
        titles = "\n".join(one.title for one in same)
        for position, fault in enumerate(first.faults):
            if fault.severity != "info":
                table.add_row(
                    plain(_MARK[fault.severity], style=_STYLE[fault.severity]),
                    plain("" if position else titles, style="bold"),
                    plain(fault.code, style="dim"),
                    _said(first, fault),
                )
    return table


def _said(one: Group, fault: Fault) -> Text:
    said = plain(fault.message)
    if fault.targets:
        said.append_text(plain(f" [{listed(fault.targets)}]", style="cyan"))
    source, short = _source(one.package, fault)
    if short:
        said.append_text(plain(f" · {source}", style="dim"))
    if fault.fix:
        said.append_text(plain(f"\n→ {fault.fix}", style="green"))
    if source and not short:
        said.append_text(plain(f"\n{source}", style="dim"))
    return said


def _source(package: str, fault: Fault) -> tuple[str, bool]:
    """The first source in words, and whether it is short: a package's own wheel needs no name."""
    if not fault.evidence:
        return "", False
    first, more = fault.evidence[0], len(fault.evidence) - 1
    others = f" and {more} more" if more else ""
    own = package.replace("-", "_")
    if first.source.endswith(".whl") and first.source.lower().startswith(f"{own}-"):
        return f"{first.kind.value}{others}", True
    return f"{first.kind.value}: {first.source}{others}", False
