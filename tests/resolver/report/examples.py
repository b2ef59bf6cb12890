"""Plans as the planner makes them for openpi, in small."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path, PurePosixPath

from stackfix.model.finding import Finding, Severity
from stackfix.plan.plan import JudgedSelection, Move, NextStep, Obstacle, Plan, Status
from stackfix.plan.rebuilds import Rebuild
from stackfix.targets.parse import parse_target
from stackfix_knowledge.cards.gpus import GpuTable
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_lockfiles.edits import Edit, EditKind

GPUS = GpuTable.load()
TARGET = parse_target("RTX 5090:4@570.133.07", GPUS)
OTHER = parse_target("V100@535.183.01", GPUS)

MEASURED = Evidence(
    kind=EvidenceKind.MEASURED,
    source="torch-2.7.1-cp311-cp311-manylinux_2_28_x86_64.whl",
    date="2026-11-30",
    sha256="ab" * 32,
)
DOCUMENTED = Evidence(
    kind=EvidenceKind.DOCUMENTED, source="a vendor's support matrix", words="9.5.1: up to 9.0"
)

NO_CODE = Finding(
    code="SF101",
    severity=Severity.ERROR,
    package="torch",
    version="2.7.1",
    target=TARGET,
    message="torch 2.7.1 has no code for compute capability 12.0; it is built for sm_50 … sm_90",
    evidence=(MEASURED, DOCUMENTED),
)
PARTIAL = Finding(
    code="SF103",
    severity=Severity.ERROR,
    package="nvidia-cudnn-cu12",
    version="9.5.1.17",
    target=TARGET,
    message="nvidia-cudnn-cu12 9.5.1.17 has code for a part only",
    evidence=(MEASURED,),
)
MATRIX = replace(
    PARTIAL,
    code="SF104",
    severity=Severity.WARNING,
    message="nvidia-cudnn-cu12 9.5.1.17 is outside the vendor's matrix",
    evidence=(DOCUMENTED,),
)
JIT = Finding(
    code="SF102",
    severity=Severity.WARNING,
    package="jax-cuda12-plugin",
    version="0.5.3",
    target=TARGET,
    message="jax-cuda12-plugin 0.5.3 has no native code for compute capability 12.0",
)
UNMEASURED = Finding(
    code="SF109",
    severity=Severity.INFO,
    package="torchcodec",
    version="0.4.0",
    target=TARGET,
    message="torchcodec 0.4.0: nobody measured it",
)
DRIVER = Finding(
    code="SF202",
    severity=Severity.ERROR,
    package="driver",
    version="550.54.15",
    target=TARGET,
    message="driver 550.54.15 is older than the first driver for compute capability 12.0",
    fix="driver 570.26 or newer",
)

OLD = b'dependencies = ["torch==2.7.1"]\n'
NEW = b'dependencies = ["torch==2.8.0"]\n'
EDIT = Edit(
    kind=EditKind.REQUIREMENT,
    file=Path("pyproject.toml"),
    table="project.dependencies",
    keys=("project", "dependencies"),
    line=1,
    old="torch==2.7.1",
    new="torch==2.8.0",
    why="2.7.1 has no code for 12.0",
)

PLANNED = Plan(
    status=Status.PLANNED,
    project="openpi",
    root="/home/someone/openpi",
    targets=(TARGET,),
    selection=JudgedSelection(platforms=("linux_x86_64",), python="3.11"),
    findings=(NO_CODE, PARTIAL, MATRIX, JIT, UNMEASURED),
    moves=(
        Move(
            package="nvidia-cudnn-cu12",
            before="9.5.1.17",
            after="9.10.2.21",
            because="torch 2.8.0 needs nvidia-cudnn-cu12==9.10.2.21",
            dragged=True,
        ),
        Move(
            package="torch",
            before="2.7.1",
            after="2.8.0",
            because=f"SF101: {NO_CODE.message}",
            index="cu128",
            edits=(EDIT,),
        ),
        Move(package="old-helper", before="1.0", after=None, because="nothing needs it any more"),
    ),
    remaining=(JIT, UNMEASURED),
    edits=(EDIT,),
    drift=("lock revision 3 → 5",),
    rebuilds=(Rebuild(package="flash-attn", version="2.7.4.post1", against="torch 2.8.0"),),
    next_step=NextStep(
        offer="jax 0.6.2", possible=False, reason="the override ml-dtypes==0.4.1 is in the way"
    ),
    warnings=("lerobot could not be read: its own version limits are not known",),
    gpu_packages=24,
    unknown=("torchcodec==0.4.0",),
    download=3_100_000_000,
    knowledge="2026.11.30",
    files={PurePosixPath("pyproject.toml"): NEW, PurePosixPath("uv.lock"): b"version = 1\n"},
    base={
        PurePosixPath("pyproject.toml"): hashlib.sha256(OLD).hexdigest(),
        PurePosixPath("uv.lock"): None,
    },
    diff='--- pyproject.toml\n+++ pyproject.toml\n@@ -1 +1 @@\n-dependencies = ["torch==2.7.1"]\n'
    '+dependencies = ["torch==2.8.0"]\n',
    tried=3,
)

NOTHING = replace(
    PLANNED,
    status=Status.NOTHING_TO_DO,
    findings=(JIT,),
    moves=(),
    remaining=(JIT,),
    edits=(),
    drift=(),
    rebuilds=(),
    next_step=None,
    warnings=(),
    unknown=(),
    files={},
    diff="",
)

NO_GPU = replace(NOTHING, findings=(), remaining=(), gpu_packages=0)

IMPOSSIBLE = replace(
    PLANNED,
    status=Status.IMPOSSIBLE,
    targets=(TARGET, OTHER),
    findings=(NO_CODE, DRIVER),
    moves=(),
    remaining=(NO_CODE, DRIVER),
    edits=(),
    rebuilds=(),
    files={},
    diff="",
    obstacles=(
        Obstacle(
            package="torch",
            versions=("2.4.0", "2.4.1", "2.5.0", "2.6.0"),
            reason="no code for 12.0",
        ),
        Obstacle(package="torch", versions=("2.8.0",), reason="no code for 7.0"),
    ),
    ways_out=("driver 570.26 or newer", "without V100: torch 2.8.0"),
    tried=41,
)
