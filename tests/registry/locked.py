"""Stand-ins for the registries of a lock that cannot be reached from here.

Each serves what the lock names of it: the same files with the same hashes, and METADATA that says
what the lock's edges say. So a project is locked as it would be with its own registries, as far as
nothing moves that comes from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.packages import LockedPackage
from stackfix_lockfiles.scratch.known import recorded
from tests.registry.recording import RecordedFile, Recording, digest, reduced
from tests.registry.server import Index


@contextmanager
def stand_ins(folder: Path, *reachable: str) -> Iterator[tuple[str, ...]]:
    """Put stand-ins in place of the registries in a project's files; yields those replaced.

    Registries whose address starts with one of `reachable` stay as they are.
    """
    lock = Lock.read(folder / "uv.lock")
    replaced: dict[str, str] = {}
    with ExitStack() as running:
        registries = sorted({p.source.index for p in lock.packages if p.source.index})
        for registry in registries:
            if registry.startswith(reachable) or "://" not in registry:
                continue
            server = running.enter_context(Index(folder / "no recordings"))
            replaced[registry] = server.url
            for package in lock.packages:
                if package.source.index == registry:
                    replaced.update(_serve(server, package))
        for path in (folder / "uv.lock", *folder.rglob("*.toml")):
            _replace(path, replaced)
        yield tuple(registry for registry in registries if registry in replaced)


def _serve(server: Index, package: LockedPackage) -> Iterator[tuple[str, str]]:
    """Add a package's files to a server; yields their old and new addresses."""
    recording = server.project(package.name) or Recording(name=package.name)
    text = reduced(_metadata(package))
    recording.metadata[digest(text)] = text
    files = (*package.wheels, *((package.sdist,) if package.sdist else ()))
    for file in files:
        path = f"{package.name}/{file.filename}"
        recording.files.append(
            RecordedFile(
                filename=file.filename,
                path=path,
                sha256=(file.hash or "sha256:" + "0" * 64).removeprefix("sha256:"),
                size=file.size or 0,
                upload_time=file.upload_time or "",
                metadata=digest(text) if file.filename.endswith(".whl") else None,
            )
        )
        if file.url:
            yield file.url, server.files_url + path
    server.record(recording)


def _metadata(package: LockedPackage) -> str:
    assert package.version is not None
    entry = recorded(package, package.version)
    lines = [f"Metadata-Version: 2.1\nName: {package.name}\nVersion: {package.version}"]
    lines += [f"Provides-Extra: {extra}" for extra in entry.extras]
    lines += [f"Requires-Dist: {requirement}" for requirement in entry.requires_dist]
    return "\n".join(lines) + "\n"


def _replace(path: Path, replaced: dict[str, str]) -> None:
    text = path.read_text("utf-8")
    for old in sorted(replaced, key=len, reverse=True):
        text = text.replace(old, replaced[old])
    path.write_text(text, "utf-8")
