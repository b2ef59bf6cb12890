"""Inspecting what lies on disk: a wheel, an environment, a folder, one library."""

import os
from pathlib import Path

import pytest
from packaging.version import Version

from stackfix_index.errors import Unreadable
from stackfix_knowledge.inspect import inspection
from stackfix_knowledge.inspect.inspection import Inspection, inspect_path
from stackfix_knowledge.inspect.installed import InstalledPackage
from stackfix_knowledge.inspect.package import Inspected
from stackfix_knowledge.inspect.workers import shares
from tests.knowledge.measure.building import (
    NCCL_WHEEL,
    elf,
    fatbin,
    install,
    metadata,
    nccl_wheel,
    wheel,
)

LIBRARY = elf({".nv_fatbin": fatbin("sm_80 sm_90")}, needed=["libcudart.so.12"])
PTXAS = b"\x7fELF\x02\x01\0sm_120\0release 12.8, V12.8.93\0"


def names(found: Inspection) -> list[str]:
    return [
        library.name
        for inspected in found.packages
        if inspected.wheel.coverage
        for library in inspected.wheel.coverage.libraries
    ]


def only(found: Inspection) -> Inspected:
    (inspected,) = found.packages
    return inspected


def test_a_wheel(tmp_path: Path) -> None:
    path = tmp_path / NCCL_WHEEL
    path.write_bytes(nccl_wheel())
    found = inspect_path(path)
    assert names(found) == ["nvidia/nccl/lib/libnccl.so.2"]
    assert only(found).package == "nvidia-nccl-cu12"
    assert only(found).version == Version("2.27.3")
    assert only(found).wheel.platform == "linux_x86_64"


def test_a_wheel_under_any_other_name_and_without_metadata(tmp_path: Path) -> None:
    path = tmp_path / "renamed.whl"
    path.write_bytes(wheel({"pkg/_C.so": LIBRARY}))
    found = inspect_path(path)
    assert names(found) == ["pkg/_C.so"]
    assert only(found).package is None


def test_one_library(tmp_path: Path) -> None:
    path = tmp_path / "libx.so.2"
    path.write_bytes(LIBRARY)
    found = inspect_path(path)
    assert names(found) == ["libx.so.2"]
    assert only(found).wheel.needs == ("libcudart.so.12",)


def test_one_library_whatever_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "libx.so.old"
    path.write_bytes(LIBRARY)
    assert names(inspect_path(path)) == ["libx.so.old"]


def test_an_environment_tells_whose_each_library_is(tmp_path: Path) -> None:
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    install(site, "torch", "2.8.0", {"torch/lib/libtorch_cuda.so": LIBRARY, "torch/a.py": b""})
    install(site, "nvidia_nccl_cu12", "2.27.3", {"nvidia/nccl/lib/libnccl.so.2": LIBRARY})
    (site / "own.so").write_bytes(LIBRARY)
    found = inspect_path(tmp_path)
    assert [(one.package, str(one.version)) for one in found.packages] == [
        ("nvidia-nccl-cu12", "2.27.3"),
        ("torch", "2.8.0"),
        (None, "None"),
    ]
    # Those of packages have their path in the wheel, the others theirs in the folder.
    assert names(found) == [
        "nvidia/nccl/lib/libnccl.so.2",
        "torch/lib/libtorch_cuda.so",
        "lib/python3.11/site-packages/own.so",
    ]


def test_an_installed_package_tells_what_its_wheel_does(tmp_path: Path) -> None:
    install(
        tmp_path,
        "torch",
        "2.8.0",
        {"torch/lib/libtorch_cuda.so": LIBRARY, "torch/version.py": b"cuda = '12.8'\n"},
        requires=["nvidia-cudnn-cu12==9.10.2.21; platform_system == 'Linux'"],
    )
    fact = only(inspect_path(tmp_path)).wheel
    assert fact.cuda == Version("12.8")
    assert fact.built_against == {"cudnn": Version("9.10.2.21")}
    assert not fact.cpu_only


def test_a_torch_that_needs_no_gpu_library_is_cpu_only(tmp_path: Path) -> None:
    install(tmp_path, "torch", "2.8.0+cpu", {"torch/lib/libtorch_cpu.so": elf()})
    assert only(inspect_path(tmp_path)).wheel.cpu_only


def test_a_folder_with_everything_below_it(tmp_path: Path) -> None:
    for name in ("b/lib/libx.so.2", "a/_C.abi3.so"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(LIBRARY)
    (tmp_path / "host.so").write_bytes(elf())
    (tmp_path / "ptxas").write_bytes(PTXAS)
    found = inspect_path(tmp_path)
    assert names(found) == ["a/_C.abi3.so", "b/lib/libx.so.2"]
    assert [ptxas.cuda for ptxas in only(found).wheel.ptxas] == ["12.8.93"]
    assert found.faults == ()


def test_wheels_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / NCCL_WHEEL).write_bytes(nccl_wheel())
    (tmp_path / "broken.whl").write_bytes(b"PK")
    found = inspect_path(tmp_path)
    assert [one.package for one in found.packages] == ["nvidia-nccl-cu12"]
    assert [fault.source for fault in found.faults] == [str(tmp_path / "broken.whl")]


def test_an_empty_folder(tmp_path: Path) -> None:
    assert inspect_path(tmp_path) == Inspection(packages=())


def test_a_file_with_two_names_counts_once_and_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.so").write_bytes(LIBRARY)
    (tmp_path / "b.so").hardlink_to(tmp_path / "a.so")
    (tmp_path / "c.so").symlink_to(tmp_path / "a.so")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert names(inspect_path(tmp_path)) == ["a.so"]


def test_several_processes_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "_WORTH_PROCESSES", 1)
    for name in ("torch", "vllm", "xformers"):
        install(tmp_path, name, "1.0", {f"{name}/_C.so": LIBRARY, f"{name}/bad.so": LIBRARY[:200]})
    alone, together = inspect_path(tmp_path), inspect_path(tmp_path, processes=2)
    assert alone.packages == together.packages
    assert list(map(str, alone.faults)) == list(map(str, together.faults))
    assert len(alone.faults) == 3


def test_a_process_that_dies_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "_WORTH_PROCESSES", 1)
    monkeypatch.setattr("sys.executable", "/bin/false")
    for name in ("torch", "vllm"):
        install(tmp_path, name, "1.0", {f"{name}/_C.so": LIBRARY})
    with pytest.raises(Unreadable, match="expected files that stay as they are"):
        inspect_path(tmp_path, processes=2)


def test_no_process_imports_what_lies_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "_WORTH_PROCESSES", 1)
    for name in ("torch", "vllm"):
        install(tmp_path, name, "1.0", {f"{name}/_C.so": LIBRARY})
    for module in ("pickle", "csv", "stackfix_knowledge"):
        (tmp_path / f"{module}.py").write_text("import os; os.mkdir('was-run')")
    monkeypatch.chdir(tmp_path)
    assert len(inspect_path(tmp_path, processes=2).packages) == 2
    assert not (tmp_path / "was-run").exists()


def test_shares_are_of_about_the_same_size() -> None:
    sizes = [9, 1, 5, 4, 2, 1]
    packages = [InstalledPackage(name=str(size), root=Path(), size=size) for size in sizes]
    found = shares(packages, 2)
    assert [sum(package.size for package in share) for share in found] == [11, 11]
    assert sorted(package.size for share in found for package in share) == sorted(sizes)


def test_a_broken_library_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "bad.so").write_bytes(LIBRARY[:200])
    (tmp_path / "good.so").write_bytes(LIBRARY)
    found = inspect_path(tmp_path)
    assert names(found) == ["good.so"]
    assert [fault.source for fault in found.faults] == [str(tmp_path / "bad.so")]


def test_a_broken_library_in_a_wheel_names_both(tmp_path: Path) -> None:
    path = tmp_path / "x-1-py3-none-any.whl"
    path.write_bytes(wheel({"x/bad.so": LIBRARY[:200], "x/good.so": LIBRARY}))
    found = inspect_path(path)
    assert names(found) == ["x/good.so"]
    assert str(found.faults[0]).startswith(f"{path}: x/bad.so: ")


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (b"\xff\xfe,,\n" * 100, ["own.so"]),
        (b"../../../../etc/passwd.so,,\n/etc/shadow.so,,\n", ["own.so"]),
        (b'"own.so,,\n', ["own.so"]),
        (b"own.so,,\nown.so,,\n", ["own.so"]),
    ],
)
def test_a_hostile_record_misleads_nobody(
    tmp_path: Path, record: bytes, expected: list[str]
) -> None:
    install(tmp_path, "evil", "1", {})
    (tmp_path / "evil-1.dist-info" / "RECORD").write_bytes(record)
    (tmp_path / "own.so").write_bytes(LIBRARY)
    assert names(inspect_path(tmp_path)) == expected


def test_pipes_where_files_should_be_keep_nobody_waiting(tmp_path: Path) -> None:
    install(tmp_path, "torch", "1", {"torch/_C.so": LIBRARY, "torch/version.py": b""})
    for name in ("pipe.so", "torch/version.py", "torch-1.dist-info/WHEEL"):
        (tmp_path / name).unlink(missing_ok=True)
        os.mkfifo(tmp_path / name)
    found = inspect_path(tmp_path)
    assert names(found) == ["torch/_C.so"]
    assert [fault.source for fault in found.faults] == [str(tmp_path / "torch/version.py")]


def test_a_record_that_is_a_pipe_is_one_line(tmp_path: Path) -> None:
    install(tmp_path, "evil", "1", {"evil/_C.so": LIBRARY})
    record = tmp_path / "evil-1.dist-info" / "RECORD"
    record.unlink()
    os.mkfifo(record)
    found = inspect_path(tmp_path)
    assert names(found) == ["evil/_C.so"]
    assert [str(fault) for fault in found.faults] == [f"{record}: expected an ordinary file"]


def test_names_that_are_no_text_are_spelt_out(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xffx.so")).write_bytes(LIBRARY)
    assert names(inspect_path(tmp_path)) == [r"\xffx.so"]


def test_damaged_metadata_hides_no_binaries(tmp_path: Path) -> None:
    path = tmp_path / "torch-1-py3-none-any.whl"
    path.write_bytes(
        wheel({"torch-1.dist-info/METADATA": metadata("a", "b") * 9, "torch/_C.so": LIBRARY})
    )
    assert names(inspect_path(path)) == ["torch/_C.so"]


@pytest.mark.parametrize("name", ["none", "note.txt", "pipe", "none.whl"])
def test_anything_else_is_one_clear_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "note.txt").write_text("hello")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Unreadable, match="expected a wheel, a folder or a shared library"):
        inspect_path(tmp_path / name)


def test_one_damaged_library_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "bad.so").write_bytes(LIBRARY[:200])
    with pytest.raises(Unreadable, match=r"bad\.so: .*expected"):
        inspect_path(tmp_path / "bad.so")
