"""Targets that a project declares."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from stackfix.model.target import Target
from stackfix.targets.declared import declared_targets
from stackfix_knowledge.cards.gpus import GpuTable
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.pyproject import Pyproject

GPUS = GpuTable.load()


def a_pyproject(settings: str) -> Pyproject:
    """A project's file with these lines in its `[tool.stackfix]`."""
    text = f"[tool.stackfix]\n{settings}"
    return Pyproject(
        path=Path("pyproject.toml"),
        shown="pyproject.toml",
        data=text.encode(),
        document=tomllib.loads(text),
    )


def declared(settings: str) -> tuple[Target, ...]:
    return declared_targets(a_pyproject(settings), GPUS)


def test_strings_and_tables_can_stand_side_by_side() -> None:
    found = declared(
        """
        targets = [
          "RTX 5090:4@570.133.07",
          { name = "v100-pool", gpu = "V100", driver = "535.183.01", platform = "linux_x86_64" },
          { gpu = "GH200", count = 2 },
        ]
        """
    )
    assert [target.label for target in found] == [
        "4 × RTX 5090 (12.0), driver 570.133.07",
        "v100-pool: V100 (7.0), driver 535.183.01",
        "2 × GH200 (9.0), linux_aarch64",
    ]


def test_a_project_without_targets_declares_none() -> None:
    assert declared("ignore = []") == ()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("targets = 'L4'", "tool.stackfix.targets: expected a list"),
        ("targets = [3]", "tool.stackfix.targets[0]: expected GPU[:COUNT][@DRIVER[+COMPAT]]"),
        ("targets = ['L4', 'rtx5909']", "tool.stackfix.targets[1]: no single card is known as"),
        ("targets = [{ card = 'L4' }]", "tool.stackfix.targets[0].card: expected one of the keys"),
        ("targets = [{ count = 2 }]", "tool.stackfix.targets[0].gpu: expected a string"),
        ("targets = [{ gpu = 'L4', count = 0 }]", "tool.stackfix.targets[0].count: expected"),
        ("targets = [{ gpu = 'L4', count = true }]", "tool.stackfix.targets[0].count: expected"),
        ("targets = [{ gpu = 'L4', driver = 550 }]", "tool.stackfix.targets[0].driver: expected"),
        ("targets = [{ gpu = 'L4', driver = 'x' }]", "tool.stackfix.targets[0].driver: expected"),
        ("targets = [{ gpu = 'L4', platform = 'macos_arm64' }]", "targets[0].platform: expected"),
    ],
)
def test_a_fault_is_named_with_its_place(settings: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        declared(settings)
    assert words in str(error.value)
    assert str(error.value).startswith("pyproject.toml:")


def test_a_fault_is_named_with_its_line() -> None:
    with pytest.raises(InputError, match=r"^pyproject\.toml:3: tool\.stackfix\.targets\[1\]: "):
        declared('targets = ["L4",\n  "rtx5909"]')
