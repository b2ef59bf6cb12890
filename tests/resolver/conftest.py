"""Shared by the tests of the program: a machine whose cards are the test's choice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import recorded_index
from tests.registry.server import Index
from tests.resolver.host.stub import build_stub, have_compiler


@pytest.fixture(scope="session")
def nvml_stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a libnvidia-ml.so.1 that the environment steers (see nvml_stub.c)."""
    if not have_compiler():
        pytest.skip("gcc is needed to build the stand-in for libnvidia-ml")
    return build_stub(tmp_path_factory.mktemp("nvml"))


@pytest.fixture(scope="module")
def shared_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The index, with one cache of uv."""
    with (
        pytest.MonkeyPatch.context() as environment,
        recorded_index(tmp_path_factory.mktemp("index"), environment) as running,
    ):
        yield running
