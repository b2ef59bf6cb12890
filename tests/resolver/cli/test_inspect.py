"""`stackfix inspect`: what binaries carry, and whether that suits a card."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stackfix.cli.main import main
from tests.knowledge.measure.building import (
    NCCL_WHEEL,
    elf,
    fatbin,
    install,
    nccl_wheel,
    wheel,
)
from tests.resolver.report.published import valid

AMPERE_TO_HOPPER = elf({".nv_fatbin": fatbin("sm_80 sm_86 sm_90", "sm_80 sm_90 compute_90")})


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """An environment with a torch for 8.0 and 9.0, and a pure package."""
    site = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    install(site, "torch", "2.8.0", {"torch/lib/libtorch_cuda.so": AMPERE_TO_HOPPER},
            requires=["nvidia-cudnn-cu12==9.10.2.21"])  # fmt: skip
    install(site, "numpy", "2.0", {"numpy/core.so": elf()})
    return tmp_path / "env"


def words(line: str) -> str:
    return " ".join(line.split())


def inspected(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    main(["inspect", "--format", "json", *arguments])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    valid("inspect-1", document)
    return document


def test_a_wheel_shows_its_libraries_and_the_images_in_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / NCCL_WHEEL
    path.write_bytes(nccl_wheel())
    document = inspected(capsys, str(path))
    (library,) = document["libraries"]
    assert library["name"] == "nvidia/nccl/lib/libnccl.so.2"
    assert library["containers"] == 2
    assert library["sets"] == [
        {"count": 1, "images": ["sm_80", "sm_90"]},
        {"count": 1, "images": ["sm_80", "sm_90", "compute_90"]},
    ]
    assert library["verdicts"] == []
    assert document["packages"][0]["needs"] == ["libcudart.so.12"]


def test_a_target_gives_a_verdict_on_libraries_and_package(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = inspected(capsys, str(environment), "--target", "RTX 5090", "--target", "sm_86")
    (library,) = document["libraries"]
    blackwell, ampere = library["verdicts"]
    assert blackwell["target"] == "RTX 5090 (12.0)"
    assert (blackwell["native"], blackwell["jit"], blackwell["none"]) == (0, 1, 1)
    assert blackwell["state"] == "partial"
    assert (ampere["state"], ampere["native"]) == ("supported", 2)
    assert [one["state"] for one in document["packages"][0]["verdicts"]] == ["partial", "supported"]
    (finding,) = document["findings"]
    assert (finding["code"], finding["target"]) == ("SF103", "RTX 5090 (12.0)")


def test_a_library_for_one_card_alone_is_counted_and_not_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fa3.so").write_bytes(elf({".nv_fatbin": fatbin("sm_90a", "sm_90a")}))
    (tmp_path / "wide.so").write_bytes(AMPERE_TO_HOPPER)
    document = inspected(capsys, str(tmp_path), "--target", "L4")
    first, second = (library["verdicts"][0] for library in document["libraries"])
    assert (first["state"], first["none"], first["judged"]["none"]) == (None, 2, 0)
    assert second["state"] == "supported"


@pytest.mark.parametrize(("target", "code"), [("L4", 0), ("H100", 0), ("RTX 5090", 1), ("V100", 1)])
def test_the_exit_code_says_whether_it_runs(environment: Path, target: str, code: int) -> None:
    assert main(["inspect", str(environment), "--target", target]) == code


def test_jit_is_an_error_only_where_the_driver_cannot(tmp_path: Path) -> None:
    library = elf({".nv_fatbin": fatbin("sm_80 sm_90 compute_90", ptx=(8, 7))})
    (tmp_path / "libx.so").write_bytes(library)
    assert main(["inspect", str(tmp_path), "--target", "RTX 5090@580.65.06"]) == 0
    assert main(["inspect", str(tmp_path), "--target", "RTX 5090"]) == 0
    assert main(["inspect", str(tmp_path), "--target", "RTX 5090@525.60.13"]) == 1


def test_a_host_file_names_cards_too(
    environment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from stackfix.documents.document import dump
    from stackfix.host.document import host_document
    from tests.resolver.host.test_document import HOST

    file = tmp_path / "host.json"
    file.write_text(dump(host_document(HOST)))
    document = inspected(capsys, str(environment), "--host", str(file))
    assert document["targets"]
    assert document["packages"][0]["verdicts"]


def test_a_torch_for_the_processor_alone_is_an_error_on_a_card(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(tmp_path, "torch", "2.8.0+cpu", {"torch/lib/libtorch_cpu.so": elf()})
    assert main(["inspect", str(tmp_path)]) == 0
    assert main(["inspect", str(tmp_path), "--target", "L4"]) == 1
    assert "SF105" in capsys.readouterr().out
    document = inspected(capsys, str(tmp_path), "--target", "L4")
    assert document["packages"][0]["verdicts"][0]["state"] == "unsupported"


def test_a_compiler_that_does_not_know_the_card_is_an_error(tmp_path: Path) -> None:
    ptxas = b"\x7fELF\x02\x01\0sm_80\0sm_90\0release 12.4, V12.4.99\0"
    install(tmp_path, "triton", "3.1.0", {"triton/backends/nvidia/bin/ptxas": ptxas})
    assert main(["inspect", str(tmp_path), "--target", "H100"]) == 0
    assert main(["inspect", str(tmp_path), "--target", "RTX 5090"]) == 1


def test_text_shows_a_row_for_each_library_and_a_column_for_each_card(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(environment)]) == 0
    head, package, library, *rest = capsys.readouterr().out.splitlines()
    assert words(head) == "6.1 7.0 7.5 8.0 8.6 8.9 9.0 10.0 10.3 11.0 12.0 12.1"
    assert words(package) == "torch 2.8.0 – – – S S S S P P P P P"
    shares = "– – – 100 100 100 100 50j 50j 50j 50j 50j"
    assert words(library) == f"torch/lib/libtorch_cuda.so {shares}"
    assert "1 package with libraries and without GPU code" in rest


def test_text_for_a_target_counts_and_says_what_is_wrong(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["inspect", str(environment), "--target", "RTX 5090"])
    output = capsys.readouterr().out
    assert "1 JIT, 1 none" in output
    assert "SF103" in output
    main(["inspect", str(environment), "--target", "L4"])
    assert "✓ code for every target" in capsys.readouterr().out


def test_a_library_without_package_is_named_without_a_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "libx.so").write_bytes(AMPERE_TO_HOPPER)
    document = inspected(capsys, str(tmp_path / "libx.so"), "--target", "V100")
    (finding,) = document["findings"]
    assert finding["version"] == ""
    assert finding["message"].startswith("libx.so has no code for compute capability 7.0")


def test_nothing_with_gpu_code_is_said_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "no GPU code\n"


def test_several_paths_each_count_once(
    environment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / NCCL_WHEEL).write_bytes(nccl_wheel())
    paths = [str(environment), str(tmp_path / NCCL_WHEEL), str(environment)]
    document = inspected(capsys, *paths)
    assert [one["package"] for one in document["packages"]] == ["torch", "nvidia-nccl-cu12"]
    assert document["libraries"][1]["place"] == str(tmp_path / NCCL_WHEEL)


def test_a_path_that_cannot_be_read_is_one_line_and_the_others_go_on(
    environment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.whl").write_bytes(b"PK\x03\x04 no zip")
    assert main(["inspect", str(tmp_path / "bad.whl"), str(environment)]) == 2
    output = capsys.readouterr()
    assert "torch 2.8.0" in output.out
    assert output.err.startswith(f"{tmp_path}/bad.whl: expected a wheel")
    assert output.err.count("\n") == 1


def test_nothing_but_unusable_paths_prints_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(tmp_path / "none")]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == f"{tmp_path}/none: expected a wheel, a folder or a shared library\n"


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def looping(data: bytes) -> bytes:
    """Containers of size 0 that a careless reader never leaves."""
    start = data.index(b"\x50\xed\x55\xba")
    return data[: start + 8] + bytes(8) + data[start + 16 :]


def enormous(data: bytes) -> bytes:
    start = data.index(b"\x50\xed\x55\xba")
    return data[: start + 8] + b"\xff" * 7 + b"\x7f" + data[start + 16 :]


@pytest.mark.parametrize("damage", [cut, enormous])
def test_hostile_libraries_are_one_line_each_and_hide_nothing(
    environment: Path, capsys: pytest.CaptureFixture[str], damage: Any
) -> None:
    (environment / "evil\x1b[31m.so").write_bytes(damage(AMPERE_TO_HOPPER))
    (environment / "evil2.so").write_bytes(damage(AMPERE_TO_HOPPER))
    assert main(["inspect", str(environment)]) == 0
    output = capsys.readouterr()
    assert "torch 2.8.0" in output.out
    assert output.err.count("\n") == 2
    assert "\x1b" not in output.out + output.err
    assert len(inspected(capsys, str(environment))["faults"]) == 2


def test_a_library_whose_sizes_loop_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "loop.so").write_bytes(looping(AMPERE_TO_HOPPER))
    assert main(["inspect", str(tmp_path)]) == 0


def test_a_wheel_that_unpacks_without_end_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bomb = wheel({"x/bomb.so": AMPERE_TO_HOPPER})
    directory = bomb.index(b"PK\x01\x02")
    claimed = (0xFFFF_FFF0).to_bytes(4, "little")  # it says 4 GiB, and ends long before
    path = tmp_path / "x-1-py3-none-any.whl"
    path.write_bytes(bomb[: directory + 24] + claimed + bomb[directory + 28 :])
    assert main(["inspect", str(path)]) in (0, 2)
    assert capsys.readouterr().err.count("\n") <= 1


def test_names_that_are_no_text_can_be_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / os.fsdecode(b"\xff.so")).write_bytes(AMPERE_TO_HOPPER)
    (tmp_path / os.fsdecode(b"\xfe.so")).write_bytes(cut(AMPERE_TO_HOPPER))
    assert main(["inspect", str(tmp_path)]) == 0
    assert main(["inspect", "--format", "json", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument 'PATH…'"),
        (["--target", "RTX 9999", "."], "no single card is known as"),
        (["--host", "none.json", "."], "none.json"),
        (["--format", "xml", "."], "'xml' is not one of"),
    ],
)
def test_bad_usage(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", *arguments]) == 2
    output = capsys.readouterr()
    assert said in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""
