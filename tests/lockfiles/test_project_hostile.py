"""A pyproject.toml may hold anything: it is read and edited, or refused with an InputError."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import rtoml

from stackfix_lockfiles.edits import (
    add_constraint,
    add_index,
    add_override,
    add_source,
    apply_edits,
    replace_requirement,
)
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project
from tests.lockfiles.samples import OPENPI, RESSELT, write_project

VALUES: tuple[Any, ...] = (
    0, 1.5, True, "", "a b c", "torch>=", "torch @ x", "*", "../..", "é\n\x1b", [], [[]], [{}],
    [1], ["torch"], {}, {"a": 1}, {"include-group": 3}, {"index": 3}, {"workspace": True}, "all",
)  # fmt: skip


def changed(value: Any, chance: random.Random) -> Any:
    """Return the value with one place in it replaced by something else."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        return {**value, key: changed(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.7:
        at = chance.randrange(len(value))
        return [*value[:at], changed(value[at], chance), *value[at + 1 :]]
    return chance.choice(VALUES)


READ = (
    "included_groups", "sources", "indexes", "default_groups",
    "environments", "tool_stackfix",
)  # fmt: skip


def use(found: Project) -> None:
    """Read everything, and make and apply every kind of edit."""
    edits = [add_constraint(found, "triton<4"), add_override(found, "numpy==2")]
    edits += [add_index(found, "cu128", "https://index.example/simple")]
    edits += [add_source(found, "jax", "cu128")]
    declared = (*found.requirements, *found.constraints, *found.overrides)
    edits += [replace_requirement(one, "==9") for one in declared if not one.requirement.url][:5]
    for name in READ:
        assert getattr(found, name) is not None
    assert found.main.dynamic is not None
    apply_edits(found, edits)


@pytest.mark.parametrize("sample", [OPENPI, RESSELT], ids=lambda path: path.name)
def test_survives_changed_values(sample: Path, tmp_path: Path) -> None:
    document = rtoml.loads((sample / "pyproject.toml").read_text())
    document["tool"]["uv"]["conflicts"] = []
    document["tool"]["stackfix"] = {"targets": ["RTX 5090"]}
    chance, survived = random.Random(4), 0
    for _ in range(80):
        odd = document
        for _ in range(chance.choice((1, 1, 2))):
            odd = changed(odd, chance)
        if not isinstance(odd, dict):
            continue
        write_project(tmp_path, {"pyproject.toml": rtoml.dumps(odd) or "# empty"})
        try:
            use(Project.find(tmp_path))
        except InputError as error:
            check_message(error)
            continue
        survived += 1
    assert 8 < survived < 75


def check_message(error: InputError) -> None:
    assert str(error).isprintable()
    assert len(str(error)) < 1_000
