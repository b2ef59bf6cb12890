"""One wheel stands for a release on a platform."""

import pytest
from packaging.version import Version

from stackfix_index.simple import IndexFile
from stackfix_knowledge.measure.measuring import by_release
from stackfix_knowledge.wheels.release import PLATFORMS, platform_of


def chosen(*names: str, platforms: tuple[str, ...] = PLATFORMS) -> dict[str, dict[str, str]]:
    files = [
        IndexFile(filename=name, url="", sha256=None, uploaded="", yanked=False, has_metadata=False)
        for name in names
    ]
    found = by_release("torch", files, platforms)
    return {str(v): {p: f.filename for p, f in wheels.items()} for v, wheels in found.items()}


@pytest.mark.parametrize(
    ("tag", "platform"),
    [
        ("manylinux_2_28_x86_64", "linux_x86_64"),
        ("manylinux2014_aarch64", "linux_aarch64"),
        ("linux_x86_64", "linux_x86_64"),
        ("win_amd64", "win_amd64"),
        ("macosx_11_0_arm64", "macos_arm64"),
        ("macosx_10_9_universal2", "macos_arm64"),
        ("any", "any"),
        ("musllinux_1_2_x86_64", None),
        ("macosx_10_9_x86_64", None),
        ("win32", None),
        ("manylinux_2_28_ppc64le", None),
    ],
)
def test_platforms_by_their_tags(tag: str, platform: str | None) -> None:
    assert platform_of(tag) == platform


def test_python_3_11_stands_for_its_siblings() -> None:
    names = [f"torch-2.8.0-cp3{n}-cp3{n}-manylinux_2_28_x86_64.whl" for n in (9, 13, 11, 10)]
    assert chosen(*names) == {"2.8.0": {"linux_x86_64": names[2]}}


def test_where_there_is_no_3_11_the_nearest_known_one_does() -> None:
    names = [f"torch-2.8.0-cp3{n}-cp3{n}-manylinux_2_28_x86_64.whl" for n in (14, 12)]
    assert chosen(*names) == {"2.8.0": {"linux_x86_64": names[1]}}


def test_a_wheel_for_every_python_comes_first() -> None:
    names = ["torch-1-cp311-cp311-linux_x86_64.whl", "torch-1-py3-none-linux_x86_64.whl"]
    assert chosen(*names) == {"1": {"linux_x86_64": names[1]}}


def test_the_newest_build_of_a_release_counts() -> None:
    """torch 2.10.0 was uploaded again with build tag 3."""
    names = [
        "torch-2.10.0-1-cp311-cp311-manylinux_2_28_x86_64.whl",
        "torch-2.10.0-3-cp311-cp311-manylinux_2_28_x86_64.whl",
        "torch-2.10.0-cp311-cp311-manylinux_2_28_x86_64.whl",
    ]
    assert chosen(*names)["2.10.0"]["linux_x86_64"] == names[1]


def test_a_wheel_with_several_platform_tags_counts_for_each() -> None:
    name = "torch-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    assert chosen(name) == {"1": {"linux_x86_64": name}}


def test_only_the_platforms_that_are_asked_for() -> None:
    names = ["torch-1-cp311-cp311-win_amd64.whl", "torch-1-cp311-cp311-linux_x86_64.whl"]
    assert chosen(*names, platforms=("win_amd64",)) == {"1": {"win_amd64": names[0]}}


def test_a_release_without_wheels_for_us_is_there_and_empty() -> None:
    assert chosen("torch-1-cp311-cp311-musllinux_1_2_x86_64.whl") == {"1": {}}


def test_versions_are_in_order_of_versions() -> None:
    names = [f"torch-{v}-py3-none-any.whl" for v in ("2.10.0", "2.9.0", "2.10.0rc1")]
    assert list(chosen(*names)) == ["2.9.0", "2.10.0rc1", "2.10.0"]


def test_what_is_no_wheel_of_the_package_is_left_out() -> None:
    assert (
        chosen("torch-1.tar.gz", "torchvision-1-py3-none-any.whl", "x.whl", "a-b-c-d-e.whl") == {}
    )


def test_local_versions_are_versions_of_their_own() -> None:
    found = chosen("torch-2.8.0+cu128-cp311-cp311-manylinux_2_28_x86_64.whl")
    assert [Version(v) for v in found] == [Version("2.8.0+cu128")]
