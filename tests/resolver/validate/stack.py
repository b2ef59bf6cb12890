"""A project whose stack is small and real: wheels that uv installs, libraries that load."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from stackfix_lockfiles.uv import Uv
from tests.knowledge.measure.building import elf, fatbin, metadata, wheel
from tests.registry.server import Index
from tests.resolver.validate.libraries import build

TORCH = """\
import ctypes, pathlib
__version__ = "2.7.1"
_nvidia = pathlib.Path(__file__).parents[1] / "nvidia"
for name in ("cudnn/lib/libcudnn.so.9", "nccl/lib/libnccl.so.2"):
    ctypes.CDLL(str(_nvidia / name))
"""
PYPROJECT = """\
[project]
name = "small"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["torch==2.7.1", "leftpad"]
"""


class SmallStack:
    """The wheels of the index, each as the test wants it."""

    def __init__(self, index: Index, folder: Path) -> None:
        self.index = index
        self._folder = folder
        self.cudnn("9.5.1.17", tells=90501)
        self.torch("2.7.1", needs=["nvidia-cudnn-cu12==9.5.1.17", "nvidia-nccl-cu12==2.26.2"])
        library = build(folder / "nccl/libnccl.so.2", 22602, "sm_80 sm_90 sm_120")
        self._add("nvidia_nccl_cu12", "2.26.2", {"nvidia/nccl/lib/libnccl.so.2": library})
        self._add("leftpad", "1.0", {"leftpad.py": b"raise SystemExit\n"})

    def torch(
        self, version: str, *, needs: list[str], code: str = TORCH, cards: str = "sm_80 sm_120"
    ) -> None:
        """A torch that loads the libraries beside it, and has code for `cards`."""
        files = {
            "torch/__init__.py": code.replace("2.7.1", version).encode(),
            "torch/lib/libtorch_cuda.so": elf({".nv_fatbin": fatbin(*[cards] * 10)}),
        }
        self._add("torch", version, files, *(f"Requires-Dist: {need}" for need in needs))

    def cudnn(self, version: str, *, tells: int, cards: str = "sm_80 sm_90 sm_120") -> None:
        """A cuDNN whose library says that it is `tells`."""
        library = build(self._folder / version / "libcudnn.so.9", tells, *[cards] * 10)
        self._add("nvidia_cudnn_cu12", version, {"nvidia/cudnn/lib/libcudnn.so.9": library})

    def _add(self, name: str, version: str, files: Mapping[str, bytes | Path], *lines: str) -> None:
        info = f"{name}-{version}.dist-info"
        text = metadata(name.replace("_", "-"), version, *lines)
        members: dict[str, bytes | str] = {
            path: data if isinstance(data, bytes) else data.read_bytes()
            for path, data in files.items()
        }
        members[f"{info}/METADATA"] = text
        members[f"{info}/WHEEL"] = (
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        members[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in (*members, f"{info}/RECORD"))
        self.index.add(f"{name}-{version}-py3-none-any.whl", wheel(members), metadata=text)


def make_project(folder: Path, text: str = PYPROJECT) -> Path:
    """A locked project in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text)
    uv = Uv.find()
    subprocess.run([uv.path, "lock", "--quiet"], cwd=folder, check=True)
    return folder
