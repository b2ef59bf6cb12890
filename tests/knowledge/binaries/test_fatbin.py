"""Containers are found by their magic and counted by the architectures in them."""

import struct
import time
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix_index.errors import Unreadable
from stackfix_knowledge.binaries import fatbin
from stackfix_knowledge.binaries.fatbin import (
    Budget,
    Container,
    containers,
    embedded_containers,
)
from stackfix_knowledge.hardware import Architecture
from tests.knowledge.measure.building import container, image
from tests.knowledge.measure.building import fatbin as build

NAMES = ["sm_50", "sm_86", "sm_90", "sm_90a", "sm_100f", "sm_120", "compute_90", "compute_120a"]
sets = st.sets(st.sampled_from(NAMES), min_size=1)


def counts(data: bytes) -> dict[str, int]:
    found = Counter(container.images for container in everything(data))
    return {" ".join(map(str, sorted(images))): count for images, count in found.items()}


def everything(data: bytes) -> list[Container]:
    return list(containers(data, 0, len(data), name="lib.so", budget=Budget("lib.so")))


def embedded(data: bytes) -> list[Container]:
    return list(embedded_containers(data, 0, len(data), name="lib.so", budget=Budget("lib.so")))


@given(st.lists(sets, max_size=8))
def test_what_was_built_is_read(built: list[set[str]]) -> None:
    data = build(*(" ".join(names) for names in built))
    expected = [frozenset(map(Architecture.parse, names)) for names in built]
    assert [found.images for found in everything(data)] == expected


def test_equal_containers_are_counted_together() -> None:
    assert counts(build("sm_80 sm_90", "sm_90 sm_80", "sm_90")) == {"sm_80 sm_90": 2, "sm_90": 1}


def test_two_images_of_one_architecture_count_once() -> None:
    assert counts(build("sm_80 sm_80")) == {"sm_80": 1}


def test_only_what_lies_between_the_offsets_counts() -> None:
    data = build("sm_80") + build("sm_90")
    start = len(build("sm_80"))
    found = containers(data, start, len(data), name="x", budget=Budget("x"))
    assert [str(image) for container in found for image in container.images] == ["sm_90"]


def test_padding_of_any_length_lies_between_containers() -> None:
    data = bytes(24) + container("sm_80") + bytes(4096) + container("sm_90") + bytes(3)
    assert counts(data) == {"sm_80": 1, "sm_90": 1}


def test_a_payload_that_looks_like_a_container_is_stepped_over() -> None:
    body = image("sm_80", payload=container("sm_120"))
    data = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body
    assert counts(data) == {"sm_80": 1}


def test_images_of_other_kinds_are_left_out() -> None:
    other = bytearray(image("sm_80"))
    other[0:2] = struct.pack("<H", 16)
    body = bytes(other) + image("sm_90")
    data = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body
    assert counts(data) == {"sm_90": 1}


def test_the_newest_ptx_language_is_told() -> None:
    data = build("sm_80 compute_90", ptx=(8, 7)) + build("sm_80")
    versions = [found.ptx_version for found in everything(data)]
    assert versions == [(8, 7), None]


@pytest.mark.parametrize(
    "size", [2**63, 2**64 - 1, 2**32, 2**31], ids=["2^63", "2^64-1", "2^32", "2^31"]
)
def test_a_container_larger_than_its_section_is_an_error(size: int) -> None:
    data = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, size) + image("sm_80")
    with pytest.raises(Unreadable, match=r"lib.so: offset 0: expected a container that ends"):
        counts(data)


def test_an_image_larger_than_its_container_is_an_error() -> None:
    broken = bytearray(container("sm_80"))
    broken[16 + 8 : 16 + 16] = struct.pack("<Q", 2**63)
    with pytest.raises(Unreadable, match=r"offset 16: expected an image that ends"):
        counts(bytes(broken))


@pytest.mark.parametrize("header", [0, 1, 47])
def test_a_header_too_small_to_step_over_is_an_error_not_a_loop(header: int) -> None:
    broken = bytearray(container("sm_80"))
    broken[20:24] = struct.pack("<I", header)
    with pytest.raises(Unreadable, match="expected an image that ends"):
        counts(bytes(broken))


def test_a_container_header_too_small_is_an_error_not_a_loop() -> None:
    with pytest.raises(Unreadable, match="expected a container that ends"):
        counts(struct.pack("<IHHQ", 0xBA55ED50, 1, 0, 0) + bytes(64))


@pytest.mark.parametrize("cut", [1, 8, 17, 40, 70])
def test_a_section_that_is_cut_is_an_error(cut: int) -> None:
    data = container("sm_80", "sm_90")
    with pytest.raises(Unreadable):
        counts(data[:-cut])


@pytest.mark.parametrize("number", [0, 9, 1000, 2**32 - 1])
def test_a_number_that_is_no_architecture_is_an_error(number: int) -> None:
    broken = bytearray(container("sm_80"))
    broken[16 + 28 : 16 + 32] = struct.pack("<I", number)
    with pytest.raises(Unreadable, match=rf"an architecture number, not {number}"):
        counts(bytes(broken))


def test_too_many_containers_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fatbin, "MOST_IMAGES", 100)
    with pytest.raises(Unreadable, match="expected at most 100 images"):
        counts(build("sm_80") * 60)
    with pytest.raises(Unreadable, match="expected at most 100 images"):
        counts(container(*["sm_80"] * 150))


def test_ordinary_data_full_of_magic_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fatbin, "MOST_IMAGES", 100)
    with pytest.raises(Unreadable, match="expected at most 100 images"):
        embedded(b"\x50\xed\x55\xba" * 200)


def test_containers_nested_in_each_other_cost_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would be read to its end, which is damaged, and the next one within it again."""
    monkeypatch.setattr(fatbin, "MOST_IMAGES", 10_000)
    data = b""
    for _ in range(300):
        body = image("sm_80") + data + (b"\xff" * 64 if not data else b"")
        data = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body
    with pytest.raises(Unreadable, match="expected at most 10,000 images"):
        embedded(data * 100)


@given(st.binary(max_size=300))
def test_ordinary_data_never_is_an_error(data: bytes) -> None:
    data = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(data)) + data
    embedded(data)


@given(st.binary(max_size=300))
def test_any_bytes_give_an_answer_or_the_one_error(data: bytes) -> None:
    with suppress(Unreadable):
        counts(struct.pack("<I", 0xBA55ED50) + data)


def test_only_headers_are_touched() -> None:
    """A payload of 64 MB takes no longer than an empty one."""
    body = image("sm_80", payload=bytes(64 * 1024 * 1024))
    data = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body
    started = time.process_time()
    assert counts(data) == {"sm_80": 1}
    assert time.process_time() - started < 0.5
