"""What a log tells besides its errors: versions, cards, ranks, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from stackfix.diagnose.message import Prefix, line_text, split_prefix

__all__ = ["FACT_PATTERNS", "FactReader", "LogEnding", "RunFacts", "ending_of"]

_MOST = 10_000
"""Entries kept of anything that a log could name without end."""


@dataclass(slots=True, kw_only=True)
class RunFacts:
    """What all logs of a diagnosis tell together."""

    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    """Component -> version -> first place ("rank0.log:8")."""
    by_host: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    """Component -> version -> hosts (files where no host is named) that showed it."""
    cards: dict[str, str] = field(default_factory=dict)
    """Name of a card -> first place."""
    wsl: str | None = None
    """Where the log shows that it comes from WSL."""
    process_ranks: dict[tuple[str, str], int] = field(default_factory=dict)
    """(host, process id) -> rank, from NCCL's set-up lines."""
    device_ranks: dict[tuple[str, int], set[int]] = field(default_factory=dict)
    """(host, card) -> ranks, from the same lines."""
    file_ranks: dict[str, set[int]] = field(default_factory=dict)
    """Log -> ranks whose set-up lines stand in it."""
    local_pids: dict[str, int] = field(default_factory=dict)
    """Process id -> rank, from the launcher's summary."""
    world: int | None = None
    seen: set[int] = field(default_factory=set)
    """Ranks that some line or file name shows."""

    def version(self, component: str) -> str | None:
        """The version first seen of a component; None if the logs name none."""
        return next(iter(self.versions.get(component, ())), None)

    def add_version(self, component: str, version: str, place: str, host: str) -> None:
        """Note a version; `place` is where it stands, `host` who shows it."""
        known = self.versions.setdefault(component, {})
        if len(known) < 50:
            known.setdefault(version, place)
            hosts = self.by_host.setdefault(component, {}).setdefault(version, set())
            if len(hosts) < 100:
                hosts.add(host)

    def add_rank(self, rank: int | None) -> None:
        """Note that a rank exists; None is nothing."""
        if rank is not None and len(self.seen) < _MOST:
            self.seen.add(rank)


_VERSIONS = tuple(
    (component, re.compile(pattern))
    for component, pattern in (
        ("nccl", r"NCCL version (\d+\.\d+\.\d+(?:\.\w+)?)"),
        ("torch", r"\b(?:py)?torch(?:==|=| version| +:|:|,)? *v?(\d+\.\d+\.\d+(?:[+.\w]*)?)"),
        ("jax", r"\bjax(?:==|=| version| +:|:)? *v?(\d+\.\d+\.\d+)"),
        ("jaxlib", r"\bjaxlib(?:==|=| version| +:|:)? *v?(\d+\.\d+\.\d+)"),
        ("cudnn", r"nvidia-cudnn-cu1\d(?:==|[= ]+)(\d+(?:\.\d+){1,3})"),
        ("cudnn", r"Loaded runtime CuDNN library: ?(\d+(?:\.\d+){1,3})"),
        ("cudnn", r"\bcudnn[= ]+(\d+\.\d+(?:\.\d+){0,2})"),
        ("triton", r"\btriton(?:==|=| +:|:) *(\d+\.\d+\.\d+)"),
        ("vllm", r"\bvllm(?:==|=| version| +:|:)? *v?(\d+\.\d+\.\d+)"),
        ("driver", r"Driver Version: *(\d+\.\d+(?:\.\d+)?)"),
        ("driver", r"\bdriver(?:_version| version)?\s*[:= ]\s*(\d{3}\.\d+(?:\.\d+)?)"),
        ("cuda", r"CUDA Version: *(\d+\.\d+)"),
    )
)
"""Component -> how a log names its version."""
_NCCL_CUDA = re.compile(r"NCCL version \S+\+cuda(\d+\.\d+)")
_CUDA_DRIVER = re.compile(r"cudaDriverVersion (\d{4,5})\b")
_CARD = re.compile(
    r"\b((?:NVIDIA )?(?:GeForce |Quadro |Tesla |RTX PRO |RTX |TITAN )[\w ]{2,30}?"
    r"|NVIDIA [A-Z]{1,3}\d{1,4}[\w-]*(?: [\w-]+){0,3}?)(?= with CUDA|,|\s*\(|\)|;| \||$|\s{2})"
)
_SET_UP = re.compile(r"\brank (\d{1,6}) n[rR]anks (\d{1,6})(?:.*?\bcudaDev (\d{1,4}))?")
_SUMMARY_RANK = re.compile(r"^\s*rank\s+: (\d+) \(local_rank: \d+\)")
_SUMMARY_PID = re.compile(r"exitcode\s*:? -?\d+ \(pid: (\d+)\)")
_WORLD = re.compile(r"\bworld[_ ]size\b\W{1,4}(\d{1,6})\b")

_ENDED_WELL = re.compile(
    r"\b(?:done|completed?|finished|success(?:ful(?:ly)?)?|saved|all rounds done)\b"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)? 0\b",
    re.IGNORECASE,
)
_ENDED_BADLY = re.compile(
    r"(?<!0 )(?<!no )\b(?:errors?|failed|failure|fatal|abort(?:ed)?|exception|traceback|killed"
    r"|cancelled|terminated|not (?:done|complete|finished))\b(?!: 0| 0\b|: none|s?: 0)",
    re.IGNORECASE,
)
_FRAME = re.compile(r'^\s+File ".+", line \d+|^\s+\^+\s*$|^\s{4}\S')
_LAST_LINES = 6
_EDGE_LINES = 400
"""Lines at either end that are asked for their ranks."""

FACT_PATTERNS = (
    r":\d{1,5} -> \d",
    r"rank \d{1,6} n[rR]anks \d",
    r"NCCL version \d",
    r"cudaDriverVersion \d",
    r"torch[ :=,v]{1,12}\d{1,2}\.\d",
    r"jax(lib)?[ :=v]{1,12}\d\.\d",
    r"cudnn[-cu12345=: ]{1,12}\d",
    r"triton[ :=]{1,12}\d\.\d",
    r"vllm[ :=v]{1,12}\d\.\d",
    r"[Dd]river[ _]?[Vv]?e?r?s?i?o?n?[ :=]{1,12}\d{3}\.",
    r"CUDA Version: ",
    r"NVIDIA [A-Z]{1,3}\d",
    r"(GeForce|Quadro|Tesla|RTX|TITAN) [A-Z0-9]",
    r"microsoft-standard-WSL|/usr/lib/wsl|WSL2",
    r"rank {1,8}: \d{1,6} \(local_rank",
    r"exitcode {1,4}: -?\d",
    r"world[_ ]size\W{1,4}\d",
)
"""What the scan looks for on behalf of `RunFacts`."""


class FactReader:
    """Reads facts from the lines of one log."""

    def __init__(self, facts: RunFacts, file: str) -> None:
        self._facts = facts
        self._file = file
        self._summary_rank: int | None = None

    def read(self, text: str, prefix: Prefix, number: int) -> str | None:
        """Take in one line.

        Returns one of NCCL's "-> N" lines, an error on its way up through the callers, to be put to
        the error's event.
        """
        facts = self._facts
        place = f"{self._file}:{number}"
        host = prefix.host or self._file
        body = prefix.body
        if "NCCL INFO" in body and " -> " in body and re.search(r"\.(?:cc|h):\d+ -> \d", body):
            return body
        for component, pattern in _VERSIONS:
            if match := pattern.search(text):
                facts.add_version(component, match[1], place, host)
        if match := _NCCL_CUDA.search(text):
            facts.add_version("nccl-cuda", match[1], place, host)
        if match := _CUDA_DRIVER.search(text):
            cuda = int(match[1])
            facts.add_version("cuda-driver", f"{cuda // 1000}.{cuda % 1000 // 10}", place, host)
        if len(facts.cards) < 50:
            for match in _CARD.finditer(text[:1000]):
                facts.cards.setdefault(match[1].strip(), place)
        if facts.wsl is None and re.search(r"microsoft-standard-WSL|/usr/lib/wsl|WSL2", text):
            facts.wsl = place
        self._ranks(text, prefix)
        return None

    def _ranks(self, text: str, prefix: Prefix) -> None:
        facts = self._facts
        if match := _SET_UP.search(text):
            rank, world = int(match[1]), int(match[2])
            facts.add_rank(rank)
            facts.world = max(facts.world or 0, world)
            if len(facts.file_ranks) < _MOST:
                facts.file_ranks.setdefault(self._file, set()).add(rank)
            if prefix.host and prefix.pid and len(facts.process_ranks) < _MOST:
                facts.process_ranks.setdefault((prefix.host, prefix.pid), rank)
            device = prefix.device if prefix.device is not None else _int(match[3])
            if device is not None and len(facts.device_ranks) < _MOST:
                facts.device_ranks.setdefault((prefix.host or "", device), set()).add(rank)
        if match := _SUMMARY_RANK.search(text):
            self._summary_rank = int(match[1])
            facts.add_rank(self._summary_rank)
        match = _SUMMARY_PID.search(text)
        if match and self._summary_rank is not None and len(facts.local_pids) < _MOST:
            facts.local_pids.setdefault(match[1], self._summary_rank)
        if match := _WORLD.search(text):
            world = int(match[1])
            if 0 < world < 100_000:
                facts.world = max(facts.world or 0, world)


def _int(text: str | None) -> int | None:
    return int(text) if text is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEnding:
    """What the edges of a log show."""

    empty: bool
    cut: bool
    """It stops inside a traceback, before the line that names the exception."""
    well: bool
    """Its last lines say that the run came to its end."""
    ranks: frozenset[int]
    """Ranks whose lines stand at the beginning or the end."""


def ending_of(head: bytes, tail: bytes) -> LogEnding:
    """Read the edges of a log."""
    lines = [line_text(line) for line in re.split(rb"[\r\n]+", tail)]
    lines = [line for line in lines if line.strip()]
    bodies = [split_prefix(line).body for line in lines[-60:]]
    last = [body for body in bodies if "NCCL INFO" not in body][-_LAST_LINES:]
    return LogEnding(
        empty=not lines and not head.strip(),
        cut=_is_cut(bodies, tail),
        well=any(_ENDED_WELL.search(body) for body in last)
        and not any(_ENDED_BADLY.search(body) for body in last),
        ranks=_named_ranks(head.splitlines()[:_EDGE_LINES])
        | _named_ranks(tail.splitlines()[-_EDGE_LINES:]),
    )


def _is_cut(bodies: list[str], tail: bytes) -> bool:
    """A traceback is open: frames follow it, but no line that ends it."""
    opened = max(
        (n for n, body in enumerate(bodies) if body.startswith("Traceback (most recent call")),
        default=None,
    )
    if opened is None:
        return False
    for body in bodies[opened + 1 :]:
        if _FRAME.match(body) or body.startswith(" "):
            continue
        unfinished = body is bodies[-1] and not tail.endswith((b"\n", b"\r"))
        return unfinished and not re.match(r"[\w.]*(?:Error|Exception|Interrupt|Exit)\b", body)
    return True


def _named_ranks(lines: Iterable[bytes]) -> frozenset[int]:
    ranks = set()
    for line in lines:
        prefix = split_prefix(line_text(line[:400]))
        rank = prefix.rank if prefix.rank is not None else prefix.task
        if rank is not None and rank < 100_000:
            ranks.add(rank)
    return frozenset(ranks)
