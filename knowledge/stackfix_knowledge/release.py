"""What is known about one release of a package, wheel by wheel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from packaging.version import Version

from stackfix_knowledge.coverage import Coverage
from stackfix_knowledge.evidence import Evidence

__all__ = ["Ptxas", "Release", "WheelFact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ptxas:
    """A PTX assembler that a wheel brings along."""

    cuda: str
    """The toolkit it comes from, such as ``12.8`` or ``12.8.61``."""
    targets: tuple[str, ...]
    """Architectures that it names, such as ``sm_120`` and ``sm_100a``; empty: nobody read them.

    Read from the strings of the program. What is missing here it cannot target; old names can
    linger after their support ended.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelFact:
    """One wheel of a release; stands for its siblings with other Python tags."""

    file: str
    """The wheel's file name."""
    platform: str
    """``linux_x86_64``, ``linux_aarch64``, ``win_amd64``, ``macos_arm64`` or ``any``."""
    sha256: str | None = None
    """Digest of the wheel, in hexadecimal."""
    cuda: Version | None = None
    """CUDA toolkit that it was built with; None: no CUDA build, or not known."""
    cpu_only: bool = False
    """A framework's wheel that carries no GPU code although the framework has GPU builds."""
    requires: tuple[str, ...] | None = None
    """Every Requires-Dist line of its METADATA; None: not read."""
    requires_python: str | None = None
    """The Requires-Python line of its METADATA."""
    built_against: Mapping[str, Version] = field(default_factory=dict)
    """Libraries it was compiled with: ``{"cudnn": 9.8.0}``."""
    coverage: Coverage | None = None
    """The GPU code in it; None: nobody measured."""
    ptxas: tuple[Ptxas, ...] = ()
    """PTX assemblers in it."""
    needs: tuple[str, ...] = ()
    """Shared libraries that its binaries ask the loader for and that it does not hold."""
    evidence: tuple[Evidence, ...] = ()
    """Where this comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One version of a package."""

    package: str
    """Normalised name."""
    version: Version
    """Its version, with the local part where its index has one (``2.7.1+cu128``)."""
    date: str
    """Day of the upload, ISO 8601; empty where the index does not tell."""
    yanked: bool = False
    """Withdrawn by its maintainers."""
    index: str | None = None
    """None: the default index. Otherwise the PyTorch index of that name, such as ``cu128``."""
    wheels: tuple[WheelFact, ...] = ()
    """One for each platform."""

    def wheel(self, platform: str) -> WheelFact | None:
        """The wheel for that platform; a wheel for any platform stands in for a missing one."""
        by_platform = {wheel.platform: wheel for wheel in self.wheels}
        return by_platform.get(platform) or by_platform.get("any")
