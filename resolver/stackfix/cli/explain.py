"""`stackfix explain`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stackfix.cli.options import format_option

if TYPE_CHECKING:
    from stackfix_knowledge.graph import Graph

__all__ = ["command"]

_CODE = re.compile(r"SF\d{3}", re.IGNORECASE)


@click.command("explain")
@click.argument("subject", metavar="CODE|PKG==VERSION")
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Also use the facts that this project adds.",
)
@format_option
def command(subject: str, project: Path | None, output_format: str) -> int:
    """Explain a rule (SF101), or all that is known about a release (torch==2.7.1).

    Every fact is shown with where it comes from. A package without a version (torch) lists the
    releases that are known.
    """
    if _CODE.fullmatch(subject):
        return _rule(subject.upper(), output_format)
    name, separator, version = subject.partition("==")
    graph = _graph(project)
    if not separator:
        return _releases(_name(name), graph, output_format)
    return _release(_name(name), version.strip(), graph, output_format)


def _graph(project: Path | None) -> Graph:
    from stackfix.cli.asking import find_project, graph_of

    return graph_of(find_project(project) if project else None)


def _name(text: str) -> str:
    from packaging.utils import InvalidName, canonicalize_name

    try:
        return str(canonicalize_name(text.strip(), validate=True))
    except InvalidName:
        raise click.UsageError(
            f"expected a code like SF101 or a release like torch==2.7.1, not {text!r}"
        ) from None


def _rule(code: str, output_format: str) -> int:
    from stackfix.report.json import dump
    from stackfix.rules.catalogue import explain

    text = explain(code)
    if text is None:
        raise click.ClickException(f"no rule has the code {code}")
    if output_format == "json":
        click.echo(dump({"schema": 1, "code": code, "text": text}), nl=False)
    else:
        click.echo(text)
    return 0


def _releases(name: str, graph: Graph, output_format: str) -> int:
    from stackfix.report.json import dump

    releases = [str(release.version) for release in graph.releases(name)]
    if not releases:
        raise click.ClickException(_unknown(name, graph))
    if output_format == "json":
        click.echo(dump({"schema": 1, "package": name, "versions": releases}), nl=False)
    else:
        click.echo(f"{name}: {len(releases)} releases are known")
        for public, builds in _builds(releases).items():
            click.echo(f"  {public}  {' '.join(builds)}".rstrip())
    return 0


def _builds(versions: list[str]) -> dict[str, list[str]]:
    """Versions by their public part: {"2.7.1": ["+cpu", "+cu128"]}."""
    builds: dict[str, list[str]] = {}
    for version in versions:
        public, plus, local = version.partition("+")
        builds.setdefault(public, []).extend([plus + local] if plus else [])
    return builds


def _release(name: str, version: str, graph: Graph, output_format: str) -> int:
    from packaging.version import InvalidVersion, Version

    from stackfix.report.release import release_document

    try:
        release = graph.release(name, Version(version))
    except InvalidVersion:
        raise click.ClickException(f'expected a version like "2.7.1", not {version!r}') from None
    if release is None:
        known = [one.version for one in graph.releases(name)]
        if not known:
            raise click.ClickException(_unknown(name, graph))
        span = f"{len(known)} releases from {known[0]} to {known[-1]}"
        raise click.ClickException(f"{name} {version} is not known; {span} are")
    document = release_document(release, graph)
    if output_format == "json":
        from stackfix.report.json import dump

        click.echo(dump(document), nl=False)
    else:
        from stackfix.report.console import output_console
        from stackfix.report.release_text import show_release

        show_release(output_console(), document)
    return 0


def _unknown(name: str, graph: Graph) -> str:
    import difflib

    if graph.packages.is_stack(name):
        return f"{name} is a package of the GPU stack, but no release of it is known yet"
    near = difflib.get_close_matches(name, [package.name for package in graph.packages], n=3)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"nothing is known about {name}: it is no package of the GPU stack{hint}"
