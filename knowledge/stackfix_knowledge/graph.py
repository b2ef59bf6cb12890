"""The compatibility graph: the one entry point to everything that is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from packaging.version import Version

from stackfix_knowledge.reader import facts_folder
from stackfix_knowledge.stack.packages import PackageTable
from stackfix_knowledge.wheels.release import Release
from stackfix_knowledge.wheels.store import WheelStore

if TYPE_CHECKING:
    from pathlib import Path

    from stackfix_knowledge.cards.cuda import CudaTable
    from stackfix_knowledge.cards.gpus import GpuTable
    from stackfix_knowledge.overlay import Overlay
    from stackfix_knowledge.stack.advisories import Advisory, AdvisoryTable
    from stackfix_knowledge.stack.couplings import (
        Collision,
        Coupling,
        CouplingTable,
        CudaCheck,
        RuntimeCheck,
    )
    from stackfix_knowledge.stack.loading import (
        Alternatives,
        AlternativesTable,
        LoadingTable,
        SharedLibrary,
    )
    from stackfix_knowledge.stack.variants import VariantTable
    from stackfix_knowledge.stack.vendor import VendorMatrix, VendorTable
    from stackfix_knowledge.wheels.index_pins import PinTable
    from stackfix_knowledge.wheels.indexes import IndexTable

__all__ = ["Graph"]


class Graph:
    """All facts, read when they are first asked for and then kept; so is the code of each table.

    What is not known is None or empty, never guessed; the caller says "unknown". Package names
    are normalised ones, as in locks.
    """

    def __init__(self, overlays: Sequence[Overlay] = ()) -> None:
        self._overlays = tuple(overlays)
        self._releases: dict[str, tuple[Release, ...]] = {}
        self._collisions: dict[str, tuple[Collision, ...]] = {}
        self._wheels = WheelStore([overlay.wheels for overlay in self._overlays])

    @classmethod
    def load(cls, overlays: Sequence[Path] = ()) -> Graph:
        """The shipped facts, with those of `overlays` on top, later files over earlier ones.

        Raises FactsError, whose text is one line, if an overlay is not usable as it is.
        """
        if not overlays:
            return cls()
        from stackfix_knowledge.overlay import Overlay

        graph = cls([Overlay.read(path) for path in overlays])
        graph._wheels.check_overlays()
        return graph

    @cached_property
    def version(self) -> str:
        """Date and digest of the facts, such as "2026-11-30-4f1d2c3b"; differs with overlays."""
        import hashlib  # only reports ask for the version

        digest = hashlib.blake2b(digest_size=4)
        for path in sorted(facts_folder().rglob("*.toml")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
        for overlay in self._overlays:
            digest.update(overlay.path.read_bytes())
        return f"{self._wheels.date()}-{digest.hexdigest()}"

    @cached_property
    def gpus(self) -> GpuTable:
        """Cards by name."""
        from stackfix_knowledge.cards.gpus import GpuTable

        return GpuTable.load([gpu for overlay in self._overlays for gpu in overlay.gpus])

    @cached_property
    def cuda(self) -> CudaTable:
        """Toolkits, drivers and compute capabilities."""
        from stackfix_knowledge.cards.cuda import CudaTable

        return CudaTable.load()

    @cached_property
    def packages(self) -> PackageTable:
        """Which packages are part of the stack. Packages of overlays count as such."""
        return PackageTable.load(name for overlay in self._overlays for name in overlay.wheels)

    @cached_property
    def _alternatives(self) -> AlternativesTable:
        from stackfix_knowledge.stack.loading import AlternativesTable

        return AlternativesTable.load()

    @cached_property
    def indexes(self) -> IndexTable:
        """PyTorch's own indexes."""
        from stackfix_knowledge.wheels.indexes import IndexTable

        return IndexTable.load()

    @cached_property
    def variants(self) -> VariantTable:
        """Packages and extras that are one product, built for several CUDA majors."""
        from stackfix_knowledge.stack.variants import VariantTable

        return VariantTable.load()

    @cached_property
    def loading(self) -> LoadingTable:
        """Shared libraries of CUDA: who installs them, and how packages load them."""
        from stackfix_knowledge.stack.loading import LoadingTable

        return LoadingTable.load()

    def cuda_majors(self, library: SharedLibrary) -> frozenset[int]:
        """The CUDA majors whose wheels install a library of that name."""
        packages = (self.packages.get(installer.package) for installer in library.installers)
        majors = (package.cuda_major for package in packages if package is not None)
        return frozenset(major for major in majors if major is not None)

    def releases(self, name: str) -> tuple[Release, ...]:
        """Every known release of a package, ascending, those of PyTorch's indexes among them."""
        if name not in self._releases:
            known = {r.version: self._completed(r) for r in self._documented(name)}
            for release in self._wheels.releases(name):
                known[release.version] = _joined(release, known.get(release.version))
            self._releases[name] = tuple(known[version] for version in sorted(known))
        return self._releases[name]

    def release(self, name: str, version: Version | str) -> Release | None:
        """One release, or None if it is not known.

        A local part finds the release of PyTorch's index of that name ("2.7.1+cu128"). Trailing
        zeros do not count.
        """
        wanted = self._wheels.version(version)
        if wanted is None:
            return None
        measured = self._wheels.release(name, wanted)
        if wanted.local is None:
            return measured
        found = next((r for r in self._documented(name) if r.version == wanted), None)
        documented = self._completed(found) if found is not None else None
        return documented if measured is None else _joined(measured, documented)

    def matrix(self, name: str, version: Version | str) -> VendorMatrix | None:
        """What the vendor documents for this release of a library package; None if unread."""
        package = self.packages.get(name)
        wanted = self._wheels.version(version)
        if package is None or wanted is None or package.cuda_major is None:
            return None
        table = self._vendor.get(package.provides or "")
        return table.matrix(wanted, package.cuda_major) if table is not None else None

    def couplings(self, name: str) -> tuple[Coupling, ...]:
        """What this package needs although its metadata does not say so."""
        return self._couplings.of(name)

    def runtime_checks(self, name: str) -> tuple[RuntimeCheck, ...]:
        """Libraries whose version this package checks when it runs."""
        return self._couplings.checks_of(name)

    def alternatives(self, name: str, version: Version) -> Alternatives | None:
        """How this release chooses among libraries built with several CUDAs; None: it has none."""
        return self._alternatives.of(name, version)

    def cuda_checks(self, name: str, version: Version) -> tuple[CudaCheck, ...]:
        """With whose CUDA this release of a package compares its own when it is imported."""
        return self._couplings.cuda_checks_of(name, version)

    def collisions(self, name: str) -> tuple[Collision, ...]:
        """Packages that install a file which this package installs too, each seen from it."""
        if name not in self._collisions:
            self._collisions[name] = self._collisions_of(name)
        return self._collisions[name]

    def _collisions_of(self, name: str) -> tuple[Collision, ...]:
        known = self._couplings.collisions_of(name)
        others = {collision.other for collision in known}
        measured = self._wheels.collisions(name)
        if not measured:
            return known
        from stackfix_knowledge.stack.couplings import Collision

        found = (Collision.measured(name, *pair) for pair in measured.items())
        return (*known, *(collision for collision in found if collision.other not in others))

    def advisories(self, name: str) -> tuple[Advisory, ...]:
        """Known bugs of this package."""
        return self._advisories.of(name)

    def _documented(self, name: str) -> tuple[Release, ...]:
        return self.indexes.releases(name) if name in self.packages.on_pytorch_indexes else ()

    def _completed(self, release: Release) -> Release:
        """A documented release with its requirements, which build on the default index's."""
        usual = self._wheels.release(release.package, Version(release.version.public))
        return self._pins.completed(release, usual)

    @cached_property
    def _pins(self) -> PinTable:
        from stackfix_knowledge.wheels.index_pins import PinTable

        return PinTable.load()

    @cached_property
    def _vendor(self) -> Mapping[str, VendorTable]:
        """Documented matrices by library."""
        from stackfix_knowledge.stack.vendor import VendorTable

        files = (facts_folder() / "vendor").glob("*.toml")
        return {file.stem: VendorTable.load(file.stem) for file in files}

    @cached_property
    def _couplings(self) -> CouplingTable:
        from stackfix_knowledge.stack.couplings import CouplingTable

        return CouplingTable.load(c for overlay in self._overlays for c in overlay.couplings)

    @cached_property
    def _advisories(self) -> AdvisoryTable:
        from stackfix_knowledge.stack.advisories import AdvisoryTable

        return AdvisoryTable.load(a for overlay in self._overlays for a in overlay.advisories)


def _joined(measured: Release, documented: Release | None) -> Release:
    """The measured release, with documented wheels for the platforms that nobody measured."""
    if documented is None:
        return measured
    platforms = {wheel.platform for wheel in measured.wheels}
    others = tuple(wheel for wheel in documented.wheels if wheel.platform not in platforms)
    home = measured.home or documented.home
    return measured._replace(home=home, wheels=(*measured.wheels, *others))
