"""Shared by the tests of the program: a machine whose cards are the test's choice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import only
from tests.registry.server import Index
from tests.resolver.host.stub import build_stub, have_compiler


@pytest.fixture(scope="session")
def nvml_stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a libnvidia-ml.so.1 that the environment steers (see nvml_stub.c)."""
    if not have_compiler():
        pytest.skip("gcc is needed to build the stand-in for libnvidia-ml")
    return build_stub(tmp_path_factory.mktemp("nvml"))


@pytest.fixture(scope="session")
def lasting_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Index, Path]]:
    """The recorded index, running to the end, and a folder for uv's cache. Tests only read it."""
    with Index(lasting=True) as running:
        yield running, tmp_path_factory.mktemp("index")


@pytest.fixture(scope="module")
def shared_index(lasting_index: tuple[Index, Path]) -> Iterator[Index]:
    """The recorded index for a whole file, with a cache of uv that other files share."""
    with pytest.MonkeyPatch.context() as environment:
        only(*lasting_index, environment)
        yield lasting_index[0]
