"""The whole result as one JSON object, lock by lock."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from msgspec import field

from stackfix.audit.locations import Location
from stackfix.documents.document import Count, Document, as_json
from stackfix.documents.finding import Code, EvidenceDocument
from stackfix.gate.result import Checked
from stackfix.model.finding import Severity
from stackfix.report.formats.interface import Format, Totals

__all__ = ["CheckDocument", "make"]


class HitDocument(Document):
    """One thing that is wrong, on all targets where it is."""

    code: Code
    severity: Severity
    package: str
    version: str
    message: str
    targets: tuple[str, ...]
    """Empty: it holds whatever the target."""
    everywhere: bool = field(name="every_target")
    """Whether these are all targets of the lock."""
    only: str | None
    """Where alone it appears; null: in the plain environment too."""
    via: tuple[str, ...]
    """Names from the project to the package."""
    fix: str | None
    evidence: tuple[EvidenceDocument, ...]
    lock: Location | None
    """The package in the lock."""
    declared: Location | None
    """The requirement in pyproject.toml that brings it."""

    @classmethod
    def derived(cls, source: Any) -> dict[str, Any]:
        return {"only": source.only or None}


class MovedDocument(Document):
    """A GPU package that the change moved."""

    package: str
    was: str | None
    """Its name before, where that changed with the CUDA major."""
    before: str | None = field(name="from")
    """null: it is new."""
    after: str | None = field(name="to")
    """null: it is gone."""
    details: tuple[str, ...]
    """What that means."""
    matters_to: tuple[str, ...]
    """The targets for which it does."""


class LockDocument(Document):
    """The check of one lock."""

    path: str
    """Relative to the repository."""
    fails: bool
    targets: tuple[str, ...]
    judged: tuple[str, ...]
    """Environments beside the plain one: extras, groups, Pythons, platforms."""
    base: str | None
    """What it was compared with."""
    findings: tuple[HitDocument, ...]
    """All; with a base, only what the change makes worse."""
    repaired: tuple[HitDocument, ...]
    """With a base: what the change mends."""
    kept: Count
    """With a base: findings that were there before and still are."""
    moved: tuple[MovedDocument, ...]
    gpu_packages: Count
    unknown: tuple[str, ...]
    """GPU packages nobody measured."""
    unread: tuple[str, ...]
    """Packages whose requirements nobody read."""
    ignored: Count
    """Findings that the project accepts."""
    notes: tuple[str, ...]

    @classmethod
    def derived(cls, source: Any) -> dict[str, Any]:
        return {"findings": source.hits}


class TotalsDocument(Document):
    """Counts over all locks."""

    locks: Count
    failing: Count
    errors: Count
    warnings: Count
    infos: Count
    repaired: Count
    ignored: Count


class CheckDocument(Document):
    """What `stackfix check --format json` prints."""

    schema: Literal[1]
    locks: tuple[LockDocument, ...]
    summary: TotalsDocument


def make(*, colour: bool) -> Format:
    """The JSON format."""
    return _Json()


class _Json:
    """Writes a `CheckDocument` without ever holding it."""

    def __init__(self) -> None:
        self._first = True

    def begin(self) -> Iterator[str]:
        yield '{\n"schema": 1,\n"locks": ['

    def lock(self, checked: Checked) -> Iterator[str]:
        yield "\n" if self._first else ",\n"
        self._first = False
        yield json.dumps(as_json(LockDocument.of(checked)), ensure_ascii=False)

    def end(self, totals: Totals) -> Iterator[str]:
        summary = json.dumps(as_json(TotalsDocument.of(totals)))
        yield f'\n],\n"summary": {summary}\n}}\n'
