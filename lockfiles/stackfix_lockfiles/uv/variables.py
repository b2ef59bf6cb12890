"""Which of the user's environment variables reach uv.

What uv answers, and in which words, must not depend on the shell that stackfix was started from.
What belongs to the user's set-up passes: which indexes there are and who may read them, how the
network is reached, where caches and Pythons lie. All else that uv would heed is left out, also
every `UV_…` that is in no table here: nobody has weighed what it does to an answer. The project
says what it wants in its files, and its lock records how it was made (see `recorded`). The names
are those of uv 0.13.9 (`crates/uv-static/src/env_vars.rs` of its source has them all).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stackfix_lockfiles.packages import SourceKind

if TYPE_CHECKING:
    from stackfix_lockfiles.lock import Lock

__all__ = ["environment", "offline", "recorded", "unheeded"]

_SET_UP = re.compile(
    "|".join(
        (
            # Which packages there are: the indexes, and uv's rule for several of them.
            r"UV_(DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|INDEX_STRATEGY)",
            # Who may have them: credentials, and where they are kept.
            r"UV_INDEX_\w+_(USERNAME|PASSWORD)",
            r"UV_(KEYRING_PROVIDER|CREDENTIALS_DIR|AUTH_TOKEN|API_KEY|GITHUB_TOKEN|NO_HF_TOKEN)",
            # How they are reached: certificates, time limits, stores that sign their requests.
            r"UV_(INSECURE_HOST|NATIVE_TLS|SYSTEM_CERTS|OFFLINE|NO_GITHUB_FAST_PATH)",
            r"UV_(HTTP_TIMEOUT|HTTP_CONNECT_TIMEOUT|REQUEST_TIMEOUT|HTTP_RETRIES|LOCK_TIMEOUT)",
            r"UV_(S3|GCS|AZURE)_ENDPOINT_URL",
            # What a user lets onto the machine.
            r"UV_(MALWARE_CHECK|MALWARE_CHECK_URL)",
            r"UV_(INSECURE_NO_ZIP_VALIDATION|SKIP_WHEEL_FILENAME_CHECK)",
            # Where uv keeps things, and how much of the machine it may take.
            r"UV_(CACHE_DIR|NO_CACHE|LINK_MODE|STACK_SIZE|CONCURRENT_\w+)",
            # Which settings of the user's count beside the project's.
            r"UV_(CONFIG_FILE|NO_SYSTEM_CONFIG)",
            # Which Pythons there are, and which of them to take.
            r"UV_(PYTHON|PYTHON_\w+|MANAGED_PYTHON|NO_MANAGED_PYTHON|LIBC|\w+_INSTALL_MIRROR)",
        )
    )
)
_LEFT_OUT = re.compile(
    "|".join(
        (
            # Other environments, and what a Python that uv starts would take from them.
            r"VIRTUAL_ENV|CONDA_\w+|PYTHONPATH|PYTHONHOME",
            # How words look: colours, the width of a terminal, logs between uv's own lines.
            r"FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES",
            r"RUST_LOG|RUST_BACKTRACE|RUST_LIB_BACKTRACE|TRACING_DURATIONS_FILE",
            # The language in which git answers uv.
            r"LANG|LANGUAGE|LC_\w+",
        )
    )
)
_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "SSH_ASKPASS_REQUIRE": "never",
    "UV_NO_PROGRESS": "1",
    "UV_NO_WRAP": "1",
}
"""Plain words in whole lines; and nobody is there to answer a question."""

_PATHS = {
    "NETRC",
    "SSL_CERT_FILE",
    "SSL_CLIENT_CERT",
    "UV_CACHE_DIR",
    "UV_CONFIG_FILE",
    "UV_CREDENTIALS_DIR",
    "UV_PYTHON_CACHE_DIR",
    "UV_PYTHON_INSTALL_DIR",
}
_PATH_LISTS = {"SSL_CERT_DIR", "UV_PYTHON_SEARCH_PATH"}

_RECORDED = {
    "UV_RESOLUTION": ("resolution", "resolution-mode"),
    "UV_PRERELEASE": ("prerelease", "prerelease-mode"),
    "UV_FORK_STRATEGY": ("fork-strategy", "fork-strategy"),
    "UV_EXCLUDE_NEWER": ("exclude-newer", "exclude-newer-span", "exclude-newer"),
}
"""Variables that change what is locked: the setting that means the same, and a lock's options."""
_LFS = "UV_GIT_LFS"
"""As the above; a lock has it in each git source."""


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a uv that runs in some folder: `settings` over the user's set-up.

    Paths of the user's that are relative to the current folder are made absolute.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if (_SET_UP.fullmatch(name) if name.startswith("UV_") else not _LEFT_OUT.fullmatch(name))
    }
    for name in kept.keys() & _PATHS:
        kept[name] = _absolute(kept[name])
    for name in kept.keys() & _PATH_LISTS:
        kept[name] = os.pathsep.join(map(_absolute, kept[name].split(os.pathsep)))
    if os.sep in (python := kept.get("UV_PYTHON", "")) or python.startswith("."):
        kept["UV_PYTHON"] = _absolute(python)
    return {**kept, **_FIXED, **settings}


def recorded(lock: Lock | None, table: Mapping[str, Any]) -> dict[str, str]:
    """What the old lock was made with, as variables, where the settings (`table`) do not say it.

    uv gives up a lock that was made with others, and every version in it may move.
    """
    if lock is None:
        return {}
    found: dict[str, str] = {}
    for variable, (setting, *options) in _RECORDED.items():
        values = [lock.options[option] for option in options if option in lock.options]
        if values and setting not in table:
            found[variable] = str(values[0])
    sources = [p.source.value for p in lock.packages if p.source.kind is SourceKind.GIT]
    if sources and all("lfs=true" in source for source in sources):
        found[_LFS] = "1"
    return found


def unheeded(heeded: Mapping[str, str], table: Mapping[str, Any]) -> tuple[str, ...]:
    """A warning for each variable of the user's that would change the lock and is left out."""
    spoken = {*heeded, *(name for name, (key, *_) in _RECORDED.items() if key in table)}
    return tuple(
        f"{name} is set here and was not heeded: what is locked must not depend on a shell; "
        "a setting in the project can say it"
        for name in (*_RECORDED, "UV_NO_SOURCES", _LFS)
        if os.environ.get(name) and name not in spoken
    )


def offline() -> bool:
    """Whether the user's set-up keeps uv off the network."""
    return os.environ.get("UV_OFFLINE", "").lower() in ("1", "true", "t", "yes", "y", "on")


def _absolute(path: str) -> str:
    return os.path.abspath(path) if path else path
