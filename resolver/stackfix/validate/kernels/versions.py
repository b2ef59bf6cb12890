"""Loads each of NVIDIA's libraries of an environment and asks for its version; needs no card."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackfix.validate.kernels.cuda_libraries import (
        default_sites,
        differs,
        installed,
        main_library,
        version_of,
    )
    from stackfix.validate.kernels.reporting import CheckFailed, CheckSkipped, arguments, reporting
else:
    from cuda_libraries import default_sites, differs, installed, main_library, version_of
    from reporting import CheckFailed, CheckSkipped, arguments, reporting


def main() -> int:
    parser = arguments(__doc__ or "")
    parser.add_argument("--site", action="append", help="folder with packages; default: sys.path")
    parser.add_argument("--expect", default="{}", help='{"cudnn": ["nvidia-cudnn-cu12", "9.5.1"]}')
    options = parser.parse_args()
    expected = json.loads(options.expect)
    found = installed(options.site or default_sites())
    with reporting(options) as report:
        for family in dict.fromkeys((*expected, *found)):
            package, wanted = expected.get(family, (None, None))
            with report.check(package or family) as check:
                path = main_library(family, found.get(family, []))
                if path is None:
                    raise CheckSkipped("the environment has no such library")
                version = version_of(family, path)
                if version is None:
                    raise CheckSkipped("the library does not tell its version")
                text = ".".join(map(str, version))
                if wanted and differs(version, wanted):
                    raise CheckFailed(f"{path} is {text}, the lock has {wanted}")
                check.detail = text
        return report.end()


if __name__ == "__main__":
    sys.exit(main())
