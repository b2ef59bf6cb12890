"""Names of projects as indexes compare them (PEP 503).

`packaging.utils` has the same function, and loads the tags of wheels, a subprocess and logging with
it: a tenth of what a whole check takes.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["normalized"]

_SEPARATORS = re.compile(r"[-_.]+")


@lru_cache(maxsize=65536)
def normalized(name: str) -> str:
    """`Flash_Attn` as `flash-attn`: lower case, runs of `-`, `_` and `.` as one `-`."""
    return _SEPARATORS.sub("-", name).lower()
