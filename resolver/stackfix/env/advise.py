"""From a stack and a host to the variables to set before the first step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from stackfix.env.observe import Observation, observe
from stackfix.host.health import fabric_trouble
from stackfix.host.host import Host, Iommu
from stackfix.model.stack import Piece, Stack
from stackfix.model.target import Target
from stackfix.wording import listed
from stackfix_knowledge.evidence import FactSeverity
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.advisories import Advisory, WorkaroundKind

__all__ = ["Advice", "Variable", "advise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One variable to set, or to think of."""

    name: str
    value: str | None
    """None: only a person can tell."""
    set: bool
    """False: offered, since it is not known whether it applies, or is a matter of taste."""
    reasons: tuple[str, ...]
    advisories: tuple[str, ...] = ()
    """The known bugs it works around, by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """All variables, those to set first, and what no variable with a known value can do."""

    variables: tuple[Variable, ...]
    notes: tuple[str, ...]


def advise(stack: Stack, host: Host, targets: Sequence[Target], graph: Graph) -> Advice:
    """What to set for `stack` on `host`, whose kinds of cards are `targets`."""
    found = list(_for_the_stack(stack))
    found.extend(_device_order(host))
    if stack.providers("nccl"):
        found.extend(_interface(host))
        found.extend(_peer_to_peer(host))
    notes: list[str] = []
    if trouble := fabric_trouble(host):
        notes.append(f"{trouble.text}. {trouble.action}")
    for bug in _possible_bugs(stack, host, targets, graph):
        workaround = bug.advisory.workaround
        if workaround is None or workaround.kind is not WorkaroundKind.ENV:
            continue
        if not workaround.environment:  # its value depends on where things are on the machine
            notes.append(f"{bug.reason}; {workaround.text}")
        found.extend(
            Variable(
                name=name,
                value=value,
                set=bug.sets,
                reasons=(bug.reason,),
                advisories=(bug.advisory.id,),
            )
            for name, value in workaround.environment.items()
        )
    system = host.system
    if system.numa_nodes is None and not system.interfaces:
        notes.append("the host tells neither NUMA nodes nor network interfaces")
    return Advice(variables=_merged(found), notes=tuple(notes))


def _for_the_stack(stack: Stack) -> Iterator[Variable]:
    for nccl in stack.providers("nccl")[:1]:
        yield Variable(
            name="NCCL_DEBUG",
            value="INFO",
            set=True,
            reasons=(f"{nccl.title} then logs its version, its network and what fails first",),
        )
    families = {piece.package.family for piece in stack}
    if "jax" in families:
        reason = "jax takes 75 % of a card's memory unless told otherwise"
        if "torch" in families:
            reason += "; lower it where torch runs on the same card"
        yield Variable(
            name="XLA_PYTHON_CLIENT_MEM_FRACTION", value="0.9", set=True, reasons=(reason,)
        )


def _device_order(host: Host) -> Iterator[Variable]:
    """Source: CUDA C++ Programming Guide, "CUDA Environment Variables"."""
    names = sorted({card.name for card in host.visible})
    if len(names) > 1:
        reason = (
            f"{listed(names)}: CUDA counts the fastest first, nvidia-smi by PCI address; this makes"
            " card 0 the same for both"
        )
        yield Variable(name="CUDA_DEVICE_ORDER", value="PCI_BUS_ID", set=True, reasons=(reason,))


def _peer_to_peer(host: Host) -> Iterator[Variable]:
    """NCCL documentation, "Troubleshooting": PCI access control. NVLink does not pass the IOMMU."""
    over_pcie = [link for link in host.links if link.nvlinks == 0]
    if host.system.iommu is Iommu.TRANSLATED and over_pcie:
        reason = (
            "the IOMMU translates the cards' transfers over PCIe, on which peer-to-peer may hang;"
            " iommu=pt on the kernel's command line is the better remedy"
        )
        yield Variable(name="NCCL_P2P_DISABLE", value="1", set=False, reasons=(reason,))


def _interface(host: Host) -> Iterator[Variable]:
    """NCCL takes InfiniBand first, then anything but docker's: a guess where several are left.

    Source: NCCL documentation, "NCCL_SOCKET_IFNAME".
    """
    usable = [one for one in host.system.interfaces if not one.name.startswith("docker")]
    pool = [one for one in usable if one.name.startswith("ib")] or usable
    if len(pool) < 2:
        return
    names = listed([one.name for one in pool])
    default = [one.name for one in pool if one.default]
    if len(default) == 1:
        value = f"={default[0]}"  # "=" asks for this name alone, not for all that begin so
        reason = (
            f"NCCL would have to guess among {names}; {default[0]} has the default route: name"
            " another if that is how the machines reach each other"
        )
    else:
        value = None
        reason = f"NCCL has to guess among {names}: name the one that leads to the other machines"
    yield Variable(name="NCCL_SOCKET_IFNAME", value=value, set=value is not None, reasons=(reason,))


def _possible_bugs(
    stack: Stack, host: Host, targets: Sequence[Target], graph: Graph
) -> Iterator[_PossibleBug]:
    for piece in stack:
        for advisory in graph.advisories(piece.name):
            if not advisory.affects(piece.version):
                continue
            base = _conditions_met(advisory, stack, targets)
            if base is False:
                continue
            seen = {text: observe(text, host) for text in advisory.conditions.unobservable}
            if any(one is not None and one.holds is False for one in seen.values()):
                continue
            yield _PossibleBug(
                advisory=advisory,
                sets=_is_set(advisory, base, list(seen.values())),
                reason=_reason(piece, advisory, base, seen),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PossibleBug:
    """A known bug that may show on the host."""

    advisory: Advisory
    sets: bool
    reason: str


def _conditions_met(advisory: Advisory, stack: Stack, targets: Sequence[Target]) -> bool | None:
    """Whether what can be read off stack and cards is met, by any card; all cards count."""
    conditions = advisory.conditions._replace(unobservable=())
    installed = {piece.name: piece.version for piece in stack}
    answers = {
        conditions.met(
            capability=target.capability,
            count=sum(one.count for one in targets),
            platform=stack.platform,
            segment=target.segment,
            driver=target.driver,
            installed=installed,
        )
        for target in targets
    }
    return True if True in answers else None if None in answers else False


def _is_set(advisory: Advisory, base: bool | None, seen: Sequence[Observation | None]) -> bool:
    """Whether the workaround is set and not merely offered.

    What a host could tell and does not is taken to be so: the bug stops the program, and the
    workaround does not. A condition that no host can tell, and a bug that is a mere change of
    behaviour, leave the choice to a person.
    """
    if seen:
        return all(one is not None for one in seen)
    return base is True and advisory.severity is not FactSeverity.INFO


def _reason(
    piece: Piece, advisory: Advisory, base: bool | None, seen: dict[str, Observation | None]
) -> str:
    parts = [f"{piece.title}: {advisory.summary}"]
    parts += [
        f"only if {text}" if one is None else f"here {one.words}" if one.holds else one.words
        for text, one in seen.items()
    ]
    if base is None:
        parts.append("the driver or the kind of card that it needs is not known")
    return "; ".join(parts)


def _merged(found: Iterable[Variable]) -> tuple[Variable, ...]:
    """Each variable once: what is set before what is offered, the first value that is set."""
    merged: dict[str, Variable] = {}
    for variable in sorted(found, key=lambda one: not one.set):
        known = merged.get(variable.name)
        if known is None:
            merged[variable.name] = variable
        elif (known.set, known.value) == (variable.set, variable.value):
            merged[variable.name] = replace(
                known,
                reasons=(*known.reasons, *variable.reasons),
                advisories=(*known.advisories, *variable.advisories),
            )
    return tuple(merged.values())
