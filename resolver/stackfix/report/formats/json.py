"""The whole result as one JSON object: `schema/check-1.json` describes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from stackfix.audit.locations import Location
from stackfix.gate.result import Checked, Hit
from stackfix.report.formats.interface import Format, Totals

__all__ = ["SCHEMA", "make"]

SCHEMA = 1
"""Rises only when a key changes its meaning or goes away."""


def make(*, colour: bool) -> Format:
    """The JSON format."""
    return _Json()


class _Json:
    def __init__(self) -> None:
        self._first = True

    def begin(self) -> Iterator[str]:
        yield f'{{\n"schema": {SCHEMA},\n"locks": ['

    def lock(self, checked: Checked) -> Iterator[str]:
        yield "\n" if self._first else ",\n"
        self._first = False
        yield json.dumps(_lock(checked), ensure_ascii=False)

    def end(self, totals: Totals) -> Iterator[str]:
        summary = {
            "locks": totals.locks,
            "failing": totals.failing,
            "errors": totals.errors,
            "warnings": totals.warnings,
            "infos": totals.infos,
            "repaired": totals.repaired,
            "ignored": totals.ignored,
        }
        yield f'\n],\n"summary": {json.dumps(summary)}\n}}\n'


def _lock(checked: Checked) -> dict[str, Any]:
    return {
        "path": checked.path,
        "fails": checked.fails,
        "targets": list(checked.targets),
        "judged": list(checked.judged),
        "base": checked.base,
        "findings": [_hit(hit) for hit in checked.hits],
        "repaired": [_hit(hit) for hit in checked.repaired],
        "kept": checked.kept,
        "moved": [
            {
                "package": move.package,
                "was": move.was,
                "from": move.before,
                "to": move.after,
                "details": list(move.details),
                "matters_to": list(move.matters_to),
            }
            for move in checked.moved
        ],
        "gpu_packages": checked.gpu_packages,
        "unknown": list(checked.unknown),
        "unread": list(checked.unread),
        "ignored": checked.ignored,
        "notes": list(checked.notes),
    }


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "code": hit.code,
        "severity": hit.severity.value,
        "package": hit.package,
        "version": hit.version,
        "message": hit.message,
        "targets": list(hit.targets),
        "every_target": hit.everywhere,
        "only": hit.only or None,
        "via": list(hit.via),
        "fix": hit.fix,
        "evidence": [
            {
                "kind": evidence.kind.value,
                "source": evidence.source,
                "date": evidence.date,
                "sha256": evidence.sha256,
                "words": evidence.words,
                "confirmed": evidence.confirmed,
            }
            for evidence in hit.evidence
        ],
        "lock": _spot(hit.lock),
        "declared": _spot(hit.declared),
    }


def _spot(spot: Location | None) -> dict[str, Any] | None:
    return {"file": spot.file, "line": spot.line} if spot else None
