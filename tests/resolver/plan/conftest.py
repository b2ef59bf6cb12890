"""The recorded index, shared by the plans of one test file: they only read it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import FIXTURES, recorded_index
from tests.registry.facts import FactsIndex
from tests.registry.server import Index
from tests.resolver.making import graph


@pytest.fixture(scope="module")
def shared_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The index for a whole file, with one cache of uv."""
    with (
        pytest.MonkeyPatch.context() as environment,
        recorded_index(tmp_path_factory.mktemp("index"), environment) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def facts_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The index made of the facts, for a whole file."""
    with (
        pytest.MonkeyPatch.context() as environment,
        recorded_index(
            tmp_path_factory.mktemp("index"), environment, served=FactsIndex(graph())
        ) as running,
    ):
        environment.setenv("UV_PYTHON", sys.executable)
        yield running


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
