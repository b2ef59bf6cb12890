"""The local index answers as a real one does, and its recordings hold together."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest

from stackfix_lockfiles.project import Project
from stackfix_lockfiles.scratch import scratch
from stackfix_lockfiles.scratch.known import known
from stackfix_lockfiles.uv import Uv
from tests.registry.recording import FOLDER, Recording, reduced
from tests.registry.server import Index

JSON = "application/vnd.pypi.simple.v1+json"


def ask(url: str, **headers: str) -> tuple[int, str, bytes]:
    request = urllib.request.Request(
        url, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read()


def test_recordings_stay_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 12_000_000


def test_a_recording_is_written_as_it_was_read(tmp_path: Path) -> None:
    recording = Recording.load("torch")
    assert recording
    recording.save(tmp_path)
    assert Recording.load("torch", tmp_path) == recording
    assert (tmp_path / "torch.json.gz").read_bytes() == (FOLDER / "torch.json.gz").read_bytes()


def test_a_page_in_json_and_in_html(index: Index) -> None:
    status, kind, body = ask(f"{index.url}/torch/", Accept=JSON)
    assert (status, kind) == (200, JSON)
    page = json.loads(body)
    names = {file["filename"] for file in page["files"]}
    wheel = "torch-2.7.1-cp311-cp311-manylinux_2_28_x86_64.whl"
    assert wheel in names
    status, kind, body = ask(f"{index.url}/torch/", Accept="text/html")
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert f">{wheel}<".encode() in body


def test_metadata_beside_a_wheel_has_the_hash_that_the_page_says(index: Index) -> None:
    page = json.loads(ask(f"{index.url}/torch/", Accept=JSON)[2])
    file = next(
        f for f in page["files"] if f["filename"].startswith("torch-2.7.1-cp311-cp311-many")
    )
    status, _, text = ask(file["url"] + ".metadata")
    assert status == 200
    assert hashlib.sha256(text).hexdigest() == file["core-metadata"]["sha256"]
    assert b"Requires-Dist: nvidia-cudnn-cu12==9.5.1.17" in text
    assert ask(file["url"])[0] == 404


def test_an_unknown_project_is_404(index: Index) -> None:
    assert ask(f"{index.url}/no-such-project/")[0] == 404
    assert ask(f"{index.url}/../../etc/passwd/")[0] == 404


def test_an_added_wheel_is_served_in_ranges(index: Index) -> None:
    url = index.add("thing-1.0-py3-none-any.whl", b"0123456789")
    assert ask(url) == (200, "application/octet-stream", b"0123456789")
    assert ask(url, Range="bytes=2-4")[::2] == (206, b"234")
    assert ask(url, Range="bytes=-3")[::2] == (206, b"789")
    assert ask(url, Range="bytes=8-")[::2] == (206, b"89")
    assert ask(url, Range="bytes=20-30")[0] == 416


def test_placeholders_and_back(index: Index, tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "fixtures" / "openpi"
    copy = index.restore(Path(shutil.copytree(source, tmp_path / "copy")))
    data = (copy / "uv.lock").read_bytes()
    assert index.url.encode() in data
    assert b"index.example" not in data
    assert index.placeheld(data) == (source / "uv.lock").read_bytes()


def test_reduced_metadata_keeps_what_a_resolver_reads() -> None:
    text = (
        "Metadata-Version: 2.4\nName: thing\nVersion: 1\nSummary: gone\n"
        "Requires-Dist: a>1\nProvides-Extra: x\nRequires-Dist: b; extra == 'x'\n\nlong text\n"
    )
    assert reduced(text) == (
        "Metadata-Version: 2.4\nName: thing\nVersion: 1\nProvides-Extra: x\n"
        "Requires-Dist: a>1\nRequires-Dist: b; extra == 'x'\n"
    )


def _lock(project: Path, *args: str) -> subprocess.CompletedProcess[str]:
    found = Project.find(project)
    lock = found.read_lock() if found.lock_path.is_file() else None
    with scratch(found, {}, lock) as copy:
        if lock:
            copy.inject(known(lock))
        finished = Uv.find().run(
            ["lock", *args], cwd=copy.root, settings={"PYTHONHOME": str(copy.base / "no")}
        )
        (project / "uv.lock").write_bytes(copy.lock.read_bytes() if copy.lock.exists() else b"")
    return subprocess.CompletedProcess(args, finished.returncode, "", finished.stderr)


def test_openpi_upgrades_wholly_from_the_recordings(openpi: Path) -> None:
    done = _lock(openpi, "--upgrade")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "requirements",
    [
        ["torch", "torchvision", "torchaudio", "torchcodec", "jax[cuda13]", "flax"],
        ["torch<2.11", "torchvision", "jax[cuda12]", "flax", "optax", "orbax-checkpoint", "chex"],
        ["torch==2.8.0", "jax[cuda12]==0.7.2"],
        ["torch==2.9.1"],
        ["torch==2.6.0", "torchvision"],
        ["torch==2.4.1"],
        ["jax[cuda12]==0.4.35"],
    ],
)
def test_small_projects_lock_from_the_recordings(
    index: Index, tmp_path: Path, requirements: list[str]
) -> None:
    project = tmp_path / "small"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[project]\nname = "small"\nversion = "0"\nrequires-python = ">=3.11"\n'
        f"dependencies = {requirements!r}\n"
    )
    done = _lock(project)
    assert done.returncode == 0, done.stderr
