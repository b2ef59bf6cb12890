"""Measuring a package from an index into its facts file, resumable at any point."""

import datetime
import hashlib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from stackfix_index.errors import Unreadable
from stackfix_index.simple import Index
from stackfix_knowledge.evidence import EvidenceKind
from stackfix_knowledge.measure.measuring import Measuring
from stackfix_knowledge.reader import read_file
from stackfix_knowledge.wheels.release import Release, parse_release
from tests.index.serving import INDEX, Served
from tests.knowledge.measure.building import NCCL_WHEEL, metadata, nccl_wheel, wheel

CU13 = NCCL_WHEEL.replace("cu12-2.27.3", "cu13-2.29.7")
PRE = NCCL_WHEEL.replace("2.27.3", "2.28.0rc1")
BROKEN = NCCL_WHEEL.replace("2.27.3", "2.26.0")
PLATFORMS = ("linux_x86_64", "linux_aarch64", "any")


def served() -> Served:
    return Served(
        {
            "nvidia-nccl-cu12": {BROKEN: b"broken", NCCL_WHEEL: nccl_wheel(), PRE: nccl_wheel()},
            "nvidia-nccl-cu13": {CU13: nccl_wheel()},
            "lonely": {
                "lonely-1-py3-none-any.whl": wheel(
                    {"lonely-1.dist-info/METADATA": metadata("lonely", "1")}
                )
            },
        }
    )


def measure(
    index: Served, folder: Path, wanted: str, depth: EvidenceKind = EvidenceKind.MEASURED
) -> tuple[int, list[str]]:
    said: list[str] = []
    measuring = Measuring(
        Index(INDEX, index.client), folder, today=datetime.date(2026, 11, 30), report=said.append
    )
    return measuring.measure(Requirement(wanted), depth=depth, platforms=PLATFORMS), said


def releases(folder: Path, package: str) -> list[Release]:
    entries = read_file(folder / f"{package}.toml").entries("release")
    return [parse_release(entry, package) for entry in entries]


def test_a_release_is_measured_into_the_facts(tmp_path: Path) -> None:
    failures, said = measure(served(), tmp_path, "nvidia-nccl-cu12==2.27.3")
    (release,) = releases(tmp_path, "nvidia-nccl-cu12")
    wheel = release.wheel("linux_x86_64")
    assert failures == 0
    assert said == [f"measured: {NCCL_WHEEL}"]
    assert wheel is not None
    assert wheel.coverage is not None
    assert wheel.sha256 == hashlib.sha256(nccl_wheel()).hexdigest()
    assert release.date == "2025-08-06"


def test_the_other_linux_platforms_of_a_release_are_named_as_well(tmp_path: Path) -> None:
    arm = NCCL_WHEEL.replace("x86_64", "aarch64")
    index = Served({"nvidia-nccl-cu12": {NCCL_WHEEL: nccl_wheel(), arm: nccl_wheel()}})
    said: list[str] = []
    measuring = Measuring(
        Index(INDEX, index.client), tmp_path, today=datetime.date(2026, 11, 30), report=said.append
    )
    wanted = Requirement("nvidia-nccl-cu12==2.27.3")
    measured = EvidenceKind.MEASURED
    assert measuring.measure(wanted, depth=measured, platforms=["linux_x86_64"]) == 0
    assert said == [f"measured: {NCCL_WHEEL}", f"metadata: {arm}"]
    (release,) = releases(tmp_path, "nvidia-nccl-cu12")
    wheel = release.wheel("linux_aarch64")
    assert wheel is not None
    assert wheel.coverage is None
    assert wheel.requires is not None


def test_metadata_alone_leaves_the_binaries_unread(tmp_path: Path) -> None:
    measure(served(), tmp_path, "nvidia-nccl-cu12==2.27.3", EvidenceKind.METADATA)
    (release,) = releases(tmp_path, "nvidia-nccl-cu12")
    assert release.wheels[0].coverage is None
    assert release.wheels[0].requires == ()


def test_metadata_that_the_index_serves_on_its_own_spares_the_wheel(tmp_path: Path) -> None:
    name = "lonely-1-py3-none-any.whl"
    text = metadata("lonely", "1", "Requires-Dist: numpy").encode()
    index = Served({"lonely": {name: b"never read"}}, metadata={name: text})
    measure(index, tmp_path, "lonely", EvidenceKind.METADATA)
    (release,) = releases(tmp_path, "lonely")
    assert release.wheels[0].requires == ("numpy",)
    assert index.requests == ["/simple/lonely/", f"/{name}.metadata"]


def test_what_is_known_is_not_read_again(tmp_path: Path) -> None:
    index = served()
    measure(index, tmp_path, "lonely")
    before = (tmp_path / "lonely.toml").read_text()
    index.requests.clear()
    assert measure(index, tmp_path, "lonely") == (0, [])
    assert index.requests == ["/simple/lonely/"]
    assert (tmp_path / "lonely.toml").read_text() == before


def test_what_is_known_is_read_anew_on_request(tmp_path: Path) -> None:
    measure(served(), tmp_path, "lonely")
    measuring = Measuring(
        Index(INDEX, served().client),
        tmp_path,
        today=datetime.date(2026, 12, 1),
        report=lambda line: None,
    )
    measuring.measure(
        Requirement("lonely"), depth=EvidenceKind.MEASURED, platforms=PLATFORMS, again=True
    )
    assert "measured = 2026-12-01" in (tmp_path / "lonely.toml").read_text()


def test_a_shallow_reading_never_replaces_a_deep_one(tmp_path: Path) -> None:
    measure(served(), tmp_path, "nvidia-nccl-cu12==2.27.3")
    measure(served(), tmp_path, "nvidia-nccl-cu12==2.27.3", EvidenceKind.METADATA)
    (release,) = releases(tmp_path, "nvidia-nccl-cu12")
    assert release.wheels[0].coverage is not None


def test_a_deep_reading_completes_a_shallow_one(tmp_path: Path) -> None:
    measure(served(), tmp_path, "nvidia-nccl-cu12==2.27.3", EvidenceKind.METADATA)
    measure(served(), tmp_path, "nvidia-nccl-cu12==2.27.3")
    (release,) = releases(tmp_path, "nvidia-nccl-cu12")
    assert release.wheels[0].coverage is not None


def test_a_broken_wheel_is_reported_and_the_others_are_measured(tmp_path: Path) -> None:
    failures, said = measure(served(), tmp_path, "nvidia-nccl-cu12")
    assert failures == 1
    assert said[0].startswith(f"{BROKEN}: expected a wheel, which is a zip file")
    assert [bool(release.wheels) for release in releases(tmp_path, "nvidia-nccl-cu12")] == [
        False,
        True,
    ]


def test_pre_releases_are_measured_only_when_named(tmp_path: Path) -> None:
    measure(served(), tmp_path, "nvidia-nccl-cu12>=2.27")
    assert [str(r.version) for r in releases(tmp_path, "nvidia-nccl-cu12")] == ["2.27.3"]
    measure(served(), tmp_path, "nvidia-nccl-cu12==2.28.0rc1")
    assert len(releases(tmp_path, "nvidia-nccl-cu12")) == 2


def test_a_package_for_another_cuda_with_the_same_files_is_noted(tmp_path: Path) -> None:
    measure(served(), tmp_path, "nvidia-nccl-cu12==2.27.3", EvidenceKind.METADATA)
    text = (tmp_path / "nvidia-nccl-cu12.toml").read_text()
    assert 'collides = ["nvidia-nccl-cu13"]' in text


def test_an_interrupted_run_keeps_what_it_measured(tmp_path: Path) -> None:
    def interrupt(line: str) -> None:
        if line.startswith("measured"):
            raise KeyboardInterrupt

    measuring = Measuring(
        Index(INDEX, served().client),
        tmp_path,
        today=datetime.date(2026, 11, 30),
        report=interrupt,
    )
    with pytest.raises(KeyboardInterrupt):
        measuring.measure(
            Requirement("nvidia-nccl-cu12>=2.27"), depth=EvidenceKind.MEASURED, platforms=PLATFORMS
        )
    (release,) = releases(tmp_path, "nvidia-nccl-cu12")
    assert release.wheels[0].coverage is not None


def test_an_unknown_package_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"none: expected an index that has it"):
        measure(served(), tmp_path, "none")
