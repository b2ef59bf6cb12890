"""The user's `keyring` must still run, though no other Python that uv starts may."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

__all__ = ["with_keyring"]


def with_keyring(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """`environment` with a `keyring` in front of PATH that runs the real one without PYTHONHOME.

    uv asks it for the credentials of private indexes where `keyring-provider` says so. Without a
    keyring on PATH nothing changes.
    """
    real = shutil.which("keyring", path=environment.get("PATH"))
    if real is None:
        return dict(environment)
    shims = folder / "bin"
    shims.mkdir(exist_ok=True)
    shim = shims / "keyring"
    restored = os.environ.get("PYTHONHOME")
    home = "unset PYTHONHOME" if restored is None else f"export PYTHONHOME={shlex.quote(restored)}"
    shim.write_text(f'#!/bin/sh\n{home}\nexec {shlex.quote(real)} "$@"\n', "utf-8")
    shim.chmod(0o755)
    return {**environment, "PATH": f"{shims}{os.pathsep}{environment.get('PATH', '')}"}
