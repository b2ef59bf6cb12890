"""Targets that a project declares: `[tool.stackfix] targets` in its pyproject.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stackfix.model.target import PLATFORMS, Target
from stackfix.targets.parse import FORM, TargetError, parse_target, target_of_card
from stackfix_knowledge.cards.gpus import GpuTable
from stackfix_knowledge.hardware import DriverVersion
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.pyproject import Pyproject

__all__ = ["declared_targets"]

_TABLE = ("tool", "stackfix")
_KEYS = ("name", "gpu", "count", "driver", "compat", "platform")


def declared_targets(file: Pyproject, gpus: GpuTable) -> tuple[Target, ...]:
    """The targets of a project's file; none where it declares none. Raises InputError."""
    entries = file.table(*_TABLE).get("targets", [])
    if not isinstance(entries, list):
        raise file.fault((*_TABLE, "targets"), "expected a list of targets")
    return tuple(
        _DeclaredTarget(file, index, gpus).target(entry) for index, entry in enumerate(entries)
    )


class _DeclaredTarget:
    """One entry of the list, a string or a table, read with its place for errors."""

    def __init__(self, file: Pyproject, index: int, gpus: GpuTable) -> None:
        self._file = file
        self._index = index
        self._gpus = gpus

    def target(self, entry: object) -> Target:
        if isinstance(entry, str):
            try:
                return parse_target(entry, self._gpus)
            except TargetError as error:
                raise self._fault(str(error)) from None
        if not isinstance(entry, dict):
            raise self._fault(f"expected {FORM}, or a table with " + ", ".join(_KEYS))
        for key in entry:
            if key not in _KEYS:
                raise self._fault("expected one of the keys " + ", ".join(_KEYS), key)
        return self._of_table(entry)

    def _of_table(self, entry: Mapping[str, Any]) -> Target:
        count = entry.get("count", 1)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise self._fault("expected a whole number of cards", "count")
        try:
            target = target_of_card(
                self._text(entry, "gpu"),
                self._gpus,
                count=count,
                driver=self._driver(entry, "driver"),
            )
        except TargetError as error:
            raise self._fault(str(error), "gpu") from None
        platform = self._text(entry, "platform") if "platform" in entry else target.platform
        if platform not in PLATFORMS:
            raise self._fault("expected one of " + ", ".join(PLATFORMS), "platform")
        name = self._text(entry, "name") if "name" in entry else None
        compat = self._driver(entry, "compat")
        return replace(target, platform=platform, name=name, compat=compat)

    def _driver(self, entry: Mapping[str, Any], key: str) -> DriverVersion | None:
        if key not in entry:
            return None
        try:
            return DriverVersion.parse(self._text(entry, key))
        except ValueError:
            raise self._fault('expected a driver version like "570.133.07"', key) from None

    def _text(self, entry: Mapping[str, Any], key: str) -> str:
        value = entry.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self._fault("expected a string", key)
        return value.strip()

    def _fault(self, expected: str, *key: str) -> InputError:
        return self._file.fault((*_TABLE, "targets", self._index, *key), expected)
