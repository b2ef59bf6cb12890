"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackfix.cli.parser import Parser, file_path, one_of
from stackfix.model.target import PLATFORMS

__all__ = [
    "ANY_NUMBER",
    "REPEATABLE",
    "Choice",
    "card_options",
    "format_option",
    "platform_option",
    "project_options",
    "selection_options",
    "target_options",
]

REPEATABLE: dict[str, Any] = {"action": "append", "default": []}
"""An option that may be given several times."""
ANY_NUMBER: dict[str, Any] = {"nargs": "*", "default": []}
"""An argument of which there may be several or none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a person chose on the command line, as far as all planning commands share it."""

    project: Path | None
    """None: the one that the current folder belongs to."""
    targets: tuple[str, ...]
    hosts: tuple[Path, ...]
    platforms: tuple[str, ...]
    python: str | None
    extras: tuple[str, ...]
    groups: tuple[str, ...]
    all_extras: bool
    offline: bool

    @classmethod
    def of(cls, arguments: Namespace) -> Choice:
        """The shared options among what was chosen."""
        return cls(**{name: getattr(arguments, name) for name in cls.__dataclass_fields__})


def _python(text: str) -> str:
    if not re.fullmatch(r"3\.\d{1,2}(\.\d{1,2})?", text):
        raise ArgumentTypeError(f'expected a version like "3.11", not {text!r}')
    return text


def _platform(text: str) -> str:
    from stackfix_lockfiles.platforms import Platform

    try:
        return Platform.parse(text).name
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def project_options(parser: Parser) -> None:
    """`--project` and `--offline`."""
    parser.add_argument(
        "--project",
        type=Path,
        metavar="PATH",
        help="The project's folder. Default: the current one or one above.",
    )
    parser.add_argument(
        "--offline", action="store_true", help="Use no network: caches and shipped facts only."
    )


def card_options(parser: Parser) -> None:
    """`--target` and `--host`: cards alone."""
    parser.add_argument(
        "--target",
        dest="targets",
        **REPEATABLE,
        metavar="GPU[:COUNT][@DRIVER[+COMPAT]]",
        help='A card to support, such as "RTX 5090:4@570.133.07", L4 or sm_120. Repeatable.',
    )
    parser.add_argument(
        "--host",
        dest="hosts",
        **REPEATABLE,
        type=file_path,
        metavar="FILE",
        help="A machine to support: the output of `stackfix host --format json` there. Repeatable.",
    )


def selection_options(parser: Parser) -> None:
    """`--extra`, `--all-extras` and `--group`: what of the project is meant."""
    parser.add_argument(
        "--extra", dest="extras", **REPEATABLE, metavar="NAME", help="Include this extra."
    )
    parser.add_argument("--all-extras", action="store_true", help="Include every extra.")
    parser.add_argument(
        "--group",
        dest="groups",
        **REPEATABLE,
        metavar="NAME",
        help="Include this dependency group beside the default ones.",
    )


def target_options(parser: Parser) -> None:
    """What to plan for: cards, hosts, platform, Python, extras and groups."""
    card_options(parser)
    parser.add_argument(
        "--platform",
        dest="platforms",
        **REPEATABLE,
        type=_platform,
        metavar="NAME",
        help="Platform to plan for: linux_x86_64, linux_aarch64 or win_amd64, also as uv writes"
        " them. Default: the one that follows from the card. Repeatable.",
    )
    parser.add_argument(
        "--python",
        type=_python,
        metavar="VERSION",
        help="Python to plan for. Default: the project's.",
    )
    selection_options(parser)


def format_option(parser: Parser, formats: Sequence[str] = ("text", "json")) -> None:
    """`--format`, as `output_format`: text unless another is chosen."""
    parser.add_argument(
        "--format",
        dest="output_format",
        **one_of(formats),
        default="text",
        help="How to print the result. [default: %(default)s]",
    )


def platform_option(parser: Parser) -> None:
    """`--platform`: whose wheels are meant."""
    parser.add_argument(
        "--platform",
        **one_of(PLATFORMS),
        default=PLATFORMS[0],
        help="Whose wheels to look at. [default: %(default)s]",
    )
