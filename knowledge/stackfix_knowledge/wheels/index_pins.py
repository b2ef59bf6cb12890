"""What the builds on PyTorch's own indexes require, put together from what is documented.

Nobody read the METADATA of these builds. It is that of the default index's release of the same
version, with the CUDA libraries that the build scripts name: `facts/index-pins.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from packaging.version import Version

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.reader import Entry, Sources, read_facts
from stackfix_knowledge.wheels.release import Release, WheelFact

__all__ = ["IndexPins", "PinTable", "parse_pins"]

_MACHINES = {
    "linux": ('platform_system == "Linux"',),
    "linux_x86_64": ('platform_system == "Linux"', 'platform_machine == "x86_64"'),
}
_LIBRARY = ("nvidia-", "cuda-")
_TRITON = "triton"
_EXACT = re.compile(r"nvidia-(cudnn|nccl)-cu\d+ ?\(?==([0-9.]+)")
_LOCAL = re.compile(r"(==[0-9.]+)\+[a-z0-9.]+")
_READ = "linux_x86_64"
"""The wheel of the default index's release whose lines are taken, for every platform: those of the
others are the same or, without a GPU build of their own, fewer."""


class IndexPins(NamedTuple):
    """The CUDA libraries that the builds of one minor version of torch on one index require."""

    torch: str
    """The minor version, such as "2.7"."""
    home: str
    """The index's name ("cu128")."""
    libraries: tuple[str, ...] | None
    """Their requirements without the platform; None: those of the default index's release."""
    on: str | None
    """The machines that the lines name, as in `_MACHINES`; None: as the default index's do."""
    triton_on: str | None
    """The same for triton."""
    evidence: tuple[Evidence, ...]
    note: str | None = None

    def requires(self, usual: Iterable[str]) -> tuple[str, ...]:
        """Every Requires-Dist line, `usual` being those of the default index's release."""
        lines = [_on(line, self.triton_on) if _names_triton(line) else line for line in usual]
        own = self.libraries
        if own is None:
            own = tuple(line for line in lines if line.startswith(_LIBRARY))
        rest = (line for line in lines if not line.startswith(_LIBRARY))
        return (*rest, *(_on(line, self.on) for line in own))


class PinTable:
    """The pins of all builds, by minor version of torch and index."""

    def __init__(self, pins: Iterable[IndexPins]) -> None:
        self._pins: Mapping[tuple[str, str], IndexPins] = {(p.torch, p.home): p for p in pins}

    @classmethod
    def load(cls) -> PinTable:
        """The shipped table. Raises FactsError."""
        file = read_facts("index-pins.toml")
        file.only("sources", "pins")
        sources = file.sources()
        return cls(parse_pins(entry, sources) for entry in file.entries("pins"))

    def __iter__(self) -> Iterator[IndexPins]:
        return iter(self._pins.values())

    def of(self, torch: Version, index: str) -> IndexPins | None:
        """The pins of the build of that version of torch; None if nobody wrote them down."""
        return self._pins.get((f"{torch.major}.{torch.minor}", index))

    def completed(self, release: Release, usual: Release | None) -> Release:
        """A release of an index with its requirements.

        `usual` is the default index's release of the same version; without it, nothing is known.
        """
        if usual is None:
            return release
        wheels = tuple(self._completed(release, wheel, usual) for wheel in release.wheels)
        return release._replace(wheels=wheels)

    def _completed(self, release: Release, wheel: WheelFact, usual: Release) -> WheelFact:
        known = usual.wheel(_READ)
        if known is None or known.requires is None:
            return wheel
        evidence: tuple[Evidence, ...] = ()
        if release.home == "cpu":
            requires = tuple(line for line in map(_public, known.requires) if not _is_gpu(line))
        elif release.package == "torch":
            pins = self.of(release.version, release.home or "")
            if pins is None:
                return wheel
            requires, evidence = pins.requires(known.requires), pins.evidence
        else:
            requires = tuple(map(_public, known.requires))
        return wheel._replace(
            requires=requires,
            requires_python=known.requires_python,
            built_against={**wheel.built_against, **_exact(requires)},
            evidence=(*wheel.evidence, *evidence),
        )


def _exact(requires: Iterable[str]) -> Mapping[str, Version]:
    """The cuDNN and NCCL that are pinned, which are those it was built with."""
    found = (_EXACT.match(line) for line in requires)
    return {pin[1]: Version(pin[2]) for pin in found if pin}


def _names_triton(line: str) -> bool:
    return line.startswith(_TRITON)


def _is_gpu(line: str) -> bool:
    return line.startswith(_LIBRARY) or _names_triton(line)


def _public(line: str) -> str:
    """The line without a local part: torchvision 0.15.1 names the torch that it was built with."""
    return _LOCAL.sub(r"\1", line)


def _on(line: str, machines: str | None) -> str:
    """The line, for these machines and no others; its marker is a list of conditions."""
    if machines is None:
        return line
    head, _, marker = line.partition(";")
    kept = [
        part.strip()
        for part in marker.split(" and ")
        if part.strip() and not part.strip().startswith(("platform_system", "platform_machine"))
    ]
    return f"{head.strip()}; {' and '.join((*_MACHINES[machines], *kept))}"


def parse_pins(entry: Entry, sources: Sources) -> IndexPins:
    """Read one `[[pins]]` table. Raises FactsError."""
    entry.only("torch", "index", "requires", "on", "triton-on", "bundled", "source", "note")
    bundled = entry.flag("bundled")
    if bundled and ("requires" in entry or "on" in entry):
        raise entry.fault("bundled", 'no "requires" and no "on" beside it')
    if "requires" in entry and "on" not in entry:
        raise entry.fault("on", f"one of {', '.join(_MACHINES)}")
    libraries = entry.texts("requires") if bundled or "requires" in entry else None
    for number, line in enumerate(libraries or ()):
        if not line.startswith(_LIBRARY):
            raise entry.fault(f"requires[{number}]", "a library of nvidia- or cuda-")
    return IndexPins(
        torch=entry.text("torch"),
        home=entry.text("index"),
        libraries=libraries,
        on=_machines(entry, "on"),
        triton_on=_machines(entry, "triton-on"),
        evidence=entry.evidence(sources),
        note=entry.optional_text("note"),
    )


def _machines(entry: Entry, key: str) -> str | None:
    name = entry.optional_text(key)
    if name is not None and name not in _MACHINES:
        raise entry.fault(key, f"one of {', '.join(_MACHINES)}")
    return name
