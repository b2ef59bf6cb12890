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
    from stackfix.validate.kernels.telling import NotPossible, Wrong, arguments, telling
else:
    from cuda_libraries import default_sites, differs, installed, main_library, version_of
    from telling import NotPossible, Wrong, arguments, telling


def main() -> int:
    parser = arguments(__doc__ or "")
    parser.add_argument("--site", action="append", help="folder with packages; default: sys.path")
    parser.add_argument("--expect", default="{}", help='{"cudnn": ["nvidia-cudnn-cu12", "9.5.1"]}')
    options = parser.parse_args()
    expected = json.loads(options.expect)
    found = installed(options.site or default_sites())
    with telling(options) as tell:
        for family in dict.fromkeys((*expected, *found)):
            package, wanted = expected.get(family, (None, None))
            with tell.check(package or family) as told:
                path = main_library(family, found.get(family, []))
                if path is None:
                    raise NotPossible("the environment has no such library")
                version = version_of(family, path)
                if version is None:
                    raise NotPossible("the library does not tell its version")
                text = ".".join(map(str, version))
                if wanted and differs(version, wanted):
                    raise Wrong(f"{path} is {text}, the lock has {wanted}")
                told.detail = text
        return tell.end()


if __name__ == "__main__":
    sys.exit(main())
