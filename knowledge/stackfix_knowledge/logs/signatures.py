"""Log signatures: which line means what, and what a fault of its family calls for.

`facts/signatures/families.toml` lists what a diagnosis can answer; every other file there holds
signatures of one part of the stack. A pattern is tried on a line only if one of its signature's
anchors, plain texts that a fast scan finds, occurs in that line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import IntEnum, StrEnum
from functools import cache
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.reader import Entry, FactsError, Sources, facts_folder, read_facts

__all__ = [
    "CrashStage",
    "EndSign",
    "Family",
    "LineRole",
    "LogCondition",
    "Particulars",
    "Remedy",
    "RemedyKind",
    "Signature",
    "SignatureTable",
    "parse_families",
    "parse_signatures",
    "signature_table",
]

_FOLDER = "signatures"
_FAMILIES = "families.toml"


class LineRole(StrEnum):
    """What a line that a signature knows is in the course of a crash."""

    CAUSE = "cause"
    WRAPPER = "wrapper"
    """Repeats a fault, or names only its category."""
    COLLATERAL = "collateral"
    """Follows from a fault elsewhere."""
    HANG = "hang"
    """A wait that ran out of time."""
    BENIGN = "benign"
    ADVICE = "advice"
    """Says what could be done; never a sign that something happened."""


class CrashStage(IntEnum):
    """How near to the start of a crash a fault of this kind lies: the lowest one wins."""

    HARDWARE = 0
    HOST = 1
    DRIVER = 2
    STACK = 3
    KERNEL = 4
    CONFIG = 5
    EXCEPTION = 6
    PROCESS = 7
    STOPPED = 8
    LINK = 9
    KILLED = 10
    RENDEZVOUS = 11
    NETWORK = 12
    WAIT = 13
    CATEGORY = 14


class EndSign(StrEnum):
    """What a line tells of how its process ended."""

    ENDED = "ended"
    """It did end: no good word after this counts."""
    ABORTS = "aborts"
    """After this it aborts by design."""
    ABORT = "abort"
    """It aborted, which by itself is no cause where it aborts by design."""
    CANCELLED = "cancelled"
    """Someone stopped it, which alone shows no failure."""
    ANY = "any"
    """Any end brings this line, a wanted one too."""


class Particulars(StrEnum):
    """What of the line at fault a remedy repeats, so that it names the case at hand."""

    PROCESS = "process"
    """Which process, and where it says so."""
    CARD = "card"
    """The same, and the Xid of its card."""
    XID = "xid"
    EXCEPTION = "exception"
    ABSENT_CLIENTS = "absent-clients"
    ABSENT_RANKS = "absent-ranks"
    MISSING_LIBRARY = "missing-library"
    MISSING_SYMBOL = "missing-symbol"
    MISSING_CODE = "missing-code"
    """For which architecture there is none."""
    ADDRESS = "address"
    BATCH = "batch"
    """The sizes that do not divide."""


class RemedyKind(StrEnum):
    """Where a remedy is applied."""

    PINS = "pins"
    ENV = "env"
    HOST = "host"
    CODE = "code"
    HARDWARE = "hardware"


class Remedy(NamedTuple):
    """One thing that can be done about a fault."""

    kind: RemedyKind
    text: str
    command: str | None = None


class Family(NamedTuple):
    """One answer that a diagnosis can give."""

    name: str
    meaning: str
    safety: str
    """What it must not be confused with."""
    needs: str
    """The evidence without which it is not answered."""
    remedies: tuple[Remedy, ...]
    verify: str | None
    """A command that shows whether the fault is gone."""
    unknown: tuple[str, ...]
    """What a log of this family does not tell, and how to find out."""
    findings: tuple[str, ...]
    """Codes of the rules that see the same fault in a lock."""
    library: str | None
    """What it sits in: "cudnn", "nccl", "torch", "triton", "jax" or "driver"."""
    particulars: Particulars | None
    """What of the line at fault the first remedy repeats; None: nothing."""


class LogCondition(NamedTuple):
    """What else the log must show for a signature to count. Unmet where that is not known."""

    nccl: SpecifierSet | None = None
    """NCCL's version is one of these."""
    nccl_is: tuple[Version, ...] = ()
    """NCCL's version is exactly one of these: post-releases do not count."""
    card: ComputeCapability | None = None
    """A card of this capability is named."""
    trail: re.Pattern[str] | None = None
    """One of NCCL's "-> N" lines after the warning matches."""
    wsl: bool = False
    """The log comes from WSL."""


class Signature(NamedTuple):
    """One kind of line."""

    id: str
    role: LineRole
    stage: CrashStage
    family: str | None
    """Name of its family; None for roles other than cause that several families share."""
    anchors: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    weak: bool
    """It counts only where something else shows that the run failed."""
    when: LogCondition | None
    end: frozenset[EndSign]
    """What the line tells of how its process ended."""
    safety: str | None
    evidence: tuple[Evidence, ...]
    positive: tuple[str, ...]
    """Lines that it must match."""
    negative: tuple[str, ...]
    """Lines that it must not match."""

    def match(self, line: str) -> re.Match[str] | None:
        """The first pattern's match in `line`, a line without its launcher's prefixes."""
        for pattern in self.patterns:
            if found := pattern.search(line):
                return found
        return None


class SignatureTable(NamedTuple):
    """All families and signatures."""

    families: Mapping[str, Family]
    signatures: tuple[Signature, ...]

    def family(self, name: str) -> Family:
        """The family of that name; KeyError if there is none."""
        return self.families[name]

    def anchors(self) -> Iterator[tuple[str, Signature]]:
        """Every anchor with the signature that it is one of."""
        for signature in self.signatures:
            for anchor in signature.anchors:
                yield anchor, signature


@cache
def signature_table() -> SignatureTable:
    """The shipped table. Raises FactsError if a file of it cannot be used."""
    families = parse_families(read_facts(f"{_FOLDER}/{_FAMILIES}"))
    signatures: list[Signature] = []
    for path in sorted((facts_folder() / _FOLDER).glob("*.toml")):
        if path.name != _FAMILIES:
            file = read_facts(f"{_FOLDER}/{path.name}")
            signatures.extend(parse_signatures(file, families))
    seen: set[str] = set()
    for signature in signatures:
        if signature.id in seen:
            raise FactsError(_FOLDER, signature.id, "an id that no other signature has")
        seen.add(signature.id)
    return SignatureTable(families=families, signatures=tuple(signatures))


def parse_families(file: Entry) -> dict[str, Family]:
    """Read a file of families."""
    file.only("family")
    families: dict[str, Family] = {}
    for entry in file.entries("family"):
        entry.only(
            "name",
            "meaning",
            "safety",
            "needs",
            "remedies",
            "verify",
            "unknown",
            "findings",
            "library",
            "particulars",
        )
        family = Family(
            name=entry.text("name"),
            meaning=entry.text("meaning"),
            safety=entry.text("safety"),
            needs=entry.text("needs"),
            remedies=tuple(_remedy(remedy) for remedy in entry.entries("remedies")),
            verify=entry.text("verify") if entry.data.get("verify") else None,
            unknown=entry.texts("unknown"),
            findings=entry.texts("findings"),
            library=entry.optional_text("library"),
            particulars=entry.optional_choice("particulars", Particulars),
        )
        if family.name in families:
            raise entry.fault("name", "a name that no other family has")
        families[family.name] = family
    return families


def parse_signatures(file: Entry, families: Mapping[str, Family]) -> Iterator[Signature]:
    """Read one file of signatures. Each must name a source of its file."""
    file.only("sources", "signature")
    sources = file.sources()
    for entry in file.entries("signature"):
        yield _signature(entry, families, sources)


def _signature(entry: Entry, families: Mapping[str, Family], sources: Sources) -> Signature:
    entry.only(
        "id",
        "family",
        "role",
        "stage",
        "weak",
        "anchors",
        "patterns",
        "when",
        "end",
        "safety",
        "source",
        "positive",
        "negative",
    )
    role = entry.choice("role", LineRole)
    family = entry.optional_text("family")
    if family is not None and family not in families:
        raise entry.fault("family", "the name of a family in families.toml")
    if role is LineRole.CAUSE and family is None:
        raise entry.fault("family", "a family: every cause belongs to one")
    for key in ("anchors", "patterns", "positive", "negative"):
        if not entry.texts(key):
            raise entry.fault(key, "at least one text")
    return Signature(
        id=entry.text("id"),
        role=role,
        stage=_stage(entry),
        family=family,
        anchors=entry.texts("anchors"),
        patterns=entry.patterns("patterns"),
        weak=entry.flag("weak"),
        when=_condition(entry.entry("when")) if "when" in entry else None,
        end=entry.choices("end", EndSign),
        safety=entry.optional_text("safety"),
        evidence=entry.evidence(sources),
        positive=entry.texts("positive"),
        negative=entry.texts("negative"),
    )


def _condition(entry: Entry) -> LogCondition:
    entry.only("nccl", "nccl_is", "card", "trail", "wsl")
    return LogCondition(
        nccl=entry.optional_specifiers("nccl"),
        nccl_is=entry.versions("nccl_is"),
        card=entry.capability("card") if "card" in entry else None,
        trail=entry.pattern("trail") if "trail" in entry else None,
        wsl=entry.flag("wsl"),
    )


def _remedy(entry: Entry) -> Remedy:
    entry.only("kind", "text", "command")
    return Remedy(
        kind=entry.choice("kind", RemedyKind),
        text=entry.text("text"),
        command=entry.optional_text("command"),
    )


def _stage(entry: Entry) -> CrashStage:
    try:
        return CrashStage[entry.text("stage").upper()]
    except KeyError:
        names = ", ".join(stage.name.lower() for stage in CrashStage)
        raise entry.fault("stage", f"one of {names}") from None
