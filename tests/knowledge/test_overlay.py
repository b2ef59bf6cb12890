"""A project's own facts: laid over the shipped ones, checked to the last key."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from stackfix_knowledge.graph import Graph
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.reader import FactsError
from stackfix_knowledge.stack.packages import Role
from stackfix_knowledge.wheels.coverage import Support

OWN_WHEEL = """
package = "torch"

[[release]]
version = "2.7.1+cu126"

[[release.wheel]]
file = "torch-2.7.1+cu126-cp311-cp311-linux_x86_64.whl"
platform = "linux_x86_64"
cuda = "12.8"
measured = 2026-11-30

[[release.wheel.library]]
name = "torch/lib/libtorch_cuda.so"
containers = { "sm_90 sm_120" = 10 }
"""

TABLES = """
[sources.lab]
kind = "reported"
where = "our own notes"
date = "2026-11-30"

[[gpus]]
capability = "12.0"
architecture = "Blackwell"
segment = "workstation"
names = ["RTX Prototype"]
source = "lab"

[[couplings]]
package = "my-kernels"
needs = "torch"
severity = "error"
why = "my-kernels is built for one torch"
source = "lab"
rows = [{ versions = "==1.0", needs = "==2.8.*" }]

[[advisories]]
id = "lab-1"
packages = ["my-kernels"]
versions = ["1.0"]
severity = "warning"
summary = "it is slow"
effect = "slow"
source = "lab"

[[wheels]]
package = "my-kernels"

[[wheels.release]]
version = "1.0"

[[wheels.release.wheel]]
file = "my_kernels-1.0-cp311-cp311-linux_x86_64.whl"
platform = "linux_x86_64"
measured = 2026-11-30

[[wheels.release.wheel.library]]
name = "my_kernels/_C.so"
containers = { "sm_80 sm_90" = 2 }
"""

CARD = ComputeCapability(12, 0)


def graph(tmp_path: Path, *contents: str) -> Graph:
    paths = []
    for number, content in enumerate(contents):
        path = tmp_path / f"own{number}.toml"
        path.write_text(content, encoding="utf-8")
        paths.append(path)
    return Graph.load(paths)


def test_an_own_wheel_changes_the_verdict(tmp_path: Path) -> None:
    shipped, own = Graph.load(), graph(tmp_path, OWN_WHEEL)
    for known, verdict in ((shipped, Support.UNSUPPORTED), (own, Support.SUPPORTED)):
        release = known.release("torch", "2.7.1+cu126")
        assert release is not None
        wheel = release.wheel("linux_x86_64")
        assert wheel is not None
        assert wheel.coverage is not None
        assert wheel.coverage.support(CARD) is verdict


def test_what_the_overlay_does_not_name_stays(tmp_path: Path) -> None:
    release = graph(tmp_path, OWN_WHEEL).release("torch", "2.7.1+cu126")
    assert release is not None
    assert release.home == "cu126"
    assert release.wheel("win_amd64") is not None


def test_a_later_overlay_changes_keys_and_libraries_of_an_earlier_one(tmp_path: Path) -> None:
    later = """
    package = "my-kernels"
    [[release]]
    version = "1.0"
    [[release.wheel]]
    platform = "linux_x86_64"
    cuda = "12.9"
    [[release.wheel.library]]
    name = "my_kernels/_D.so"
    containers = { "sm_120 sm_90" = 1 }
    """
    release = graph(tmp_path, TABLES, later).release("my-kernels", "1.0")
    assert release is not None
    wheel = release.wheel("linux_x86_64")
    assert wheel is not None
    assert wheel.cuda == Version("12.9")
    assert wheel.file == "my_kernels-1.0-cp311-cp311-linux_x86_64.whl"
    assert wheel.coverage is not None
    assert {library.name for library in wheel.coverage.libraries} == {
        "my_kernels/_C.so",
        "my_kernels/_D.so",
    }


def test_tables_of_all_kinds_are_added(tmp_path: Path) -> None:
    own = graph(tmp_path, TABLES)
    card = own.gpus.find("RTX Prototype")
    assert card is not None
    assert card.capability == CARD
    assert [known.needs for known in own.couplings("my-kernels")] == ["torch"]
    assert [known.id for known in own.advisories("my-kernels")] == ["lab-1"]
    assert own.release("my-kernels", "1.0") is not None


def test_an_own_package_is_part_of_the_stack(tmp_path: Path) -> None:
    package = graph(tmp_path, TABLES).packages.get("my-kernels")
    assert package is not None
    assert (package.role, package.judged) == (Role.COMPANION, True)


def test_the_version_of_the_graph_tells_overlays_apart(tmp_path: Path) -> None:
    assert Graph.load().version != graph(tmp_path, TABLES).version


def test_shipped_facts_are_untouched_beside_an_overlay(tmp_path: Path) -> None:
    own = graph(tmp_path, TABLES)
    assert own.couplings("torchcodec") == Graph.load().couplings("torchcodec")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[gpus]]", "[[gpu]]", r"own0\.toml: gpu: expected one of the keys"),
        ('"12.0"', '"twelve"', r"own0\.toml: gpus\[0\]\.capability: expected a compute"),
        ('severity = "error"', 'severity = "bad"', r"couplings\[0\]\.severity: expected one of"),
        ('source = "lab"', "", r"gpus\[0\]\.source: expected the name of at least one"),
        ('versions = ["1.0"]', "", r"advisories\[0\]\.ranges: expected ranges or versions"),
        ('"sm_80 sm_90"', '"sm80"', r"wheels\[0\]\.release\[0\]\.wheel\[0\]\.library\[0\]"),
        ('"my-kernels"\n\n[[w', '"My.Kernels"\n\n[[w', r'the normalised name "my-kernels"'),
        ('segment = "workstation"', 'segment = "toy"', r"gpus\[0\]\.segment: expected one of"),
    ],
)
def test_a_fault_is_told_when_the_overlay_is_loaded(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in TABLES
    with pytest.raises(FactsError, match=message) as caught:
        graph(tmp_path, TABLES.replace(old, new, 1))
    assert "\n" not in str(caught.value)
