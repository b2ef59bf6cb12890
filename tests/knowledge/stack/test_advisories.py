"""Known bugs: ranges with two ends, conditions, and honest severities."""

from __future__ import annotations

import pytest
from packaging.version import Version

from stackfix_knowledge.evidence import EvidenceKind, FactSeverity
from stackfix_knowledge.hardware import ComputeCapability, DriverVersion
from stackfix_knowledge.stack.advisories import Advisory, AdvisoryTable, Conditions, VersionRange
from stackfix_knowledge.stack.packages import PackageTable


@pytest.fixture(scope="module")
def table() -> AdvisoryTable:
    return AdvisoryTable.load()


def advisory(table: AdvisoryTable, identifier: str) -> Advisory:
    (found,) = [one for one in table if one.id == identifier]
    assert found in table.of(found.packages[0])
    return found


def met(
    conditions: Conditions,
    *,
    card: str = "12.0",
    count: int = 1,
    platform: str = "linux_x86_64",
    segment: str | None = None,
    driver: str | None = None,
    beside: dict[str, str] | None = None,
) -> bool | None:
    return conditions.met(
        capability=ComputeCapability.parse(card),
        count=count,
        platform=platform,
        segment=segment,
        driver=DriverVersion(driver) if driver else None,
        installed={name: Version(version) for name, version in (beside or {}).items()},
    )


@pytest.mark.parametrize(
    ("version", "affected"),
    [
        ("2.23.4", False),
        ("2.24.3", True),
        ("2.26.2", True),
        ("2.26.2.post1", True),
        ("2.26.5", False),
        ("2.31.2", False),
    ],
)
def test_a_range_has_two_ends(table: AdvisoryTable, version: str, affected: bool) -> None:
    found = advisory(table, "nccl-host-memory-needs-numa")
    assert found.affects(Version(version)) is affected


def test_a_single_bad_version_leaves_its_neighbours_alone(table: AdvisoryTable) -> None:
    found = advisory(table, "nccl-2.30.4-nvls-hang")
    assert found.affects(Version("2.30.4"))
    assert not found.affects(Version("2.30.3"))
    assert not found.affects(Version("2.30.7"))


def test_the_last_affected_version_is_affected() -> None:
    affected = VersionRange(introduced=Version("9.8"), last_affected=Version("9.10.2.21"))
    assert affected.holds(Version("9.10.2.21"))
    assert not affected.holds(Version("9.11.0.98"))
    assert not affected.holds(Version("9.7.1.26"))


def test_a_local_part_does_not_count() -> None:
    affected = VersionRange(introduced=None, fixed=Version("2.9.1"))
    assert affected.holds(Version("2.9.0+cu128"))
    assert not affected.holds(Version("2.9.1+cu128"))


def test_numa_trouble_needs_two_cards_and_cannot_be_seen_from_outside(
    table: AdvisoryTable,
) -> None:
    conditions = advisory(table, "nccl-host-memory-needs-numa").conditions
    assert met(conditions, count=1, driver="570.133.07") is False
    assert met(conditions, count=4, driver="570.133.07") is None
    assert met(conditions, count=4, driver="550.54.15") is False


def test_rtx_50_shared_memory_is_certain_with_two_cards(table: AdvisoryTable) -> None:
    found = advisory(table, "nccl-rtx50-shared-memory")
    assert found.severity is FactSeverity.ERROR
    assert met(found.conditions, card="12.0", count=2) is True
    assert met(found.conditions, card="9.0", count=2) is False
    assert met(found.conditions, card="12.0", count=1) is False


def test_one_unconfirmed_report_is_a_warning(table: AdvisoryTable) -> None:
    found = advisory(table, "triton-3.6-ptxas-thor")
    assert found.affects(Version("3.6.0"))
    assert not found.affects(Version("3.7.0"))
    assert found.severity is FactSeverity.WARNING


def test_a_build_of_one_index_can_be_affected_alone(table: AdvisoryTable) -> None:
    found = advisory(table, "torch-2.6.0-cu126-no-libraries")
    assert found.affects(Version("2.6.0+cu126"))
    assert not found.affects(Version("2.6.0"))
    assert not found.affects(Version("2.6.0+cu124"))


def test_what_is_installed_can_rule_a_bug_out(table: AdvisoryTable) -> None:
    conditions = advisory(table, "torch-2.6.0-cu126-no-libraries").conditions
    assert met(conditions, card="8.0") is True
    assert met(conditions, card="8.0", beside={"nvidia-cuda-runtime-cu12": "12.6.77"}) is False


def test_jax_refuses_a_cudnn_only_where_jax_is(table: AdvisoryTable) -> None:
    found = advisory(table, "cudnn-9.10.0-refused-by-jax")
    assert found.affects(Version("9.10.0.56"))
    assert not found.affects(Version("9.10.1.4"))
    assert met(found.conditions, beside={"jax-cuda12-plugin": "0.6.2"}) is True
    assert met(found.conditions, beside={"jax-cuda12-plugin": "0.6.0"}) is False
    assert met(found.conditions) is False


def test_a_condition_on_the_driver_is_unsure_without_one() -> None:
    conditions = Conditions(driver_below=DriverVersion("580.65.06"))
    assert met(conditions) is None
    assert met(conditions, driver="570.133.07") is True
    assert met(conditions, driver="580.65.06") is False


def test_a_condition_on_the_platform() -> None:
    conditions = Conditions(platforms=("linux_aarch64",))
    assert met(conditions, platform="linux_aarch64") is True
    assert met(conditions) is False


def test_a_condition_on_the_kind_of_card() -> None:
    conditions = Conditions(segments=("datacenter",))
    assert met(conditions, segment="datacenter") is True
    assert met(conditions, segment="geforce") is False
    assert met(conditions, segment=None) is None


def test_thor_is_one_device_under_two_numbers() -> None:
    conditions = Conditions(capabilities=frozenset({ComputeCapability(11, 0)}))
    assert met(conditions, card="10.1") is True


def test_ids_are_unique(table: AdvisoryTable) -> None:
    identifiers = [known.id for known in table]
    assert len(identifiers) == len(set(identifiers))


def test_an_error_can_be_checked_in_full(table: AdvisoryTable) -> None:
    """What depends on conditions nobody can see here is a warning at most."""
    for known in table:
        if known.severity is FactSeverity.ERROR:
            assert not known.conditions.unobservable, known.id


def test_an_error_rests_on_more_than_an_unconfirmed_report(table: AdvisoryTable) -> None:
    for known in table:
        if known.severity is FactSeverity.ERROR:
            assert any(
                item.kind is not EvidenceKind.REPORTED or item.confirmed for item in known.evidence
            ), known.id


def test_every_advisory_has_evidence_and_known_packages(table: AdvisoryTable) -> None:
    packages = PackageTable.load()
    for known in table:
        assert known.evidence, known.id
        for name in (*known.packages, *known.conditions.beside):
            assert packages.is_stack(name), (known.id, name)
