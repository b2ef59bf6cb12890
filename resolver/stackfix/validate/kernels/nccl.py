"""NCCL through torch over all visible cards, then a checkpoint; one card is a ring of one.

One process a card. Values are whole numbers that float32 holds exactly, so every element of every
result has to be exact. With `--device cpu --ranks N` the same runs over gloo: that proves this
program, and nothing about NCCL.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.reporting import (
        CheckFailed,
        CheckSkipped,
        Reporter,
        arguments,
        reporting,
    )
    from stackfix.validate.kernels.torch_device import cards, load_torch
else:
    from reporting import CheckFailed, CheckSkipped, Reporter, arguments, reporting
    from torch_device import cards, load_torch

SIZES = (4, 1 << 10, 1 << 20, 32 << 20, 256 << 20)
"""Bytes that each card contributes."""
QUICK = (4, 1 << 20)
_PERIOD = 251
_GRACE = 15.0
"""Seconds that the other ranks get to end, once one has failed."""
_PATIENCE = 1.25
"""How many times the limit of one collective all ranks may be silent."""


def main() -> int:
    parser = arguments(__doc__ or "", device=True)
    parser.add_argument("--ranks", type=int, help="processes; default: one for each visible card")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="bytes of the largest message")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one collective")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--meeting", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with reporting(options) as report:
        if options.rank is None:
            start(report, options)
        else:
            take_part(report, options)
        return report.end()


def start(report: Reporter, options: argparse.Namespace) -> None:
    """Start a process for each card and put together what they tell."""
    torch = load_torch(report, options.device, use=False)
    if torch is None:
        return
    ranks = options.ranks or (cards(torch) if options.device == "cuda" else 2)
    report.fact("ranks", ranks)
    if ranks == 1:
        report.skip(
            "between cards", "one card is visible: only a communicator of one rank is proven"
        )
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, f"rank-{rank}.jsonl") for rank in range(ranks)]
        own = [*sys.argv[1:], "--ranks", str(ranks), "--meeting", os.path.join(folder, "meeting")]
        environment = {**os.environ, "STACKFIX_PARENT": str(os.getpid())}
        children = [
            subprocess.Popen(
                [sys.executable, __file__, *own, "--rank", str(rank), "--json", files[rank]],
                env=environment,
            )
            for rank in range(ranks)
        ]
        try:
            codes = wait(children, files, options.timeout)
        finally:
            for child in children:
                child.kill()
            for child in children:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(_GRACE)  # one inside a driver call may stay
        told = [events(file) for file in files]
        for name, (event, detail) in merged([checks for checks, _ in told]).items():
            report.outcome(name, event, detail)
        for rank, (code, (_, ended)) in enumerate(zip(codes, told)):  # noqa: B905
            if code is None:
                report.outcome(f"rank {rank} ends", "failed", "its process did not end")
            elif code not in (0, 1) or not ended:
                report.outcome(f"rank {rank} ends", "failed", f"its process ended with code {code}")


def wait(
    children: list[subprocess.Popen[bytes]], files: list[str], timeout: float
) -> list[int | None]:
    """The exit codes; None for those that will not end.

    Once one rank has failed, the others get a few seconds more. Once none has told anything for
    longer than a collective may take, they hang: torch ends a collective that hangs, and not a
    communicator that hangs while it is made.
    """
    deadline = None
    told, since = -1, time.monotonic()
    while True:
        codes = [child.poll() for child in children]
        if None not in codes:
            return list(codes)
        now = time.monotonic()
        if deadline is None and any(codes):
            deadline = now + _GRACE
        size = sum(os.path.getsize(file) for file in files if os.path.exists(file))
        if size != told:
            told, since = size, now
        if (deadline is not None and now > deadline) or now - since > _PATIENCE * timeout:
            return list(codes)
        time.sleep(0.05)


def events(file: str) -> tuple[dict[str, tuple[str, str]], bool]:
    """Check -> event and detail of one rank, and whether the rank came to its end.

    What started and never ended has failed.
    """
    found: dict[str, tuple[str, str]] = {}
    ended = False
    if not os.path.exists(file):
        return found, ended
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            try:
                told = json.loads(line)
            except ValueError:  # cut off by the end of its process
                continue
            if told["event"] == "started":
                found[told["check"]] = ("failed", "began and never ended")
            elif "check" in told:
                found[told["check"]] = (told["event"], told["detail"])
            ended = ended or told["event"] == "end"
    return found, ended


def merged(ranks: list[dict[str, tuple[str, str]]]) -> dict[str, tuple[str, str]]:
    """A check has failed where it failed on any rank, or where some rank did not come to it."""
    names = dict.fromkeys(name for rank in ranks for name in rank)
    result = {}
    for name in names:
        told = [rank.get(name, ("failed", "not reached")) for rank in ranks]
        bad = [f"rank {n}: {d}" for n, (event, d) in enumerate(told) if event == "failed"]
        result[name] = ("failed", "; ".join(bad[:4])) if bad else told[0]
    return result


def take_part(report: Reporter, options: argparse.Namespace) -> None:
    """One rank."""
    torch: Any = import_module("torch")
    dist: Any = import_module("torch.distributed")
    on_card = options.device == "cuda"
    device = f"cuda:{options.rank}" if on_card else "cpu"
    free = 1 << 62
    try:
        with in_step(report, "the ranks find each other"):
            if on_card:
                torch.cuda.set_device(options.rank)
            dist.init_process_group(
                "nccl" if on_card else "gloo",
                init_method=f"file://{options.meeting}",
                rank=options.rank,
                world_size=options.ranks,
                timeout=timedelta(seconds=options.timeout),
            )
            if on_card:
                free = free_everywhere(torch, dist, device)
        exchange(torch, dist, report, options, device, free)
        with in_step(report, "the ranks part"):
            dist.destroy_process_group()
    except LeftGroup:
        report.end()
        os._exit(1)  # an ordinary end would wait for the others inside the library


class LeftGroup(Exception):
    """This rank has left the others' order: what it sent now would meet another message."""


@contextlib.contextmanager
def in_step(report: Reporter, name: str) -> Iterator[None]:
    """A check that every rank makes at once. A wrong value ends nothing; an error ends this rank.

    The others get their grace and are told as having waited in vain.
    """
    out = False
    with report.check(name):
        try:
            yield
        except (CheckFailed, CheckSkipped):
            raise
        except Exception:
            out = True
            raise
    if out:
        raise LeftGroup


def exchange(
    torch: Any, dist: Any, report: Reporter, options: argparse.Namespace, device: str, free: int
) -> None:
    """All collectives in all sizes, then the checkpoint. Raises LeftGroup after an error."""
    for size in (s for s in (QUICK if options.quick else SIZES) if s <= options.most):
        # Inputs, results (also in the one piece that torch makes of them), what they are compared
        # with, and whole numbers on the way to that.
        needed = size * (2 * options.ranks + 6)
        for name, collective in COLLECTIVES.items():
            if free < needed:
                reason = f"needs {needed >> 20} MiB on each card, {free >> 20} are free on one"
                report.skip(f"{name}, {_words(size)}", reason)
                continue
            with in_step(report, f"{name}, {_words(size)}"):
                collective(torch, dist, max(size // 4, 1), device)
                if device != "cpu":
                    torch.cuda.synchronize()
                    torch.cuda.empty_cache()  # blocks of other sizes are of no use to the next
    with in_step(report, "a checkpoint saved and loaded"):
        checkpoint(torch, dist, device, os.path.dirname(options.meeting))


def free_everywhere(torch: Any, dist: Any, device: str) -> int:
    """Bytes free on the fullest card: a rank that left a message out would keep the others waiting.

    The first collective: it also shows whether the ranks reach each other at all.
    """
    free = torch.tensor([torch.cuda.mem_get_info()[0]], dtype=torch.int64, device=device)
    dist.all_reduce(free, op=dist.ReduceOp.MIN)
    return int(free.item())


def all_reduce(torch: Any, dist: Any, count: int, device: str) -> None:
    ranks = dist.get_world_size()
    tensor = counting(torch, count, device) + dist.get_rank()
    dist.all_reduce(tensor)
    expected = counting(torch, count, device) * ranks + ranks * (ranks - 1) // 2
    require_equal(torch, tensor, expected)


def all_gather(torch: Any, dist: Any, count: int, device: str) -> None:
    tensor = counting(torch, count, device) + dist.get_rank()
    parts = [torch.zeros(count, device=device) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, tensor)
    for rank, part in enumerate(parts):
        require_equal(torch, part, counting(torch, count, device) + rank)


def reduce_scatter(torch: Any, dist: Any, count: int, device: str) -> None:
    ranks, rank = dist.get_world_size(), dist.get_rank()
    parts = [counting(torch, count, device) + rank + part for part in range(ranks)]
    tensor = torch.zeros(count, device=device)
    try:
        dist.reduce_scatter(tensor, parts)
    except RuntimeError as error:
        if device == "cpu" and "support" in str(error):
            raise CheckSkipped("this gloo has none") from None
        raise
    expected = counting(torch, count, device) * ranks + ranks * (ranks - 1) // 2 + ranks * rank
    require_equal(torch, tensor, expected)


def broadcast(torch: Any, dist: Any, count: int, device: str) -> None:
    last = dist.get_world_size() - 1
    mine = dist.get_rank() == last
    tensor = counting(torch, count, device) + 7 if mine else torch.zeros(count, device=device)
    dist.broadcast(tensor, src=last)
    require_equal(torch, tensor, counting(torch, count, device) + 7)


COLLECTIVES = {
    "all-reduce": all_reduce,
    "all-gather": all_gather,
    "reduce-scatter": reduce_scatter,
    "broadcast": broadcast,
}


def checkpoint(torch: Any, dist: Any, device: str, folder: str) -> None:
    """Rank 0 saves after all that communication, and every rank loads the same numbers."""
    file = os.path.join(folder, "checkpoint.pt")
    state = {"weight": counting(torch, 1 << 20, device), "step": 7}
    if dist.get_rank() == 0:
        torch.save(state, file)
    dist.barrier()
    loaded = torch.load(file, map_location=device)
    if loaded["step"] != state["step"]:
        raise CheckFailed(f"the step is {loaded['step']}, saved was {state['step']}")
    require_equal(torch, loaded["weight"], state["weight"])
    dist.barrier()


def counting(torch: Any, count: int, device: str) -> Any:
    """0, 1, 2, … 250, 0, 1, …: sums over thousands of ranks stay exact in float32."""
    whole = torch.arange(count, dtype=torch.int32, device=device)
    return (whole % _PERIOD).to(torch.float32)


def require_equal(torch: Any, found: Any, expected: Any) -> None:
    if torch.equal(found, expected):
        return
    wrong = int((found != expected).sum().item())
    raise CheckFailed(f"{wrong:,} of {expected.numel():,} values are wrong")


def _words(size: int) -> str:
    units: Iterator[tuple[int, str]] = iter(((20, "MiB"), (10, "KiB")))
    return next((f"{size >> bits} {unit}" for bits, unit in units if size >> bits), f"{size} B")


if __name__ == "__main__":
    sys.exit(main())
