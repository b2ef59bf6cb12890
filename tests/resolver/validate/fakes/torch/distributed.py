"""Collectives of ranks that know, by the kernel's own rule, what the others would bring."""

from __future__ import annotations

import os
import pathlib
import time
from types import SimpleNamespace

from few import spoilt, wrong

wrong("import torch.distributed")
_group = {}
ReduceOp = SimpleNamespace(MIN="min")


def init_process_group(backend, init_method, rank, world_size, timeout):
    meeting = pathlib.Path(init_method.removeprefix("file://"))
    _group.update(rank=rank, ranks=world_size, meeting=meeting, barriers=0)
    (meeting.parent / f"process-{rank}").write_text(str(os.getpid()))
    wrong(f"rank {rank}")


def destroy_process_group():
    _group.clear()


def get_rank():
    return _group["rank"]


def get_world_size():
    return _group["ranks"]


def barrier():
    _group["barriers"] += 1
    names = [f"barrier-{_group['barriers']}-{rank}" for rank in range(_group["ranks"])]
    folder = _group["meeting"].parent
    (folder / names[_group["rank"]]).touch()
    deadline = time.monotonic() + 30
    while not all((folder / name).exists() for name in names):
        if time.monotonic() > deadline or any(map(_ended, folder.glob("process-*"))):
            # One may have come and ended since.
            if all((folder / name).exists() for name in names):
                return
            raise RuntimeError("a rank did not come to the barrier")
        time.sleep(0.01)


def _ended(process):
    """Whether a rank is no more, or waits for its parent to see that it ended."""
    number = process.read_text()
    try:
        stat = pathlib.Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return bool(number)
    return stat.rpartition(")")[2].split()[0] in "ZX"


def _counting(tensor):
    wrong(f"message of rank {get_rank()}")
    return (tensor - get_rank()).values


def all_reduce(tensor, op=None):
    if op is not None:  # the smallest: every card of a test is alike
        return
    ranks = get_world_size()
    summed = [c * ranks + ranks * (ranks - 1) // 2 for c in _counting(tensor)]
    tensor.values = spoilt(tensor.like(summed), "all-reduce").values


def all_gather(parts, tensor):
    for rank, part in enumerate(parts):
        part.values = [c + rank for c in _counting(tensor)]
    parts[-1].values = spoilt(parts[-1], "all-gather").values


def reduce_scatter(tensor, parts):
    ranks, rank = get_world_size(), get_rank()
    own = [value - rank - rank for value in parts[rank].values]
    summed = [c * ranks + ranks * (ranks - 1) // 2 + ranks * rank for c in own]
    tensor.values = spoilt(tensor.like(summed), "reduce-scatter").values


def broadcast(tensor, src):
    sent = [c % 251 + 7 for c in range(len(tensor.values))]
    tensor.values = spoilt(tensor.like(sent), "broadcast").values
