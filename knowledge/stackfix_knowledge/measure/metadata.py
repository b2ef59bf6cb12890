"""What a wheel's METADATA and the pins in it tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.parser import HeaderParser
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

__all__ = ["Metadata", "pins", "read_metadata"]

_MARKERS: Mapping[str, Mapping[str, str]] = {
    "linux_x86_64": {"sys_platform": "linux", "platform_machine": "x86_64"},
    "linux_aarch64": {"sys_platform": "linux", "platform_machine": "aarch64"},
    "win_amd64": {"sys_platform": "win32", "platform_machine": "AMD64"},
    "macos_arm64": {"sys_platform": "darwin", "platform_machine": "arm64"},
}
_SYSTEMS = {"linux": ("Linux", "posix"), "win32": ("Windows", "nt"), "darwin": ("Darwin", "posix")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The lines of METADATA that matter to a resolver."""

    requires: tuple[str, ...]
    """Every Requires-Dist line, extras and markers included."""
    requires_python: str | None


def read_metadata(text: str) -> Metadata:
    """Read METADATA; folded lines become one line."""
    message = HeaderParser().parsestr(text)
    lines = message.get_all("Requires-Dist") or []
    python = message.get("Requires-Python")
    return Metadata(
        requires=tuple(" ".join(str(line).split()) for line in lines),
        requires_python=" ".join(str(python).split()) if python else None,
    )


def pins(requires: Iterable[str], platform: str) -> Mapping[str, Version]:
    """The packages that a platform's installation pins exactly, without extras."""
    found: dict[str, Version] = {}
    for line in requires:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.marker is not None and not requirement.marker.evaluate(
            _environment(platform)
        ):
            continue
        for specifier in requirement.specifier:
            if specifier.operator == "==" and not specifier.version.endswith("*"):
                found[canonicalize_name(requirement.name)] = Version(specifier.version)
    return found


def _environment(platform: str) -> dict[str, Any]:
    chosen = _MARKERS.get(platform, _MARKERS["linux_x86_64"])
    system, os_name = _SYSTEMS[chosen["sys_platform"]]
    return {**chosen, "platform_system": system, "os_name": os_name, "extra": ""}
