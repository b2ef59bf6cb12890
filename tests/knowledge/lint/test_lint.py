"""Checking facts: what is wrong is named with its place, and only that."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest

from stackfix_knowledge import reader
from stackfix_knowledge.lint.lint import lint_own, lint_shipped
from stackfix_knowledge.lint.remark import Remark, RemarkKind
from stackfix_knowledge.lint.verdicts import Decision, Decisions
from stackfix_knowledge.wheels.coverage import Share

FACTS = reader.facts_folder()

WHEEL = """
package = "own-lib"

[[release]]
version = "1.0"
date = "2026-11-01"
yanked = false

[[release.wheel]]
file = "own_lib-1.0-py3-none-manylinux_2_28_x86_64.whl"
sha256 = "{digest}"
platform = "linux_x86_64"
requires = []
metadata-date = 2026-11-01
measured = 2026-11-01

[[release.wheel.library]]
name = "own/lib.so"
[release.wheel.library.containers]
"sm_80 sm_90" = 3
""".format(digest="ab" * 32)


UNUSED = """
[sources.unused]
kind = "measured"
where = "a wheel"
date = "2026-11-30"

[sources."""


def own(tmp_path: Path, text: str) -> list[Remark]:
    path = tmp_path / "facts.toml"
    path.write_text(text)
    return list(lint_own(path))


@cache
def shipped() -> tuple[Remark, ...]:
    """What is remarked on the shipped facts, found once for all tests."""
    return tuple(lint_shipped())


def test_the_shipped_facts_have_no_fault() -> None:
    assert [str(problem) for problem in shipped() if problem.kind is RemarkKind.FAULT] == []


def test_sound_facts_of_a_project_have_no_problem(tmp_path: Path) -> None:
    assert own(tmp_path, WHEEL) == []


@pytest.mark.parametrize(
    ("old", "new", "place", "expected"),
    [
        ('yanked = false', 'yankd = false', "release[0].yankd", "one of the keys"),
        ('"1.0"', '"one"', "release[0].version", 'a version such as "9.5.1.17"'),
        ('"linux_x86_64"', '"amiga"', "release[0].wheel[0].platform", "one of linux_x86_64"),
        ('"sm_80 sm_90"', '"sm_80 sm90"', "release[0].wheel[0].library[0].containers", "architect"),
        ('= 3', '= 0', "containers.'sm_80 sm_90'", "a count of at least 1"),
        ('"sm_80 sm_90"', '"sm_90 sm_80"', "containers", 'architectures in order, "sm_80 sm_90"'),
        ("ab" * 32, "abc", "release[0].wheel[0].sha256", "64 hexadecimal digits"),
        (f'sha256 = "{"ab" * 32}"', "", "wheel[0].sha256", "the digest of what was measured"),
        ("own_lib-1.0-py3", "own_lib-1.1-py3", "wheel[0].file", "a wheel of own-lib 1.0"),
        ("own_lib-1.0-py3", "lib-1.0-py3", "wheel[0].file", "a wheel of own-lib 1.0"),
        ("-py3-none-manylinux_2_28_x86_64.whl", ".tar.gz", "wheel[0].file", "the name of a wheel"),
        ("measured = 2026-11-01", "", "wheel[0].measured", "the day on which the libraries"),
        ('package = "own-lib"', 'package = "Own_Lib"', "package", "the normalised name"),
    ],
)  # fmt: skip
def test_each_fault_is_named_with_its_place(
    tmp_path: Path, old: str, new: str, place: str, expected: str
) -> None:
    assert old in WHEEL
    problems = own(tmp_path, WHEEL.replace(old, new))
    assert problems
    assert problems[0].kind is RemarkKind.FAULT
    assert place in problems[0].place
    assert expected in problems[0].text


def test_a_file_that_is_no_toml_is_one_line(tmp_path: Path) -> None:
    (problem,) = own(tmp_path, "= broken")
    assert "valid TOML" in problem.text


def test_twice_the_same_library_or_platform_is_a_fault(tmp_path: Path) -> None:
    library = WHEEL[WHEEL.index("[[release.wheel.library]]") :]
    wheel = WHEEL[WHEEL.index("[[release.wheel]]") :]
    assert "each library once" in own(tmp_path, WHEEL + library)[0].text
    assert "each platform once" in own(tmp_path, WHEEL + wheel)[0].text


def test_versions_out_of_order_are_a_fault(tmp_path: Path) -> None:
    older = WHEEL[WHEEL.index("[[release]]") :].replace("1.0", "0.9")
    (problem,) = own(tmp_path, WHEEL + older)
    assert problem.text == "expected ascending versions: 0.9 stands after 1.0"


def test_a_share_near_a_threshold_is_listed_once_with_its_cards(tmp_path: Path) -> None:
    text = WHEEL.replace('"sm_80 sm_90" = 3', '"sm_80 sm_90 compute_90" = 91\n"sm_80 sm_90" = 9')
    (problem,) = own(tmp_path, text)
    assert problem.kind is RemarkKind.BORDERLINE
    assert "12.0" in problem.text
    assert "91 of 100 containers (91%, 0 of them native) counts as jit" in problem.text
    clear = WHEEL.replace('"sm_80 sm_90" = 3', '"sm_80 sm_90 compute_90" = 99\n"sm_80 sm_90" = 1')
    assert own(tmp_path, clear) == []


def test_a_case_that_somebody_looked_at_is_listed_apart_with_the_reason() -> None:
    decided = [problem for problem in shipped() if problem.kind is RemarkKind.DECIDED]
    training = next(one for one in decided if one.file == "wheels/nvidia-cudnn-cu12.toml")
    assert "35 of 41 containers" in training.text
    assert "training would miss them" in training.text


def test_a_decision_on_what_is_not_there_is_a_fault(copied: Path) -> None:
    (copied / "wheels" / "own-lib.toml").write_text(WHEEL)
    found = faults(copied)
    assert any(line.startswith("borderline.toml: decided[0]: expected a lib") for line in found)


def test_a_decision_counts_for_its_share_and_verdict_alone() -> None:
    decided = Decision(
        place="decided[0]", packages=("a",), library="lib.so", runs="10 of 11", state="jit",
        why="seen", evidence=(),
    )  # fmt: skip
    decisions = Decisions([decided])
    share = Share(native=0, jit=10, none=1)
    assert decisions.on("a", "x/lib.so.2", share) == decided
    assert decisions.on("b", "x/lib.so.2", share) is None
    assert decisions.on("a", "x/other.so", share) is None
    assert decisions.on("a", "x/lib.so.2", Share(native=0, jit=11, none=1)) is None
    assert decisions.on("a", "x/lib.so.2", Share(native=1, jit=9, none=1)) is None
    assert list(decisions.in_vain()) == []


def test_a_measurement_against_the_vendors_matrix_is_listed(tmp_path: Path) -> None:
    text = (
        WHEEL.replace("own-lib", "nvidia-cudnn-cu12").replace("own_lib", "nvidia_cudnn_cu12")
        .replace("1.0", "9.5.1.99").replace('"sm_80 sm_90" = 3', '"sm_80 sm_120" = 3')
    )  # fmt: skip
    problems = own(tmp_path, text.replace("own/lib.so", "nvidia/cudnn/lib/libcudnn_ops.so.9"))
    texts = [problem.text for problem in problems if problem.kind is RemarkKind.DISPUTED]
    assert any("12.1: measured to run, the vendor's matrix of 9.5.1 does" in text for text in texts)
    assert any(text.startswith("5.0, 6.0, 6.1, 7.0, 7.5, 9.0: the vendor's") for text in texts)


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shipped tables, without wheels, to be damaged."""
    folder = tmp_path / "facts"
    shutil.copytree(FACTS, folder, ignore=shutil.ignore_patterns("wheels"))
    (folder / "wheels").mkdir()
    monkeypatch.setattr("stackfix_knowledge.reader.facts_folder", lambda: folder)
    monkeypatch.setattr("stackfix_knowledge.lint.lint.facts_folder", lambda: folder)
    return folder


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def faults(folder: Path) -> list[str]:
    return [str(problem) for problem in lint_shipped() if problem.kind is RemarkKind.FAULT]


def test_tables_that_nobody_damaged_have_no_fault(copied: Path) -> None:
    assert faults(copied) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("gpus.toml", 'segment = "', 'segmnt = "', "segmnt: expected one of the keys"),
        ("gpus.toml", 'capability = "12.1"', 'capability = "6.1"', "expected one order throughout"),
        ("gpus.toml", 'source = "nvidia"', 'source = "hearsay"', "expected a name under [sources]"),
        ("cuda.toml", 'date = "2026-11-30"', "", "expected a date"),
        ("couplings.toml", "[sources.", UNUSED, "sources.unused: expected a fact that names it"),
        ("packages.toml", "[framework]", "[framework", "valid TOML"),
        ("packages.toml", '["nccl", "cudnn"]', '["nccl", "cudn"]', "a package provides, not cudn"),
        ("packages.toml", '= "toolkit"', '= "tolkit"', "expected one of cuda-major, toolkit"),
        ("cuda.toml", '["12.5", "12.6"]', '["12.6", "12.5"]', "ptx[10].toolkits: expected"),
        ("statements.toml", "(\\d", "(?:\\d", "pattern: expected one group"),
        ("signatures/families.toml", '"process"', '"proces"', "expected one of process"),
        ("signatures/host.toml", '"abort"', '"abrt"', "expected some of ended"),
        ("about.toml", "date", "dat", "expected one of the keys"),
    ],
)  # fmt: skip
def test_a_fault_in_a_table_is_named(
    copied: Path, name: str, old: str, new: str, expected: str
) -> None:
    edit(copied / name, old, new)
    found = faults(copied)
    assert any(line.startswith(name) and expected in line for line in found), found


def test_a_known_bug_of_no_version_or_of_an_unknown_package_is_a_fault(copied: Path) -> None:
    advisory = """
[sources.me]
kind = "documented"
where = "a document"
date = "2026-11-30"

[[advisory]]
id = "twice"
packages = ["torch", "torhc"]
ranges = [{ introduced = "2.0", fixed = "2.0" }]
severity = "error"
summary = "s"
effect = "e"
source = "me"
"""
    twice = advisory[advisory.index("[[advisory]]") :].replace("torhc", "jax")
    (copied / "advisories" / "mine.toml").write_text(advisory + twice)
    found = "\n".join(faults(copied))
    assert "expected a package that packages.toml lists, not torhc" in found
    assert "fixed: expected a version above the one that introduced it" in found
    assert "advisory[1].id: expected each id once" in found


def test_a_file_that_no_code_reads_is_a_fault(copied: Path) -> None:
    (copied / "advisorys.toml").write_text("")
    assert faults(copied) == [
        "advisorys.toml: expected a file that the program reads: no code knows this one"
    ]


def test_a_wheels_file_is_checked_under_its_name(copied: Path) -> None:
    (copied / "wheels" / "own-lib.toml").write_text(WHEEL.replace("1.0", "one", 1))
    (copied / "wheels" / "broken.toml").write_text("=")
    found = faults(copied)
    assert any(line.startswith("wheels/own-lib.toml: release[0].version") for line in found)
    assert any(line.startswith("wheels/broken.toml: expected valid TOML") for line in found)
