"""What is wrong, as a person reads it: the fault, where it holds, what helps, and who says so.

One wording and one order for `plan`, `inspect` and `check`; a fault that several packages share is
told once. Infos are left out: what nobody measured is told in one line elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from stackfix.audit.judging import Found
from stackfix.gate.hits import hits_of
from stackfix.model.target import short_names
from stackfix.report.text import MARKS, STYLES, Span, assemble, grid, wrapped
from stackfix.wording import listed

if TYPE_CHECKING:
    from rich.table import Table

    from stackfix.gate.result import Hit
    from stackfix.model.finding import Finding
    from stackfix.model.target import Target

__all__ = ["findings_lines", "findings_table", "hits_of_findings", "scope", "sentence", "via_words"]


def findings_table(hits: Iterable[Hit]) -> Table | None:
    """Errors and warnings for a report; None without any."""
    table = grid(gap=1)
    for mark, lines in _items(hits):
        first, *more = lines
        spans = [*first, *(span for line in more for span in (("\n", ""), *line))]
        table.add_row(assemble(mark), assemble(*spans))
    return table if table.rows else None


def findings_lines(hits: Iterable[Hit], *, colour: bool) -> Iterator[str]:
    """The same as lines that need no rich."""
    for (mark, style), (first, *more) in _items(hits):
        yield from wrapped((f"  {mark} ", style), first, colour=colour)
        for line in more:
            yield from wrapped(("    ", ""), line, colour=colour)


def hits_of_findings(findings: Iterable[Finding], targets: Sequence[Target]) -> tuple[Hit, ...]:
    """One hit for each fault, on all of the targets where it is."""
    return hits_of((Found(finding) for finding in findings), short_names(targets))


def _items(hits: Iterable[Hit]) -> Iterator[tuple[Span, list[list[Span]]]]:
    for same in _alike(hit for hit in hits if hit.severity != "info"):
        severity = same[0].severity
        yield (MARKS[severity], STYLES[severity]), list(_lines(same))


def _alike(hits: Iterable[Hit]) -> Iterable[list[Hit]]:
    """Hits that say the same of several packages, put together at the place of the first."""
    found: dict[object, list[Hit]] = {}
    for hit in hits:
        key = (hit.code, hit.severity, _predicate(hit)[0], hit.targets, hit.only, hit.fix)
        found.setdefault(key, []).append(hit)
    return found.values()


def _lines(same: Sequence[Hit]) -> Iterator[list[Span]]:
    hit = same[0]
    predicate, named = _predicate(hit)
    titles = ", ".join(one.title for one in same)
    said: list[Span] = [(f"{hit.code} ", "dim")]
    if named and len(same) == 1:
        title = hit.title if hit.message.startswith(hit.title) else ""
        said += [(title, "bold"), (hit.message.removeprefix(title), "")]
    else:
        said += [(titles, "bold"), (f": {predicate}", "")]
    if where := scope(hit):
        said.append((f" [{where}]", "cyan"))
    via = via_words(hit) if len(same) == 1 else ""
    source, is_short = _source(hit)
    if source and is_short and not via:
        said.append((f" · {source}", "dim"))
        source = ""
    yield said
    if hit.fix:
        yield [(f"→ {hit.fix}", "green")]
    if aside := " · ".join(part for part in (via, source) if part):
        yield [(aside, "dim")]


def _predicate(hit: Hit) -> tuple[str, bool]:
    """The message after "torch 2.7.1" where it begins so, and whether it names that at all."""
    found = re.search(rf"(?<![\w.-]){re.escape(hit.title)}(?![\w.-])(:? ?)", hit.message)
    begins = found is not None and found.start() == 0
    return hit.message[found.end() :] if found and begins else hit.message, found is not None


def _source(hit: Hit) -> tuple[str, bool]:
    """The first source in words, and whether it is short: a package's own wheel needs no name."""
    if not hit.evidence:
        return "", False
    first, more = hit.evidence[0], len(hit.evidence) - 1
    others = f" and {more} more" if more else ""
    if first.source.lower().startswith(f"{hit.package.replace('-', '_')}-"):
        return f"{first.kind.value}{others}", True
    return f"{first.kind.value}: {first.source}{others}", False


def scope(hit: Hit) -> str:
    """ "v100-pool; extra cu128": where a hit holds; empty for all targets in the plain case."""
    parts = [] if hit.everywhere else [listed(hit.targets)] if hit.targets else []
    return "; ".join([*parts, *([hit.only] if hit.only else [])])


def sentence(hit: Hit) -> str:
    """The message with its scope."""
    where = scope(hit)
    return f"{hit.message} [{where}]" if where else hit.message


def via_words(hit: Hit) -> str:
    """ "openpi → lerobot → torchcodec"; empty where nobody brings it."""
    chain = hit.via if len(hit.via) <= 6 else (*hit.via[:3], "…", *hit.via[-2:])
    return " → ".join(chain)
