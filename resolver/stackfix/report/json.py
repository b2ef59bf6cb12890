"""Plans and findings as JSON: `schema/plan-1.json` describes it, a test holds them together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.model.finding import Finding
    from stackfix.model.target import Target
    from stackfix.plan.plan import Move, Plan
    from stackfix_lockfiles.edits import Edit

__all__ = ["SCHEMA", "dump", "finding_document", "plan_document", "schema", "target_document"]

SCHEMA = 1
"""Version of the plan's JSON. Rises only when a key changes its meaning or goes away."""


def dump(document: Mapping[str, Any]) -> str:
    """The text of a document, one key a line, with a newline at the end."""
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    # Half of a surrogate pair, as in a file name that is no text, stays as JSON's own escape.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def schema(name: str) -> dict[str, Any]:
    """The published JSON schema called `name`: "plan-1" or "host-1"."""
    text = (files("stackfix.report") / "schema" / f"{name}.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as one JSON object. The new files stand in it by digest."""
    return {
        "schema": SCHEMA,
        "status": plan.status.value,
        "project": plan.project,
        "root": plan.root,
        "targets": [target_document(target) for target in plan.targets],
        "selection": {
            "platforms": list(plan.selection.platforms),
            "python": plan.selection.python,
            "extras": list(plan.selection.extras),
            "groups": list(plan.selection.groups),
        },
        "findings": [finding_document(finding) for finding in plan.findings],
        "moves": [_move(move) for move in plan.moves],
        "edits": [_edit(edit) for edit in plan.edits],
        "remaining": [finding_document(finding) for finding in plan.remaining],
        "drift": list(plan.drift),
        "rebuilds": [asdict(rebuild) for rebuild in plan.rebuilds],
        "next_step": asdict(plan.next_step) if plan.next_step else None,
        "obstacles": [
            {
                "package": obstacle.package,
                "versions": list(obstacle.versions),
                "reason": obstacle.reason,
                "lifts": list(obstacle.lifts),
            }
            for obstacle in plan.obstacles
        ],
        "lifts": list(plan.lifts),
        "answers": [asdict(answer) for answer in plan.answers],
        "warnings": list(plan.warnings),
        "gpu_packages": plan.gpu_packages,
        "unknown": list(plan.unknown),
        "download": plan.download,
        "tried": plan.tried,
        "knowledge": plan.knowledge,
        "diff": plan.diff,
        "files": {str(path): hashlib.sha256(data).hexdigest() for path, data in plan.files.items()},
        "base": {str(path): digest for path, digest in plan.base.items()},
    }


def target_document(target: Target) -> dict[str, Any]:
    """A target; `label` is the name by which findings refer to it."""
    return {
        "label": target.label,
        "name": target.name,
        "gpu": target.gpu,
        "capability": str(target.capability),
        "count": target.count,
        "driver": target.driver.text if target.driver else None,
        "compat": target.compat.text if target.compat else None,
        "platform": target.platform,
        "memory": target.memory,
        "segment": target.segment,
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """A finding; `target` is a target's label, null for what holds on every target."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "package": finding.package,
        "version": finding.version,
        "target": finding.target.label if finding.target else None,
        "message": finding.message,
        "evidence": [
            {
                "kind": evidence.kind.value,
                "source": evidence.source,
                "date": evidence.date,
                "sha256": evidence.sha256,
                "words": evidence.words,
                "confirmed": evidence.confirmed,
            }
            for evidence in finding.evidence
        ],
        "fix": finding.fix,
    }


def _move(move: Move) -> dict[str, Any]:
    return {
        "package": move.package,
        "from": move.before,
        "to": move.after,
        "asked": move.asked,
        "because": move.because,
        "dragged": move.dragged,
        "fork": move.fork,
        "index": move.index,
        "variant": {"from": move.variant.before, "to": move.variant.after}
        if move.variant
        else None,
        "edits": [_edit(edit) for edit in move.edits],
    }


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "file": str(edit.file),
        "table": edit.table,
        "line": edit.line,
        "old": edit.old,
        "new": edit.new,
        "why": edit.why,
    }
