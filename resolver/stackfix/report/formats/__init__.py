"""The formats that a check is written in, by name. A module is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from stackfix.report.formats.interface import Format

__all__ = ["FORMATS", "PLACED", "format_named"]

FORMATS = {
    "text": "stackfix.report.formats.text",
    "json": "stackfix.report.formats.json",
    "markdown": "stackfix.report.formats.markdown",
    "sarif": "stackfix.report.formats.sarif",
    "github": "stackfix.report.formats.github",
    "gitlab": "stackfix.report.formats.gitlab",
    "junit": "stackfix.report.formats.junit",
}
"""Name -> module with a function `make(colour=…)` that returns a `Format`."""

PLACED = frozenset({"json", "sarif", "github", "gitlab", "junit"})
"""Formats that name lines."""


def format_named(name: str, *, colour: bool = False) -> Format:
    """The format of that name; KeyError for another."""
    made = import_module(FORMATS[name]).make(colour=colour)
    assert isinstance(made, Format)
    return made
