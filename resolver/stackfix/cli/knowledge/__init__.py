"""Show, measure and check the facts: which release runs on which card, and who says so."""

from __future__ import annotations

__all__ = ["COMMANDS"]

COMMANDS = {
    "show": ("stackfix.cli.knowledge.show", "Show all that is known about a package or release."),
    "matrix": (
        "stackfix.cli.knowledge.matrix",
        "Show a package's releases by the cards they suit.",
    ),
    "measure": ("stackfix.cli.knowledge.measure", "Measure releases on the index into the facts."),
    "verify": ("stackfix.cli.knowledge.verify", "Measure again, and compare with the facts."),
    "lint": ("stackfix.cli.knowledge.lint", "Check the facts, and list what a person should see."),
    "outdated": ("stackfix.cli.knowledge.outdated", "List newer releases that nobody measured."),
}
"""Name -> module, and the line that `--help` shows; see `stackfix.cli.commands`."""
