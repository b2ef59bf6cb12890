"""Whether there is room, and what is said of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stackfix.validate.closure import Closure
from stackfix.validate.errors import DiskShort
from stackfix.validate.room import cached_by, require_room, told
from stackfix_lockfiles.lock import Lock
from tests.resolver.validate.test_closure import _LOCK

GB = 10**9
SPARE = 1 << 30


def a_closure(**sizes: int | None) -> Closure:
    packages = {package.name: package for package in Lock.parse(_LOCK.encode()).packages}
    return Closure(
        packages=tuple(packages[name] for name in sizes),
        left_out=(),
        built=(),
        in_place=(),
        sizes=sizes,
    )


BOTH = a_closure(torch=10 * GB, sympy=1 * GB)
"""Eleven gigabytes to fetch, 24.2 unpacked."""


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    def with_room(number: int) -> None:
        real = shutil.disk_usage("/")
        monkeypatch.setattr(shutil, "disk_usage", lambda place: real._replace(free=number))

    return with_room


def required(
    folder: Path,
    *,
    linked: bool = True,
    cached: tuple[str, ...] = (),
    installed: tuple[str, ...] = (),
) -> bool:
    """Whether there is room, on one disk."""
    try:
        require_room(
            BOTH,
            folder=folder,
            cache=folder / "not there yet/cache",
            linked=linked,
            cached=cached,
            installed=installed,
        )
    except DiskShort:
        return False
    return True


def test_on_one_disk_all_is_there_once(tmp_path: Path, free: Callable[[int], None]) -> None:
    free(int(24.3 * GB) + SPARE)
    assert required(tmp_path)
    free(int(24.1 * GB) + SPARE)
    assert not required(tmp_path)


def test_what_uv_has_in_its_cache_takes_no_room(
    tmp_path: Path, free: Callable[[int], None]
) -> None:
    free(int(2.3 * GB) + SPARE)
    assert required(tmp_path, cached=("torch",))
    free(SPARE)
    assert required(tmp_path, cached=("torch", "sympy"))


def test_where_uv_copies_it_takes_room_twice(tmp_path: Path, free: Callable[[int], None]) -> None:
    free(30 * GB + SPARE)
    assert required(tmp_path)
    assert not required(tmp_path, linked=False)
    assert required(tmp_path, linked=False, cached=("torch", "sympy"))


def test_a_filled_environment_is_not_judged(tmp_path: Path, free: Callable[[int], None]) -> None:
    free(0)
    assert required(tmp_path, installed=("torch", "sympy"))
    assert not required(tmp_path, installed=("torch",))


def test_the_lines_tell_what_is_fetched_and_what_is_here() -> None:
    assert told(BOTH, everything=False, cached=()) == (
        "2 packages: 11 GB to fetch and about 24 GB unpacked",
    )
    assert told(BOTH, everything=False, cached=("torch",)) == (
        "2 packages, 1 of them in uv's cache: 1.0 GB to fetch and about 24 GB unpacked",
    )
    assert told(BOTH, everything=False, cached=("torch", "sympy")) == (
        "2 packages, all in uv's cache: 0 B to fetch and about 24 GB unpacked",
    )
    assert told(a_closure(torch=None), everything=False, cached=())[0].endswith(
        "; 1 of unknown size"
    )


@pytest.mark.parametrize(
    ("log", "names"),
    [
        (
            """\
DEBUG Registry requirement already cached: six==1.16.0
DEBUG Identified uncached distribution: idna==3.20
DEBUG Registry requirement already cached: nvidia-nccl-cu12==2.26.2
""",
            {"six", "nvidia-nccl-cu12"},
        ),
        (
            "DEBUG Path wheel requirement already cached: flash-attn==2.8.0 (from file:///x)\n",
            {"flash-attn"},
        ),
        ("Would install 3 packages\n + idna==3.20\n", set()),
        ("", set()),
    ],
)
def test_uv_says_what_its_cache_has(log: str, names: set[str]) -> None:
    assert cached_by(log) == names
