"""Plans where PyTorch's own indexes do not answer: made without them, soon, and said so."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pytest

from stackfix.plan.plan import Plan, Status
from stackfix.plan.propose import propose
from stackfix.plan.request import Request, Strategy
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.wheels.indexes import IndexTable
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.relock import IndexUnreachable, answers
from tests.registry.server import Index
from tests.resolver.making import target
from tests.resolver.plan.mirrored import locked, on_index, plan_on
from tests.resolver.plan.planning import moved

CARD = "RTX 5090@570.133.07"
SILENT = "http://127.0.0.1:9/whl/"


class Elsewhere(Graph):
    """The shipped facts; PyTorch's indexes are at an address of the test's."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address

    @cached_property
    def indexes(self) -> IndexTable:
        return IndexTable.load(self._address)


def plan_at(address: str, project: Path, card: str = CARD, **options: object) -> Plan:
    request = Request(
        project=Project.find(project),
        graph=Elsewhere(address),
        targets=(target(card),),
        **options,  # type: ignore[arg-type]  # keywords of Request
    )
    return propose(request)


@pytest.fixture
def project(shared_index: Index, tmp_path: Path) -> Path:
    return locked(shared_index, tmp_path / "p", "torch==2.7.1")


@pytest.fixture
def broken() -> Iterator[Index]:
    """A host that takes connections and serves nothing."""
    with Index() as index:
        index.refuses = 503
        yield index


def test_the_build_of_another_index_is_the_nearest(shared_index: Index, project: Path) -> None:
    plan = plan_on(shared_index, project, CARD)
    assert moved(plan)["torch"] == "2.7.1+cu128"
    assert plan.warnings == ()


def test_where_no_host_answers_the_default_index_is_left(project: Path) -> None:
    said: list[str] = []
    plan = plan_at(SILENT, project, progress=said.append)
    assert moved(plan)["torch"] == "2.8.0"
    assert plan.warnings == (
        f"{SILENT} does not answer: builds of PyTorch's own indexes are left out",
    )
    assert len([line for line in said if line.startswith("relocking")]) == 1  # uv never tried


def test_where_the_host_answers_with_errors_uv_tries_once(project: Path, broken: Index) -> None:
    said: list[str] = []
    plan = plan_at(broken.whl, project, progress=said.append)
    assert moved(plan)["torch"] == "2.8.0"
    (warning,) = plan.warnings
    assert warning.startswith(f"{broken.whl}: ")
    assert warning.endswith(": builds of PyTorch's own indexes are left out")
    tried = [line for line in said if line.startswith("relocking")]
    assert tried == ["relocking with torch 2.7.1+cu128", "relocking with torch 2.8.0"]


def test_offline_without_their_pages_in_the_cache_too(project: Path, shared_index: Index) -> None:
    plan_at(SILENT, project)  # uv has the default index's pages in its cache now
    plan = plan_at(shared_index.whl.replace("127.0.0.1", "localhost"), project, offline=True)
    assert moved(plan)["torch"] == "2.8.0"
    assert plan.warnings == ("offline: builds of PyTorch's own indexes are left out",)


def test_a_project_of_theirs_can_still_go_back(shared_index: Index, tmp_path: Path) -> None:
    lines = on_index("cu126", "torch")
    project = locked(shared_index, tmp_path / "p", "torch==2.8.0", extra=lines)
    plan = plan_on(shared_index, project, CARD)
    assert moved(plan)["torch"] == "2.8.0"
    assert plan.warnings == ()


def test_what_only_they_have_is_impossible_and_said_so(shared_index: Index, tmp_path: Path) -> None:
    project = locked(shared_index, tmp_path / "p", "torch==2.12.0")
    plan = plan_at(SILENT, project, "V100@570.133.20", require=("torch==2.12.0",))
    assert plan.status is Status.IMPOSSIBLE
    assert any(
        "2.12.0+cu126" in o.versions and o.reason == f"{SILENT} does not answer"
        for o in plan.obstacles
    )


def test_the_default_index_must_answer(project: Path, broken: Index) -> None:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("UV_DEFAULT_INDEX", broken.url)
        environment.setenv("UV_NO_CACHE", "1")
        with pytest.raises(IndexUnreachable):
            plan_at(SILENT, project, strategy=Strategy.SAME_INDEX)


def test_a_proxy_answers_in_a_hosts_place(broken: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not answers("https://download.pytorch.org/whl/")  # the tests' proxy is dead
    monkeypatch.setenv("https_proxy", broken.address)
    monkeypatch.setenv("HTTPS_PROXY", broken.address)
    assert answers("https://download.pytorch.org/whl/")
    assert answers(f"{broken.address}/x")
    assert not answers("http://127.0.0.1:9/x")
