"""What a failed stage's log says about the fault behind it: asked of the log reader."""

from __future__ import annotations

import tempfile
from pathlib import Path

from stackfix.validate.result import Cause, Fix
from stackfix_knowledge.graph import Graph

__all__ = ["cause_of"]


def cause_of(log: str, graph: Graph) -> Cause | None:
    """The fault that the log names, as `stackfix diagnose` would; None where it names none."""
    from stackfix.diagnose import diagnose
    from stackfix.diagnose.reading import LogError

    with tempfile.TemporaryDirectory(prefix="stackfix-log-") as folder:
        file = Path(folder) / "stage.log"
        file.write_text(log, encoding="utf-8", errors="replace")
        try:
            found = diagnose([str(file)], graph=graph)
        except LogError:
            return None
    if not found.found:
        return None
    remedies = found.remedies or found.family.remedies
    return Cause(
        family=found.family.name,
        meaning=found.family.meaning,
        line=found.cause[0].text,
        fixes=tuple(
            Fix(kind=remedy.kind.value, text=remedy.text, command=remedy.command)
            for remedy in remedies
        ),
    )
