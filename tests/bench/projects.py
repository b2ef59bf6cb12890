"""What is measured: the example project, and openpi's real lock where a corpus is named."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from stackfix_lockfiles.uv import Uv
from tests.corpus import folder as named_folder
from tests.registry.real import real_index, restore

__all__ = ["TARGET", "projects"]

TARGET = "RTX 5090:4@570.133.07"

_EXAMPLE = Path(__file__).parent.parent / "fixtures/example"


def projects(folder: Path) -> dict[str, Path]:
    """Locked projects below `folder`, by what they are called in the report."""
    example = folder / "example"
    shutil.copytree(_EXAMPLE, example)
    done = Uv.find().run(["lock"], cwd=example)
    if done.returncode:
        sys.exit(f"the example project cannot be locked: {done.stderr}")
    found = {"the example project": example}
    if corpus := named_folder():
        shutil.copytree(corpus / "corpus/openpi", folder / "openpi")
        restore(folder / "openpi", *real_index())
        found["openpi"] = folder / "openpi"
    return found
