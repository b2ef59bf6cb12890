"""Log signatures: each line that one claims it matches, each that it disowns it does not."""

from __future__ import annotations

import time

import pytest

from stackfix_knowledge.logs.signatures import (
    CrashStage,
    LineRole,
    Signature,
    parse_families,
    parse_signatures,
    signature_table,
)
from stackfix_knowledge.reader import Entry, FactsError

TABLE = signature_table()
SIGNATURES = TABLE.signatures

PROMISED = """
nvls_fabric shm_exhausted shm_mapping nccl_oom nccl_no_kernel_image nccl_bug_new_gpu
nccl_rank_mismatch duplicate_gpu device_visibility p2p_broken network_unreachable network_ib
rdma_memlock peer_died rendezvous_timeout hang_collective hang_rank_absent collective_desync
driver_too_old driver_803_mismatch driver_804_forward_compat driver_802_not_ready wsl_cuda
gpu_hardware_fault host_oom_kill no_kernel_image ptx_newer_than_driver ptxas_too_old
triton_out_of_resources cudnn_too_old cudnn_sublibrary_mismatch cudnn_execution_failed
cudnn_init_failed cudnn_no_engine cudnn_arch_unsupported abi_undefined_symbol library_shadowed
missing_shared_library torchvision_mismatch torchcodec_load kernel_memory_fault device_side_assert
oom_capacity oom_fragmentation oom_xla batch_config dtype_mismatch program_error benign
user_interrupt scheduler_stop unknown_cause
"""

HOSTILE = [
    "A" * 8192,
    " " * 8192,
    "a." * 4096,
    "Error: " * 1100,
    "(" * 8192,
    "1, " * 2700,
    "NCCL WARN " + "x" * 8000,
    "NCCL WARN " + "connect " * 1000,
    "'" * 8192,
    "RESOURCE_EXHAUSTED: " * 400,
    "undefined symbol: " * 450,
    "lib" * 2700 + ".so",
    "Exception" * 900,
    "CUDA error: " * 680,
    "/" * 8192,
    "batch " * 1300,
    "[0, " * 2000,
]


def named(signature: Signature) -> str:
    return signature.id


@pytest.mark.parametrize("signature", SIGNATURES, ids=named)
def test_a_signature_matches_what_it_claims(signature: Signature) -> None:
    for line in signature.positive:
        assert any(anchor in line for anchor in signature.anchors), f"no anchor in {line!r}"
        assert signature.match(line), line


@pytest.mark.parametrize("signature", SIGNATURES, ids=named)
def test_a_signature_leaves_alone_what_it_disowns(signature: Signature) -> None:
    for line in signature.negative:
        found = any(anchor in line for anchor in signature.anchors) and signature.match(line)
        assert not found, line


@pytest.mark.parametrize("signature", SIGNATURES, ids=named)
def test_a_signature_has_evidence(signature: Signature) -> None:
    assert signature.evidence


@pytest.mark.parametrize("signature", SIGNATURES, ids=named)
def test_no_pattern_can_be_made_to_take_long(signature: Signature) -> None:
    lines = [*HOSTILE, *(line * 40 for line in signature.positive)]
    start = time.process_time()
    for line in lines:
        signature.match(line[:8192])
    assert time.process_time() - start < 0.02 * len(lines)


def test_the_families_that_are_promised_exist() -> None:
    assert set(PROMISED.split()) <= set(TABLE.families)


def test_every_fault_has_a_signature_that_leads_to_it() -> None:
    told_by_reading = {"oom_fragmentation", "hang_collective", "unknown_cause", "benign"}
    covered = {signature.family for signature in SIGNATURES if signature.role is LineRole.CAUSE}
    assert set(TABLE.families) - told_by_reading == covered


@pytest.mark.parametrize("name", sorted(set(TABLE.families) - {"benign"}))
def test_every_fault_has_a_remedy_and_says_what_it_is_not(name: str) -> None:
    family = TABLE.family(name)
    assert family.remedies
    assert family.safety
    assert family.needs


def test_advice_and_benign_lines_have_no_family() -> None:
    for signature in SIGNATURES:
        if signature.role in (LineRole.ADVICE, LineRole.BENIGN, LineRole.WRAPPER):
            assert signature.family is None


def test_hardware_comes_before_everything_and_categories_last() -> None:
    assert min(CrashStage) is CrashStage.HARDWARE
    assert max(CrashStage) is CrashStage.CATEGORY


GOOD = {
    "sources": {"s": {"kind": "documented", "where": "a document"}},
    "signature": [
        {
            "id": "x",
            "role": "cause",
            "stage": "stack",
            "family": "benign",
            "anchors": ["x"],
            "patterns": ["x"],
            "source": "s",
            "positive": ["x"],
            "negative": ["y"],
        }
    ],
}


def parsed(**changes: object) -> tuple[Signature, ...]:
    entry = {**GOOD["signature"][0], **changes}  # type: ignore[index]
    entry = {key: value for key, value in entry.items() if value is not None}
    file = Entry({**GOOD, "signature": [entry]}, "x.toml")
    return tuple(parse_signatures(file, TABLE.families))


def test_a_signature_is_read() -> None:
    (signature,) = parsed()
    assert signature._replace(weak=True).weak
    assert signature.stage is CrashStage.STACK


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"role": "reason"}, "signature[0].role: expected one of cause"),
        ({"stage": "later"}, "signature[0].stage: expected one of hardware"),
        ({"family": "gremlins"}, "signature[0].family: expected the name of a family"),
        ({"family": None}, "signature[0].family: expected a family"),
        ({"patterns": ["("]}, "signature[0].patterns[0]: expected a regular expression"),
        ({"anchors": []}, "signature[0].anchors: expected at least one text"),
        ({"negative": []}, "signature[0].negative: expected at least one text"),
        ({"source": []}, "signature[0].source: expected the name of at least one"),
        ({"when": {"ncll": "2"}}, "signature[0].when.ncll: expected one of the keys"),
        ({"anchor": "x"}, "signature[0].anchor: expected one of the keys"),
    ],
)
def test_a_wrong_signature_is_refused_with_its_place(
    changes: dict[str, object], words: str
) -> None:
    with pytest.raises(FactsError) as caught:
        parsed(**changes)
    assert words in str(caught.value)


def test_a_family_twice_is_refused() -> None:
    family = {"name": "a", "meaning": "m", "safety": "s", "needs": "n"}
    with pytest.raises(FactsError, match=r"family\[1\].name"):
        parse_families(Entry({"family": [family, family]}, "families.toml"))


def test_a_remedy_of_an_unknown_kind_is_refused() -> None:
    remedies = [{"kind": "magic", "text": "t"}]
    family = {"name": "a", "meaning": "m", "safety": "s", "needs": "n", "remedies": remedies}
    with pytest.raises(FactsError, match="expected one of pins"):
        parse_families(Entry({"family": [family]}, "families.toml"))
