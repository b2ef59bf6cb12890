"""What a change moved among the GPU packages, what that means, and for which targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from packaging.version import Version

from stackfix.audit.environments import LockedEnvironment
from stackfix.gate.result import Moved
from stackfix.model.stack import Piece
from stackfix.model.target import Target
from stackfix_knowledge.evidence import Fact
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.hardware import ComputeCapability, DriverVersion
from stackfix_knowledge.stack.packages import Role
from stackfix_knowledge.wheels.coverage import Support
from stackfix_lockfiles.lock import LockedPackage

__all__ = ["moved"]

_RUNS = {Support.SUPPORTED, Support.JIT}
_WORDS = {
    Support.UNSUPPORTED: "no code",
    Support.PARTIAL: "code in part",
    Support.JIT: "JIT only",
    Support.SUPPORTED: "native code",
}


def moved(
    before: Sequence[LockedPackage],
    after: Sequence[LockedPackage],
    places: tuple[
        Mapping[str, Sequence[LockedEnvironment]], Mapping[str, Sequence[LockedEnvironment]]
    ],
    targets: Sequence[Target],
    names: Mapping[Target, str],
    graph: Graph,
) -> tuple[Moved, ...]:
    """Every GPU package whose versions or index changed; those that matter to a target first.

    `places` are the environments by platform, before and after.
    """
    old, new = _locked(before, graph), _locked(after, graph)
    renamed = _renamed(old.keys() - new.keys(), new.keys() - old.keys(), graph)
    found = []
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) == new.get(name) or name in renamed.values():
            continue
        was = renamed.get(name, name)
        move = _move((was, name), (old.get(was), new.get(name)), places, targets, names, graph)
        found.append(move)
    return tuple(
        sorted(found, key=lambda m: (not m.matters_to, not m.details, _rank(m.package, graph)))
    )


def _rank(name: str, graph: Graph) -> int:
    package = graph.packages.get(name)
    return list(Role).index(package.role) if package else len(Role)


def _renamed(gone: Iterable[str], come: Iterable[str], graph: Graph) -> dict[str, str]:
    """New names of libraries whose name changes with the CUDA major, and the old ones."""
    before: dict[str | None, list[str]] = {}
    for name in gone:
        package = graph.packages.get(name)
        before.setdefault(package.provides if package else None, []).append(name)
    found = {}
    for name in come:
        package = graph.packages.get(name)
        same = before.get(package.provides, []) if package and package.provides else []
        if len(same) == 1:
            found[name] = same[0]
    return found


_Locked = Mapping[str, frozenset[str | None]]
"""Versions of a package, and the indexes that each comes from."""


def _locked(packages: Iterable[LockedPackage], graph: Graph) -> dict[str, _Locked]:
    found: dict[str, dict[str, frozenset[str | None]]] = {}
    for package in packages:
        if package.version is not None and graph.packages.is_stack(package.name):
            indexes = found.setdefault(package.name, {})
            known = indexes.get(package.version, frozenset())
            indexes[package.version] = known | {package.source.index}
    return dict(found)


def _move(
    names_of: tuple[str, str],
    locked: tuple[_Locked | None, _Locked | None],
    places: tuple[
        Mapping[str, Sequence[LockedEnvironment]], Mapping[str, Sequence[LockedEnvironment]]
    ],
    targets: Sequence[Target],
    names: Mapping[Target, str],
    graph: Graph,
) -> Moved:
    (was, name), (old, new) = names_of, locked
    details: list[str] = []
    matters: list[str] = []
    if old and new:
        if was == name and old.keys() == new.keys():
            details.append("from another index")
        for target in targets:
            one, two = (
                _piece(which, side.get(target.platform, ()))
                for which, side in zip(names_of, places, strict=True)
            )
            if one is None or two is None or (was == name and one.version == two.version):
                continue
            said, touched = _compared(one, two, target, graph)
            details += [text for text in said if text not in details]
            if touched:
                matters.append(names[target])
    elif new:
        matters, details = _arrived(name, places[1], targets, names, graph)
    return Moved(
        package=name,
        was=was if was != name else None,
        before=_versions(old),
        after=_versions(new),
        details=tuple(details),
        matters_to=tuple(dict.fromkeys(matters)),
    )


def _arrived(
    name: str,
    places: Mapping[str, Sequence[LockedEnvironment]],
    targets: Sequence[Target],
    names: Mapping[Target, str],
    graph: Graph,
) -> tuple[list[str], list[str]]:
    """A new package matters to the targets that it does not run on."""
    matters = []
    details: list[str] = []
    for target in targets:
        piece = _piece(name, places.get(target.platform, ()))
        if piece is None:
            continue
        floor = _floor(piece, target, graph)
        short = floor is not None and not target.has_libcuda(floor.value)
        if short and floor is not None and f"needs driver ≥ {floor.value}" not in details:
            details.append(f"needs driver ≥ {floor.value}")
        if short or piece.support(target.capability) in {Support.UNSUPPORTED, Support.PARTIAL}:
            matters.append(names[target])
    return matters, details


def _compared(old: Piece, new: Piece, target: Target, graph: Graph) -> tuple[Iterator[str], bool]:
    was, now = old.support(target.capability), new.support(target.capability)
    touched = was is not now and bool(old.package.judged)
    before, after = _floor(old, target, graph), _floor(new, target, graph)
    raised = after is not None and (before is None or before.value < after.value)
    if raised and after is not None and not target.has_libcuda(after.value):
        touched = True

    def details() -> Iterator[str]:
        if (one := _cuda(old)) and (two := _cuda(new)) and one != two:
            yield f"CUDA {one} → {two}"
        yield from _cards(old, new, graph)
        if raised and after is not None:
            yield f"needs driver ≥ {after.value}"
        if now is Support.UNKNOWN and was is not Support.UNKNOWN:
            yield "nobody measured the new one"

    return details(), touched


def _cards(old: Piece, new: Piece, graph: Graph) -> Iterator[str]:
    """Capabilities that lose or gain code, of all that any known card has."""
    changes: dict[str, list[str]] = {}
    for card in _capabilities(graph):
        was, now = old.support(card), new.support(card)
        if Support.UNKNOWN in (was, now) or was is now:
            continue
        if (was in _RUNS) != (now in _RUNS):
            word = "adds" if now in _RUNS else "drops"
        elif was in _RUNS:
            word = f"{_WORDS[now]} on"
        else:
            continue
        changes.setdefault(word, []).append(str(card))
    for word, cards in changes.items():
        yield f"{word} {', '.join(cards)}"


def _capabilities(graph: Graph) -> list[ComputeCapability]:
    return sorted({gpu.capability for gpu in graph.gpus})


def _cuda(piece: Piece) -> str | None:
    if piece.wheel and piece.wheel.cuda:
        return ".".join(map(str, piece.wheel.cuda.release[:2]))
    return str(piece.package.cuda_major) if piece.package.cuda_major else None


def _floor(piece: Piece, target: Target, graph: Graph) -> Fact[DriverVersion] | None:
    cuda = piece.wheel.cuda if piece.wheel else None
    major = cuda.major if cuda else piece.package.cuda_major
    return graph.cuda.minimum_driver(major, target.platform) if major else None


def _piece(name: str, places: Sequence[LockedEnvironment]) -> Piece | None:
    """The package in the plainest environment that has it."""
    return next((piece for place in places if (piece := place.stack.get(name))), None)


def _versions(locked: _Locked | None) -> str | None:
    if not locked:
        return None
    return ", ".join(sorted(locked, key=_order))


def _order(text: str) -> tuple[bool, Version | None, str]:
    from packaging.version import InvalidVersion

    try:
        return (False, Version(text), text)
    except InvalidVersion:
        return (True, None, text)
