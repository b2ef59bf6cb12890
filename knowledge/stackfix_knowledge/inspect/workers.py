"""Inspecting packages on several processes at once.

`multiprocessing` would run the caller's main module again and let Ctrl-C reach the children, so
they are started plainly: each reads its share from its input and writes what it found.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from stackfix_index.errors import Unreadable
from stackfix_knowledge.inspect.installed import InstalledPackage
from stackfix_knowledge.inspect.package import Inspected, inspect_installed

__all__ = ["inspect_on", "main", "shares"]

Result = tuple[Inspected, list[Unreadable]]


def inspect_on(processes: int, packages: Sequence[InstalledPackage], folder: Path) -> list[Result]:
    """Inspect the packages, a share of them here and the others in children.

    Raises Unreadable where a child died, as it does when a file shrinks while it is read.
    """
    own, *others = shares(packages, processes)
    with contextlib.ExitStack() as stack:
        children = [stack.enter_context(_child(share)) for share in others if share]
        found = [inspect_installed(package) for package in own]
        for child in children:
            output, _ = child.communicate()
            if child.returncode:
                expected = "files that stay as they are while they are read"
                raise Unreadable(str(folder), None, expected)
            found += pickle.loads(output)  # written by our own child
    return found


def shares(packages: Sequence[InstalledPackage], number: int) -> list[list[InstalledPackage]]:
    """The packages in that many shares of about the same size, the largest first."""
    found: list[list[InstalledPackage]] = [[] for _ in range(number)]
    sizes = [0] * number
    for package in sorted(packages, key=lambda package: -package.size):
        least = sizes.index(min(sizes))
        found[least].append(package)
        sizes[least] += package.size
    return found


@contextlib.contextmanager
def _child(share: list[InstalledPackage]) -> Iterator[subprocess.Popen[bytes]]:
    home = str(Path(__file__).resolve().parents[2])
    paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
    child = subprocess.Popen(
        # -P: what lies in the current folder must not be imported.
        [sys.executable, "-P", "-m", "stackfix_knowledge.inspect.workers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        start_new_session=True,  # Ctrl-C is for the parent, which then ends its children
    )
    try:
        assert child.stdin is not None
        with contextlib.suppress(BrokenPipeError), child.stdin:
            pickle.dump(share, child.stdin)
        child.stdin = None  # so that communicate() only reads
        yield child
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


def main() -> None:
    """What a child does."""
    share: list[InstalledPackage] = pickle.load(sys.stdin.buffer)
    pickle.dump([inspect_installed(package) for package in share], sys.stdout.buffer)


if __name__ == "__main__":
    main()
