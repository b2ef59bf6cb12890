"""SF505: an index that the next `uv lock` would not use again.

What: the lock takes a package from an index that the project names nowhere, or names only for
other packages (`explicit = true`, and no source for this one).

Why: the build came by an environment variable or by hand. The next resolution takes the package
from the default index instead: another CUDA build of torch, without a version changing.

Evidence: the lock's registry beside the project's `[[tool.uv.index]]` and `[tool.uv.sources]`.

Fix: name the index in the project and the package in `[tool.uv.sources]`; a transitive package
needs a requirement or a constraint of its own for a source to count.

Ignore: `[tool.stackfix] ignore = [{ code = "SF505", package = "…", reason = "…" }]`, where
`UV_INDEX` is set wherever anybody locks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from stackfix.model.finding import Finding, Severity
from stackfix_lockfiles.lock import Lock

__all__ = ["NamedIndexes", "OtherIndex"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedIndexes:
    """The indexes that a project names. Addresses have no slash at their end."""

    everywhere: frozenset[str]
    """Those that any package may come from."""
    by_package: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Those that a source names for one package."""
    default: bool = False
    """Whether one of them stands in for the default index."""


class OtherIndex:
    code = "SF505"
    title = "an index that the next `uv lock` would not use again"

    def judge(self, lock: Lock, named: NamedIndexes) -> Iterator[Finding]:
        """The packages of one index are one finding."""
        used = Counter(index for package in lock.packages if (index := package.source.index))
        if not used:
            return
        usual = None if named.default else used.most_common(1)[0][0]
        strays: dict[str, list[tuple[str, str]]] = {}
        for package in lock.packages:
            index = package.source.index
            if index is None or index == usual or index in named.everywhere:
                continue
            if "://" in index and index not in named.by_package.get(package.name, frozenset()):
                strays.setdefault(index, []).append((package.name, package.version or ""))
        for index, packages in strays.items():
            name, version = next((p for p in packages if p[0] == "torch"), packages[0])
            others = len({name for name, _ in packages}) - 1
            more = f" and {others} more" if others else ""
            yield Finding(
                code=self.code,
                severity=Severity.WARNING,
                package=name,
                version=version,
                message=f"{name} {version}{more} comes from {_without_user(index)}, an index that "
                "the project does not name for it",
            )


def _without_user(address: str) -> str:
    scheme, separator, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"
