"""Imports one package: `python imports.py --module torch`."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackfix.validate.kernels.reporting import arguments, reporting
else:
    from reporting import arguments, reporting


def main() -> int:
    parser = arguments(__doc__ or "")
    parser.add_argument("--module", action="append", required=True)
    options = parser.parse_args()
    with reporting(options) as report:
        for name in options.module:
            with report.check(f"import {name}") as check:
                begun = time.monotonic()
                module = import_module(name)
                version = getattr(module, "__version__", None)
                check.detail = f"{version or 'imported'}, {time.monotonic() - begun:.1f} s"
                report.fact("file", str(getattr(module, "__file__", None)))
        return report.end()


if __name__ == "__main__":
    sys.exit(main())
