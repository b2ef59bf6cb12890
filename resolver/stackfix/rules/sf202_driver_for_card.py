"""SF202: driver below the card's first, or above its last branch.

What: the driver is older than the first that knows the card, or of a branch that dropped it.

Why: the driver does not load the card at all; no pin can mend that.

Evidence: documented (the vendor's driver notes).

Fix: a driver within the card's span.

Ignore: `[tool.stackfix] ignore = [{ code = "SF202", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.model.finding import Finding, Severity
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph


class DriverForCard:
    code = "SF202"
    title = "driver outside the card's span"

    def judge(self, target: Target, graph: Graph) -> Iterator[Finding]:
        if target.driver is None:
            return
        first = graph.cuda.first_driver(target.capability)
        if first and not target.has_driver(first.value):
            yield Finding(
                code=self.code,
                severity=Severity.ERROR,
                package="nvidia-driver",
                version=str(target.driver),
                target=target,
                message=f"driver {target.driver} does not know the {target.gpu} "
                f"({target.capability}): its first driver is {first.value}",
                evidence=first.evidence,
                fix=f"driver {first.value} or newer",
            )
        last = graph.cuda.last_branch(target.capability)
        if last and target.driver.branch > last.value:
            yield Finding(
                code=self.code,
                severity=Severity.ERROR,
                package="nvidia-driver",
                version=str(target.driver),
                target=target,
                message=f"driver branch {target.driver.branch} no longer supports the "
                f"{target.gpu} ({target.capability}): its last branch is {last.value}",
                evidence=last.evidence,
                fix=f"a driver of branch {last.value}",
            )
