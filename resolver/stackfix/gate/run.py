"""The check of many files: on all cores, each result as soon as its turn comes, memory flat."""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.audit.lock_files import LockFile, find
from stackfix.gate.check_one import check_one, unreadable
from stackfix.gate.result import Checked
from stackfix.gate.subject import Options
from stackfix.targets.parse import TargetError
from stackfix.targets.select import NoTarget
from stackfix_knowledge.reader import FactsError
from stackfix_lockfiles.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

__all__ = ["check"]

_ALONE = 4
"""Files up to which starting other processes costs more than they save."""
_AHEAD = 4
"""Files that each worker may be ahead of what was reported."""


def check(
    paths: Iterable[Path], options: Options, *, workers: int | None = None
) -> Iterator[Checked]:
    """Check every lock that the paths name or hold, in order.

    `workers` is the number of processes, by default one for each usable core. Where there is one
    lock alone, what is wrong with its files raises (InputError, TargetError, FactsError); among
    several, a lock that cannot be judged is a finding.

    Raises NoTarget after the last lock if nobody named a target for any lock that needs one.
    """
    files = find(paths)
    first = list(islice(files, 2))
    if len(first) == 1:
        checked = check_one(first[0], options)
        if not checked.targets and checked.gpu_packages:
            raise NoTarget(_no_target(checked))
        yield checked
        return
    gc.enable()
    needy = targeted = 0
    for checked in _all(chain(first, files), options, workers or _cores()):
        needy += bool(checked.gpu_packages and not checked.targets)
        targeted += bool(checked.targets)
        yield checked
    if needy and not targeted:
        raise NoTarget(f"{needy} locks hold GPU packages, and none names a target: {_HOW}")


_HOW = 'name one in pyproject.toml, [tool.stackfix] targets = ["H100:8@550.90"], or with --target'


def _no_target(checked: Checked) -> str:
    return f"{checked.path}: nobody says which cards it has to run on: {_HOW}"


def _all(files: Iterator[LockFile], options: Options, workers: int) -> Iterator[Checked]:
    early = list(islice(files, _ALONE))
    rest = list(islice(files, 1))
    if workers < 2 or not rest:
        for file in chain(early, rest, files):
            yield _try(file, options)
        return
    with ExitStack() as stack:
        pool = stack.enter_context(_pool(workers))
        waiting: deque[Future[Checked]] = deque()
        try:
            for file in chain(early, rest, files):
                waiting.append(pool.submit(_try, file, options))
                if len(waiting) >= workers * _AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _pool(workers: int) -> Executor:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # A fork shares what is imported and read already. No thread runs here yet.
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else None)
    return ProcessPoolExecutor(max_workers=workers, mp_context=context)


def _try(file: LockFile, options: Options) -> Checked:
    try:
        return check_one(file, options)
    except (InputError, TargetError, FactsError, OSError) as error:
        return unreadable(file, error, options)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1
