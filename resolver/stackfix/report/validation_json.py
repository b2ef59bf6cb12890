"""A validation as one document: `schema/validation-1.json` describes it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from stackfix.report.json import target_document

if TYPE_CHECKING:
    from stackfix.validate.result import StageResult, Validation

__all__ = ["SCHEMA", "validation_document"]

SCHEMA = 1
"""Rises only when a key changes its meaning or goes away."""


def validation_document(validation: Validation) -> dict[str, Any]:
    """The validation as one JSON object."""
    installed = validation.installed
    return {
        "schema": SCHEMA,
        "project": validation.project,
        "lock": validation.lock,
        "targets": [target_document(target) for target in validation.targets],
        "cards": list(validation.cards),
        "quick": validation.quick,
        "environment": {
            "python": str(installed.python),
            "version": installed.version,
            "scratch": installed.scratch,
            "kept": str(installed.kept) if installed.kept else None,
            "packages": dict(installed.packages),
        }
        if installed
        else None,
        "outcome": "failed" if validation.failed else "passed",
        "ran_on_a_card": validation.ran_on_a_card,
        "stages": [_stage(stage) for stage in validation.stages],
        "notes": list(validation.notes),
    }


def _stage(stage: StageResult) -> dict[str, Any]:
    return {
        "name": stage.name,
        "title": stage.title,
        "outcome": stage.outcome.value,
        "reason": stage.reason,
        "checks": [
            {"name": check.name, "outcome": check.outcome.value, "detail": check.detail}
            for check in stage.checks
        ],
        "facts": dict(stage.facts),
        "ending": asdict(stage.ending) if stage.ending else None,
        "log": stage.log,
        "cause": {**asdict(stage.cause), "fixes": [asdict(fix) for fix in stage.cause.fixes]}
        if stage.cause
        else None,
    }
