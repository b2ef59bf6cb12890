"""Describes the Python that runs it: where packages lie, which, and how they are imported."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import sysconfig
from importlib import metadata


def main() -> int:
    packages: dict[str, list[str | None]] = {}
    for found in metadata.distributions():
        name = found.metadata["Name"]
        if name:
            key = re.sub(r"[-_.]+", "-", name).lower()
            packages.setdefault(key, [found.version, module_of(key, found)])
    paths = sysconfig.get_paths()
    sites = dict.fromkeys(os.path.realpath(paths[key]) for key in ("purelib", "platlib"))
    # Debian's own interpreters and PYTHONPATH bring further folders.
    sites.update(dict.fromkeys(os.path.realpath(p) for p in sys.path if p.endswith("-packages")))
    document = {
        "executable": sys.executable,
        "prefix": sys.prefix,
        "python": platform.python_version(),
        "sites": [site for site in sites if os.path.isdir(site)],
        "packages": packages,
    }
    sys.stdout.write("\n" + json.dumps(document) + "\n")
    return 0


def module_of(name: str, found: metadata.Distribution) -> str | None:
    """The module that a package is imported by: the one called like it, as far as there is one."""
    tops = set()
    for file in found.files or ():
        first = file.parts[0]
        if len(file.parts) > 1 and file.parts[-1] == "__init__.py" and len(file.parts) == 2:
            tops.add(first)
        elif len(file.parts) == 1 and first.endswith((".py", ".so")):
            tops.add(first.split(".")[0])
    own = name.replace("-", "_")
    if own in tops:
        return own
    parts = [top for top in tops if own.startswith(top.lower()) and not top.startswith("_")]
    return max(parts, key=len) if parts else None


if __name__ == "__main__":
    sys.exit(main())
