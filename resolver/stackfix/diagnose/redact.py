"""An excerpt of a diagnosis that can be shared: no names, addresses, paths or tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackfix.diagnose.diagnosis import Diagnosis

__all__ = ["Redactor"]

_SECRET = re.compile(
    r"(?i)\b((?:[\w-]*(?:token|secret|password|passwd|api[_-]?key|access[_-]?key|credential)[\w-]*)"
    r"['\"]?\s*[=:]\s*['\"]?)([^\s'\",;]+)"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}")
_KEYS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{8,}|gh[pousr]_[A-Za-z0-9]{8,}|sk-[\w-]{8,}|xox[abpr]-[\w-]{8,}"
    r"|AKIA[0-9A-Z]{12,}|glpat-[\w-]{8,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,})"
)
_URL_USER = re.compile(r"\b([a-z][a-z0-9+.-]{1,12}://)[^\s/@]+@")
_URL = re.compile(r"\b((?:https?|s3|gs|ssh|git|ftp)://)[^\s'\")>]+")
_MAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
_IP4 = re.compile(
    r"(?<![\w.])(?<!==)(?!127\.0\.0\.1\b|0\.0\.0\.0\b)\d{1,3}(?:\.\d{1,3}){3}\b(?!\.\d)"
)
_IP6 = re.compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}(?![\w:])", re.IGNORECASE)
_UUID = re.compile(r"\b(?:GPU-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_NCCL_HOST = re.compile(r"(?<![\w.-])([A-Za-z][\w.-]{0,120})(?=:\d+:\d+ \[-?\d+\])")
_SYSLOG_HOST = re.compile(r"(?<=\d\d:\d\d:\d\d )([\w.-]+)(?= (?:kernel|\w+\[\d+\]):)")
_NAMED_HOST = re.compile(
    r"(?i)\b((?:host(?:name)?|node|nodename|ON)\s*[:=]?\s+)([a-z][\w.-]*[\d-][\w.-]*)"
)
_QUALIFIED = re.compile(
    r"\b(?=[\w-]*[a-z])[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|edu|gov|local|internal|lan|cluster"
    r"|corp|svc|ai|cloud|dev|de|uk|cn|jp|fr|ch|eu)\b"
)
_PATH = re.compile(
    r"(?<![\w.~/])(?:~[\w.-]*)?/(?:[\w.@+=,-]+/)*[\w.@+=,-]*|\b[A-Za-z]:\\(?:[^\\\s:*?\"<>|]+\\?)+"
)
_PUBLIC_PATH = re.compile(
    r"^/(?:dev/shm|dev/nvidia\w*|usr/(?:lib|local)|lib|lib64|proc|sys|pytorch/torch|etc/nccl)\b"
)
_PACKAGE = re.compile(r".*/(?:site|dist)-packages/")
_USER = re.compile(r"(?i)\b(user(?:name)?|uid|login)(['\"]?\s*[=:]\s*['\"]?)([\w.@-]+)")


class Redactor:
    """Replaces what identifies people and machines; the same name always by the same word."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._words: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._hosts = sorted({name for name in known if len(name) > 2}, key=len, reverse=True)

    @classmethod
    def of(cls, diagnosis: Diagnosis) -> Redactor:
        """The redactor of an answer, which knows the hosts of its events."""
        events = (*diagnosis.cause, *diagnosis.wrappers, *diagnosis.collateral, *diagnosis.others)
        return cls(event.host for event in events if event.host)

    def text(self, text: str) -> str:
        """`text`, fit for sharing."""
        text = _NCCL_HOST.sub(lambda m: self._word("host", m[1]), text)
        text = _SECRET.sub(r"\1<secret>", text)
        text = _BEARER.sub(r"\1 <secret>", text)
        text = _KEYS.sub("<secret>", text)
        text = _URL_USER.sub(r"\1<user>@", text)
        text = _URL.sub(lambda m: m[1] + self._word("url", m[0]), text)
        text = _MAIL.sub(lambda m: self._word("mail", m[0]), text)
        text = _UUID.sub(lambda m: self._word("uuid", m[0].lower()), text)
        text = _USER.sub(lambda m: f"{m[1]}{m[2]}{self._word('user', m[3])}", text)
        for host in self._hosts:
            if host in text:
                text = re.sub(
                    rf"(?<![\w.-]){re.escape(host)}(?![\w-])", self._word("host", host), text
                )
        text = _SYSLOG_HOST.sub(lambda m: self._word("host", m[1]), text)
        text = _NAMED_HOST.sub(lambda m: m[1] + self._word("host", m[2]), text)
        text = _QUALIFIED.sub(lambda m: self._word("host", m[0]), text)
        text = _IP4.sub(lambda m: self._word("address", m[0]), text)
        text = _IP6.sub(lambda m: self._word("address", m[0].lower()), text)
        return _PATH.sub(self._path, text)

    def name(self, text: str) -> str:
        """A log's name: its last part, without hosts."""
        return self.text(text.replace("\\", "/").rpartition("/")[2]) or "log"

    def _path(self, match: re.Match[str]) -> str:
        path = match[0]
        if len(path) < 3 or _PUBLIC_PATH.match(path):
            return path
        if inside := _PACKAGE.match(path):
            return "<packages>/" + path[inside.end() :]
        return f"<path>/{path.replace(chr(92), '/').rstrip('/').rpartition('/')[2]}"

    def _word(self, kind: str, name: str) -> str:
        if name.startswith("<"):
            return name
        key = (kind, name)
        if key not in self._words:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._words[key] = f"<{kind}-{self._counts[kind]}>"
        return self._words[key]
