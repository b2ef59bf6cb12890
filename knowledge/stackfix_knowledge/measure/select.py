"""Which wheel stands for a release on a platform.

The wheels of one release and platform differ in the Python tag only and carry the same GPU code
and, as a rule, the same metadata. One is read for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from stackfix_knowledge.measure.index import IndexFile

__all__ = ["PLATFORMS", "by_release", "platform_of"]

PLATFORMS = ("linux_x86_64", "linux_aarch64", "win_amd64", "macos_arm64", "any")
"""Platforms by the name that facts use."""

_PREFERRED_PYTHONS = ("cp311", "cp310", "cp312", "cp39", "cp313", "cp38", "cp314")


def platform_of(tag: str) -> str | None:
    """The platform of a wheel tag such as ``manylinux_2_28_x86_64``; None: not one of ours."""
    if tag == "any":
        return "any"
    if tag.startswith(("manylinux", "linux")):
        for machine in ("x86_64", "aarch64"):
            if tag.endswith(machine):
                return f"linux_{machine}"
    if tag.startswith("macosx"):
        return "macos_arm64" if tag.endswith(("arm64", "universal2")) else None
    return "win_amd64" if tag == "win_amd64" else None


def by_release(
    package: str, files: Iterable[IndexFile], platforms: Sequence[str]
) -> Mapping[Version, Mapping[str, IndexFile]]:
    """The representative wheels by version and platform, versions ascending.

    A release without a wheel for any of the platforms has an empty entry. Files whose name is no
    wheel's, or another package's, are left out.
    """
    ranked: dict[Version, dict[str, tuple[tuple[int, ...], IndexFile]]] = {}
    for file in files:
        try:
            name, version, build, tags = parse_wheel_filename(file.filename)
        except InvalidWheelFilename:
            continue
        if name != canonicalize_name(package):
            continue
        best = ranked.setdefault(version, {})
        pythons = {tag.interpreter for tag in tags}
        for platform in {platform_of(tag.platform) for tag in tags} & set(platforms):
            if platform is None:
                continue
            rank = (_python_rank(pythons), -(build[0] if build else 0))
            if platform not in best or rank < best[platform][0]:
                best[platform] = (rank, file)
    return {
        version: {platform: best[platform][1] for platform in PLATFORMS if platform in best}
        for version, best in sorted(ranked.items())
    }


def _python_rank(pythons: set[str]) -> int:
    ranks = [_PREFERRED_PYTHONS.index(tag) for tag in pythons if tag in _PREFERRED_PYTHONS]
    if any(tag.startswith("py") for tag in pythons):
        return -1
    return min(ranks, default=len(_PREFERRED_PYTHONS))
