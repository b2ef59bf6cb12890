"""Diagnoses as JSON: `schema/diagnosis-1.json` describes it, a test holds them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stackfix.diagnose.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable

    from stackfix.diagnose.diagnosis import Diagnosis, Event

__all__ = ["DIAGNOSIS_SCHEMA", "diagnosis_document"]

DIAGNOSIS_SCHEMA = 1
"""Version of the JSON. Rises only when a key changes its meaning or goes away."""


def diagnosis_document(diagnosis: Diagnosis, redactor: Redactor | None = None) -> dict[str, Any]:
    """The diagnosis as one JSON object; with a redactor without what identifies anybody."""
    text = redactor.text if redactor else _same
    name = redactor.name if redactor else _same

    def line(event: Event) -> dict[str, Any]:
        return {
            "file": name(event.file),
            "line": event.line,
            "text": text(event.text),
            "rank": event.rank,
        }

    return {
        "schema": DIAGNOSIS_SCHEMA,
        "family": diagnosis.family.name,
        "meaning": diagnosis.family.meaning,
        "confidence": diagnosis.confidence.value,
        "why": text(diagnosis.why),
        "cause": [line(event) for event in diagnosis.cause],
        "rank": diagnosis.rank,
        "ranks": list(diagnosis.ranks),
        "wrappers": [line(event) for event in diagnosis.wrappers],
        "collateral": [line(event) for event in diagnosis.collateral],
        "others": [{"family": e.family, **line(e)} for e in diagnosis.others],
        "timeline": [
            {"role": step.event.role.value, "time": step.event.time, **line(step.event)}
            for step in diagnosis.timeline
        ],
        "versions": diagnosis.versions,
        "differing": [text(sentence) for sentence in diagnosis.differing],
        "cards": list(diagnosis.cards),
        "fix": [
            {"kind": remedy.kind.value, "text": remedy.text, "command": remedy.command}
            for remedy in diagnosis.remedies
        ],
        "verify": diagnosis.verify,
        "safety": diagnosis.family.safety,
        "unknown": [text(sentence) for sentence in diagnosis.unknown],
        "notes": [text(sentence) for sentence in diagnosis.notes],
        "evidence": [evidence.describe() for evidence in diagnosis.evidence],
        "stack": _stack_match(diagnosis, text),
        "read": {"files": diagnosis.files, "lines": diagnosis.lines},
    }


def _stack_match(diagnosis: Diagnosis, text: Callable[[str], str]) -> dict[str, Any] | None:
    if diagnosis.stack_match is None:
        return None
    return {
        "agrees": diagnosis.stack_match.agrees,
        "sentence": text(diagnosis.stack_match.sentence),
        "codes": list(diagnosis.stack_match.codes),
        "findings": list(diagnosis.stack_match.findings),
        "host": [text(sentence) for sentence in diagnosis.stack_match.host],
    }


def _same(text: str) -> str:
    return text
