"""stackfix moves a project's GPU stack together until it supports the card in the machine.

The public face of the program: what `docs/api.md` shows. A name is imported when it is first used,
so that a command pays for what it needs alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackfix.audit.lock_audit import Audit
    from stackfix.audit.settings import policy, settings_of
    from stackfix.model.finding import Finding, Severity
    from stackfix.model.policy import AcceptedFinding, Policy
    from stackfix.model.selection import EVERYTHING, PLAIN, Selection
    from stackfix.model.stack import Piece, Stack
    from stackfix.model.target import Target
    from stackfix.plan.plan import Move, Plan, Status
    from stackfix.plan.propose import propose
    from stackfix.plan.request import Request, Strategy
    from stackfix.targets.parse import parse_target

    __version__: str

__all__ = [
    "EVERYTHING",
    "PLAIN",
    "AcceptedFinding",
    "Audit",
    "Finding",
    "Move",
    "Piece",
    "Plan",
    "Policy",
    "Request",
    "Selection",
    "Severity",
    "Stack",
    "Status",
    "Strategy",
    "Target",
    "__version__",
    "parse_target",
    "policy",
    "propose",
    "settings_of",
]

_HOMES = {
    "AcceptedFinding": "model.policy",
    "Audit": "audit.lock_audit",
    "EVERYTHING": "model.selection",
    "Finding": "model.finding",
    "Move": "plan.plan",
    "PLAIN": "model.selection",
    "Piece": "model.stack",
    "Plan": "plan.plan",
    "Policy": "model.policy",
    "Request": "plan.request",
    "Selection": "model.selection",
    "Severity": "model.finding",
    "Stack": "model.stack",
    "Status": "plan.plan",
    "Strategy": "plan.request",
    "Target": "model.target",
    "parse_target": "targets.parse",
    "policy": "audit.settings",
    "propose": "plan.propose",
    "settings_of": "audit.settings",
}
"""The module of each name, below `stackfix`."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("stackfix")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"stackfix.{_HOMES[name]}"), name)
