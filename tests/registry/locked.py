"""Stand-ins for the registries of a lock that cannot be reached from here.

Each serves what the lock names of it: the same files with the same hashes, and METADATA that says
what the lock's edges say. So a project is locked as it would be with its own registries, as far as
nothing moves that comes from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.packages import Dependency, LockedPackage
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.scratch.known import without_pseudo_extras
from tests.registry.recording import RecordedFile, Recording, digest, reduced
from tests.registry.server import Index


@contextmanager
def stand_ins(folder: Path, *reachable: str) -> Iterator[tuple[str, ...]]:
    """Put stand-ins in place of the registries in a project's files; yields those replaced.

    Registries whose address starts with one of `reachable` stay as they are.
    """
    lock = Lock.read(folder / "uv.lock")
    named = {package.source.index for package in lock.packages} | set(_configured(folder))
    registries = sorted(
        registry
        for registry in named
        if registry and "://" in registry and not registry.startswith(reachable)
    )
    replaced: dict[str, str] = {}
    with ExitStack() as running:
        for registry in registries:
            server = running.enter_context(Index(folder / "no recordings"))
            replaced[registry] = server.url
            for package in lock.packages:
                if package.source.index == registry:
                    replaced.update(_serve(server, package, lock))
        for path in (folder / "uv.lock", *folder.rglob("*.toml")):
            _replace(path, replaced)
        yield tuple(registries)


def _configured(folder: Path) -> Iterator[str]:
    try:
        project = Project.find(folder)
    except InputError:
        return
    yield from (index.url.rstrip("/") for index in project.indexes)
    yield from (url.rstrip("/") for url in project.uv_config.table.get("find-links", []))


def _serve(server: Index, package: LockedPackage, lock: Lock) -> Iterator[tuple[str, str]]:
    """Add a package's files to a server; yields their old and new addresses."""
    recording = server.project(package.name) or Recording(name=package.name)
    text = reduced(_metadata(package, lock))
    recording.metadata[digest(text)] = text
    files = (*package.wheels, *((package.sdist,) if package.sdist else ()))
    for file in files:
        path = f"{package.name}/{file.filename}"
        recording.files.append(
            RecordedFile(
                filename=file.filename,
                path=path,
                sha256=(file.hash or "").removeprefix("sha256:"),
                size=file.size or 0,
                upload_time=file.upload_time or "",
                metadata=digest(text) if file.filename.endswith(".whl") else None,
            )
        )
        if file.url:
            yield file.url, server.files_url + path
    server.record(recording)


def _metadata(package: LockedPackage, lock: Lock) -> str:
    fork = _fork(package)
    lines = [f"Metadata-Version: 2.1\nName: {package.name}\nVersion: {package.version}"]
    lines += _requirements(package.dependencies, fork, lock)
    for extra, edges in package.optional_dependencies.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += _requirements(edges, (*fork, f"extra == '{extra}'"), lock)
    return "\n".join(lines) + "\n"


def _fork(package: LockedPackage) -> tuple[str, ...]:
    """Where the package is locked at all: its edges do not repeat that."""
    markers = [without_pseudo_extras(marker) for marker in package.resolution_markers]
    places = [marker for marker in markers if marker]
    return (" or ".join(f"({place})" for place in places),) if places == markers != [] else ()


def _requirements(
    edges: Iterable[Dependency], conditions: Iterable[str], lock: Lock
) -> Iterator[str]:
    """Edges as METADATA has them, with a version where the lock names one, and only one."""
    versions: dict[str, set[str | None]] = {}
    for edge in edges:
        versions.setdefault(edge.name, set()).add(edge.version)
    for edge in edges:
        name = f"{edge.name}[{','.join(edge.extras)}]" if edge.extras else edge.name
        if len(versions[edge.name]) == 1 and edge.version:
            name += f"=={edge.version}"
        own = edge.marker and without_pseudo_extras(edge.marker)
        everywhere = (own, *conditions, _only_linux(lock.target(edge)))
        marker = " and ".join(f"({one})" for one in everywhere if one)
        yield f"Requires-Dist: {name}" + (f" ; {marker}" if marker else "")


def _only_linux(package: LockedPackage) -> str | None:
    """A condition that the lock left out, for the fork is for Linux anyway."""
    tags = [file.filename.rpartition("-")[2] for file in package.wheels]
    linux = tags and all("linux" in tag for tag in tags) and package.sdist is None
    return "sys_platform == 'linux'" if linux else None


def _replace(path: Path, replaced: dict[str, str]) -> None:
    text = path.read_text("utf-8")
    for old in sorted(replaced, key=len, reverse=True):
        text = text.replace(old, replaced[old])
    path.write_text(text, "utf-8")
