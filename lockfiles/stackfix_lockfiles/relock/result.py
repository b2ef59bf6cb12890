"""uv's lock of the scratch copy, made into the lock of the project."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.relock.refusals import RelockRefused
from stackfix_lockfiles.scratch import Known

__all__ = ["for_project", "other_index"]

_ENTRY = "[[manifest.dependency-metadata]]"
_REGISTRY = re.compile(r'^source = \{ registry = "([^"]+)"', re.MULTILINE)
_FIELD = re.compile(r'(name|version) = "([^"]*)"')


def for_project(data: bytes, injected: Collection[Known], unversioned: Collection[str]) -> bytes:
    """Take out what was put in, and only that: injected metadata and stand-in versions.

    Raises:
        InputError: uv wrote no lock that can be read.
        RelockRefused: nothing could be taken out safely.
    """
    if not injected and not unversioned:
        return data
    blocks = _blocks(data.decode("utf-8"))
    given = {(entry.name, entry.version) for entry in injected}
    kept = []
    for block in blocks:
        fields = dict(_FIELD.findall("\n".join(block.splitlines()[:4])))
        if block.startswith(_ENTRY) and (fields.get("name"), fields.get("version")) in given:
            continue
        if block.startswith("[[package]]") and fields.get("name") in unversioned and _local(block):
            block = re.sub(r'^version = "[^"]*"\n', "", block, count=1, flags=re.MULTILINE)
        kept.append(block)
    result = "".join(kept).encode()
    _check(Lock.parse(data), Lock.parse(result), given, unversioned)
    return result


def other_index(old: Lock | None, data: bytes) -> tuple[str, ...]:
    """A warning where the index that most of the old lock came from is in the new one no more.

    That of a company is often named in a variable or a user's uv.toml, which not every machine has.
    What takes another version moves on purpose, to another index too: what stays tells.
    """
    if old is None:
        return ()
    stay = {(p.name, p.version) for p in Lock.parse(data).packages}
    indexed = [p for p in old.packages if p.source.index]
    before = Counter(p.source.index for p in indexed if (p.name, p.version) in stay)
    after = Counter(found.rstrip("/") for found in _REGISTRY.findall(data.decode("utf-8")))
    if not before or not after or before.most_common(1)[0][0] in after:
        return ()
    (gone, _), (now, _) = before.most_common(1)[0], after.most_common(1)[0]
    count = sum(p.source.index == gone for p in indexed)
    warning = (
        f"uv.lock takes {count} packages from {gone}, which no setting here names: uv took them "
        f"from {now}; if that is not meant, set UV_DEFAULT_INDEX and plan again"
    )
    return (warning,)


def _blocks(text: str) -> list[str]:
    """The document cut before each line that opens a table."""
    return re.split(r"^(?=\[)", text, flags=re.MULTILINE)


def _local(block: str) -> bool:
    return re.search(r"^source = \{ (?:editable|virtual|directory) = ", block, re.M) is not None


def _check(
    before: Lock,
    after: Lock,
    given: Collection[tuple[str, str]],
    unversioned: Collection[str],
) -> None:
    """Guard against a layout that the cut above does not understand: never write such a lock."""
    left = [
        entry
        for entry in before.manifest.dependency_metadata
        if (entry.get("name"), entry.get("version")) not in given
    ]
    same = (
        list(after.manifest.dependency_metadata) == left
        and len(before.packages) == len(after.packages)
        and all(
            {**old.raw, "version": None} == {**new.raw, "version": None}
            and (new.version == old.version or (new.version is None and old.name in unversioned))
            for old, new in zip(before.packages, after.packages, strict=True)
        )
    )
    if not same:
        raise RelockRefused("uv's lock has a layout that stackfix does not know; it is not used")
