"""Naming the fault that started a crash, from its logs.

from stackfix.diagnose import diagnose
found = diagnose(["run.log"])
found.family.name, found.rank, found.cause
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackfix.diagnose.diagnosis import Diagnosis
    from stackfix_knowledge.graph import Graph

__all__ = ["diagnose"]


def diagnose(paths: Iterable[str], *, graph: Graph | None = None) -> Diagnosis:
    """Diagnose logs: files, folders, or "-" for standard input, all of one run.

    Reads them once, in constant memory. Raises LogError for one that cannot be read.
    """
    from stackfix.diagnose.answer import answer
    from stackfix.diagnose.events import read_log
    from stackfix.diagnose.facts import RunFacts
    from stackfix.diagnose.files import find_logs, open_log
    from stackfix_knowledge.cards.gpus import GpuTable

    facts = RunFacts()
    readings = []
    count = 0
    for log in find_logs(paths):
        with open_log(log) as stream:
            reading = read_log(stream, log.name, facts, first=count)
        count += len(reading.events)
        readings.append(reading)
    return answer(readings, facts, graph.gpus if graph else GpuTable.load())
