"""PyTorch's out of memory sentence: five numbers, and what they say."""

from __future__ import annotations

import pytest

from stackfix.diagnose.particulars import read_allocation

GIB = 1 << 30
SENTENCE = (
    "CUDA out of memory. Tried to allocate {wanted}. GPU 0 has a total capacity of 80.00 GiB of"
    " which {free} is free. Including non-PyTorch memory, this process has 77.00 GiB memory in use."
    " Of the allocated memory 60.00 GiB is allocated by PyTorch, and {unused} is reserved by"
    " PyTorch but unallocated."
)


def test_all_five_fields_are_read() -> None:
    read = read_allocation(SENTENCE.format(wanted="2.00 GiB", free="1.00 GiB", unused="3.00 GiB"))
    assert (read.wanted, read.total, read.free) == (2 * GIB, 80 * GIB, GIB)
    assert (read.allocated, read.unallocated) == (60 * GIB, 3 * GIB)


@pytest.mark.parametrize(
    ("wanted", "free", "unused", "fragmented"),
    [
        ("2.00 GiB", "1.00 GiB", "3.00 GiB", True),
        ("2.00 GiB", "1.00 GiB", "1.00 GiB", True),
        ("2.00 GiB", "1.00 GiB", "900.00 MiB", False),
        ("15.00 GiB", "203.56 MiB", "320.27 MiB", False),
        ("64.00 MiB", "226.56 MiB", "320.27 MiB", False),
    ],
)
def test_fragmentation_is_when_the_pieces_together_would_do(
    wanted: str, free: str, unused: str, fragmented: bool
) -> None:
    sentence = SENTENCE.format(wanted=wanted, free=free, unused=unused)
    assert read_allocation(sentence).is_fragmented is fragmented


def test_the_sentence_before_torch_2_1_is_read() -> None:
    read = read_allocation(
        "Tried to allocate 978.00 MiB (GPU 0; 15.90 GiB total capacity; 12.00 GiB already"
        " allocated; 267.75 MiB free; 14.00 GiB reserved in total by PyTorch)"
    )
    assert read.unallocated == 2 * GIB
    assert read.is_fragmented


def test_a_sentence_without_numbers_is_no_fault() -> None:
    assert read_allocation("CUDA out of memory").wanted is None
