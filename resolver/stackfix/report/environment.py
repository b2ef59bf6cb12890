"""Advice about the environment, as a document and as a POSIX shell reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from stackfix.documents.document import Document
from stackfix.documents.target import TargetDocument
from stackfix.env.advise import Variable
from stackfix.wording import one_line

if TYPE_CHECKING:
    from stackfix.env.advise import Advice
    from stackfix.model.target import Target

__all__ = ["EnvironmentDocument", "environment_document", "environment_lines"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[A-Za-z0-9_./:,%+-]+")


class EnvironmentDocument(Document):
    """What `stackfix env --format json` prints."""

    schema: Literal[1]
    targets: Annotated[tuple[TargetDocument, ...], Meta(min_length=1)]
    variables: tuple[Variable, ...]
    notes: tuple[str, ...]


def environment_document(advice: Advice, targets: Sequence[Target]) -> EnvironmentDocument:
    """The advice as a document."""
    return EnvironmentDocument.of(
        advice,
        schema=1,
        targets=targets,
    )


def environment_lines(advice: Advice, targets: Sequence[Target]) -> Iterator[str]:
    """Lines for a POSIX shell. What is offered and not set is a comment.

    A name that no shell takes is left out, a value is quoted, and reasons stay on their line: facts
    and host files come from anywhere.
    """
    yield _comment("for " + "; ".join(target.label for target in targets))
    for variable in advice.variables:
        if _NAME.fullmatch(variable.name):
            yield _line(variable)
    for note in advice.notes:
        yield _comment(note)


def _line(variable: Variable) -> str:
    value = "…" if variable.value is None else _quoted(variable.value)
    line = f"export {variable.name}={value}  {_comment('; '.join(variable.reasons))}"
    return line if variable.set and variable.value is not None else f"# {line}"


def _quoted(value: str) -> str:
    text = one_line(value)
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "'\\''") + "'"


def _comment(text: str) -> str:
    return f"# {one_line(text)}"
