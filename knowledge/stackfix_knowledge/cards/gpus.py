"""Graphics cards by name: what to assume about a card that is not in this machine.

On a machine that has the card, ask its driver instead; names are for planning elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.reader import Entry, read_facts

__all__ = ["Gpu", "GpuTable", "Segment", "parse_gpus"]


class Segment(StrEnum):
    """What a card is sold for; some bugs and some driver features depend on it."""

    DATACENTER = "datacenter"
    GEFORCE = "geforce"
    WORKSTATION = "workstation"
    JETSON = "jetson"


class Gpu(NamedTuple):
    """A card as its vendor names it."""

    name: str
    """Such as "GeForce RTX 5090", without "NVIDIA"."""

    capability: ComputeCapability

    architecture: str
    """The generation's name, such as "Blackwell"."""

    segment: Segment

    platform: str
    """Platform of the machine it is usually found in: "linux_x86_64" or "linux_aarch64"."""

    evidence: tuple[Evidence, ...]

    aliases: tuple[str, ...] = ()
    """Other names that people use for it."""


class GpuTable:
    """All cards known by name."""

    def __init__(self, gpus: Iterable[Gpu]) -> None:
        self._gpus = tuple(gpus)

    @classmethod
    def load(cls, extra: Iterable[Gpu] = ()) -> GpuTable:
        """The shipped table, with `extra` cards (a project's own) before it."""
        return cls((*extra, *parse_gpus(read_facts("gpus.toml"), "cards")))

    def __iter__(self) -> Iterator[Gpu]:
        return iter(self._gpus)

    def __len__(self) -> int:
        return len(self._gpus)

    def find(self, name: str) -> Gpu | None:
        """The card that `name` means, or None if that is unknown or not clear.

        Takes what `nvidia-smi` prints ("NVIDIA A100-SXM4-80GB") and what people write ("rtx5090",
        "V100"). Words after a known name are ignored, except where a longer name is known. A name
        that fits cards of different capabilities ("RTX 6000") is not clear.
        """
        words = _words(name)
        found = self._starting_with(words)
        if not found and words and words[0] in _BRANDS:
            found = self._starting_with(words[1:])
        return found[0] if len({gpu.capability for gpu in found}) == 1 else None

    def near(self, name: str, limit: int = 5) -> tuple[str, ...]:
        """Names of known cards that resemble `name`, the most similar first."""
        import difflib  # only a slip of the pen needs it

        words = _words(name)
        begin = [gpu.name for known, gpu in self._by_length if known[: len(words)] == words]
        by_text = {" ".join(known): gpu.name for known, gpu in self._by_length}
        close = difflib.get_close_matches(" ".join(words), by_text, n=2 * limit, cutoff=0.5)
        return tuple(dict.fromkeys([*begin, *(by_text[text] for text in close)]))[:limit]

    def with_capability(self, capability: ComputeCapability) -> tuple[Gpu, ...]:
        """The known cards of that very capability."""
        return tuple(gpu for gpu in self._gpus if gpu.capability == capability)

    def _starting_with(self, words: tuple[str, ...]) -> tuple[Gpu, ...]:
        """Cards whose name begins with all of `words`, else those named by most of its start."""
        longer = tuple(gpu for known, gpu in self._by_length if known[: len(words)] == words)
        if longer and words:
            return longer
        for length in range(len(words) - 1, 0, -1):
            if words[:length] in self._by_words:
                return self._by_words[words[:length]]
        return ()

    @cached_property
    def _by_words(self) -> Mapping[tuple[str, ...], tuple[Gpu, ...]]:
        found: dict[tuple[str, ...], tuple[Gpu, ...]] = {}
        for gpu in self._gpus:
            for words in _forms(gpu):
                found[words] = (*found.get(words, ()), gpu)
        return found

    @cached_property
    def _by_length(self) -> tuple[tuple[tuple[str, ...], Gpu], ...]:
        pairs = [(words, gpu) for words, gpus in self._by_words.items() for gpu in gpus]
        return tuple(sorted(pairs, key=lambda pair: len(pair[0])))


_BRANDS = frozenset({"geforce", "tesla", "quadro"})
_SERIES = frozenset({"rtx", "gtx"})
_NOISE = frozenset({"nvidia", "gpu", "generation", "graphics"})
_GLUED = re.compile(r"\b(geforce|quadro|tesla|titan|jetson|rtx|gtx|gt)(?=[a-z]?\d)")
_GLUED_SUFFIX = re.compile(r"(?<=\d)(ti|super|laptop|d)\b")
_SEPARATORS = re.compile(r"[^a-z0-9]+")


def _words(name: str) -> tuple[str, ...]:
    """The words of a name that tell cards apart: "NVIDIA rtx5090ti" -> ("rtx", "5090", "ti")."""
    text = name.lower().replace("(r)", " ").replace("(tm)", " ")
    text = _GLUED_SUFFIX.sub(r" \1", _GLUED.sub(r"\1 ", text))
    return tuple(word for word in _SEPARATORS.split(text) if word and word not in _NOISE)


def _forms(gpu: Gpu) -> Iterator[tuple[str, ...]]:
    """The card's names as words, with and without its brand; a GeForce also by its number."""
    for name in dict.fromkeys((gpu.name, *gpu.aliases)):
        words = _words(name)
        yield words
        if words[0] in _BRANDS:
            yield words[1:]
            if gpu.segment is Segment.GEFORCE and words[1] in _SERIES:
                yield words[2:]


def parse_gpus(file: Entry, key: str) -> Iterator[Gpu]:
    """Read the groups of cards under `key` of a facts file. Raises FactsError."""
    sources = file.sources()
    for group in file.entries(key):
        group.only(
            "capability", "architecture", "segment", "platform", "names", "aliases", "source"
        )
        segment = group.choice("segment", Segment)
        aliases = group.mapping("aliases")
        names = group.texts("names")
        if not names:
            raise group.fault("names", "at least one name")
        for key, meant in aliases.items():
            if meant not in names:
                raise group.fault(f"aliases.{key}", "a name from this group's names")
        capability = group.capability("capability")
        evidence = group.evidence(sources)
        for name in names:
            yield Gpu(
                name=name,
                capability=capability,
                architecture=group.text("architecture"),
                segment=segment,
                platform=group.optional_text("platform") or "linux_x86_64",
                evidence=evidence,
                aliases=tuple(alias for alias, meant in aliases.items() if meant == name),
            )
