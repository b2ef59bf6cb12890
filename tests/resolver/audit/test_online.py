"""`--online`: metadata and hashes from the index; without it nobody is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.gate.result import Checked
from stackfix_lockfiles.uv import Uv
from tests.registry.server import Index
from tests.resolver.gate.making import checked

METADATA = "Metadata-Version: 2.1\nName: helper\nVersion: 1.0\nRequires-Dist: triton<3.4\n"


@pytest.fixture
def locked(index: Index, tmp_path: Path) -> Path:
    """A project locked by uv against the recorded index, and a package beside the stack in it."""
    index.add("helper-1.0-py3-none-any.whl", b"wheel", metadata=METADATA)
    project = tmp_path / "p"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[project]\nname = "p"\nversion = "0"\nrequires-python = "==3.11.*"\n'
        'dependencies = ["helper", "triton"]\n[tool.stackfix]\ntargets = ["H100"]\n[tool.uv]\n'
        "environments = [\"sys_platform == 'linux' and platform_machine == 'x86_64'\"]\n"
    )
    done = Uv.find().run(["lock"], cwd=project, timeout=120)
    assert done.returncode == 0, done.stderr
    index.asked.clear()
    return project


def found(result: Checked) -> str:
    return " ".join(hit.message for hit in result.hits if hit.code == "SF502")


def edit(project: Path, old: str, new: str) -> None:
    text = (project / "uv.lock").read_text()
    assert old in text
    (project / "uv.lock").write_text(text.replace(old, new, 1))


def test_a_good_lock_is_good_online_too(locked: Path) -> None:
    assert found(checked(locked, online=True)) == ""


def test_what_is_unread_offline_is_read_online(locked: Path, index: Index) -> None:
    edit(locked, 'name = "triton"\nversion = "3.3.1"', 'name = "triton"\nversion = "3.4.0"')
    offline = checked(locked)
    assert offline.unread == ("helper==1.0",)
    assert not index.asked
    assert "is not what helper 1.0 requires" not in found(offline)
    online = checked(locked, online=True)
    assert online.unread == ()
    assert "triton 3.4.0 is not what helper 1.0 requires: triton<3.4" in found(online)
    assert checked(locked).unread == ()  # it was kept


def test_a_hash_that_the_index_does_not_know(locked: Path) -> None:
    text = (locked / "uv.lock").read_text()
    block = text[text.index('name = "helper"') :]
    start = block.index("sha256:") + len("sha256:")
    edit(locked, block[start : start + 64], "0" * 64)
    assert "helper 1.0: the index has another hash than the lock for helper-1.0-py3" in found(
        checked(locked, online=True)
    )


def test_a_file_that_is_gone_is_a_warning(locked: Path, index: Index) -> None:
    recording = index.project("helper")
    assert recording
    recording.files.clear()
    result = checked(locked, online=True)
    (hit,) = (hit for hit in result.hits if hit.code == "SF502")
    assert (hit.severity.value, hit.package) == ("warning", "helper")


def test_an_index_of_links_alone_will_do(locked: Path, index: Index) -> None:
    index.plain.update({"helper", "triton"})
    assert "another hash" not in found(checked(locked, online=True))
