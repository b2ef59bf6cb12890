"""Following a growing log: it speaks once, when the cause stands there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from stackfix.diagnose.watch import watch


class Enough(Exception):
    """The test has seen what it waited for."""


def acting(*steps: Callable[[], object]) -> Callable[[float], None]:
    """A sleep that does the next step instead, and ends the test after the last."""
    left = list(steps)

    def sleep(seconds: float) -> None:
        if not left:
            raise Enough
        left.pop(0)()

    return sleep


def families(log: Path, sleep: Callable[[float], None]) -> list[str]:
    """What the watch tells until the test has had enough."""
    seen = []
    watching = watch([str(log)], sleep=sleep)
    with contextlib.suppress(Enough):
        while True:
            seen.append(next(watching).family.name)
    return seen


def nothing() -> None:
    """A look without growth."""


def test_it_speaks_once_when_the_cause_appears(tmp_path: Path) -> None:
    log = tmp_path / "run.log"

    def fine() -> None:
        log.write_text("step 1\n")

    def crash() -> None:
        log.write_text("step 1\nRuntimeError: CUDA error: misaligned address\n")

    sleep = acting(fine, nothing, crash, *[nothing] * 6)
    assert families(log, sleep) == ["kernel_memory_fault"]


def test_a_second_cause_is_told_again(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("RuntimeError: CUDA error: misaligned address\n")

    def deeper() -> None:
        with log.open("a") as file:
            file.write("NVRM: Xid (PCI:0000:65:00): 79, GPU has fallen off the bus.\n")

    sleep = acting(*[nothing] * 4, deeper, *[nothing] * 4)
    assert families(log, sleep) == ["kernel_memory_fault", "gpu_hardware_fault"]
