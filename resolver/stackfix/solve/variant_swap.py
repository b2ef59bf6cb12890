"""An exchange: the project's variants of one CUDA major asked for in another one, all together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stackfix.solve.cost import Cost
from stackfix_knowledge.stack.variants import Variant

__all__ = ["VariantSwap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSwap:
    """What the project would ask for instead, so that its environment has one CUDA major."""

    cuda: int
    swaps: Mapping[str, Variant]
    """By the key that the project asks for now: "jax[cuda13]" → jax[cuda12]."""
    price: Cost

    def key(self, key: str) -> str:
        """The key that is asked for in place of another one; itself where nothing changes.

        A package's other extras go with it: "cupy-cuda12x[ctk]" becomes "cupy-cuda13x[ctk]".
        """
        found = self.swaps.get(key)
        if found is not None:
            return found.key
        name, bracket, extra = key.partition("[")
        found = self.swaps.get(name)
        return f"{found.package}{bracket}{extra}" if found is not None else key

    def asks(self, key: str) -> bool:
        """Whether a key is asked for because of the exchange."""
        return any(variant.key == key for variant in self.swaps.values())

    def leaves(self, name: str) -> bool:
        """Whether the project no longer asks for a package."""
        return name in self.swaps

    def predecessors(self, name: str) -> tuple[str, ...]:
        """The packages in whose place the project asks for this one."""
        return tuple(
            old for old, new in self.swaps.items() if new.extra is None and new.package == name
        )

    def __str__(self) -> str:
        """ "jax[cuda12] for jax[cuda13]"."""
        return ", ".join(f"{new} for {old}" for old, new in self.swaps.items())
