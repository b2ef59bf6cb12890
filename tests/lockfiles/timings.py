"""What each step costs, as processor time and best of several: `python -m tests.lockfiles.timings`.

With STACKFIX_CORPUS on the largest locks there; else on the locks that the tests have.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stackfix_lockfiles.diff import diff, drift
from stackfix_lockfiles.edits import apply_edits, replace_requirement
from stackfix_lockfiles.environment import environment, full_python_version
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.platforms import Platform
from stackfix_lockfiles.project import Project
from tests.corpus import projects
from tests.lockfiles.samples import OPENPI, RESSELT

LARGEST = 6
ROUNDS = 7


def main() -> None:
    folders = sorted(projects(), key=lambda folder: -(folder / "uv.lock").stat().st_size)
    say("| lock | packages | read | walk | diff with itself | project and edits |")
    say("|---|---|---|---|---|---|")
    for folder in folders[:LARGEST] or [OPENPI, RESSELT]:
        row(folder)


def row(folder: Path) -> None:
    path = folder / "uv.lock"
    lock, other = Lock.read(path), Lock.read(path)
    linux = Platform.parse("linux")
    minor = next(minor for minor in ("3.11", "3.12", "3.13", "3.10") if _admits(lock, minor))
    cells = [
        folder.name,
        str(len(lock.packages)),
        ms(lambda _: Lock.read(path)),
        ms(lambda fresh: environment(fresh, platform=linux, python=minor), lambda: Lock.read(path)),
        ms(lambda _: (diff(lock, other), drift(lock, other))),
        ms(lambda _: _edited(folder)),
    ]
    say("| " + " | ".join(cells) + " |")


def _admits(lock: Lock, minor: str) -> bool:
    try:
        full_python_version(lock, minor)
    except InputError:
        return False
    return True


def _edited(folder: Path) -> None:
    """Read the project and move five of its requirements."""
    project = Project.find(folder)
    movable = [one for one in project.requirements if not one.requirement.url][:5]
    apply_edits(project, [replace_requirement(one, "==9") for one in movable])


def ms(action: Callable[[Any], object], prepare: Callable[[], object] = lambda: None) -> str:
    """Best time of `action` on what `prepare`, untimed, returns."""
    times = []
    for _ in range(ROUNDS):
        prepared = prepare()
        begun = time.process_time()
        action(prepared)
        times.append(time.process_time() - begun)
    return f"{1000 * min(times):.1f} ms"


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
