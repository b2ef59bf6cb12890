"""Variants: groups of one product, each alternative with its CUDA major."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement

from stackfix_knowledge.graph import Graph
from stackfix_knowledge.reader import Entry, FactsError
from stackfix_knowledge.stack.variants import Variant, VariantGroup, VariantTable, parse_variants


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph.load()


@pytest.fixture(scope="module")
def table(graph: Graph) -> VariantTable:
    return graph.variants


def asked_for(table: VariantTable, text: str) -> Variant | None:
    """The variant that a requirement asks for."""
    requirement = Requirement(text)
    return table.get(requirement.name, next(iter(requirement.extras), None))


@pytest.mark.parametrize(
    ("key", "cuda", "other", "spelled"),
    [
        ("jax[cuda13]", 13, 12, "jax[cuda12]"),
        ("jax[cuda12]", 12, 13, "jax[cuda13]"),
        ("jax[cuda]", 12, 13, "jax[cuda13]"),
        ("jax[cuda12-pip]", 12, 13, "jax[cuda13]"),
        ("jax[cuda13-local]", 13, 12, "jax[cuda12-local]"),
        ("flashinfer-python[cu13]", 13, 12, "flashinfer-python[cu12]"),
        ("transformer-engine[core-cu12]", 12, 13, "transformer-engine[core-cu13]"),
        ("cupy-cuda11x", 11, 13, "cupy-cuda13x"),
        ("nvidia-dali-cuda130", 13, 12, "nvidia-dali-cuda120"),
        ("nvidia-cudnn-cu12", 12, 13, "nvidia-cudnn-cu13"),
        ("nvidia-cublas-cu12", 12, 13, "nvidia-cublas"),
        ("nvidia-cublas", 13, 11, "nvidia-cublas-cu11"),
        ("cudf-cu12", 12, 13, "cudf-cu13"),
        ("tensorrt-cu13", 13, 12, "tensorrt-cu12"),
    ],
)
def test_an_alternative_for_another_cuda_major(
    table: VariantTable, key: str, cuda: int, other: int, spelled: str
) -> None:
    variant = asked_for(table, key)
    assert variant is not None
    assert variant.cuda == cuda
    assert str(table.group(variant).of(other)) == spelled


@pytest.mark.parametrize("key", ["jax", "jax[k8s]", "torch", "tensorflow[and-cuda]", "cupy"])
def test_what_is_no_variant(table: VariantTable, key: str) -> None:
    assert asked_for(table, key) is None


def test_a_major_that_nobody_built_for(table: VariantTable) -> None:
    variant = table.get("jax", "cuda12")
    assert variant is not None
    assert table.group(variant).of(11) is None


def groups() -> list[VariantGroup]:
    return list(VariantTable.load().groups)


@pytest.mark.parametrize("group", groups(), ids=lambda group: str(group.alternatives[0]))
def test_a_group_is_one_product_of_the_stack(graph: Graph, group: VariantGroup) -> None:
    packages = [graph.packages.get(variant.package) for variant in group.alternatives]
    assert all(packages)
    assert len({(p.family, p.role, p.provides) for p in packages if p}) == 1
    for variant, package in zip(group.alternatives, packages, strict=True):
        if variant.extra is None:
            assert package is not None
            assert package.cuda_major == variant.cuda
    assert group.evidence
    assert all(evidence.date for evidence in group.evidence)


@pytest.mark.parametrize("group", groups(), ids=lambda group: str(group.alternatives[0]))
def test_every_extra_stands_in_some_wheel(graph: Graph, group: VariantGroup) -> None:
    for variant in (*group.alternatives, *group.aliases):
        lines = [
            line.replace("'", '"').replace("_", "-")
            for release in graph.releases(variant.package)
            for wheel in release.wheels
            for line in wheel.requires or ()
        ]
        if variant.extra is not None and lines:
            assert any(f'"{variant.extra}"' in line for line in lines), variant


def facts(*alternatives: dict[str, object]) -> Entry:
    sources = {"s": {"kind": "metadata", "where": "a wheel", "date": "2026-11-30"}}
    group = {"source": "s", "alternatives": list(alternatives)}
    return Entry({"sources": sources, "group": [group]}, "variants.toml")


@pytest.mark.parametrize(
    ("alternatives", "expected"),
    [
        ([{"cuda": 12, "package": "a"}], "two CUDA majors or more"),
        ([{"cuda": 13, "package": "a"}, {"cuda": 12, "package": "b"}], "ascending"),
        ([{"cuda": 12, "package": "a"}, {"cuda": 12, "package": "b"}], "each once"),
        ([{"cuda": 12, "package": "a"}, {"cuda": 13, "package": "a"}], "not a again"),
        ([{"cuda": "12", "package": "a"}, {"cuda": 13, "package": "b"}], "a whole number"),
        ([{"cuda": 12, "package": "a", "extras": "x"}], "one of the keys"),
    ],
)
def test_a_wrong_table_is_refused_in_one_line(
    alternatives: list[dict[str, object]], expected: str
) -> None:
    with pytest.raises(FactsError, match=expected):
        list(parse_variants(facts(*alternatives)))


def test_a_group_without_evidence_is_no_fact() -> None:
    entry = facts({"cuda": 12, "package": "a"}, {"cuda": 13, "package": "b"})
    entry.data["group"][0].pop("source")
    with pytest.raises(FactsError, match="source"):
        list(parse_variants(entry))


def test_a_variant_is_spelled_as_a_requirement_asks_for_it() -> None:
    assert str(Variant(package="jax", extra="cuda12", cuda=12)) == "jax[cuda12]"
    assert str(Variant(package="cupy-cuda12x", extra=None, cuda=12)) == "cupy-cuda12x"
