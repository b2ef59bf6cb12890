"""An index in memory for the commands that ask one, and facts of their own to write."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from stackfix_knowledge.reader import facts_folder
from tests.index.serving import INDEX, Served
from tests.knowledge.measure.building import NCCL_WHEEL, nccl_wheel

NEWER = NCCL_WHEEL.replace("2.27.3", "2.99.0")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """An index with two releases of NCCL, one of them unreadable, as the default one."""
    index = Served(
        {
            "nvidia-nccl-cu12": {
                NCCL_WHEEL: nccl_wheel(),
                NEWER: nccl_wheel(),
                NCCL_WHEEL.replace("2.27.3", "2.98.0"): b"broken",
            },
            "nvidia-nccl-cu13": {},
        }
    )
    # Each command opens and closes its own client; this one serves several.
    monkeypatch.setattr("stackfix_index.client.Client", lambda: nullcontext(index.client))
    monkeypatch.setenv("UV_DEFAULT_INDEX", INDEX)
    with index.client:
        yield index


@pytest.fixture
def facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands take for the shipped facts about wheels; empty at first."""
    shipped = facts_folder()
    checkout = tmp_path / "checkout"
    folder = checkout / "knowledge" / "stackfix_knowledge" / "facts"
    shutil.copytree(shipped, folder, ignore=shutil.ignore_patterns("wheels"))
    (folder / "wheels").mkdir()
    (checkout / "pyproject.toml").write_text("")
    monkeypatch.setattr("stackfix_knowledge.reader.facts_folder", lambda: folder)
    return folder / "wheels"
