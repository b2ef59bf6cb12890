"""Building and steering the stand-in for libnvidia-ml (nvml_stub.c)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

__all__ = [
    "A100",
    "A100_MIG",
    "H100",
    "RTX_5090",
    "V100",
    "build_stub",
    "card",
    "have_compiler",
    "stub_env",
]

_SOURCE = Path(__file__).with_name("nvml_stub.c")


def card(
    name: str,
    capability: str,
    gib: int,
    number: int,
    mig: Sequence[str] = (),
    mig_mode: bool = False,
) -> str:
    """One entry of STUB_CARDS; `mig_mode` without instances writes "-"."""
    instances = ",".join(mig) or ("-" if mig_mode else "")
    pci = f"00000000:{number:02X}:00.0"
    return f"{name}|{capability}|{gib << 30}|GPU-{number:04x}-aaaa|{pci}|{instances}"


def RTX_5090(number: int = 1) -> str:
    return card("NVIDIA GeForce RTX 5090", "12.0", 32, number)


def V100(number: int = 2) -> str:
    return card("Tesla V100-SXM2-16GB", "7.0", 16, number)


def A100(number: int = 3) -> str:
    return card("NVIDIA A100-SXM4-80GB", "8.0", 80, number)


def A100_MIG(number: int = 4, instances: Sequence[str] = ("MIG-one", "MIG-two")) -> str:
    return card("NVIDIA A100-SXM4-80GB", "8.0", 80, number, instances, mig_mode=True)


def H100(number: int = 5) -> str:
    return card("NVIDIA H100 80GB HBM3", "9.0", 80, number)


def have_compiler() -> bool:
    return shutil.which("gcc") is not None


def build_stub(folder: Path, *, without: Sequence[str] = ()) -> Path:
    """Compile the stub into `folder`; the functions `without` are missing from it."""
    hidden = [f"-D{name}=absent_{name}" for name in without]
    library = folder / "libnvidia-ml.so.1"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", *hidden, "-o", str(library), str(_SOURCE)], check=True
    )
    return folder


def stub_env(library: Path, *cards: str, **settings: str) -> dict[str, str]:
    """An environment in which nvidia-ml-py loads the stub and finds these cards."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("CUDA_")}
    return kept | {
        "LD_LIBRARY_PATH": str(library),
        "STUB_CARDS": ";".join(cards),
        "STUB_DRIVER": "570.133.07",
        "STUB_CUDA": "12080",
        **settings,
    }
