"""The published schemas of all documents, made from their types: `make schemas` writes them."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from stackfix.diagnose.diagnosis import StackMatch
from stackfix.documents.document import dump
from stackfix.documents.schema import schema_of
from stackfix.documents.target import TargetDocument
from stackfix.host.document import HostDocument
from stackfix.host.host import Card, System
from stackfix.report.diagnosis import DiagnosisDocument
from stackfix.report.environment import EnvironmentDocument
from stackfix.report.formats.json import CheckDocument
from stackfix.report.host import HostComparisonDocument
from stackfix.report.inspection import InspectionDocument
from stackfix.report.matrix import MatrixDocument
from stackfix.report.package import PackageDocument
from stackfix.report.plan import PlanDocument
from stackfix.report.release import ReleaseDocument
from stackfix.report.upkeep import LintDocument, OutdatedDocument, VerificationDocument
from stackfix.report.validation import ValidationDocument

__all__ = ["DOCUMENTS", "LATER", "made_schema", "schema"]

DOCUMENTS: dict[str, type] = {
    "check-1": CheckDocument,
    "diagnosis-1": DiagnosisDocument,
    "env-1": EnvironmentDocument,
    "host-1": HostDocument,
    "hosts-1": HostComparisonDocument,
    "inspect-1": InspectionDocument,
    "lint-1": LintDocument,
    "matrix-1": MatrixDocument,
    "outdated-1": OutdatedDocument,
    "package-1": PackageDocument,
    "plan-1": PlanDocument,
    "release-1": ReleaseDocument,
    "validation-1": ValidationDocument,
    "verify-1": VerificationDocument,
}
"""By name of the schema and its version."""

LATER: dict[type, frozenset[str]] = {
    Card: frozenset(
        {"numa", "peers", "ecc", "ecc_errors", "ecc_corrected", "repairs", "nvlinks", "fabric"}
    ),
    System: frozenset(
        {
            *("memory_limit", "memlock", "sys_nice", "numa_nodes", "iommu"),
            *("ptxas", "ptxas_version", "nvswitches", "fabric_manager", "fabric_manager_version"),
            *("libcuda", "library_path", "libraries", "interfaces"),
        }
    ),
    HostDocument: frozenset({"links", "kernel_log", "troubles"}),
    TargetDocument: frozenset({"compat"}),
    PlanDocument: frozenset({"rebuilds"}),
    StackMatch: frozenset({"host"}),
}
"""Keys that came after a document was first published: older documents lack them."""

_FOLDER = files("stackfix.report") / "schema"


def schema(name: str) -> dict[str, Any]:
    """The published JSON schema called `name`: "plan-1" or "host-1"."""
    text = (_FOLDER / f"{name}.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def made_schema(name: str) -> dict[str, Any]:
    """The schema of that name as the types of today have it."""
    subject, _, version = name.rpartition("-")
    return schema_of(DOCUMENTS[name], f"stackfix {subject}, version {version}", LATER)


if __name__ == "__main__":
    for name in DOCUMENTS:
        path = Path(str(_FOLDER / f"{name}.json"))
        path.write_text(dump(made_schema(name)), encoding="utf-8")
