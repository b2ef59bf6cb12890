"""What was compiled against a framework that moves has to be compiled again."""

from __future__ import annotations

from dataclasses import replace

from packaging.version import Version

from stackfix.model.environment import TargetEnvironment
from stackfix.model.stack import Piece, Stack
from stackfix.plan.lock_state import LockState
from stackfix.plan.rebuilds import Rebuild, rebuilds
from stackfix_lockfiles.lock import Lock, LockedFile, LockedPackage, Source, SourceKind
from tests.resolver.making import graph, piece, target

EMPTY = Lock.parse(b'version = 1\nrequires-python = ">=3.11"\n')
SDIST = LockedFile(filename="x-1.tar.gz", url="https://files.index.example/x-1.tar.gz")
WHEEL = LockedFile(filename="x-1-py3-none-any.whl", url="https://files.index.example/x.whl")


def compiled(name: str, version: str, *, wheel: bool = False) -> Piece:
    """A package that the lock has as sources, or as a wheel beside them."""
    locked = LockedPackage(
        name=name,
        version=version,
        source=Source(SourceKind.REGISTRY, "https://index.example/simple"),
        sdist=SDIST,
        wheels=(WHEEL,) if wheel else (),
    )
    return replace(piece(name, version), locked=locked, file=WHEEL if wheel else None)


def installed(*pieces: Piece) -> LockState:
    stack = Stack(platform="linux_x86_64", python="3.11", pieces={p.name: p for p in pieces})
    environment = TargetEnvironment(target=target("RTX 5090"), stack=stack, markers={})
    return LockState(lock=EMPTY, environments=(environment,), python="3.11")


def needed(old: LockState, new: LockState) -> tuple[Rebuild, ...]:
    return rebuilds(old, new, graph())


TORCH, NEWER = piece("torch", "2.6.0"), piece("torch", "2.8.0")
FLASH = compiled("flash-attn", "2.7.4.post1")


def test_sources_are_compiled_again_when_their_framework_moves() -> None:
    (found,) = needed(installed(TORCH, FLASH), installed(NEWER, FLASH))
    assert found == Rebuild(package="flash-attn", version="2.7.4.post1", against="torch 2.8.0")


def test_a_build_of_another_index_is_another_framework() -> None:
    other = replace(TORCH, version=Version("2.6.0+cu126"))
    assert [r.against for r in needed(installed(TORCH, FLASH), installed(other, FLASH))] == [
        "torch 2.6.0+cu126"
    ]


def test_nothing_is_compiled_again_without_need() -> None:
    wheel = compiled("flash-attn", "2.7.4.post1", wheel=True)
    newer = compiled("flash-attn", "2.8.3")
    jax, moved = piece("jax", "0.5.3"), piece("jax", "0.6.2")
    assert not needed(installed(TORCH, FLASH), installed(TORCH, FLASH))
    assert not needed(installed(TORCH, wheel), installed(NEWER, wheel))
    assert not needed(installed(TORCH, FLASH), installed(NEWER, newer))  # uv builds that itself
    assert not needed(installed(TORCH, jax, FLASH), installed(TORCH, moved, FLASH))
    assert not needed(installed(TORCH), installed(NEWER, FLASH))
