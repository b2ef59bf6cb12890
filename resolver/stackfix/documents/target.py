"""A target as a document: in plans, reports and orders alike."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from stackfix.documents.document import Document
from stackfix.model.target import Target
from stackfix_knowledge.hardware import ComputeCapability, DriverVersion

__all__ = ["Capability", "TargetDocument"]

Capability = Annotated[
    str, Meta(pattern=r"^[0-9]{1,2}\.[0-9]$", title='a compute capability such as "12.0"')
]


class TargetDocument(Document, kw_only=True):
    """What a stack has to run on."""

    label: str
    """The name by which findings refer to it."""
    name: str | None
    """A name that the project gave it."""
    gpu: str
    capability: Capability
    count: Annotated[int, Meta(ge=1)]
    driver: str | None
    """null: nobody said."""
    compat: str | None = None
    """Version of the forward-compatibility libraries beside the driver."""
    platform: str
    memory: int | None
    """Bytes of one card."""
    segment: str | None
    """Kind of card: "geforce", "workstation", "datacenter" or "jetson"."""

    def target(self) -> Target:
        """The target that the document was made of. Raises ValueError for a driver that is none."""
        return Target(
            name=self.name,
            gpu=self.gpu,
            capability=ComputeCapability.parse(self.capability),
            count=self.count,
            driver=DriverVersion.parse(self.driver) if self.driver else None,
            compat=DriverVersion.parse(self.compat) if self.compat else None,
            platform=self.platform,
            memory=self.memory,
            segment=self.segment,
        )
