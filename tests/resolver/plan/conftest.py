"""An index made of the facts, and openpi on the recorded one: plans only read them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import FIXTURES, only
from tests.registry.facts import FactsIndex
from tests.registry.server import Index
from tests.resolver.making import graph


@pytest.fixture(scope="session")
def lasting_facts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Index, Path]]:
    """The index made of the facts, running to the end, and a folder for uv's cache."""
    with FactsIndex(graph(), lasting=True) as running:
        yield running, tmp_path_factory.mktemp("index")


@pytest.fixture(scope="module")
def facts_index(lasting_facts: tuple[Index, Path]) -> Iterator[Index]:
    """The index made of the facts for a whole file, with a cache of uv that other files share."""
    with pytest.MonkeyPatch.context() as environment:
        only(*lasting_facts, environment)
        yield lasting_facts[0]


@pytest.fixture(scope="module")
def openpi_template(shared_index: Index, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """openpi, with its lock naming the shared index; tests that write copy it."""
    project = tmp_path_factory.mktemp("projects") / "openpi"
    shutil.copytree(FIXTURES / "openpi", project)
    return shared_index.restore(project)


@pytest.fixture
def openpi(openpi_template: Path, tmp_path: Path) -> Path:
    """A copy of openpi for one test."""
    return Path(shutil.copytree(openpi_template, tmp_path / "openpi"))
