"""`stackfix knowledge verify`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from stackfix.cli.failures import FINDINGS
from stackfix.cli.knowledge.indexes import index_option, open_index, pinned
from stackfix.cli.options import format_option
from stackfix.wording import one_line

__all__ = ["command"]


@click.command("verify")
@click.argument("releases", nargs=-1, required=True, metavar="PKG==VERSION…")
@index_option
@format_option
def command(releases: tuple[str, ...], address: str | None, output_format: str) -> int:
    """Measure releases again and compare with the shipped facts. Nothing is written.

    Each wheel is read as deep as it was recorded. Exit code: 0 all agrees, 1 something differs
    or cannot be read, 2 bad input or a release without facts.
    """
    import datetime

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name
    from packaging.version import Version

    from stackfix_knowledge.evidence import EvidenceKind
    from stackfix_knowledge.measure.comparing import recorded, verify
    from stackfix_knowledge.measure.facts_file import FactsFile
    from stackfix_knowledge.measure.measuring import Measuring
    from stackfix_knowledge.reader import facts_folder

    shipped = facts_folder() / "wheels"
    asked = []
    for requirement in pinned(releases):
        package = str(canonicalize_name(requirement.name))
        version = Version(next(iter(requirement.specifier)).version)
        tables = FactsFile(shipped, package).tables()
        asked.append((package, version, recorded(tables, package, version)))
    results = []
    with open_index(address) as index:

        def measure(
            folder: Path, wanted: Requirement, kind: EvidenceKind, platforms: Sequence[str]
        ) -> int:
            measuring = Measuring(index, folder, today=datetime.date.today(), report=_say)
            return measuring.measure(wanted, depth=kind, platforms=platforms)

        for package, version, table in asked:
            results.append((package, version, *verify(table, package, measure)))
    if output_format == "json":
        from stackfix.report.json import dump

        document = {
            "schema": 1,
            "releases": [
                {
                    "package": package,
                    "version": str(version),
                    "differences": found,
                    "failures": failures,
                }
                for package, version, found, failures in results
            ],
        }
        click.echo(dump(document), nl=False)
    else:
        for package, version, found, failures in results:
            for line in found:
                click.echo(one_line(f"✗ {line}"))
            if not found and not failures:
                click.echo(f"✓ {package} {version}: the facts hold")
    differs = any(found or failures for _, _, found, failures in results)
    return FINDINGS if differs else 0


def _say(line: str) -> None:
    click.echo(one_line(line), err=True)
