"""Variants: one product, built for several CUDA majors, and how each is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.reader import Entry, FactsError, read_facts

__all__ = ["Variant", "VariantGroup", "VariantTable", "parse_variants"]


class Variant(NamedTuple):
    """One spelling of a product: a package, or a package with an extra, of one CUDA major."""

    package: str
    """Normalised name."""
    extra: str | None
    """Normalised; None where the package's name alone says the CUDA major."""
    cuda: int

    def __str__(self) -> str:
        """ "jax[cuda12]" or "cupy-cuda12x"."""
        return self.package if self.extra is None else f"{self.package}[{self.extra}]"


class VariantGroup(NamedTuple):
    """The alternatives of one product, of which an environment can have one."""

    alternatives: tuple[Variant, ...]
    """One for each CUDA major, ascending."""
    aliases: tuple[Variant, ...]
    """Other spellings of some of them: jax[cuda] is jax[cuda12]."""
    evidence: tuple[Evidence, ...]

    def of(self, cuda: int) -> Variant | None:
        """The alternative of that CUDA major."""
        return next((variant for variant in self.alternatives if variant.cuda == cuda), None)


class VariantTable:
    """Every group, by the packages and extras of its alternatives."""

    def __init__(self, groups: Iterable[VariantGroup]) -> None:
        self.groups = tuple(groups)
        self._known = {
            (variant.package, variant.extra): (group, variant)
            for group in self.groups
            for variant in (*group.alternatives, *group.aliases)
        }

    @classmethod
    def load(cls) -> VariantTable:
        """The shipped table."""
        return cls(parse_variants(read_facts("variants.toml")))

    def get(self, package: str, extra: str | None = None) -> Variant | None:
        """The variant that a package asks for, or that it asks for with an extra."""
        found = self._known.get((package, extra or None))
        return found[1] if found else None

    def group(self, variant: Variant) -> VariantGroup:
        """The group of a variant of this table."""
        return self._known[variant.package, variant.extra][0]


def parse_variants(file: Entry) -> Iterator[VariantGroup]:
    """Read the groups of a facts file. Raises FactsError."""
    file.only("sources", "group")
    sources = file.sources()
    seen: set[tuple[str, str | None]] = set()
    for entry in file.entries("group"):
        entry.only("alternatives", "source")
        alternatives: list[Variant] = []
        aliases: list[Variant] = []
        for row in entry.entries("alternatives"):
            row.only("cuda", "package", "extra", "also")
            own = Variant(
                package=row.text("package"),
                extra=row.optional_text("extra"),
                cuda=row.integer("cuda"),
            )
            alternatives.append(own)
            aliases += (
                Variant(package=own.package, extra=extra, cuda=own.cuda)
                for extra in row.texts("also")
            )
        majors = [variant.cuda for variant in alternatives]
        if len(majors) < 2 or majors != sorted(set(majors)):
            raise entry.fault("alternatives", "two CUDA majors or more, ascending, each once")
        for variant in (*alternatives, *aliases):
            spelled = (variant.package, variant.extra)
            if spelled in seen:
                raise _twice(entry, variant)
            seen.add(spelled)
        yield VariantGroup(
            alternatives=tuple(alternatives),
            aliases=tuple(aliases),
            evidence=entry.evidence(sources),
        )


def _twice(entry: Entry, variant: Variant) -> FactsError:
    return entry.fault("alternatives", f"each variant in one group, not {variant} again")
