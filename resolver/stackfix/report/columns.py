"""The cards that tables show when nobody named any."""

from __future__ import annotations

from stackfix_knowledge.hardware import ComputeCapability

__all__ = ["COLUMNS", "LETTERS", "STYLES"]

COLUMNS = tuple(
    map(
        ComputeCapability.parse,
        ("6.1", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"),
    )
)
"""One of each generation that people still run, from Pascal to Blackwell."""

LETTERS = {"supported": "S", "jit": "J", "partial": "P", "unsupported": "–", "unknown": "?"}
"""A verdict in one character."""

STYLES = {
    "supported": "green",
    "jit": "yellow",
    "partial": "red",
    "unsupported": "red",
    "unknown": "dim",
}
