"""From a lock to what is wrong with it: the one way, for every command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackfix.audit.lock_audit import Audit, audit

__all__ = ["Audit", "audit"]


def __getattr__(name: str) -> object:
    """What `__all__` names, imported when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from stackfix.audit import lock_audit

    return getattr(lock_audit, name)
