"""`python -m tests.bench.long_log [MEGABYTES]`: diagnose against grep and ripgrep on one long log.

All three look for the same literals, the signatures' anchors; only diagnose then answers. grep and
ripgrep are left out where they are not installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stackfix_knowledge.logs.signatures import signature_table

FAULT = (
    "[rank3]: RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
)
RUNS = 3


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "train.log"
        write(log, size << 20)
        literals = Path(scratch) / "literals"
        anchors = sorted({anchor for anchor, _ in signature_table().anchors()})
        literals.write_text("\n".join(anchors) + "\n", encoding="utf-8")
        sys.stdout.write(f"{size} MiB, {len(anchors)} literals, best of {RUNS}\n")
        stackfix = [sys.executable, "-m", "stackfix", "diagnose", "--no-project", str(log)]
        commands = {
            "stackfix diagnose": stackfix,
            "grep -c -F -f": ["grep", "-c", "-F", "-f", str(literals), str(log)],
            "rg -c -F -f": ["rg", "-c", "-F", "-f", str(literals), str(log)],
        }
        for name, command in commands.items():
            if shutil.which(command[0]) is None:
                sys.stdout.write(f"  {name}: not installed\n")
                continue
            wall, user = min(timed(command) for _ in range(RUNS))
            sys.stdout.write(
                f"  {name}: {wall:.2f} s, {user:.2f} s of a processor, "
                f"{(size << 20) / wall / 1e9:.2f} GB/s\n"
            )


def write(log: Path, size: int) -> None:
    """A training log of that many bytes, with one fault in the middle."""
    block = "".join(
        f"[rank{step % 8}]: step {step:7d} loss {1 + step % 97 / 100:.4f} lr 3.0e-04 "
        f"grad_norm {step % 31 / 10:.2f} tokens/s {41000 + step % 999} mem 71.3GiB\n"
        for step in range(20_000)
    ).encode()
    with log.open("wb") as file:
        for number in range(size // len(block) + 1):
            file.write(block)
            if number == size // len(block) // 2:
                file.write(FAULT.encode())


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds on the wall and of the processor; the exit code is the program's answer."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    wall, after = time.perf_counter() - start, os.times()
    spent = after.children_user + after.children_system
    return wall, spent - before.children_user - before.children_system


if __name__ == "__main__":
    main()
