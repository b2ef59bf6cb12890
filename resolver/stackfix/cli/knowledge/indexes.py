"""Which package index a command asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.cli.failures import UsageError
from stackfix.cli.parser import Parser

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from stackfix_index.simple import Index

__all__ = ["index_option", "open_index", "pinned"]


def index_option(parser: Parser) -> None:
    """`--index`: the address of the simple API to ask."""
    parser.add_argument(
        "--index",
        metavar="URL",
        help="The package index to ask. Default: UV_DEFAULT_INDEX, else the one that the lock of"
        " the project here names, else that of uv or pip.",
    )


@contextmanager
def open_index(address: str | None) -> Iterator[Index]:
    """The index, connected. Raises Unreadable where none is known."""
    from stackfix_index.client import Client
    from stackfix_index.simple import Index

    address = address or _default()
    with Client() as client:
        yield Index(address, client)


def pinned(texts: Sequence[str]) -> tuple[Requirement, ...]:
    """Releases as `PKG==VERSION`; UsageError for anything else."""
    from packaging.requirements import InvalidRequirement, Requirement

    wanted = []
    for text in texts:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            requirement = None
        clauses = list(requirement.specifier) if requirement else []
        exact = len(clauses) == 1 and clauses[0].operator == "=="
        if requirement is None or not exact or clauses[0].version.endswith(".*"):
            raise UsageError(f"expected releases like torch==2.8.0, not {text!r}")
        wanted.append(requirement)
    return tuple(wanted)


def _default() -> str:
    import os

    from stackfix_index.configured import default_index

    named = any(os.environ.get(name) for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"))
    return default_index() if named else _of_lock(Path()) or default_index()


def _of_lock(folder: Path) -> str | None:
    """The index that most packages of the lock here come from; None without a readable lock."""
    from stackfix_lockfiles.errors import InputError
    from stackfix_lockfiles.lock import Lock
    from stackfix_lockfiles.packages import SourceKind

    path = next((p / "uv.lock" for p in (folder.absolute(), *folder.absolute().parents)
                 if (p / "uv.lock").is_file()), None)  # fmt: skip
    if path is None:
        return None
    try:
        packages = Lock.read(path).packages
    except InputError:
        return None
    addresses = Counter(
        package.source.value
        for package in packages
        if package.source.kind is SourceKind.REGISTRY
        and str(package.source.value).startswith("http")
    )
    return str(addresses.most_common(1)[0][0]) if addresses else None
