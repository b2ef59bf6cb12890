"""cuDNN's documented support matrices."""

from __future__ import annotations

import pytest
from packaging.version import Version

from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.stack.vendor import VendorTable


@pytest.fixture(scope="module")
def cudnn() -> VendorTable:
    return VendorTable.load("cudnn")


def test_cudnn_9_5_1_stops_at_9_0(cudnn: VendorTable) -> None:
    matrix = cudnn.matrix(Version("9.5.1.17"), 12)
    assert matrix is not None
    assert matrix.documents == Version("9.5.1")
    assert max(matrix.capabilities) == ComputeCapability(9, 0)
    assert not matrix.lists(ComputeCapability(12, 0))


def test_cudnn_9_10_2_lists_maxwell_and_blackwell(cudnn: VendorTable) -> None:
    matrix = cudnn.matrix(Version("9.10.2.21"), 12)
    assert matrix is not None
    assert matrix.lists(ComputeCapability(5, 0))
    assert matrix.lists(ComputeCapability(12, 0))


def test_blackwell_needs_a_newer_driver_than_the_rest(cudnn: VendorTable) -> None:
    matrix = cudnn.matrix(Version("9.10.2.21"), 12)
    assert matrix is not None
    drivers = {
        card: [str(row.linux) for row in matrix.rows if card in row.capabilities]
        for card in (ComputeCapability(12, 0), ComputeCapability(9, 0), ComputeCapability(12, 1))
    }
    assert min(drivers[12, 0]) == "570.26"
    assert min(drivers[9, 0]) == "525.60.13"
    assert drivers[12, 1] == []


def test_volta_is_gone_from_9_17(cudnn: VendorTable) -> None:
    for major in (12, 13):
        matrix = cudnn.matrix(Version("9.17.0.29"), major)
        assert matrix is not None
        assert min(matrix.capabilities) == ComputeCapability(7, 5)


def test_a_patch_release_takes_the_page_of_its_minor(cudnn: VendorTable) -> None:
    for version, documents in (
        ("9.5.0.50", "9.5.0"),
        ("9.10.0.56", "9.10.2"),
        ("8.9.7.29", "8.9.6"),
    ):
        matrix = cudnn.matrix(Version(version), 12)
        assert matrix is not None
        assert matrix.documents == Version(documents)


@pytest.mark.parametrize("version", ["9.6.0.74", "9.11.0.98", "9.28.0.42", "9.1.0.70"])
def test_a_minor_whose_page_nobody_read_is_unknown(cudnn: VendorTable, version: str) -> None:
    assert cudnn.matrix(Version(version), 12) is None


def test_a_cuda_major_that_the_page_does_not_name_is_unknown(cudnn: VendorTable) -> None:
    assert cudnn.matrix(Version("9.5.1.17"), 13) is None


def test_every_row_has_evidence(cudnn: VendorTable) -> None:
    assert all(row.evidence for _, row in cudnn)
