"""Graphics cards by name: what to assume about a card that is not in this machine.

On a machine that has the card, ask its driver instead; names are for planning elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
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
        named = sorted(self._by_words(), key=lambda pair: len(pair[0]))
        begin = [gpu.name for known, gpu in named if known[: len(words)] == words]
        by_text = {" ".join(known): gpu.name for known, gpu in named}
        close = difflib.get_close_matches(" ".join(words), by_text, n=2 * limit, cutoff=0.5)
        return tuple(dict.fromkeys([*begin, *(by_text[text] for text in close)]))[:limit]

    def with_capability(self, capability: ComputeCapability) -> tuple[Gpu, ...]:
        """The known cards of that very capability."""
        return tuple(gpu for gpu in self._gpus if gpu.capability == capability)

    def _starting_with(self, words: tuple[str, ...]) -> tuple[Gpu, ...]:
        """Cards whose name begins with all of `words`, else those named by most of its start."""
        if not words:
            return ()
        named = self._by_words(words[0])
        longer = [(known, gpu) for known, gpu in named if known[: len(words)] == words]
        if longer:
            return tuple(gpu for _, gpu in sorted(longer, key=lambda pair: len(pair[0])))
        for length in range(len(words) - 1, 0, -1):
            if found := tuple(gpu for known, gpu in named if known == words[:length]):
                return found
        return ()

    def _by_words(self, text: str = "") -> Sequence[tuple[tuple[str, ...], Gpu]]:
        """The names of the cards with that text in a name, as words, each with its card."""
        return [
            (words, gpu)
            for gpu in self._gpus
            if any(text in name.lower() for name in (gpu.name, *gpu.aliases))
            for words in _forms(gpu)
        ]


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
        architecture = group.text("architecture")
        platform = group.optional_text("platform") or "linux_x86_64"
        evidence = group.evidence(sources)
        for name in names:
            yield Gpu(
                name=name,
                capability=capability,
                architecture=architecture,
                segment=segment,
                platform=platform,
                evidence=evidence,
                aliases=tuple(alias for alias, meant in aliases.items() if meant == name),
            )
