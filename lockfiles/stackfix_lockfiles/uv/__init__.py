"""Running uv: which one, in which environment, and without losing control of it."""

from stackfix_lockfiles.uv.program import MINIMUM, Finished, TimedOut, Uv, in_one_line
from stackfix_lockfiles.uv.variables import environment

__all__ = ["MINIMUM", "Finished", "TimedOut", "Uv", "environment", "in_one_line"]
