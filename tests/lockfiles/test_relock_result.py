"""A warning where the index of a lock is in the new one no more, unless the move is meant."""

from __future__ import annotations

from stackfix_lockfiles.relock.result import other_index
from tests.lockfiles.samples import HEAD, lock, package

COMPANY = '{ registry = "https://company.example/simple" }'
PYTORCH = '{ registry = "https://download.pytorch.org/whl/cu118" }'
DEFAULT = '{ registry = "https://index.example/simple" }'


def text(*blocks: str) -> bytes:
    return "\n".join((HEAD, *blocks)).encode()


def test_what_stays_and_comes_from_elsewhere_is_told() -> None:
    old = lock(package("numpy", source=COMPANY), package("torch", "2.7.0", COMPANY))
    (warning,) = other_index(
        old, text(package("numpy", source=DEFAULT), package("torch", "2.8.0", DEFAULT))
    )
    assert "https://company.example/simple, which no setting here names" in warning


def test_what_takes_another_version_moves_on_purpose() -> None:
    old = lock(package("torch", "1.13.1+cu116", COMPANY), package("numpy", source=DEFAULT))
    assert not other_index(
        old, text(package("torch", "2.0.0+cu118", PYTORCH), package("numpy", source=DEFAULT))
    )


def test_a_lock_from_nowhere_says_nothing() -> None:
    assert not other_index(None, text(package("numpy", source=DEFAULT)))
