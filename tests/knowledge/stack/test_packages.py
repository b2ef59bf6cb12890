"""Which packages are the stack."""

from __future__ import annotations

import pytest

from stackfix_knowledge.reader import Entry, FactsError
from stackfix_knowledge.stack.packages import PackageTable, Role, parse_packages


@pytest.fixture(scope="module")
def packages() -> PackageTable:
    return PackageTable.load()


@pytest.mark.parametrize(
    ("name", "role", "family"),
    [
        ("torch", Role.FRAMEWORK, "torch"),
        ("jax", Role.FRAMEWORK, "jax"),
        ("tensorflow", Role.FRAMEWORK, "tensorflow"),
        ("vllm", Role.FRAMEWORK, "vllm"),
        ("cupy-cuda12x", Role.FRAMEWORK, "cupy"),
        ("torchvision", Role.COMPANION, "torch"),
        ("triton", Role.COMPANION, "torch"),
        ("jaxlib", Role.COMPANION, "jax"),
        ("jax-cuda12-plugin", Role.COMPANION, "jax"),
        ("nvidia-cudnn-cu12", Role.LIBRARY, "cudnn"),
        ("nvidia-cublas", Role.LIBRARY, "cuda"),
        ("cuda-toolkit", Role.LIBRARY, "cuda"),
    ],
)
def test_roles_and_families(packages: PackageTable, name: str, role: Role, family: str) -> None:
    package = packages.get(name)
    assert package is not None
    assert (package.role, package.family) == (role, family)


def test_a_family_is_whole_whoever_was_asked_for_before() -> None:
    packages = PackageTable.load()
    assert packages.get("torch")
    assert {"torch", "torchvision", "triton"} <= {p.name for p in packages.family("torch")}


@pytest.mark.parametrize("name", ["numpy", "transformers", "nvidia-ml-py", "optax", ""])
def test_what_holds_no_part_of_the_stack(packages: PackageTable, name: str) -> None:
    assert not packages.is_stack(name)
    assert packages.get(name) is None


@pytest.mark.parametrize("name", ["jax", "flax", "deepspeed", "cuda-toolkit", "nvidia-nvtx-cu12"])
def test_what_has_no_gpu_code_is_not_judged(packages: PackageTable, name: str) -> None:
    package = packages.get(name)
    assert package is not None
    assert not package.judged


@pytest.mark.parametrize("name", ["torch", "jax-cuda12-plugin", "nvidia-cudnn-cu12", "triton"])
def test_what_has_gpu_code_or_a_gpu_compiler_is_judged(packages: PackageTable, name: str) -> None:
    package = packages.get(name)
    assert package is not None
    assert package.judged


def test_a_library_is_one_thing_under_several_names(packages: PackageTable) -> None:
    majors = {package.name: package.cuda_major for package in packages.providing("cudnn")}
    assert majors == {"nvidia-cudnn-cu11": 11, "nvidia-cudnn-cu12": 12, "nvidia-cudnn-cu13": 13}


def test_cuda_13_libraries_have_no_suffix(packages: PackageTable) -> None:
    assert {(p.name, p.cuda_major) for p in packages.providing("cublas")} == {
        ("nvidia-cublas-cu11", 11),
        ("nvidia-cublas-cu12", 12),
        ("nvidia-cublas", 13),
    }


def test_a_name_agrees_with_its_cuda_major(packages: PackageTable) -> None:
    for package in packages:
        for major in (11, 12, 13):
            if package.name.endswith((f"-cu{major}", f"-cuda{major}x", f"-cuda{major}0")):
                assert package.cuda_major == major, package.name


def test_every_library_says_which_one_it_is(packages: PackageTable) -> None:
    assert all(package.provides for package in packages if package.role is Role.LIBRARY)


def test_a_projects_own_package_counts_as_a_companion() -> None:
    own = PackageTable.load(["my-kernels"]).get("my-kernels")
    assert own is not None
    assert (own.role, own.judged) == (Role.COMPANION, True)


def test_pytorchs_indexes_have_three_packages(packages: PackageTable) -> None:
    assert packages.on_pytorch_indexes == ("torch", "torchvision", "torchaudio")


@pytest.mark.parametrize(
    ("component", "names"),
    [
        ("jax", ("jax", "jaxlib")),
        ("torch", ("torch",)),
        ("nccl", ("nvidia-nccl-cu11", "nvidia-nccl-cu12", "nvidia-nccl-cu13")),
        ("driver", ()),
    ],
)
def test_logs_have_names_of_their_own(
    packages: PackageTable, component: str, names: tuple[str, ...]
) -> None:
    assert packages.logged_as(component) == names


def test_a_library_that_no_package_provides_is_refused() -> None:
    file = Entry({"overridable": ["cudnm"]}, "packages.toml")
    with pytest.raises(FactsError, match=r"overridable: expected libraries .* not cudnm"):
        parse_packages(file)


def test_a_family_is_read_from_a_table_that_nobody_asked_before() -> None:
    table = PackageTable.load(own=["made"])
    assert {package.name for package in table.family("torch")} >= {"torch", "torchvision"}
    assert len(list(table)) == len(table)


def test_a_family_has_packages_of_the_facts_and_of_a_project() -> None:
    table = PackageTable.load(["my-kernels", "torch"])
    assert [package.name for package in table.family("my-kernels")] == ["my-kernels"]
    assert table.family("jax")[0].name == "jax"
    assert len({package.name for package in table}) == len(table) == len(list(table))
