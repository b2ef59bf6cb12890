"""`python -m tests.bench.inspect_stack ENVIRONMENT`: inspecting it, and cuobjdump on its libraries.

The environment has torch installed, whose triton brings a cuobjdump.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

WORTH = 1_000_000
"""Bytes of a library from which on cuobjdump is asked about it."""


def main(environment: Path) -> int:
    """Print both times and their ratio; 1 where it is below 10."""
    cuobjdump = next((p for p in environment.rglob("cuobjdump") if p.is_file()), None)
    if cuobjdump is None:
        sys.stderr.write(f"{environment}: expected an environment with a cuobjdump in it\n")
        return 2
    libraries = [
        path
        for path in environment.rglob("*.so*")
        if path.is_file() and not path.is_symlink() and path.stat().st_size > WORTH
    ]
    ours = min(
        seconds([sys.executable, "-m", "stackfix", "inspect", str(environment)]) for _ in range(3)
    )
    theirs = sum(
        seconds([str(cuobjdump), "--list-elf", "--list-ptx", str(path)]) for path in libraries
    )
    size = sum(path.stat().st_size for path in libraries) / 1e9
    sys.stdout.write(
        f"{len(libraries)} libraries, {size:.1f} GB: inspect {ours:.2f} s,"
        f" cuobjdump {theirs:.1f} s, {theirs / ours:.0f} times faster\n"
    )
    return 0 if theirs >= 10 * ours else 1


def seconds(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
