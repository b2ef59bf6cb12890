"""Edits of a project's files: made as data, shown to the user, applied to the text later.

tomlkit makes the change: comments, order, layout, quotes and line endings stay. Every change is
read back: if the result does not say exactly what was meant, or if replacing a requirement would
touch more than its string, nothing is returned.

Constraints, overrides, sources and the indexes that sources name go into the root's pyproject.toml
even beside a uv.toml, because uv reads them from there only (tried with uv 0.13.9); an index that
is asked for every package goes into the uv.toml, which hides those of `[tool.uv]`.
"""

from stackfix_lockfiles.edits.edit import Edit, EditKind
from stackfix_lockfiles.edits.origins import add_index, add_source, remove_index, remove_source
from stackfix_lockfiles.edits.requirements import (
    add_conflict,
    add_constraint,
    add_override,
    add_requirement,
    apply_edits,
    remove_override,
    replace_requirement,
    respell_requirement,
)

__all__ = [
    "Edit",
    "EditKind",
    "add_conflict",
    "add_constraint",
    "add_index",
    "add_override",
    "add_requirement",
    "add_source",
    "apply_edits",
    "remove_index",
    "remove_override",
    "remove_source",
    "replace_requirement",
    "respell_requirement",
]
