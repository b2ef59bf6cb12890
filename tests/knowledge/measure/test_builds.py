"""What a wheel was built with is read from it; nothing is run."""

import struct
from collections.abc import Mapping
from pathlib import Path

import pytest
from packaging.version import Version

from stackfix_index.wheel import Wheel
from stackfix_knowledge.measure.builds import jax_builds, stated_cuda
from tests.knowledge.measure.building import elf, wheel

MODULE = "jax_cuda12_plugin/_versions.so"


def on_x86(*constants: int) -> bytes:
    """Functions that pass one number on: ``mov edi, NUMBER; call``."""
    return b"".join(
        b"\x55\xbf" + struct.pack("<I", number) + b"\xe8\x00\x00\x00\x00\x5d\xc3"
        for number in constants
    )


def on_arm(*constants: int) -> bytes:
    """The same: ``mov w0, LOW; movk w0, HIGH, lsl 16; bl``."""
    code = b""
    for number in constants:
        code += struct.pack("<I", 0x52800000 | (number & 0xFFFF) << 5)
        if number >> 16:
            code += struct.pack("<I", 0x72A00000 | (number >> 16) << 5)
        code += struct.pack("<I", 0x94000000)
    return code


def archive(folder: Path, members: Mapping[str, bytes | str]) -> Wheel:
    path = folder / "x-1-py3-none-any.whl"
    path.write_bytes(wheel(members))
    return Wheel(path, name=path.name)


def jax(folder: Path, code: bytes, machine: int = 62) -> Mapping[str, Version]:
    with archive(folder, {MODULE: elf({".text": code}, machine=machine)}) as opened:
        return jax_builds(opened)


def test_a_jax_plugin_tells_cuda_and_cudnn(tmp_path: Path) -> None:
    """The numbers of jax-cuda12-plugin 0.5.3: runtime, cuDNN, cuBLAS, cuFFT."""
    built = jax(tmp_path, on_x86(12030, 90101, 120304, 11012))
    assert built == {"cuda": Version("12.3"), "cudnn": Version("9.1.1")}


def test_a_jax_plugin_for_arm_tells_the_same(tmp_path: Path) -> None:
    built = jax(tmp_path, on_arm(13000, 91200, 130000, 12000), machine=183)
    assert built == {"cuda": Version("13.0"), "cudnn": Version("9.12.0")}


@pytest.mark.parametrize(
    "constants",
    [(), (90101,), (90101, 12030), (12030, 120304, 90101), (12030, 90101, 12080, 90800)],
)
def test_anything_ambiguous_tells_nothing(tmp_path: Path, constants: tuple[int, ...]) -> None:
    assert jax(tmp_path, on_x86(*constants)) == {}


def test_numbers_that_are_not_passed_on_do_not_count(tmp_path: Path) -> None:
    code = on_x86(12030).replace(b"\xe8", b"\x90") + on_x86(90101)
    assert jax(tmp_path, code) == {}


def test_other_wheels_have_no_such_module(tmp_path: Path) -> None:
    with archive(tmp_path, {"x/_versions.so": elf({".text": on_x86(12030, 90101)})}) as opened:
        assert jax_builds(opened) == {}


@pytest.mark.parametrize(
    ("path", "text", "cuda"),
    [
        ("torch/version.py", "cuda: Optional[str] = '12.8'\nhip = None\n", "12.8"),
        ("torch/version.py", "cuda = '11.7'\n", "11.7"),
        ("torch/version.py", "cuda: Optional[str] = None\n", None),
        ("torch/version.py", "barracuda = '12.8'\n", None),
        (
            "tensorflow/python/platform/build_info.py",
            "build_info = OrderedDict([('cuda_version', '12.5.1'), ('cudnn_version', '9')])",
            "12.5.1",
        ),
        ("onnxruntime/capi/build_and_package_info.py", "cuda_version = '12.2'\n", "12.2"),
        ("other/version.py", "cuda = '11.7'\n", None),
    ],
)
def test_frameworks_state_their_cuda_in_text(
    tmp_path: Path, path: str, text: str, cuda: str | None
) -> None:
    with archive(tmp_path, {path: text}) as opened:
        assert stated_cuda(opened) == (Version(cuda) if cuda else None)
