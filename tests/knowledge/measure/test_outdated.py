"""What is on the index and not yet in the facts."""

from __future__ import annotations

import pytest
from packaging.version import Version

from stackfix_index.errors import Unreadable
from stackfix_index.simple import Index
from stackfix_knowledge.measure.comparing import Outdated, compare
from stackfix_knowledge.wheels.coverage import Coverage
from stackfix_knowledge.wheels.release import Release, WheelFact
from tests.index.serving import INDEX, Served

TAG = "py3-none-manylinux_2_28_x86_64"
OFFERED = ("1.0", "1.1", "1.2", "1.3rc1", "2.0")


def served(*versions: str, tag: str = TAG) -> Index:
    files = {f"lib-{version}-{tag}.whl": b"" for version in versions}
    return Index(INDEX, Served({"lib": files}).client)


def known(version: str, *, measured: bool = True) -> Release:
    coverage = Coverage(libraries=()) if measured else None
    wheel = WheelFact(file=f"lib-{version}-{TAG}.whl", platform="linux_x86_64", coverage=coverage)
    return Release(package="lib", version=Version(version), date="", wheels=(wheel,))


def versions(outdated: Outdated) -> tuple[list[str], list[str]]:
    return (
        [str(new.version) for new in outdated.newer],
        [str(new.version) for new in outdated.older],
    )


def test_newer_releases_are_listed_apart_from_older_gaps() -> None:
    found = compare("lib", [known("1.1")], served(*OFFERED), judged=True)
    assert versions(found) == (["1.2", "2.0"], ["1.0"])
    assert found.newest == Version("1.1")
    assert found.newer[0].date == "2025-08-06"


def test_a_package_with_gpu_code_is_known_when_its_binaries_were_measured() -> None:
    releases = [known("1.0"), known("2.0", measured=False)]
    assert versions(compare("lib", releases, served(*OFFERED), judged=True))[0] == [
        "1.1", "1.2", "2.0",
    ]  # fmt: skip
    assert versions(compare("lib", releases, served(*OFFERED), judged=False))[0] == []


def test_with_everything_known_nothing_is_listed() -> None:
    releases = [known(version) for version in OFFERED]
    assert versions(compare("lib", releases, served(*OFFERED), judged=True)) == ([], [])


def test_without_facts_every_release_is_new() -> None:
    found = compare("lib", [], served(*OFFERED), judged=True)
    assert found.newest is None
    assert versions(found) == (["1.0", "1.1", "1.2", "2.0"], [])


def test_builds_of_other_indexes_do_not_count_as_known() -> None:
    found = compare("lib", [known("2.0+cu128")], served("2.0"), judged=True)
    assert versions(found)[0] == ["2.0"]


def test_releases_without_a_linux_wheel_are_left_out() -> None:
    index = served("1.0", tag="py3-none-win_amd64")
    assert versions(compare("lib", [], index, judged=True)) == ([], [])


def test_a_package_that_the_index_lacks_is_an_error() -> None:
    with pytest.raises(Unreadable, match="expected an index that has it"):
        compare("other", [], served("1.0"), judged=True)
