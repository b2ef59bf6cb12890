"""The user's `keyring` must still run, though no other Python that uv starts may."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

__all__ = ["keyring_path"]


def keyring_path(folder: Path) -> dict[str, str]:
    """A PATH with a `keyring` in front that runs the real one in the user's own environment.

    uv asks it for the credentials of private indexes where `keyring-provider` says so. Without a
    keyring on PATH there is nothing to change.
    """
    real = shutil.which("keyring")
    if real is None:
        return {}
    shims = folder / "bin"
    shims.mkdir(exist_ok=True)
    shim = shims / "keyring"
    lines = ["#!/bin/sh", "unset PYTHONHOME"]
    lines += [
        f"export {name}={shlex.quote(os.environ[name])}"
        for name in ("PYTHONHOME", "PYTHONPATH")
        if name in os.environ
    ]
    shim.write_text("\n".join([*lines, f'exec {shlex.quote(real)} "$@"', ""]), "utf-8")
    shim.chmod(0o755)
    return {"PATH": f"{shims}{os.pathsep}{os.environ.get('PATH', '')}"}
