"""Advice about the environment as JSON: `schema/env-1.json` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from stackfix.report.json import target_document

if TYPE_CHECKING:
    from stackfix.env.advise import Advice
    from stackfix.model.target import Target

__all__ = ["SCHEMA", "env_document"]

SCHEMA = 1
"""Version of the JSON form. Rises only when a key changes its meaning or goes away."""


def env_document(advice: Advice, targets: Sequence[Target]) -> dict[str, Any]:
    """The advice as one JSON object."""
    return {
        "schema": SCHEMA,
        "targets": [target_document(target) for target in targets],
        "variables": [asdict(variable) for variable in advice.variables],
        "notes": list(advice.notes),
    }
