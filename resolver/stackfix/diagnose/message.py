"""A line taken apart: who wrote it, where and when, and whether it reports an error or quotes one.

What launchers and loggers put before a line stacks up: a container runtime's time, Slurm's task,
torchrun's rank, a logger's time and level. The prefixes are taken off one after the other until
none is left.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

__all__ = [
    "JsonRecord",
    "Prefix",
    "is_quoted",
    "json_record",
    "line_text",
    "split_prefix",
    "timestamp",
]

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_MOST = 12
"""Prefixes taken off one line at most."""
_TIME = r"\d{4}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_LEVELS = r"DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE|SUCCESS"

_ACTOR = (
    r"\((?P<actor>[A-Za-z][\w.:-]{0,80})(?:[ ,]+rank=(?P<rank>\d{1,6}))?"
    r"(?:[ ,]+pid=(?P<pid>\d{1,10}))?(?:[ ,]+ip=(?P<host>[\w.:]{1,45}))?\) ?"
)
_GLOG = (
    r"\[?(?P<level>[IWEF])(?P<month>\d{1,2})(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d(?:\.\d+)?)"
    r"\s+(?:\d+ )?(?=[\w./+-]{1,200}:\d+\] ?)"
)
_SYSLOG = (
    r"(?P<syslog>[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d) (?P<host>[\w.-]{1,120})"
    r" (?:kernel|[\w.-]{1,60}(?:\[\d+\])?): "
)
_HOST = (
    r"(?P<host>[a-z][a-z0-9.]{0,40}(?:-[a-z0-9.]{1,40}){1,6}"
    r"|[a-z][a-z.]{0,40}\d[a-z0-9.]{0,40}): (?=\S|  )"
)

_PREFIXES = tuple(
    re.compile(pattern)
    for pattern in (
        # container runtimes, kubectl, docker compose
        rf"(?P<time>{_TIME}) (?:stdout|stderr) [FP] ",
        r"\[pod/(?P<host>[^/\]\s]+)(?:/[^\]\s]+)?\] ",
        r"(?P<service>[A-Za-z][\w.-]{0,80})\s+\| ",
        # OpenMPI --tag-output, torchrun, torchx, Slurm --label
        r"\[\d+,(?P<rank>\d{1,6})\]<std(?:out|err|diag)>: ?",
        r"\[rank(?P<rank>\d{1,6})\]:? ?",
        r"\[(?:default|trainer|worker|\w{0,20}worker)[_-]?(?P<task>\d{1,6})\]:? ?",
        r"(?:trainer|worker|master|launcher|node)/(?P<task>\d{1,6}):? ",
        r"(?P<task>\d{1,5}): ?(?=\S|  |$)",
        # Ray, vLLM
        _ACTOR,
        rf"(?P<level>{_LEVELS}) \d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \[?[\w./-]{{1,120}}:\d+\] ?",
        # SGLang, then plain times
        rf"\[(?P<time>{_TIME})(?: DP\d+)?(?: TP(?P<task>\d{{1,4}}))?(?: EP\d+)?(?: PP\d+)?\]:? ?",
        rf"(?P<time>{_TIME}):? ?",
        r"\[(?P<time>\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d)\] ?",
        # loggers
        rf"- (?P<logger>[\w.]{{1,80}}) - (?P<level>{_LEVELS}) - ",
        rf"\| (?P<level>{_LEVELS})\s*\| (?:[\w.<>]{{1,80}}:[\w<>]{{1,80}}:\d+ - )?",
        rf"\[(?P<logger>[\w.]{{1,80}})\]\[(?P<level>{_LEVELS})\] - ",
        rf"\[(?P<level>{_LEVELS}|[IWEFDV])\] ?(?:\[[\w./]{{1,60}}(?::\d+)?(?::\w+)?\] ?)?",
        rf"(?P<level>{_LEVELS}):(?:(?P<time>{_TIME}):)?[\w.]{{1,80}}:(?:\d+:)? ?",
        rf"(?P<level>{_LEVELS}) +\[[^\]]{{1,80}}\] ",
        rf"(?P<level>{_LEVELS})(?: ?:)? +(?=\S)",
        r"[\w.]{1,80}: \[(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL)\] ",
        # glog, c10, absl
        _GLOG,
        r"\[(?P<level>[IWEF]) (?=[\w./+-]{1,200}:\d+\] )",
        r"(?P<level>[IWEF]) (?=[\w./+-]{1,200}\.(?:cc|cpp|h|cu|py):\d+\] )",
        r"[\w./+-]{1,200}\.(?:cc|cpp|h|cu|py):\d+\] ?(?:\[c10d\] ?)?",
        # NCCL
        r"(?P<host>[\w.-]{1,120}):(?P<pid>\d{1,10}):(?P<tid>\d{1,10}) \[(?P<device>-?\d{1,4})\] ",
        r"(?P<host>[\w.-]{1,120}) \[(?P<device>\d{1,4})\] (?=NCCL |[\w./-]{1,100}:\d+ NCCL )",
        # kernel
        r"\[ *\+?\d+\.\d+\] ?",
        r"\[[A-Z][a-z]{2} (?P<ctime>[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4})\] ?",
        r"\[[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d\] ?",
        _SYSLOG,
        # pdsh, clush, ansible
        r"(?P<host>\d{1,3}(?:\.\d{1,3}){3}): ?",
        _HOST,
        # others
        r"\[\d{1,9}\] (?=\S|  )",
        r"E {3}(?=\S|  )",
        r"\^C",
    )
)

_OWN_RANK = re.compile(
    r"\[Rank (?P<a>\d{1,6})\]|\b[Rr]ank (?P<b>\d{1,6})\](?: |:)"
    r"|\[PG [^\]]{0,80}Rank (?P<c>\d{1,6})\]|\bTP(?P<d>\d{1,4})\b"
)
_ACTOR_RANK = re.compile(r"(?:TP|[Rr]ank|DP\d+_TP)_?(\d{1,4})\b")


_DUMP = re.compile(
    r"\s*(?:[\w.-]{1,60}:\s*)?"
    r"(?:(?:full |parsed |command[- ]line |cli |script |training |non-default |launch )?"
    r"(?:args?|arguments|argv|env|environ|environment|config|configuration|cfg|options|flags"
    r"|cmd|command|hparams|settings|overrides|parameters|kwargs|alerts?|rules|patterns)"
    r"\s*[:=]\s|\+ |\$ |export |#)",
    re.IGNORECASE,
)
_STRUCTURE = re.compile(r"\b(?:Namespace|Config|Arguments|Args|Settings|Options|DictConfig)\(")
_QUOTED = re.compile(r"(?:^|(?<=[\s=\[({,:]))(['\"])((?:(?!\1).){0,600})\1(?=[\s,\])}:;]|$)")
_RAISED = re.compile(
    r"(?:(?:Error|Exception|Warning|FAILED|failed|what)\s*\(|(?:failure|error|Error)\s*(?:\d+\s)?)$"
)
_KEYED = re.compile(r"^\s*[\w.-]{1,60}(?<!Error)(?<!Exception)\s*[:=]\s*['\"\[{(]")
_JSON_TEXTS = (
    "message",
    "msg",
    "log",
    "error",
    "exception",
    "exc_info",
    "text",
    "event",
    "traceback",
)
_JSON_RANKS = ("rank", "global_rank", "RANK", "process_index", "task")
_JSON_LEVELS = ("level", "levelname", "severity", "lvl")
_JSON_HOSTS = ("host", "hostname", "node", "pod")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """What stood before a line's own words, and those words."""

    body: str
    """What is left."""
    rank: int | None = None
    """The rank that the line itself names."""
    task: int | None = None
    """A number given by the launcher that is usually, but not surely, the rank."""
    host: str | None = None
    pid: str | None = None
    thread: str | None = None
    device: int | None = None
    """NCCL's number of the card in brackets."""
    actor: str | None = None
    level: str | None = None
    """First letter of the level, "W" for a warning."""
    time: float | None = None
    """Seconds since the year's start: many loggers leave the year out."""


def line_text(data: bytes) -> str:
    """The text of a line: no escape sequences, odd bytes replaced, those at its end dropped."""
    text = data.decode("utf-8", "replace").rstrip("\ufffd")
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def split_prefix(text: str) -> Prefix:
    """Take the prefixes off a line."""
    at = 0
    found: dict[str, str] = {}
    used: set[int] = set()
    for _ in range(_MOST):
        for number, pattern in enumerate(_PREFIXES):
            if number in used:
                continue
            match = pattern.match(text, at)
            if match and match.end() > at:
                used.add(number)
                at = match.end()
                for key, value in match.groupdict().items():
                    if value is not None:
                        found.setdefault(key, value)
                break
        else:
            break
    body = text[at:]
    return Prefix(
        body=body,
        rank=_rank(found, text[:4096]),
        task=_number(found.get("task")) if "actor" not in found else _actor_rank(found["actor"]),
        host=found.get("host"),
        pid=found.get("pid"),
        thread=found.get("tid"),
        device=_number(found.get("device")),
        actor=found.get("actor"),
        level=found["level"][0] if "level" in found else None,
        time=_time(found),
    )


def _rank(found: dict[str, str], text: str) -> int | None:
    if "rank" in found:
        return int(found["rank"])
    if match := _OWN_RANK.search(text):
        return int(next(group for group in match.groups() if group is not None))
    return None


def _actor_rank(actor: str) -> int | None:
    match = _ACTOR_RANK.search(actor)
    return int(match[1]) if match else None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None else None


def _time(found: dict[str, str]) -> float | None:
    if "time" in found:
        return timestamp(found["time"])
    if "clock" in found:
        return _seconds(int(found["month"]), int(found["day"]), found["clock"])
    for key, layout in (("ctime", "%b %d %H:%M:%S %Y"), ("syslog", "%b %d %H:%M:%S")):
        if key in found:
            text = " ".join(found[key].split())
            text, layout = (text, layout) if key == "ctime" else (f"2000 {text}", f"%Y {layout}")
            try:
                moment = datetime.strptime(text, layout)
            except ValueError:
                return None
            return _seconds(moment.month, moment.day, moment.strftime("%H:%M:%S"))
    return None


def timestamp(text: str) -> float | None:
    """Seconds since the year's start of a time such as "2025-02-17T22:41:00,5"."""
    numbers = re.findall(r"\d+", text)
    if len(numbers) < 6:
        return None
    if len(numbers[0]) == 4:
        month, day = int(numbers[1]), int(numbers[2])
    else:
        month, day = int(numbers[0]), int(numbers[1])
    clock = f"{numbers[3]}:{numbers[4]}:{numbers[5]}"
    if len(numbers) > 6 and len(numbers[0]) == 4 and re.search(r"[.,]\d+", text):
        clock += f".{numbers[6]}"
    return _seconds(month, day, clock)


def _seconds(month: int, day: int, clock: str) -> float:
    hours, minutes, seconds = clock.split(":")
    days = (month - 1) * 31 + day - 1
    return days * 86400.0 + int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def is_quoted(body: str, start: int, end: int) -> bool:
    """Whether what stands at `start`:`end` is quoted or listed rather than reported."""
    if _DUMP.match(body) or _STRUCTURE.search(body, 0, start + 1):
        return True
    for quoted in _QUOTED.finditer(body):
        if quoted.start(2) <= start and end <= quoted.end(2):
            before = body[: quoted.start()]
            return not _RAISED.search(before)
        if quoted.start() > start:
            break
    return bool(_KEYED.match(body)) and start > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonRecord:
    """A line of JSON logging."""

    text: str
    """What it says; empty where it logs no text, such as a dumped configuration."""
    rank: int | None = None
    level: str | None = None
    """First letter of the level."""
    host: str | None = None

    def complete(self, prefix: Prefix) -> Prefix:
        """The prefix of a message in it, with what the record tells and the message does not."""
        return replace(
            prefix,
            rank=self.rank if prefix.rank is None else prefix.rank,
            level=prefix.level or self.level,
            host=prefix.host or self.host,
        )


def json_record(text: str) -> JsonRecord | None:
    """The record in a line; None for one that is no JSON object."""
    if not text.startswith("{") or not text.rstrip().endswith("}"):
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    rank, level, host = (
        _first_of(record, keys) for keys in (_JSON_RANKS, _JSON_LEVELS, _JSON_HOSTS)
    )
    texts = [record[key] for key in _JSON_TEXTS if isinstance(record.get(key), str)]
    return JsonRecord(
        text="\n".join(texts)[:16384],
        rank=int(rank) if rank and re.fullmatch(r"\d{1,6}", rank, re.ASCII) else None,
        level=level[0].upper() if level else None,
        host=host,
    )


def _first_of(record: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = record.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
    return None
