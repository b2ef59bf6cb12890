"""GitLab's Code Quality report: an array of issues."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from stackfix.audit.locations import Location
from stackfix.gate.result import Checked, Hit
from stackfix.report.findings import sentence
from stackfix.report.formats.interface import Format, Totals

__all__ = ["make"]

_LEVELS = {"error": "critical", "warning": "minor", "info": "info"}


def make(*, colour: bool) -> Format:
    """The Code Quality format."""
    return _GitLab()


class _GitLab:
    def __init__(self) -> None:
        self._first = True

    def begin(self) -> Iterator[str]:
        yield "["

    def lock(self, checked: Checked) -> Iterator[str]:
        for hit in checked.hits:
            yield "\n" if self._first else ",\n"
            self._first = False
            place = hit.lock or Location(file=checked.path, line=1)
            issue = {
                "description": sentence(hit),
                "check_name": hit.code,
                "fingerprint": _fingerprint(hit, checked.path),
                "severity": _LEVELS[hit.severity],
                "location": {"path": place.file, "lines": {"begin": place.line}},
            }
            yield json.dumps(issue, ensure_ascii=False)

    def end(self, totals: Totals) -> Iterator[str]:
        yield "\n]\n"


def _fingerprint(hit: Hit, path: str) -> str:
    """GitLab tells issues apart by it, so unlike SARIF's it has the message in it."""
    about = "\0".join((hit.code, path, hit.package, hit.version, hit.message, *hit.targets))
    return hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()
