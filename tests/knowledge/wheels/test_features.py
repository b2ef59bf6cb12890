"""Some libraries serve an optional feature; frameworks run without."""

from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.wheels.coverage import feature_of


def test_a_library_is_known_by_how_its_file_name_starts() -> None:
    for path in ("torch/lib/libcusparseLt-f80c68d1.so.0", "cusparselt/lib/libcusparseLt.so.0"):
        feature = feature_of(path)
        assert feature is not None
        assert feature.floor == ComputeCapability(8, 0)
        assert feature.evidence


def test_the_folder_does_not_count() -> None:
    assert feature_of("libcusparseLt/libother.so") is None


def test_most_libraries_serve_every_card() -> None:
    assert feature_of("torch/lib/libtorch_cuda.so") is None


def test_reading_files_into_the_memory_of_a_card_is_no_reason_against_the_card() -> None:
    feature = feature_of("nvidia/cufile/lib/libcufile.so.0")
    assert feature is not None
    assert feature.floor == ComputeCapability(6, 0)


def test_with_a_slash_the_folder_counts() -> None:
    assert feature_of("torchao/_C.abi3.so") is not None
    assert feature_of("vllm/_C.abi3.so") is None
