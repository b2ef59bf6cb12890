"""``python -m stackfix_knowledge.measure torch==2.8.0 --depth binary``."""

from __future__ import annotations

import argparse
import datetime
import sys
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from stackfix_knowledge.measure.errors import MeasureError
from stackfix_knowledge.measure.index import Index, configured_index
from stackfix_knowledge.measure.measuring import DEPTHS, Measuring, client
from stackfix_knowledge.measure.select import PLATFORMS

_FACTS = Path(__file__).resolve().parents[1] / "facts" / "wheels"


def main(arguments: list[str] | None = None) -> int:
    """Measure what the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m stackfix_knowledge.measure")
    parser.add_argument("packages", nargs="+", metavar="PKG[==VERSION]", type=_requirement)
    parser.add_argument("--depth", choices=list(DEPTHS), default="metadata")
    parser.add_argument("--platform", default="linux_x86_64,linux_aarch64,any", type=_platforms)
    parser.add_argument("--index", help="address of the index; default: uv's or pip's")
    parser.add_argument("--facts", default=_FACTS, type=Path, help="folder of the facts files")
    parser.add_argument("--again", action="store_true", help="also what is known already")
    options = parser.parse_args(arguments)
    try:
        index = options.index or configured_index()
    except MeasureError as error:
        _say(str(error))
        return 2
    failures = 0
    with client() as http:
        measuring = Measuring(
            Index(index, http), options.facts, today=datetime.date.today(), report=_say
        )
        for package in options.packages:
            try:
                failures += measuring.measure(
                    package,
                    depth=DEPTHS[options.depth],
                    platforms=options.platform,
                    again=options.again,
                )
            except MeasureError as error:
                _say(str(error))
                failures += 1
    return 1 if failures else 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _requirement(text: str) -> Requirement:
    try:
        return Requirement(text)
    except InvalidRequirement as error:
        raise argparse.ArgumentTypeError(
            f"expected a requirement like torch==2.8.0: {error}"
        ) from error


def _platforms(text: str) -> tuple[str, ...]:
    platforms = tuple(part.strip() for part in text.split(","))
    for platform in platforms:
        if platform not in PLATFORMS:
            raise argparse.ArgumentTypeError(f"expected some of {', '.join(PLATFORMS)}: {platform}")
    return platforms


if __name__ == "__main__":
    sys.exit(main())
