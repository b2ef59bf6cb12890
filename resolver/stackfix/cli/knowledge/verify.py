"""`stackfix knowledge verify`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from stackfix.cli.failures import FINDINGS
from stackfix.cli.knowledge.indexes import index_option, open_index, pinned
from stackfix.cli.options import format_option
from stackfix.cli.parser import Parser
from stackfix.cli.printing import print_note, print_result
from stackfix.wording import one_line

__all__ = ["configure", "run"]


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("releases", nargs="+", metavar="PKG==VERSION…")
    index_option(parser)
    format_option(parser)


def run(arguments: Namespace) -> int:
    """Measure releases again and compare with the shipped facts. Nothing is written.

    Each wheel is read as deep as it was recorded. Exit code: 0 all agrees, 1 something differs
    or cannot be read, 2 bad input or a release without facts.
    """
    import datetime

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name
    from packaging.version import Version

    from stackfix.report.upkeep import VerificationDocument, VerifiedDocument, verification_lines
    from stackfix_knowledge.evidence import EvidenceKind
    from stackfix_knowledge.measure.comparing import recorded, verify
    from stackfix_knowledge.measure.facts_file import FactsFile
    from stackfix_knowledge.measure.measuring import Measuring
    from stackfix_knowledge.reader import facts_folder

    shipped = facts_folder() / "wheels"
    asked = []
    for requirement in pinned(arguments.releases):
        package = str(canonicalize_name(requirement.name))
        version = Version(next(iter(requirement.specifier)).version)
        tables = FactsFile(shipped, package).tables()
        asked.append((package, version, recorded(tables, package, version)))
    results = []
    with open_index(arguments.index) as index:

        def measure(
            folder: Path, wanted: Requirement, kind: EvidenceKind, platforms: Sequence[str]
        ) -> int:
            measuring = Measuring(index, folder, today=datetime.date.today(), report=_say)
            return measuring.measure(wanted, depth=kind, platforms=platforms)

        for package, version, table in asked:
            differences, failures = verify(table, package, measure)
            results.append(
                VerifiedDocument(
                    package=package,
                    version=str(version),
                    differences=tuple(differences),
                    failures=failures,
                )
            )
    document = VerificationDocument(schema=1, releases=tuple(results))
    print_result(arguments.output_format, lambda: document, lambda: verification_lines(document))
    return 0 if all(release.holds for release in results) else FINDINGS


def _say(line: str) -> None:
    print_note(one_line(line))
