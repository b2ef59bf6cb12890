"""SARIF 2.1.0, for code scanning.

A result stands at the package in uv.lock; the requirement in pyproject.toml that brings it is its
related location. Fingerprints leave versions out, so that an alert stays one alert over bumps.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from stackfix.audit.locations import Location
from stackfix.gate.result import Checked, Hit
from stackfix.report.findings import sentence, via_words
from stackfix.report.formats.interface import Format, Totals

__all__ = ["make"]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def make(*, colour: bool) -> Format:
    """The SARIF format."""
    return _Sarif()


class _Sarif:
    def __init__(self) -> None:
        from stackfix.rules.catalogue import titles

        self._titles = titles()
        self._places = {code: place for place, code in enumerate(self._titles)}
        self._first = True

    def begin(self) -> Iterator[str]:
        yield f'{{\n"$schema": "{_SCHEMA}",\n"version": "2.1.0",\n"runs": [{{\n"results": ['

    def lock(self, checked: Checked) -> Iterator[str]:
        for hit in checked.hits:
            yield "\n" if self._first else ",\n"
            self._first = False
            yield json.dumps(self._result(hit, checked.path), ensure_ascii=False)

    def _result(self, hit: Hit, path: str) -> dict[str, Any]:
        text = sentence(hit) + (f" Fix: {hit.fix}." if hit.fix else "")
        place = hit.lock or Location(file=path, line=1)
        result: dict[str, Any] = {
            "ruleId": hit.code,
            "ruleIndex": self._places[hit.code],
            "level": _LEVELS[hit.severity],
            "message": {"text": text},
            "locations": [{"physicalLocation": _location(place)}],
            "partialFingerprints": {"stackfix/v1": _fingerprint(hit, path)},
            "properties": {
                "package": hit.package,
                "version": hit.version,
                "targets": list(hit.targets),
                "evidence": [evidence.describe() for evidence in hit.evidence],
            },
        }
        if hit.declared:
            said = via_words(hit) or f"{hit.package} is required here"
            result["relatedLocations"] = [
                {"id": 0, "physicalLocation": _location(hit.declared), "message": {"text": said}}
            ]
        return result

    def end(self, totals: Totals) -> Iterator[str]:
        driver = {
            "name": "stackfix",
            "semanticVersion": _version(),
            "rules": [self._rule(code) for code in self._titles],
        }
        yield f'\n],\n"tool": {{"driver": {json.dumps(driver, ensure_ascii=False)}}},\n'
        yield '"columnKind": "unicodeCodePoints"\n}]\n}\n'

    def _rule(self, code: str) -> dict[str, Any]:
        from stackfix.rules.catalogue import explain

        title, text = self._titles[code], explain(code) or ""
        return {
            "id": code,
            "shortDescription": {"text": title},
            "fullDescription": {"text": title},
            "help": {"text": text},
        }


def _location(place: Location) -> dict[str, Any]:
    from urllib.parse import quote

    return {
        "artifactLocation": {"uri": quote(place.file), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": place.line},
    }


def _fingerprint(hit: Hit, path: str) -> str:
    about = "\0".join((hit.code, path, hit.package, *hit.targets))
    return hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("stackfix")
    except metadata.PackageNotFoundError:
        return "0.0.0"
