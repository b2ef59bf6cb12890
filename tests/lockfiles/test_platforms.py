import itertools
import platform
import sys

import pytest
from packaging import tags
from packaging.tags import sys_tags

from stackfix_lockfiles.lock import Lock, LockedPackage
from stackfix_lockfiles.platforms import (
    PLATFORMS,
    Platform,
    _compatible,
    _platform_tags,
    python_minor,
)
from tests.lockfiles.samples import OPENPI, lock, package

LINUX = PLATFORMS["linux_x86_64"]


def with_wheels(*tags: str) -> LockedPackage:
    wheels = ", ".join(f'{{ url = "https://files.index.example/a-1.0-{tag}.whl" }}' for tag in tags)
    return lock(package("a", wheels=f"[{wheels}]")).packages[0]


def chosen(where: Platform, python: str, *tags: str) -> str | None:
    wheel = where.wheel(with_wheels(*tags), python)
    return wheel.filename.removeprefix("a-1.0-").removesuffix(".whl") if wheel else None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("linux", "linux_x86_64"),
        ("linux_x86_64", "linux_x86_64"),
        ("x86_64-unknown-linux-gnu", "linux_x86_64"),
        ("x86_64-manylinux_2_28", "linux_x86_64"),
        ("manylinux_2_28_aarch64", "linux_aarch64"),
        ("aarch64-unknown-linux-gnu", "linux_aarch64"),
        ("windows", "win_amd64"),
        ("x86_64-pc-windows-msvc", "win_amd64"),
        ("macos", "macos_arm64"),
        ("aarch64-apple-darwin", "macos_arm64"),
    ],
)
def test_is_known_by_the_names_people_use(text: str, name: str) -> None:
    assert Platform.parse(text).name == name


def test_refuses_an_unknown_name_and_lists_the_known() -> None:
    with pytest.raises(ValueError, match=r"expected one of linux_x86_64, .* found 'beos'"):
        Platform.parse("beos")


def test_marker_values_are_those_of_the_platform() -> None:
    assert PLATFORMS["linux_aarch64"].markers("3.12.1")["platform_machine"] == "aarch64"
    assert PLATFORMS["macos_arm64"].markers("3.12.1")["platform_machine"] == "arm64"
    assert PLATFORMS["win_amd64"].markers("3.12.1")["platform_machine"] == "AMD64"
    assert PLATFORMS["win_amd64"].markers("3.12.1")["python_version"] == "3.12"


def test_takes_the_wheel_of_its_machine_and_python() -> None:
    tags = (
        "cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64",
        "cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64",
        "cp312-cp312-manylinux_2_17_aarch64.manylinux2014_aarch64",
        "cp312-cp312-win_amd64",
        "cp312-cp312-macosx_11_0_arm64",
    )
    assert chosen(LINUX, "3.12", *tags) == tags[1]
    assert chosen(LINUX, "3.11.4", *tags) == tags[0]
    assert chosen(LINUX, "3.13", *tags) is None
    assert chosen(PLATFORMS["linux_aarch64"], "3.12", *tags) == tags[2]
    assert chosen(PLATFORMS["win_amd64"], "3.12", *tags) == tags[3]
    assert chosen(PLATFORMS["macos_arm64"], "3.12", *tags) == tags[4]


def test_prefers_the_most_specific_wheel() -> None:
    tags = ("py3-none-any", "cp38-abi3-manylinux_2_28_x86_64", "cp312-cp312-manylinux_2_28_x86_64")
    assert chosen(LINUX, "3.12", *tags) == tags[2]
    assert chosen(LINUX, "3.13", *tags) == tags[1]
    assert chosen(PLATFORMS["win_amd64"], "3.13", *tags) == "py3-none-any"


def test_prefers_the_newer_glibc_and_takes_a_plain_linux_wheel_last() -> None:
    tags = tuple(
        f"cp312-cp312-{name}"
        for name in ("linux_x86_64", "manylinux2014_x86_64", "manylinux_2_34_x86_64")
    )
    assert chosen(LINUX, "3.12", *tags) == tags[2]
    assert chosen(LINUX, "3.12", *tags[:2]) == tags[1]
    assert chosen(LINUX, "3.12", tags[0]) == tags[0]


def test_prefers_the_higher_build_number() -> None:
    first, third = "cp312-cp312-manylinux_2_28_x86_64", "3-cp312-cp312-manylinux_2_28_x86_64"
    tenth = "10-cp312-cp312-manylinux_2_28_x86_64"
    assert chosen(LINUX, "3.12", first, tenth, third) == tenth


def test_leaves_out_free_threaded_musl_and_malformed_wheels() -> None:
    assert chosen(LINUX, "3.13", "cp313-cp313t-manylinux_2_28_x86_64") is None
    assert chosen(LINUX, "3.13", "cp313-cp313-musllinux_1_2_x86_64") is None
    assert chosen(LINUX, "3.13", "any") is None


def test_universal_macos_wheels_install_on_arm() -> None:
    assert chosen(PLATFORMS["macos_arm64"], "3.12", "cp312-cp312-macosx_10_9_universal2")
    assert chosen(PLATFORMS["macos_arm64"], "3.12", "cp312-cp312-macosx_11_0_x86_64") is None


def test_real_torch_has_a_wheel_for_each_platform() -> None:
    (torch,) = Lock.read(OPENPI / "uv.lock").named("torch")
    names = {
        name: wheel.filename if (wheel := where.wheel(torch, "3.12")) else None
        for name, where in PLATFORMS.items()
    }
    assert names["linux_x86_64"] == "torch-2.7.1-cp312-cp312-manylinux_2_28_x86_64.whl"
    assert names["linux_aarch64"] == "torch-2.7.1-cp312-cp312-manylinux_2_28_aarch64.whl"
    assert names["win_amd64"] == "torch-2.7.1-cp312-cp312-win_amd64.whl"


def test_agrees_with_the_tags_of_the_running_interpreter() -> None:
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        pytest.skip("compares with a Linux host's own tags")
    ours = PLATFORMS[f"linux_{platform.machine()}"]
    own = [tag for tag in sys_tags() if not tag.platform.startswith(("musllinux", "linux_"))]
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for better, worse in itertools.pairwise(own):
        names = (f"{worse.interpreter}-{worse.abi}-{worse.platform}", str(better))
        assert chosen(ours, python, *names) == str(better)


@pytest.mark.parametrize("text", ["3", "three", "", "3.x"])
def test_refuses_what_is_no_python_version(text: str) -> None:
    with pytest.raises(ValueError, match="expected a Python version"):
        python_minor(text)


@pytest.mark.parametrize("minor", [(3, 8), (3, 11), (3, 14)])
@pytest.mark.parametrize("name", PLATFORMS)
def test_tags_and_their_order_are_those_of_packaging(name: str, minor: tuple[int, int]) -> None:
    platforms = tuple(_platform_tags(PLATFORMS[name]))
    interpreter = f"cp{minor[0]}{minor[1]}"
    theirs = [
        *tags.cpython_tags(minor, abis=[interpreter], platforms=platforms),
        *tags.compatible_tags(minor, interpreter, platforms),
    ]
    assert list(_compatible(minor, platforms)) == [
        (tag.interpreter, tag.abi, tag.platform) for tag in theirs
    ]
