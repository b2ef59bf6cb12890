"""Lines that only mention an error: argument dumps, configurations, quoted patterns."""

from __future__ import annotations

import json
import re

__all__ = ["is_mention", "log_message"]

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
_MESSAGES = (
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
_RANKS = ("rank", "global_rank", "RANK", "process_index", "task")
_LEVELS = ("level", "levelname", "severity", "lvl")
_HOSTS = ("host", "hostname", "node", "pod")


def is_mention(body: str, start: int, end: int) -> bool:
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


def log_message(text: str) -> tuple[str, dict[str, str]] | None:
    """What a line of JSON logging says, and its fields rank, level and host.

    None for a line that is no JSON object; an empty message for one that logs no text, such as
    a dumped configuration.
    """
    if not text.startswith("{") or not text.rstrip().endswith("}"):
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    found: dict[str, str] = {}
    for name, keys in (("rank", _RANKS), ("level", _LEVELS), ("host", _HOSTS)):
        for key in keys:
            value = record.get(key)
            if isinstance(value, str | int) and not isinstance(value, bool):
                found[name] = str(value)
                break
    parts = [record[key] for key in _MESSAGES if isinstance(record.get(key), str)]
    return "\n".join(parts)[:16384], found
