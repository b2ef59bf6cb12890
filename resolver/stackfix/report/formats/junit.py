"""JUnit XML: each lock is a suite, each finding a case that failed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from stackfix.gate.result import Checked, Hit
from stackfix.model.finding import Severity
from stackfix.report.findings import sentence, via_words
from stackfix.report.formats.interface import Format, Totals

__all__ = ["make"]

_FORBIDDEN = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def make(*, colour: bool) -> Format:
    """The JUnit format."""
    return _JUnit()


class _JUnit:
    def begin(self) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="stackfix check">\n'

    def lock(self, checked: Checked) -> Iterator[str]:
        order = list(Severity)
        level = order.index(checked.fail_on)
        failed = [hit for hit in checked.hits if order.index(hit.severity) <= level]
        rest = [hit for hit in checked.hits if order.index(hit.severity) > level]
        cases = len(failed) + len(rest) or 1
        yield (
            f'  <testsuite name={_attribute(checked.path)} tests="{cases}" '
            f'failures="{len(failed)}" errors="0" skipped="0">\n'
        )
        for hit in failed:
            yield from self._case(hit, checked.path, failed=True)
        for hit in rest:
            yield from self._case(hit, checked.path, failed=False)
        if not checked.hits:
            path = _attribute(checked.path)
            yield f'    <testcase classname={path} name="supports its targets"/>\n'
        yield "  </testsuite>\n"

    def _case(self, hit: Hit, path: str, *, failed: bool) -> Iterator[str]:
        name = f"{hit.code} {hit.title}" + (f" [{', '.join(hit.targets)}]" if hit.targets else "")
        yield f"    <testcase classname={_attribute(path)} name={_attribute(name)}"
        if hit.lock:
            yield f' file={_attribute(hit.lock.file)} line="{hit.lock.line}"'
        lines = [sentence(hit), f"fix: {hit.fix}" if hit.fix else "", via_words(hit)]
        lines += [evidence.describe() for evidence in hit.evidence]
        text = escape(_allowed("\n".join(line for line in lines if line)))
        if failed:
            what = f"message={_attribute(hit.message)} type={_attribute(hit.code)}"
            yield f">\n      <failure {what}>"
            yield f"{text}</failure>\n    </testcase>\n"
        else:
            yield f">\n      <system-out>{text}</system-out>\n    </testcase>\n"

    def end(self, totals: Totals) -> Iterator[str]:
        yield "</testsuites>\n"


def _attribute(text: str) -> str:
    return quoteattr(_allowed(text))


def _allowed(text: str) -> str:
    """Text without the characters that XML cannot hold, or would read back as others."""
    return _FORBIDDEN.sub("�", text)
