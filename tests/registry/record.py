"""Record real releases for the local index: `python -m tests.registry.record UV_LOCK…`.

Records every package of the given uv.lock files at its locked version, the GPU stack as
`stack.toml` says, and the releases that any of these require exactly. The index is this machine's.

The first lock is the fixture's, `tests/fixtures/openpi/uv.lock`. Then come the same after
`uv lock --upgrade` and locks of the small projects in `test_index.py`, so that those resolve.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from stackfix_index.client import Client
from stackfix_lockfiles.metadata import RemoteMetadata
from tests.registry.real import real_index
from tests.registry.recording import FOLDER, RecordedFile, Recording, digest, reduced, version_of

_SPLIT_BY_PLATFORM = {"torch", "torchvision", "torchaudio", "torchcodec", "triton", "jaxlib"}
_AT_ONCE = 8
_ROUNDS = 6


class Recorder:
    """Collects which releases to record, and fetches them."""

    def __init__(self, client: httpx.AsyncClient, index: str, files_host: str) -> None:
        self.client = client
        self.reader = RemoteMetadata(Client())
        self.index = index.rstrip("/")
        self.files_host = files_host
        self.limit = asyncio.Semaphore(_AT_ONCE)
        self.pages: dict[str, dict[str, Any]] = {}
        self.wanted: dict[str, set[str]] = defaultdict(set)
        self.done: dict[str, set[str]] = defaultdict(set)
        self.recordings: dict[str, Recording] = {}
        self.first: dict[str, str] = {}
        """What the first lock has: the fixture's."""

    async def get(self, url: str, **headers: str) -> httpx.Response:
        async with self.limit:
            for attempt in range(4):
                try:
                    answer = await self.client.get(url, headers=headers)
                    if answer.status_code < 500:
                        return answer
                except httpx.TransportError:
                    pass
                await asyncio.sleep(2**attempt)
        raise SystemExit(f"no answer: {url}")

    async def page(self, name: str) -> dict[str, Any]:
        if name not in self.pages:
            accept = "application/vnd.pypi.simple.v1+json"
            answer = await self.get(f"{self.index}/{name}/", Accept=accept)
            self.pages[name] = answer.json() if answer.status_code == 200 else {"files": []}
        return self.pages[name]

    async def releases(self, name: str) -> dict[Version, list[dict[str, Any]]]:
        found: dict[Version, list[dict[str, Any]]] = defaultdict(list)
        for file in (await self.page(name))["files"]:
            try:
                found[Version(version_of(file["filename"]))].append(file)
            except (InvalidVersion, IndexError):
                continue
        return found

    async def want(self, name: str, specifier: str, newest: int | None = None) -> None:
        allowed = SpecifierSet(specifier)
        versions = [
            version
            for version, files in sorted((await self.releases(name)).items())
            if version in allowed
            and not version.is_prerelease
            and not all(file.get("yanked") for file in files)
        ]
        self.wanted[name].update(map(str, versions[-newest:] if newest else versions))

    async def record_wanted(self, prefixes: tuple[str, ...]) -> bool:
        """Fetch what is wanted and not recorded; whether that named something new."""
        todo = [
            (name, version)
            for name, versions in self.wanted.items()
            for version in versions - self.done[name]
        ]
        await asyncio.gather(*(self.record(name, version) for name, version in todo))
        for name, version in todo:
            self.done[name].add(version)
        await self.follow(prefixes)
        return bool(todo)

    async def follow(self, prefixes: tuple[str, ...]) -> None:
        new: set[str] = set()
        for recording in list(self.recordings.values()):
            for text in recording.metadata.values():
                for line in re.findall(r"^Requires-Dist: (.*)$", text, re.MULTILINE):
                    try:
                        requirement = Requirement(line)
                    except InvalidRequirement:
                        continue
                    name = str(canonicalize_name(requirement.name))
                    if name not in self.wanted and name.startswith(prefixes):
                        new.add(name)
                    elif name in self.wanted:
                        for part in requirement.specifier:
                            if part.operator == "==" and not part.version.endswith("*"):
                                self.wanted[name].add(str(Version(part.version)))
        for name in sorted(new):
            await self.want(name, "")

    async def record(self, name: str, version: str) -> None:
        files = (await self.releases(name)).get(Version(version), [])
        if name in self.first and version != self.first[name] and not _has_wheel(files):
            return  # uv would have to download it, and the index serves no sdists
        recording = self.recordings.setdefault(name, Recording(name=name))
        groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for file in files:
            groups[_group(name, file["filename"])].append(file)
        for key, members in groups.items():
            text = None if key == "sdist" else await self.metadata(members)
            if text is not None:
                recording.metadata[digest(text)] = text
            for file in members:
                if file["filename"].endswith((".whl", ".tar.gz", ".zip")):
                    recording.files.append(self.entry(file, text))

    async def metadata(self, files: list[dict[str, Any]]) -> str | None:
        """One METADATA stands for a group of wheels."""
        file = min(files, key=lambda file: "cp311" not in file["filename"])
        async with self.limit:
            text = await asyncio.to_thread(self.reader.read, file["url"])
        if text is None:
            sys.stderr.write(f"no METADATA: {file['filename']}\n")
            return None
        return reduced(text)

    def entry(self, file: dict[str, Any], text: str | None) -> RecordedFile:
        url: str = file["url"]
        prefix = f"https://{self.files_host}/"
        if not url.startswith(prefix):
            raise SystemExit(f"expected a file on {self.files_host}, found {url}")
        return RecordedFile(
            filename=file["filename"],
            path=url.removeprefix(prefix),
            sha256=file["hashes"]["sha256"],
            size=file["size"],
            upload_time=file["upload-time"],
            requires_python=file.get("requires-python"),
            yanked=file.get("yanked", False),
            metadata=None if text is None else digest(text),
        )


def _group(name: str, filename: str) -> str:
    if not filename.endswith(".whl"):
        return "sdist"
    if name not in _SPLIT_BY_PLATFORM:
        return "wheel"
    tag = filename.rpartition("-")[2]
    for part in ("aarch64", "x86_64", "win", "macos"):
        if part in tag and not (part == "x86_64" and "macos" in tag):
            return part
    return "wheel"


def _has_wheel(files: list[dict[str, Any]]) -> bool:
    return any(file["filename"].endswith(".whl") for file in files)


def _locked(path: Path) -> list[tuple[str, str]]:
    packages = tomllib.loads(path.read_text())["package"]
    return [(p["name"], p["version"]) for p in packages if "registry" in p["source"]]


async def record(locks: list[Path]) -> None:
    """Record and write; prints how much there is."""
    stack = tomllib.loads((Path(__file__).parent / "stack.toml").read_text())
    prefixes = tuple(stack["required"]["prefixes"])
    async with httpx.AsyncClient(timeout=60, follow_redirects=True) as client:
        simple, hosted = real_index()
        recorder = Recorder(client, simple, urlsplit(hosted).netloc)
        for path in locks:
            for name, version in _locked(path):
                recorder.wanted[name].add(str(Version(version)))
                if path == locks[0]:
                    recorder.first[name] = str(Version(version))
        await asyncio.gather(*(recorder.want(*item) for item in stack["every"].items()))
        for name, count in stack["newest"].items():
            await recorder.want(name, "", newest=count)
        for name in [name for name in recorder.wanted if name.startswith(prefixes)]:
            await recorder.want(name, "")  # a lock names one version; a move needs its neighbours
        for _ in range(_ROUNDS):
            if not await recorder.record_wanted(prefixes):
                break
    for old in FOLDER.glob("*.json.gz"):
        old.unlink()
    total = sum(recording.save() for recording in recorder.recordings.values())
    files = sum(len(recording.files) for recording in recorder.recordings.values())
    sys.stdout.write(f"{len(recorder.recordings)} projects, {files} files, {total / 1e6:.1f} MB\n")


if __name__ == "__main__":
    asyncio.run(record([Path(name) for name in sys.argv[1:]]))
