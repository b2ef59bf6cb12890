"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from stackfix.model.target import PLATFORMS

__all__ = [
    "Choice",
    "card_options",
    "format_option",
    "platform_option",
    "project_options",
    "selection_options",
    "target_options",
]

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a person chose on the command line, as far as all planning commands share it."""

    project: Path
    targets: tuple[str, ...]
    hosts: tuple[Path, ...]
    platforms: tuple[str, ...]
    python: str | None
    extras: tuple[str, ...]
    groups: tuple[str, ...]
    all_extras: bool
    offline: bool

    @classmethod
    def take(cls, options: dict[str, Any]) -> Choice:
        """Take the shared options out of a command's keyword arguments."""
        return cls(**{name: options.pop(name) for name in cls.__dataclass_fields__})


def _python(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"3\.\d{1,2}(\.\d{1,2})?", value):
        raise click.BadParameter(f'expected a version like "3.11", not {value!r}')
    return value


def _platforms(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    if not values:
        return ()
    from stackfix_lockfiles.platforms import Platform

    try:
        return tuple(dict.fromkeys(Platform.parse(value).name for value in values))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


_PROJECT = (
    click.option(
        "--project",
        type=click.Path(path_type=Path),
        default=Path(),
        metavar="PATH",
        help="The project's folder. Default: the current one or one above.",
    ),
    click.option("--offline", is_flag=True, help="Use no network: caches and shipped facts only."),
)

_CARDS = (
    click.option(
        "--target",
        "targets",
        multiple=True,
        metavar="GPU[:COUNT][@DRIVER[+COMPAT]]",
        help='A card to support, such as "RTX 5090:4@570.133.07", L4 or sm_120. Repeatable.',
    ),
    click.option(
        "--host",
        "hosts",
        multiple=True,
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="A machine to support: the output of `stackfix host --format json` there. Repeatable.",
    ),
)

_SELECTION = (
    click.option("--extra", "extras", multiple=True, metavar="NAME", help="Include this extra."),
    click.option("--all-extras", is_flag=True, help="Include every extra."),
    click.option(
        "--group",
        "groups",
        multiple=True,
        metavar="NAME",
        help="Include this dependency group beside the default ones.",
    ),
)

_TARGET = (
    *_CARDS,
    click.option(
        "--platform",
        "platforms",
        multiple=True,
        callback=_platforms,
        metavar="NAME",
        help="Platform to plan for: linux_x86_64, linux_aarch64 or win_amd64, also as uv writes"
        " them. Default: the one that follows from the card. Repeatable.",
    ),
    click.option(
        "--python",
        callback=_python,
        metavar="VERSION",
        help="Python to plan for. Default: the project's.",
    ),
    *_SELECTION,
)


def _all_of(options: tuple[Callable[[Command], Command], ...]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def project_options(command: Command) -> Command:
    """`--project` and `--offline`."""
    return _all_of(_PROJECT)(command)


def card_options(command: Command) -> Command:
    """`--target` and `--host`: cards alone."""
    return _all_of(_CARDS)(command)


def selection_options(command: Command) -> Command:
    """`--extra`, `--all-extras` and `--group`: what of the project is meant."""
    return _all_of(_SELECTION)(command)


def target_options(command: Command) -> Command:
    """What to plan for: cards, hosts, platform, Python, extras and groups."""
    return _all_of(_TARGET)(command)


def format_option(command: Command) -> Command:
    """`--format text|json`, as the argument `output_format`."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="How to print the result.",
    )(command)


def platform_option(command: Command) -> Command:
    """`--platform`: whose wheels are meant."""
    return click.option(
        "--platform",
        type=click.Choice(PLATFORMS),
        default=PLATFORMS[0],
        show_default=True,
        help="Whose wheels to look at.",
    )(command)
