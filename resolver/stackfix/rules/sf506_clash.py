"""SF506: requirements that exclude each other, so that uv can lock nothing.

What: what the project asks of one package, and what a wheel that it also asks for requires of the
same package, admit no version together; or two requirements of the project do. `uv lock` refuses
the project as it is. `stackfix plan` says so of a project that has no uv.lock, or one that is older
than its pyproject.toml.

Why: frameworks pin the libraries and companions that they were built with. A pin beside them, such
as another cuDNN beside torch, holds only where it names the very same version.

Evidence: metadata (the Requires-Dist of the wheel that is named); where no fact tells, uv's own
words are quoted.

Fix: the plan counts from what the project asks for, and moves the fewest pins so that it locks and
supports the cards. Extras or groups that exclude each other, and are meant to, belong into
`tool.uv.conflicts`: the plan adds them there.

Ignore: not possible, since there is nothing to install until it locks.
"""

from __future__ import annotations

__all__ = ["Clashing"]


class Clashing:
    code = "SF506"
    title = "requirements that exclude each other"
