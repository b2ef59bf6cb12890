"""SF500: a lock that was not judged.

What: among several locks, one could not be read (error), or holds GPU packages while neither its
pyproject.toml, nor one above it in the repository, nor the command line names a target (warning).

Why: a gate that passes over what it cannot judge passes everything.

Evidence: the message says what was expected, and where.

Fix: mend the file; or `[tool.stackfix] targets = ["H100:8@550.90"]`.

Ignore: `[tool.stackfix] ignore = [{ code = "SF500", reason = "…" }]` accepts a lock without
targets. One that cannot be read is left out by not naming its folder.
"""

from __future__ import annotations

__all__ = ["NotJudged"]


class NotJudged:
    code = "SF500"
    title = "a lock that was not judged"
