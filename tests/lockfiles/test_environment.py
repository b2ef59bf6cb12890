import itertools
from typing import Any

import pytest

from stackfix_lockfiles.environment import (
    ConflictError,
    Environment,
    UnsupportedPlatformError,
    environment,
    full_python_version,
)
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.platforms import PLATFORMS, Platform
from tests.lockfiles import uv_oracle
from tests.lockfiles.samples import HEAD, OPENPI, REGISTRY, RESSELT, lock, package, root

LINUX = Platform.parse("linux")


def walk(found: Lock, **choice: Any) -> Environment:
    return environment(found, **{"platform": LINUX, "python": "3.12", **choice})


def names(found: Lock, **choice: Any) -> set[str]:
    return set(walk(found, **choice).packages)


# What uv says of two real locks. The whole corpus: test_environment_corpus.py.


@pytest.mark.parametrize("folder", [OPENPI, RESSELT], ids=lambda path: path.name)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_installs_what_uv_would(folder: Any, platform: str) -> None:
    found, project = Lock.read(folder / "uv.lock"), uv_oracle.project_at(folder)
    for choice in itertools.islice(uv_oracle.choices(found, project), 12):
        answer = uv_oracle.export(folder, PLATFORMS[platform], "3.11.7", choice)
        try:
            ours = walk(found, platform=PLATFORMS[platform], python="3.11.7", **choice.ours)
        except ConflictError:
            assert answer.packages is None, choice
            continue
        assert answer.packages is not None, (choice, answer.refused)
        mine = {n: p.version for n, p in ours.packages.items() if not p.source.is_local}
        assert mine.keys() == answer.packages.keys(), choice
        assert all(answer.packages[n] in (None, version) for n, version in mine.items()), choice


def test_extra_selects_the_torch_of_its_index() -> None:
    found = Lock.read(RESSELT / "uv.lock")
    plain = walk(found).packages["torch"]
    cu128 = walk(found, extras=["cu128"]).packages["torch"]
    assert plain.source.index == "https://index.example/simple"
    assert cu128.source.index == "https://download.pytorch.org/whl/cu128"
    assert cu128.version == "2.7.1+cu128"


def test_chosen_extras_in_conflict_are_refused() -> None:
    with pytest.raises(ConflictError) as caught:
        walk(Lock.read(RESSELT / "uv.lock"), extras=["cu126", "cu128"])
    assert str(caught.value).endswith(
        "uv.lock: conflicts[0]: expected at most one of resselt[cu126] and resselt[cu128]: "
        "they are declared as conflicting"
    )


def test_groups_come_by_default_by_name_or_not_at_all() -> None:
    found = Lock.read(OPENPI / "uv.lock")
    assert {"pytest", "torch"} <= names(found)
    assert "tensorflow-cpu" not in names(found)
    assert "pytest" not in names(found, groups=())
    assert "tensorflow-cpu" in names(found, groups=["rlds"])
    assert {"pytest", "tensorflow-cpu"} <= names(found, default_groups="all")
    assert {"pytest", "tensorflow-cpu"} <= names(found, all_groups=True)
    only = walk(found, groups=["dev"], production=False)
    assert "torch" not in only.packages
    assert only.chain("pluggy") == ("pytest", "pluggy")


def test_a_report_can_say_why_a_package_is_there() -> None:
    found = walk(Lock.read(OPENPI / "uv.lock"))
    assert found.chain("torchcodec") == ("openpi", "lerobot", "torchcodec")
    assert found.chain("openpi") == ("openpi",)
    assert "torchcodec" in found.edges["lerobot"]
    assert found.extras_on["jax"] == {"cuda12"}
    brings = {link.extra for link in found.links if link.child == "jax-cuda12-plugin"}
    assert brings == {"cuda12"}
    assert {link.group for link in found.links if link.child == "pytest"} == {"dev"}


# The walk, piece by piece.


def test_follows_edges_whose_marker_holds() -> None:
    found = lock(
        package("posix"), package("nt"), package("old"),
        root(dependencies="""[
            { name = "posix", marker = "os_name == 'posix'" },
            { name = "nt", marker = "os_name == 'nt'" },
            { name = "old", marker = "python_full_version < '3.12'" },
        ]"""),
    )  # fmt: skip
    assert names(found) == {"robot", "posix"}
    assert names(found, python="3.11") == {"robot", "posix", "old"}
    assert names(found, platform=PLATFORMS["win_amd64"]) == {"robot", "nt"}


def test_takes_the_fork_of_the_environment() -> None:
    edges = f"""[
        {{ name = "numpy", version = "1.26.4", source = {REGISTRY}, marker = "python_full_version < '3.12'" }},
        {{ name = "numpy", version = "2.2.6", source = {REGISTRY}, marker = "python_full_version >= '3.12'" }},
    ]"""  # noqa: E501
    found = lock(package("numpy", "1.26.4"), package("numpy", "2.2.6"), root(dependencies=edges))
    assert walk(found, python="3.11").packages["numpy"].version == "1.26.4"
    assert walk(found, python="3.12").packages["numpy"].version == "2.2.6"


def test_an_edge_turns_on_extras_of_its_target() -> None:
    plugin = '[package.optional-dependencies]\ncuda = [{ name = "plugin" }]\n'
    found = lock(
        package("jax") + plugin,
        package("plugin"),
        root(dependencies='[{ name = "jax", extra = ["cuda"] }]'),
    )
    assert names(found) == {"robot", "jax", "plugin"}


CONFLICT = HEAD + (
    'conflicts = [[{ package = "robot", extra = "cpu" }, { package = "robot", extra = "gpu" }]]\n'
)
TORCHES = (
    package("torch", "2.0+cpu"),
    package("torch", "2.0+gpu"),
    f"""
[[package]]
name = "robot"
version = "0.1.0"
source = {{ virtual = "." }}
[package.optional-dependencies]
cpu = [{{ name = "torch", version = "2.0+cpu", source = {REGISTRY}, marker = "extra == 'extra-5-robot-cpu'" }}]
gpu = [{{ name = "torch", version = "2.0+gpu", source = {REGISTRY}, marker = "extra == 'extra-5-robot-gpu'" }}]
both = [{{ name = "robot", extra = ["cpu", "gpu"] }}]
lazy = [{{ name = "robot", extra = ["gpu"] }}]
""",  # noqa: E501
)


def test_an_extra_turned_on_by_an_edge_counts_in_markers() -> None:
    found = lock(*TORCHES, head=CONFLICT)
    assert walk(found, extras=["lazy"]).packages["torch"].version == "2.0+gpu"
    assert walk(found, extras=["cpu"]).packages["torch"].version == "2.0+cpu"
    assert "torch" not in walk(found).packages


def test_extras_in_conflict_turned_on_by_an_edge_are_refused() -> None:
    with pytest.raises(ConflictError) as caught:
        walk(lock(*TORCHES, head=CONFLICT), extras=["both"])
    assert {item.extra for item in caught.value.items} == {"cpu", "gpu"}


def test_an_extra_on_an_edge_that_does_not_hold_stays_off() -> None:
    edge = """[{ name = "robot", extra = ["gpu"], marker = "os_name == 'nt'" }]"""
    found = lock(*TORCHES[:2], TORCHES[2] + f"windows = {edge}\n", package("other"), head=CONFLICT)
    assert "torch" not in walk(found, extras=["windows"]).packages
    windows = walk(found, extras=["windows"], platform=PLATFORMS["win_amd64"])
    assert windows.packages["torch"].version == "2.0+gpu"
    assert walk(found, extras=["windows", "cpu"]).packages["torch"].version == "2.0+cpu"


def test_a_group_and_an_extra_may_conflict() -> None:
    sets = '[[{ package = "robot", extra = "gpu" }, { package = "robot", group = "dev" }]]'
    block = root() + (
        '[package.optional-dependencies]\ngpu = [{ name = "a" }]\n'
        '[package.dev-dependencies]\ndev = [{ name = "a" }]\n'
    )
    found = lock(block, package("a"), head=f"{HEAD}conflicts = {sets}\n")
    assert "a" in names(found, extras=["gpu"], groups=())
    with pytest.raises(ConflictError, match=r"at most one of robot:dev and robot\[gpu\]"):
        walk(found, extras=["gpu"])


def test_a_requirement_of_the_workspace_takes_the_fork_of_the_environment() -> None:
    head = HEAD + '[manifest]\nrequirements = [{ name = "numpy" }]\n'
    older = package("numpy", "1.0", resolution_markers="[\"python_full_version < '3.12'\"]")
    newer = package("numpy", "2.0", resolution_markers="[\"python_full_version >= '3.12'\"]")
    found = lock(older, newer, head=head)
    assert walk(found, python="3.11").packages["numpy"].version == "1.0"
    assert walk(found, python="3.12").packages["numpy"].version == "2.0"


def test_a_workspace_without_a_root_project_starts_from_its_members() -> None:
    head = HEAD + '[manifest]\nmembers = ["a", "b"]\n'
    found = lock(
        package("a", source='{ editable = "a" }', dependencies='[{ name = "c" }]'),
        package("b", source='{ editable = "b" }'),
        package("c"),
        head=head,
    )
    assert found.root is None
    assert walk(found).roots == ("a", "b")
    assert names(found) == {"a", "b", "c"}


def test_members_come_only_when_needed_or_asked_for() -> None:
    head = HEAD + '[manifest]\nmembers = ["robot", "tools"]\n'
    found = lock(root(), package("tools", source='{ editable = "tools" }'), head=head)
    assert names(found) == {"robot"}
    assert names(found, all_packages=True) == {"robot", "tools"}


def test_requirements_of_the_workspace_itself_are_roots() -> None:
    head = (
        HEAD
        + """
[manifest]
requirements = [{ name = "numpy" }]
[manifest.dependency-groups]
dev = [{ name = "pytest", marker = "sys_platform == 'linux'" }]
"""
    )
    found = lock(package("numpy"), package("pytest"), head=head)
    assert names(found) == {"numpy", "pytest"}
    assert names(found, groups=()) == {"numpy"}
    assert names(found, platform=PLATFORMS["win_amd64"]) == {"numpy"}
    assert walk(found).chain("pytest") == ("pytest",)


def test_a_virtual_project_is_walked_but_not_installed() -> None:
    found = walk(lock(root(dependencies='[{ name = "a" }]'), package("a")))
    assert set(found.packages) == {"robot", "a"}
    assert set(found.installed) == {"a"}


def test_refuses_extras_and_groups_that_do_not_exist() -> None:
    found = Lock.read(RESSELT / "uv.lock")
    with pytest.raises(
        InputError, match=r"an extra of the project \(cu118, cu124, cu126, cu128\), found cu999"
    ):
        walk(found, extras=["cu999"])
    with pytest.raises(InputError, match=r"a dependency group of the project .* found docs"):
        walk(found, groups=["docs"])
    walk(found, default_groups=("dev", "never-declared"))


def test_names_of_extras_are_normalised() -> None:
    found = lock(
        root() + '[package.optional-dependencies]\nbig-gpu = [{ name = "a" }]\n', package("a")
    )
    assert "a" in names(found, extras=["Big_GPU"])


def test_refuses_a_platform_the_lock_is_not_made_for() -> None:
    found = lock(root(), head=HEAD + "supported-markers = [\"sys_platform == 'win32'\"]\n")
    assert names(found, platform=PLATFORMS["win_amd64"]) == {"robot"}
    with pytest.raises(UnsupportedPlatformError, match=r"sys_platform == 'win32'.*linux_x86_64"):
        walk(found)


@pytest.mark.parametrize(
    ("admitted", "asked", "full"),
    [
        (">=3.11", "3.12", "3.12.99"),
        (">=3.11", "3.12.4", "3.12.4"),
        (">=3.11, <=3.14", "3.14", "3.14.0"),
        (">=3.13.14, <3.14", "3.13", "3.13.99"),
        ("==3.12.3", "3.12", "3.12.3"),
    ],
)
def test_a_bare_minor_is_its_newest_admitted_patch(admitted: str, asked: str, full: str) -> None:
    found = lock(root(), head=HEAD.replace(">=3.11", admitted))
    assert full_python_version(found, asked) == full


@pytest.mark.parametrize("asked", ["3.10", "3.10.4", "3", "new"])
def test_refuses_a_python_the_lock_does_not_admit(asked: str) -> None:
    with pytest.raises(InputError, match="expected a Python"):
        walk(lock(root()), python=asked)
