"""What is measured: the example project, and openpi's real lock where a corpus is named."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from stackfix_lockfiles.uv import Uv

__all__ = ["TARGET", "projects"]

TARGET = "RTX 5090:4@570.133.07"

_EXAMPLE = Path(__file__).parent.parent / "fixtures/example"
_INDEX_OF_PIP = (
    "from pip._internal.models.index import PyPI;"
    "print(PyPI.simple_url.rstrip('/'), PyPI.file_storage_domain)"
)


def projects(folder: Path) -> dict[str, Path]:
    """Locked projects below `folder`, by what they are called in the report."""
    example = folder / "example"
    shutil.copytree(_EXAMPLE, example)
    done = Uv.find().run(["lock"], cwd=example)
    if done.returncode:
        sys.exit(f"the example project cannot be locked: {done.stderr}")
    found = {"the example project": example}
    corpus = os.environ.get("STACKFIX_CORPUS")
    index = _index() if corpus else None
    if corpus and index:
        _restore(Path(corpus) / "corpus/openpi", folder / "openpi", *index)
        found["openpi"] = folder / "openpi"
    return found


def _index() -> tuple[str, str] | None:
    """This machine's index and file host, which only pip spells out; None without pip."""
    for python in (sys.executable, getattr(sys, "_base_executable", sys.executable)):
        done = subprocess.run(
            [python, "-c", _INDEX_OF_PIP], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            simple, files = done.stdout.split()
            return simple, files
    return None


def _restore(source: Path, folder: Path, simple: str, files: str) -> None:
    """Copy a project of the corpus and give its placeholders this machine's addresses."""
    shutil.copytree(source, folder)
    for path in folder.rglob("*"):
        if path.suffix in {".toml", ".lock"}:
            text = path.read_text(encoding="utf-8")
            text = text.replace("https://index.example/simple", simple)
            path.write_text(
                text.replace("https://files.index.example/", f"https://{files}/"), encoding="utf-8"
            )
