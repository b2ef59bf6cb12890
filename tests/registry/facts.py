"""An index made of what the graph knows: every release of the GPU stack, with nothing around it.

Wheels have the hashes of the measured ones and METADATA with the requirements that facts record,
those on other packages left out. So whole stacks lock and move without a recording of
their surroundings. PyTorch's indexes are the derived ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from stackfix_knowledge.graph import Graph
from stackfix_knowledge.wheels.release import Release, WheelFact
from tests.registry.recording import RecordedFile, Recording, digest
from tests.registry.server import Index

__all__ = ["FactsIndex"]

TAGS = {
    "linux_x86_64": "manylinux_2_28_x86_64",
    "linux_aarch64": "manylinux_2_28_aarch64",
    "win_amd64": "win_amd64",
    "macos_arm64": "macosx_14_0_arm64",
    "any": "any",
}


class FactsIndex(Index):
    """Serves the graph's releases in place of recordings; other packages are the recorded ones."""

    def __init__(self, graph: Graph, *, lasting: bool = False) -> None:
        super().__init__(lasting=lasting)
        self._graph = graph

    def project(self, name: str) -> Recording | None:
        if not self._graph.releases(name):
            return super().project(name)
        with self._lock:
            if name not in self._known:
                self._known[name] = self._made(name)
            return self._known[name]

    def _made(self, name: str) -> Recording:
        recording = Recording(name=name, note="made from the facts")
        for release in self._graph.releases(name):
            if release.home is None:
                for wheel in release.wheels:
                    self._add(recording, release, wheel)
        return recording

    def _add(self, recording: Recording, release: Release, wheel: WheelFact) -> None:
        text = "\n".join(self._text(release, wheel)) + "\n"
        folded = release.package.replace("-", "_")
        filename = f"{folded}-{release.version}-py3-none-{TAGS[wheel.platform]}.whl"
        path = f"facts/{filename}"
        recording.metadata[digest(text)] = text
        self._metadata[path] = text
        recording.files.append(
            RecordedFile(
                filename=filename,
                path=path,
                sha256=wheel.sha256 or digest(filename),
                size=0,
                upload_time="",
                requires_python=wheel.requires_python,
                yanked=release.yanked,
                metadata=digest(text),
            )
        )

    def _text(self, release: Release, wheel: WheelFact) -> Iterator[str]:
        yield from ("Metadata-Version: 2.1", f"Name: {release.package}")
        yield f"Version: {release.version}"
        extras: set[str] = set()
        for line in wheel.requires or ():
            try:
                requirement = Requirement(line)
            except InvalidRequirement:
                continue
            name = canonicalize_name(requirement.name)
            if self._graph.packages.get(name) is not None and self._graph.releases(name):
                yield f"Requires-Dist: {line}"
            for quoted in line.partition("extra ==")[2:]:
                extras.add(quoted.strip().strip("()").strip("'\" "))
        yield from (f"Provides-Extra: {extra}" for extra in sorted(extras) if extra)
