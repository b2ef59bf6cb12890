"""Imports frameworks together, as a program would, and looks where their libraries came from.

A copy from the system or from conda in place of the environment's own is wrong, and so are two
files of one library in one process. Reads /proc/self/maps; needs no card.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.cuda_libraries import (
        default_sites,
        differs,
        family_of,
        installed,
        main_library,
        mapped,
        shadows,
        stem_of,
        version_of,
    )
    from stackfix.validate.kernels.reporting import CheckFailed, Reporter, arguments, reporting
else:
    from cuda_libraries import (
        default_sites,
        differs,
        family_of,
        installed,
        main_library,
        mapped,
        shadows,
        stem_of,
        version_of,
    )
    from reporting import CheckFailed, Reporter, arguments, reporting


def main() -> int:
    parser = arguments(__doc__ or "")
    parser.add_argument("--module", action="append", default=[])
    parser.add_argument("--site", action="append", help="folder with packages; default: sys.path")
    parser.add_argument("--expect", default="{}", help='{"cudnn": ["nvidia-cudnn-cu12", "9.5.1"]}')
    options = parser.parse_args()
    sites = options.site or default_sites()
    with reporting(options) as report:
        for name in options.module:
            with report.check(f"import {name}"):
                load(import_module(name))
        examine(report, mapped(), installed(sites), json.loads(options.expect))
        return report.end()


def load(module: Any) -> None:
    """Make a framework load the libraries that it loads late, as far as it does without a card."""
    if module.__name__ == "torch":
        with contextlib.suppress(Exception):
            module.backends.cudnn.version()
    elif module.__name__ == "jax":
        for major in (12, 13):
            with contextlib.suppress(Exception):
                import_module(f"jax_cuda{major}_plugin._versions").cudnn_get_version()


def examine(
    report: Reporter, loaded: list[str], own: dict[str, list[str]], expected: dict[str, list[str]]
) -> None:
    """One check for each library that the process has."""
    ours = {os.path.realpath(path) for paths in own.values() for path in paths}
    families: dict[str, list[str]] = {}
    for path in loaded:
        if family := family_of(os.path.basename(path)):
            families.setdefault(family, []).append(path)
    for family, paths in families.items():
        with report.check(family) as check:
            strangers = [p for p in paths if os.path.realpath(p) not in ours]
            if own.get(family) and strangers:
                raise CheckFailed(
                    f"the process loaded {strangers[0]} in place of the environment's"
                    f" {own[family][0]}; LD_LIBRARY_PATH={os.environ.get('LD_LIBRARY_PATH', '')!r}"
                )
            require_one(family, paths)
            check.detail = describe(family, paths, expected)
    report.fact("libraries", [p for paths in families.values() for p in paths][:200])
    names = {os.path.basename(path) for path in loaded}
    for folder, name in shadows(os.environ.get("LD_LIBRARY_PATH", ""), set(own)):
        if os.path.realpath(os.path.join(folder, name)) in ours:
            continue
        with report.check(f"LD_LIBRARY_PATH, {name}") as check:
            if name not in names:
                raise CheckFailed(
                    f"{folder} holds another {name}, which whatever loads it later finds before"
                    " the environment's: take the folder out of LD_LIBRARY_PATH"
                )
            check.detail = f"{folder} holds another; this process has the environment's"


def require_one(family: str, paths: list[str]) -> None:
    """No two different files of one library; several names of one file are one."""
    by_stem: dict[str, set[str]] = {}
    for path in paths:
        by_stem.setdefault(stem_of(os.path.basename(path)) or "", set()).add(os.path.realpath(path))
    twice = {stem: sorted(files) for stem, files in by_stem.items() if len(files) > 1}
    # Two runtimes get along: frameworks bring one of their own beside the environment's.
    if twice and family in ("cudnn", "nccl"):
        stem, files = next(iter(twice.items()))
        raise CheckFailed(f"{len(files)} copies of {stem} in one process: {', '.join(files[:3])}")


def describe(family: str, paths: list[str], expected: dict[str, list[str]]) -> str:
    """Place and version of what was loaded; CheckFailed where it is not the locked version."""
    main = main_library(family, paths)
    if main is None:
        return paths[0]
    version = version_of(family, main)
    if version is None:
        return main
    text = ".".join(map(str, version))
    package, wanted = expected.get(family, (None, None))
    if wanted and differs(version, wanted):
        raise CheckFailed(f"{main} is {text}, the lock has {package} {wanted}")
    return f"{text} from {main}"


if __name__ == "__main__":
    sys.exit(main())
