"""A library is judged by the share of its broad containers that a card can run."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from stackfix_knowledge.hardware import Architecture, ComputeCapability
from stackfix_knowledge.wheels.coverage import (
    LEAST_SHARE,
    WHOLE_SHARE,
    Coverage,
    LibraryCoverage,
    Share,
    Support,
)

T4, A100, L4, H100, RTX_5090 = map(ComputeCapability.parse, ["7.5", "8.0", "8.9", "9.0", "12.0"])
M40 = ComputeCapability.parse("5.2")


def library(name: str = "lib.so", **containers: int) -> LibraryCoverage:
    """A library from ``sm_80__compute_90=3``: three containers with those two images."""
    return LibraryCoverage(
        name=name,
        containers={
            frozenset(Architecture.parse(image) for image in images.split("__")): count
            for images, count in containers.items()
        },
    )


def package(*libraries: LibraryCoverage, toolkit: str | None = None) -> Coverage:
    return Coverage(libraries=libraries, toolkit=Version(toolkit) if toolkit else None)


def test_containers_are_counted_by_the_best_that_the_card_finds() -> None:
    found = library(sm_80__sm_90=5, sm_80__compute_90=3, sm_75__sm_80=2).share(H100)
    assert found == Share(native=5, jit=3, none=2)


def test_code_of_an_earlier_minor_is_native() -> None:
    assert library(sm_75__sm_86=4).support(L4) is Support.SUPPORTED


def test_a_few_images_among_hundreds_support_nothing() -> None:
    """The linear algebra of torch 2.15.0 on 7.5: one container of 33."""
    assert library(sm_75__sm_80=1, sm_80__sm_90=32).support(T4) is Support.UNSUPPORTED


def test_code_for_other_cards_alone_does_not_hurt() -> None:
    """cuDNN 9.28 on an H100: 42 % of its containers."""
    assert library(sm_80__sm_90=42, sm_100__sm_120=58).support(H100) is Support.SUPPORTED


def test_containers_for_two_new_majors_alone_do_not_outvote_those_for_all() -> None:
    """cuBLASLt 12.8.4.1 serves a V100, as CUDA 12.8 documents."""
    everyone = {
        "sm_50__sm_60__sm_70__sm_80__sm_90__sm_100__sm_120": 80,
        "sm_70__sm_75__sm_80__sm_86__sm_90__sm_100__sm_120": 38,
        "sm_80__sm_90__sm_100__sm_120": 96,
    }
    newest = {"sm_90__sm_120": 864, "sm_80__sm_89__sm_90__sm_120": 223, "sm_100__sm_120": 27}
    volta = ComputeCapability.parse("7.0")
    lt = library("libcublasLt.so.12", **everyone, **newest)
    assert lt.share(volta) == Share(native=118, jit=0, none=96)
    assert lt.support(volta) is Support.SUPPORTED


def test_ptx_in_a_few_containers_is_support_in_part() -> None:
    """The engines of cuDNN 9.5.1 on 12.0: PTX in 107 of 727 containers."""
    engines = library(sm_80__sm_90__compute_90=107, sm_80__sm_90=620)
    assert engines.support(RTX_5090) is Support.PARTIAL


def test_ptx_nearly_everywhere_is_jit() -> None:
    assert library(sm_80__compute_90=9, sm_75__sm_80=1).support(RTX_5090) is Support.JIT


def test_the_container_that_the_linker_made_does_not_count() -> None:
    """bitsandbytes 0.44.1: two containers with PTX, and the linker's without."""
    bits = library(sm_80__sm_90__compute_90=2, sm_80__sm_90=1)
    assert bits.share(RTX_5090) == Share(native=0, jit=2, none=0)
    assert bits.support(RTX_5090) is Support.JIT
    assert library(sm_80__sm_90__compute_90=2, sm_80__sm_90=2).support(RTX_5090) is Support.PARTIAL


def test_a_library_for_one_major_is_not_judged() -> None:
    """FlashAttention-3 is built for 9.0a alone."""
    assert library(sm_90a=100).support(RTX_5090) is None
    assert library(sm_90a=100).support(H100) is None


def test_a_library_that_is_not_judged_does_not_spoil_its_package() -> None:
    flash = library("flash.so", sm_90a=100)
    assert package(library(sm_80__sm_90=9), flash).support(A100) is Support.SUPPORTED


def test_the_worst_library_decides() -> None:
    good, bad = library("good.so", sm_75__sm_80=9), library("bad.so", sm_80__sm_90=9)
    assert package(good, bad).support(T4) is Support.PARTIAL
    assert package(bad, bad).support(T4) is Support.UNSUPPORTED


def test_a_package_is_unsupported_where_its_main_library_is() -> None:
    """torch 2.8.0 on a Maxwell card: its linear algebra has code, its kernels have none."""
    kernels, linalg = library("torch.so", sm_70__sm_80=393), library("linalg.so", sm_50__sm_80=107)
    assert package(kernels, linalg).support(M40) is Support.UNSUPPORTED


def test_ptx_that_the_compiler_left_behind_makes_no_container_broad() -> None:
    """The sparse library in torch 2.3.1: code for 8.x, and one container with PTX for 5.2."""
    sparse = library("sparse.so", sm_80__sm_86=9, sm_80__sm_86__compute_52=1)
    kernels = library("torch.so", sm_75__sm_80__sm_90=332)
    assert sparse.support(H100) is None
    assert package(kernels, sparse).support(H100) is Support.SUPPORTED


def test_code_for_one_card_or_family_alone_makes_no_container_broad() -> None:
    """vllm 0.11.0 runs on an RTX 5090; its FlashAttention-3 and FlashMLA are for other cards."""
    flash_3 = library("fa3.so", sm_80__sm_90a=332)
    flash_mla = library("mla.so", sm_90a__sm_100f=9)
    kernels = library("vllm.so", sm_75__sm_80__sm_90__sm_120=28, sm_90a__sm_100a=11)
    assert flash_3.support(RTX_5090) is None
    assert flash_mla.support(A100) is None
    for card in (T4, A100, RTX_5090):
        assert package(kernels, flash_3, flash_mla).support(card) is Support.SUPPORTED


def test_ptx_for_a_newer_major_makes_a_container_broad() -> None:
    assert library(sm_80__compute_90=4).support(RTX_5090) is Support.JIT


def test_the_library_of_an_optional_feature_is_not_judged() -> None:
    """torch 2.5.1 on a T4, 2.7.1+cu128 on an RTX 5090: both work, but for structured sparsity."""
    sparse = library("torch/lib/libcusparseLt-294d6944.so.0", sm_80__sm_90=10)
    kernels = library("torch.so", sm_75__sm_80__sm_90=340)
    assert package(kernels, sparse).support(T4) is Support.SUPPORTED
    assert package(sparse).support(RTX_5090) is Support.SUPPORTED


def test_an_attention_backend_is_one_of_several() -> None:
    """vllm 0.8.5 on a T4 takes another one."""
    flash_2 = library("vllm/vllm_flash_attn/_vllm_fa2_C.abi3.so", sm_80__sm_90=60)
    kernels = library("vllm/_C.abi3.so", sm_75__sm_80__sm_90=27)
    assert package(flash_2, kernels).support(T4) is Support.SUPPORTED


def test_of_one_library_built_by_several_toolkits_the_best_counts() -> None:
    """bitsandbytes loads the one that fits."""
    older = library("b/libbits_cuda126.so", sm_80__sm_90=7)
    newer = library("b/libbits_cuda128.so", sm_80__sm_120=7)
    for libraries in ((older, newer), (newer, older)):
        assert package(*libraries).support(RTX_5090) is Support.SUPPORTED
        assert package(*libraries).support(H100) is Support.SUPPORTED
        assert package(*libraries).support(T4) is Support.UNSUPPORTED
    without = library("b/libbits_cuda117_nocublaslt.so", sm_75__sm_80=3)
    with_it = library("b/libbits_cuda120_nocublaslt.so", sm_80__sm_90=3)
    assert package(older, without, with_it).support(H100) is Support.SUPPORTED


def test_jit_in_one_library_makes_the_package_jit() -> None:
    native, jit = library("n.so", sm_90__sm_120=5), library("j.so", sm_80__compute_90=5)
    assert package(native, jit).support(RTX_5090) is Support.JIT


def test_a_package_without_gpu_code_is_supported() -> None:
    assert package().support(RTX_5090) is Support.SUPPORTED
    assert package(library()).support(RTX_5090) is Support.SUPPORTED
    assert not package(library()).has_device_code


def test_a_package_built_for_one_major_is_judged_on_that() -> None:
    own_build = package(library(sm_90=12))
    assert own_build.support(H100) is Support.SUPPORTED
    assert own_build.support(RTX_5090) is Support.UNSUPPORTED
    assert package(library(compute_90=12)).support(RTX_5090) is Support.JIT


def test_code_that_cannot_be_read_is_unknown() -> None:
    """cuFFT keeps its kernels in a form of its own; one stub for the compiler's default is left."""
    fft = package(library("libcufft.so.12", sm_75=1), library("libcufftw.so.12", sm_75=1))
    for card in (T4, H100, RTX_5090):
        assert fft.support(card) is Support.UNKNOWN


def test_the_toolkit_that_built_it_counts_on_integrated_parts() -> None:
    orin = ComputeCapability.parse("8.7")
    containers = library(sm_80__sm_90=9)
    assert package(containers, toolkit="13.0").support(orin) is Support.UNSUPPORTED
    assert package(containers, toolkit="13.2").support(orin) is Support.SUPPORTED


def test_architectures_are_sorted_machine_code_first() -> None:
    found = package(library(compute_90__sm_90=1), library(sm_120__sm_80=1)).architectures()
    assert [str(image) for image in found] == ["sm_80", "sm_90", "sm_120", "compute_90"]


shares = st.builds(
    Share, native=st.integers(0, 50), jit=st.integers(0, 50), none=st.integers(0, 50)
)


@given(shares.filter(lambda share: share.total > 0))
def test_the_verdict_follows_the_two_thresholds(share: Share) -> None:
    expected = Support.SUPPORTED
    if share.covered < LEAST_SHARE:
        expected = Support.UNSUPPORTED
    elif share.native == 0:
        expected = Support.JIT if share.covered >= WHOLE_SHARE else Support.PARTIAL
    assert share.support is expected


def test_shares_near_a_threshold_are_for_a_person_to_check() -> None:
    assert Share(native=7, jit=0, none=93).is_close
    assert Share(native=0, jit=88, none=12).is_close
    assert not Share(native=1, jit=88, none=11).is_close
    assert not Share(native=42, jit=0, none=58).is_close
    assert not Share(native=0, jit=0, none=0).is_close


images = st.builds(
    Architecture.parse,
    st.sampled_from(
        ["sm_50", "sm_75", "sm_80", "sm_86", "sm_90", "sm_90a", "sm_100f", "sm_120", "compute_90"]
    ),
)
container_counts: st.SearchStrategy[Mapping[frozenset[Architecture], int]] = st.dictionaries(
    st.frozensets(images, min_size=1), st.integers(1, 20), max_size=6
)
libraries = st.builds(LibraryCoverage, name=st.text(max_size=3), containers=container_counts)
card_strategy = st.sampled_from([M40, T4, A100, L4, H100, RTX_5090])


@given(libraries, card_strategy)
def test_no_container_is_lost_in_the_count(lib: LibraryCoverage, card: ComputeCapability) -> None:
    assert lib.share(card).total == sum(lib.broad.values())


RANKS = [Support.UNSUPPORTED, Support.PARTIAL, Support.JIT, Support.SUPPORTED]


@given(st.lists(libraries, max_size=4), card_strategy)
def test_no_package_is_better_than_its_worst_library(
    libs: list[LibraryCoverage], card: ComputeCapability
) -> None:
    verdicts = [verdict for one in libs if (verdict := one.support(card)) is not None]
    if verdicts:
        worst = min(map(RANKS.index, verdicts))
        assert RANKS.index(package(*libs).support(card)) <= max(worst, 1)


@given(st.lists(libraries, max_size=4), card_strategy)
def test_the_order_of_libraries_does_not_matter(
    libs: list[LibraryCoverage], card: ComputeCapability
) -> None:
    assert package(*libs).support(card) is package(*reversed(libs)).support(card)


def test_what_a_package_is_built_for_leaves_stray_images_out() -> None:
    main = library("libtorch_cuda.so", sm_70__sm_80__sm_120=393)
    linalg = library("libtorch_cuda_linalg.so", sm_50__sm_60__sm_70__sm_80__sm_120=107)
    stray = library("libtorch_cuda.so", sm_70__sm_80__sm_120=393, sm_50__sm_70__sm_80=4)
    for made in (package(main, linalg), package(linalg, main), package(stray)):
        assert [str(a) for a in made.built_for()] == ["sm_70", "sm_80", "sm_120"]


def test_code_for_one_major_alone_is_what_it_is_built_for() -> None:
    assert [str(a) for a in package(library("fa3.so", sm_90a=5)).built_for()] == ["sm_90a"]
    assert package().built_for() == ()
