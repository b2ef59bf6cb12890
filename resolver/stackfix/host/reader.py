"""Typed access to a parsed JSON document, with the path of a fault in the error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from stackfix_lockfiles.errors import InputError

__all__ = ["Reader"]

T = TypeVar("T")
Choice = TypeVar("Choice", bound=StrEnum)

_WORDS = {str: "a string", int: "a whole number", bool: "true or false"}


class Reader:
    """Typed access that knows the path of what it reads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def mapping(self, value: object, place: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise InputError(self._path, "expected a JSON object", place=place or None)
        return value

    def sequence(self, data: Mapping[str, Any], key: str, place: str = "") -> list[object]:
        value = data.get(key, [])
        if not isinstance(value, list):
            raise InputError(self._path, "expected a list", place=_join(place, key))
        return value

    def mappings(
        self, data: Mapping[str, Any], key: str, place: str = ""
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The objects of a list, each with its place."""
        for index, item in enumerate(self.sequence(data, key, place)):
            inner = f"{_join(place, key)}[{index}]"
            yield inner, self.mapping(item, inner)

    def whole(self, value: object, place: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise InputError(self._path, f"expected {_WORDS[int]}", place=place)
        return value

    def choice(
        self, data: Mapping[str, Any], key: str, kind: type[Choice], place: str = ""
    ) -> Choice:
        value = self.value(data, key, str, place)
        if value not in list(kind):
            raise InputError(
                self._path, "expected one of " + ", ".join(kind), place=_join(place, key)
            )
        return kind(value)

    def optional_choice(
        self, data: Mapping[str, Any], key: str, kind: type[Choice], place: str = ""
    ) -> Choice | None:
        return None if data.get(key) is None else self.choice(data, key, kind, place)

    def optional_mapping(
        self, data: Mapping[str, Any], key: str, place: str = ""
    ) -> Mapping[str, Any] | None:
        value = data.get(key)
        return None if value is None else self.mapping(value, _join(place, key))

    def optional(
        self, data: Mapping[str, Any], key: str, kind: type[T], place: str = ""
    ) -> T | None:
        return None if data.get(key) is None else self.value(data, key, kind, place)

    def value(self, data: Mapping[str, Any], key: str, kind: type[T], place: str = "") -> T:
        value = data.get(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise InputError(self._path, f"expected {_WORDS[kind]}", place=_join(place, key))
        return value


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key
