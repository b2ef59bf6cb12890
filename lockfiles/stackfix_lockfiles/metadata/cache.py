"""Requirements of wheels on disk, by the wheel's sha256: a wheel never changes under its hash."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cache"]

_HASH = re.compile(r"sha256:([0-9a-f]{64})")
_MAX_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of small JSON files. A folder that cannot be used is as an empty one."""

    folder: Path

    @classmethod
    def default(cls) -> Cache:
        """The one in the user's cache folder."""
        home = Path.home()
        base = os.environ.get("XDG_CACHE_HOME")
        if base and Path(base).is_absolute():
            root = Path(base)
        elif sys.platform == "darwin":
            root = home / "Library" / "Caches"
        else:
            root = home / ".cache"
        return cls(root / "stackfix" / "metadata")

    def get(self, file_hash: str | None) -> tuple[str, ...] | None:
        """The requirements kept for a file; None if there are none."""
        path = self._path(file_hash)
        if path is None:
            return None
        try:
            with path.open("rb") as file:
                data = file.read(_MAX_BYTES)
        except OSError:
            return None
        import json  # a reader of locks that finds nothing here has no other use for it

        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return None
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        return None

    def put(self, file_hash: str | None, requirements: tuple[str, ...]) -> None:
        """Keep a file's requirements; without a hash nothing is kept."""
        path = self._path(file_hash)
        if path is None:
            return
        import json
        import tempfile

        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, fresh = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(requirements, file)
            os.replace(fresh, path)

    def _path(self, file_hash: str | None) -> Path | None:
        found = _HASH.fullmatch(file_hash or "")
        return self.folder / found[1][:2] / f"{found[1][2:]}.json" if found else None
