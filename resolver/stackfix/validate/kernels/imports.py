"""Imports one package: `python imports.py --module torch`."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackfix.validate.kernels.telling import arguments, telling
else:
    from telling import arguments, telling


def main() -> int:
    parser = arguments(__doc__ or "")
    parser.add_argument("--module", action="append", required=True)
    options = parser.parse_args()
    with telling(options) as tell:
        for name in options.module:
            with tell.check(f"import {name}") as told:
                begun = time.monotonic()
                module = import_module(name)
                version = getattr(module, "__version__", None)
                told.detail = f"{version or 'imported'}, {time.monotonic() - begun:.1f} s"
                tell.fact("file", str(getattr(module, "__file__", None)))
        return tell.end()


if __name__ == "__main__":
    sys.exit(main())
