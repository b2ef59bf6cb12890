"""Our marker evaluation against `packaging`, which is slower and knows no pseudo extras."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker as Oracle

from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.markers import Marker, Truths
from stackfix_lockfiles.platforms import PLATFORMS
from tests.lockfiles.samples import OPENPI, RESSELT

LINUX = dict(PLATFORMS["linux_x86_64"].markers("3.12.4"))


def holds(text: str, extras: frozenset[str] = frozenset(), **values: str) -> bool:
    return Marker(text).holds(Truths({**LINUX, **values}, extras))


ATOMS = st.sampled_from(
    [
        "sys_platform == 'linux'",
        "sys_platform != 'win32'",
        "'darwin' == sys_platform",
        "platform_machine in 'x86_64 AMD64'",
        "platform_machine not in 'aarch64'",
        "python_full_version < '3.12'",
        "python_full_version >= '3.12.4'",
        "python_full_version == '3.12.*'",
        "python_full_version != '3.12.*'",
        "python_version ~= '3.10'",
        "'3.9' < python_version",
        "os_name == \"nt\"",
        "implementation_name == 'cpython'",
        "platform_python_implementation != 'PyPy'",
        "extra == 'gpu'",
        "extra != 'gpu'",
    ]
)  # fmt: skip
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("{} and {}".format, inner, inner),
        st.builds("{} or {}".format, inner, inner),
        st.builds("({})".format, inner),
    ),
    max_leaves=12,
)


@given(EXPRESSIONS, st.sampled_from(sorted(PLATFORMS)), st.sampled_from(["3.10.0", "3.12.4"]))
def test_agrees_with_packaging(text: str, platform: str, python: str) -> None:
    values = dict(PLATFORMS[platform].markers(python))
    for extra in ("", "gpu"):
        expected = Oracle(text).evaluate({**values, "extra": extra})
        assert Marker(text).holds(Truths(values, frozenset({extra}))) == expected


@pytest.mark.parametrize("folder", [OPENPI, RESSELT], ids=lambda path: path.name)
def test_agrees_with_packaging_on_real_locks(folder: object) -> None:
    lock = Lock.read((OPENPI if folder == OPENPI else RESSELT) / "uv.lock")
    texts = {
        text
        for package in lock.packages
        for text in (
            *package.resolution_markers,
            *(edge.marker for edge in package.dependencies if edge.marker),
        )
    } | set(lock.resolution_markers)
    assert texts
    for platform in PLATFORMS.values():
        values = dict(platform.markers("3.11.9"))
        for text in texts:
            expected = Oracle(text).evaluate({**values, "extra": "extra-7-resselt-cu128"})
            ours = Truths(values, frozenset({"extra-7-resselt-cu128"}))
            assert Marker(text).holds(ours) == expected, text


def test_several_extras_may_be_on() -> None:
    both = "extra == 'extra-1-a-x' and extra == 'extra-1-a-y'"
    assert holds(both, frozenset({"extra-1-a-x", "extra-1-a-y"}))
    assert not holds(both, frozenset({"extra-1-a-x"}))
    assert holds("extra != 'extra-1-a-x'", frozenset({"extra-1-a-y"}))


def test_what_was_decided_of_the_platform_survives_other_extras() -> None:
    marker = Marker("sys_platform == 'linux' and extra == 'a'")
    first = Truths(LINUX)
    assert not marker.holds(first)
    assert marker.holds(first.with_extras(frozenset({"a"})))
    assert not marker.holds(first)


def test_versions_are_compared_as_versions() -> None:
    assert holds("python_full_version >= '3.9'", python_full_version="3.10.1")
    assert holds("'3.9' <= python_full_version", python_full_version="3.10.1")
    assert not holds("python_version in '3.1 3.11'", python_version="3.10")


def test_and_binds_closer_than_or() -> None:
    assert holds("os_name == 'posix' or os_name == 'nt' and os_name == 'java'")
    assert not holds("(os_name == 'posix' or os_name == 'nt') and os_name == 'java'")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "linux",
        "sys_platform = 'linux'",
        "sys_platform == linux",
        "'linux' == 'linux'",
        "sys_platform == 'linux",
        "sys_platform == 'linux' and",
        "and sys_platform == 'linux'",
        "sys_platform == 'linux' os_name == 'posix'",
        "(sys_platform == 'linux'",
        "sys_platform == 'linux')",
        "()",
        "weather == 'fine'",
        "sys_platform == 'a' xor os_name == 'b'",
    ],
)
def test_refuses_what_is_no_marker(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        Marker(text)


@pytest.mark.parametrize("piece", ["a", " ", "'", "a.", "not ", "a=="])
def test_a_long_text_that_is_no_marker_is_refused_at_once(piece: str) -> None:
    begun = time.process_time()
    with pytest.raises(ValueError, match="expected"):
        Marker(piece * 100_000)
    assert time.process_time() - begun < 1
