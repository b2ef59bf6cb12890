"""Results of checks that a report may meet, hostile texts included."""

from __future__ import annotations

from stackfix.audit.locations import Location
from stackfix.gate.result import Checked, Hit, Moved
from stackfix.model.finding import Severity
from stackfix.report.formats import format_named
from stackfix.report.formats.interface import Totals
from stackfix_knowledge.evidence import Evidence, EvidenceKind

__all__ = ["CHANGE", "CLEAN", "HOSTILE", "PLAIN", "written"]

MEASURED = Evidence(
    kind=EvidenceKind.MEASURED,
    source="torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl",
    date="2026-11-30",
    sha256="ab" * 32,
)
NO_CODE = Hit(
    code="SF101",
    severity=Severity.ERROR,
    package="torch",
    version="2.11.0",
    message="torch 2.11.0 has no code for compute capability 7.0",
    targets=("v100-pool",),
    evidence=(MEASURED,),
    via=("fleet", "lerobot", "torch"),
    only="extra cu130",
    lock=Location(file="apps/fleet/uv.lock", line=812),
    declared=Location(file="apps/fleet/pyproject.toml", line=7),
)
JIT = Hit(
    code="SF102",
    severity=Severity.WARNING,
    package="nvidia-nccl-cu13",
    version="2.28.9",
    message="nvidia-nccl-cu13 2.28.9 has no native code for compute capability 12.0",
    targets=("5090", "v100-pool"),
    everywhere=True,
    fix="driver 580 or newer",
    lock=Location(file="apps/fleet/uv.lock", line=90),
)
UNMEASURED = Hit(
    code="SF109",
    severity=Severity.INFO,
    package="xformers",
    version="0.1",
    message="nobody measured which cards xformers 0.1 runs on",
    targets=("5090", "v100-pool"),
    everywhere=True,
)
PLAIN = Checked(
    path="apps/fleet/uv.lock",
    targets=("5090", "v100-pool"),
    hits=(NO_CODE, JIT, UNMEASURED),
    gpu_packages=17,
    unknown=("xformers==0.1",),
    unread=("helper==1.0",),
)
CHANGE = Checked(
    path="apps/fleet/uv.lock",
    targets=("5090", "v100-pool"),
    hits=(NO_CODE,),
    base="origin/main",
    repaired=(JIT,),
    kept=3,
    moved=(
        Moved(
            package="torch",
            before="2.10.0",
            after="2.11.0",
            details=("CUDA 12.8 → 13.0", "drops 7.0", "needs driver ≥ 580"),
            matters_to=("v100-pool",),
        ),
        Moved(package="nvidia-nvtx-cu12", before="12.8.90", after=None),
    ),
)
CLEAN = Checked(path="libs/tools/uv.lock", targets=("5090",))
HOSTILE = Checked(
    path="a b/%0A,::error::/|uv.lock",
    targets=("<script>alert(1)</script>",),
    hits=(
        Hit(
            code="SF101",
            severity=Severity.ERROR,
            package="to|rch`",
            version="1\x1b[31m\x00",
            message="line one\n::warning::two\r| **bold** <img src=x> ]]> & @someone \ud800",
            targets=("<script>alert(1)</script>",),
            fix="`rm` | x",
        ),
    ),
    notes=("a\nnote",),
)


def written(name: str, *results: Checked) -> str:
    """The results in a format, as the command line writes them."""
    form, totals = format_named(name), Totals()
    parts = [*form.begin()]
    for result in results:
        totals.add(result)
        parts += form.lock(result)
    return "".join((*parts, *form.end(totals)))
