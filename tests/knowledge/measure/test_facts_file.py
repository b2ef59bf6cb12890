"""The facts file is stable, complete and written whole; the graph reads it back."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from stackfix_index.errors import Unreadable
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.hardware import Architecture
from stackfix_knowledge.measure.facts_file import FactsFile
from stackfix_knowledge.reader import facts_folder, read_file
from stackfix_knowledge.wheels.coverage import Coverage, LibraryCoverage
from stackfix_knowledge.wheels.release import Ptxas, WheelFact, parse_release

FILE = "nvidia_nccl_cu12-2.27.3-py3-none-manylinux2014_x86_64.whl"
VERSION = Version("2.27.3")


def evidence(*kinds: EvidenceKind) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(kind=kind, source=FILE, date="2026-11-30", sha256="ab" * 32) for kind in kinds
    )


def fact(**changes: object) -> WheelFact:
    known: dict[str, object] = {
        "file": FILE,
        "platform": "linux_x86_64",
        "sha256": "ab" * 32,
        "cuda": Version("12.9"),
        "requires": ("numpy", 'torch>=2; extra == "gpu"'),
        "requires_python": ">=3",
        "built_against": {"cudnn": Version("9.8.0")},
        "needs": ("libcudart.so.12",),
        "ptxas": (Ptxas(cuda="12.8.93", targets=("sm_90", "sm_120a")),),
        "coverage": Coverage(
            libraries=(
                LibraryCoverage(
                    name="nvidia/nccl/lib/libnccl.so.2",
                    containers={
                        frozenset(map(Architecture.parse, ["sm_90", "sm_80", "compute_90"])): 107,
                        frozenset({Architecture.parse("sm_80")}): 3,
                    },
                ),
            ),
            toolkit=Version("12.9"),
        ),
        "evidence": evidence(EvidenceKind.MEASURED, EvidenceKind.METADATA),
    }
    return WheelFact(**{**known, **changes})  # type: ignore[arg-type]


def written(folder: Path, *facts: WheelFact, collides: tuple[str, ...] = ()) -> str:
    file = FactsFile(folder, "nvidia-nccl-cu12")
    file.release(VERSION, date="2025-06-03", yanked=False)
    for one in facts:
        file.merge(VERSION, one, collides=collides)
    file.write()
    return file.path.read_text(encoding="utf-8")


def test_the_graph_reads_back_what_was_written(tmp_path: Path) -> None:
    written(tmp_path, fact())
    (entry,) = read_file(tmp_path / "nvidia-nccl-cu12.toml").entries("release")
    release = parse_release(entry, "nvidia-nccl-cu12")
    assert release.wheels == (fact(),)
    assert (release.version, release.date) == (VERSION, "2025-06-03")


def test_a_wheel_of_which_only_metadata_is_known_has_no_coverage(tmp_path: Path) -> None:
    written(tmp_path, fact(coverage=None, evidence=evidence(EvidenceKind.METADATA)))
    (entry,) = read_file(tmp_path / "nvidia-nccl-cu12.toml").entries("release")
    (wheel,) = parse_release(entry, "nvidia-nccl-cu12").wheels
    assert wheel.coverage is None


def test_no_requirements_is_not_the_same_as_not_read(tmp_path: Path) -> None:
    assert "requires = []\n" in written(tmp_path, fact(requires=()))


def test_measuring_again_changes_nothing(tmp_path: Path) -> None:
    assert written(tmp_path, fact()) == written(tmp_path, fact())


def test_another_platform_is_added_beside_it(tmp_path: Path) -> None:
    written(tmp_path, fact(platform="linux_aarch64"))
    data = tomllib.loads(written(tmp_path, fact()))
    platforms = [wheel["platform"] for wheel in data["release"][0]["wheel"]]
    assert platforms == ["linux_x86_64", "linux_aarch64"]


def test_a_new_measurement_replaces_the_old_one(tmp_path: Path) -> None:
    written(tmp_path, fact(needs=("libold.so",)))
    text = written(tmp_path, fact(needs=("libnew.so",)))
    assert "libnew.so" in text
    assert "libold.so" not in text


def test_releases_are_in_order_of_versions(tmp_path: Path) -> None:
    file = FactsFile(tmp_path, "torch")
    for version in ("2.10.0", "2.9.1", "2.9.0"):
        file.release(Version(version), date="", yanked=False)
    file.write()
    data = tomllib.loads(file.path.read_text(encoding="utf-8"))
    assert [release["version"] for release in data["release"]] == ["2.9.0", "2.9.1", "2.10.0"]


def test_collisions_are_noted(tmp_path: Path) -> None:
    text = written(tmp_path, fact(), collides=("nvidia-nccl-cu13",))
    assert 'collides = ["nvidia-nccl-cu13"]\n' in text


def test_depth_tells_what_need_not_be_read_again(tmp_path: Path) -> None:
    written(tmp_path, fact(), fact(platform="linux_aarch64", evidence=(), coverage=None))
    file = FactsFile(tmp_path, "nvidia-nccl-cu12")
    assert file.depth(VERSION, "linux_x86_64", FILE) is EvidenceKind.MEASURED
    assert file.depth(VERSION, "linux_aarch64", FILE) is EvidenceKind.METADATA
    assert file.depth(VERSION, "win_amd64", FILE) is None
    assert file.depth(Version("1"), "linux_x86_64", FILE) is None
    assert file.depth(VERSION, "linux_x86_64", "uploaded-again.whl") is None


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = written(tmp_path, fact())

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        written(tmp_path, fact(needs=()))
    assert [path.name for path in tmp_path.iterdir()] == ["nvidia-nccl-cu12.toml"]
    assert (tmp_path / "nvidia-nccl-cu12.toml").read_text(encoding="utf-8") == before


@pytest.mark.parametrize("text", ["[[release]]\nversion = 3", "release = [", '[[release]]\nx = ""'])
def test_a_damaged_facts_file_is_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(Unreadable, match=r"x\.toml: expected a facts file"):
        FactsFile(tmp_path, "x")


@pytest.mark.parametrize(
    "package", sorted(path.stem for path in (facts_folder() / "wheels").glob("*.toml"))
)
def test_the_shipped_facts_are_as_they_would_be_written(package: str) -> None:
    """Else the next measurement would change lines that it learned nothing about."""
    file = FactsFile(facts_folder() / "wheels", package)
    assert file.text() == file.path.read_text(encoding="utf-8")


@given(st.text(max_size=20).filter(lambda text: text.isprintable() or text.isascii()))
def test_any_name_survives(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    folder = tmp_path_factory.mktemp("facts")
    data = tomllib.loads(written(folder, fact(needs=(name, "b"))))
    assert data["release"][0]["wheel"][0]["needs"] == [name, "b"]
