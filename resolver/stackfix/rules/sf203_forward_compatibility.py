"""SF203: forward-compatibility libraries beside a card or driver that they do not serve.

What: programs load the libcuda of NVIDIA's package cuda-compat, on a GeForce card.

Why: CUDA does not start: error 804, "forward compatibility was attempted on non supported HW". The
libraries are for data-centre cards, for some RTX cards in certified servers, and for Jetson.

Evidence: documented (NVIDIA's guide to CUDA compatibility).

Fix: keep the driver's own libcuda in front: take the folder `compat` out of LD_LIBRARY_PATH, or the
package out of the image; then the driver has to be new enough by itself.

Ignore: `[tool.stackfix] ignore = [{ code = "SF203", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.model.finding import Finding, Severity
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph


class ForwardCompatibility:
    code = "SF203"
    title = "forward-compatibility libraries on another kind of card"

    def judge(self, target: Target, graph: Graph) -> Iterator[Finding]:
        if target.compat is None or target.compat_serves:
            return
        yield Finding(
            code=self.code,
            severity=Severity.ERROR,
            package="cuda-compat",
            version=str(target.compat),
            target=target,
            message=f"the forward-compatibility libraries {target.compat} do not serve the "
            f"{target.gpu}: CUDA does not start with them (error 804)",
            evidence=graph.cuda.forward_compatibility,
            fix="take cuda-compat out of LD_LIBRARY_PATH or of the image",
        )
