"""The recorded index for a whole file of tests, and checks run as a user runs them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import recorded_index
from tests.registry.server import Index


@pytest.fixture(scope="module")
def shared_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The index, with one cache of uv."""
    with (
        pytest.MonkeyPatch.context() as environment,
        recorded_index(tmp_path_factory.mktemp("index"), environment) as running,
    ):
        yield running
