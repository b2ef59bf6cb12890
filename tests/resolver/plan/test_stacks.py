"""Real stack problems end as they should: stacks/*.toml, each case through a plan.

The index serves what the facts know of the stack (tests/registry/facts.py), so that vllm or
TensorFlow lock without a recording of all that surrounds them.

A case says:

    depends    the project's dependencies
    index      packages from one of PyTorch's indexes: { name = "cu128", packages = [...] }
    overrides  tool.uv.override-dependencies
    locked     versions that the lock starts from where `depends` leaves them open
    unlockable true where uv can lock no such project: it is planned without a uv.lock
    targets    as `--target` takes them
    platforms  where those run, if not on the platform of the card
    findings   codes that the plan must name
    about      packages that these errors must be about
    outcome    "planned", "impossible" or "nothing-to-do" (a warning is all)
    after      versions after the move; "absent", or ">=9.6" for a range
    reported   what the people who met it ended with, where they said so
    asks       what the project's dependencies are afterwards
    require    `--require`, `keep`: `--keep`, `strategy`: `--strategy`
    obstacle   a part of a reason why not
    lifts      a part of the line that says what would open a way
    reason     instead of all that: why a project with a uv.lock cannot show the problem
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.plan.lock_state import lock_state
from stackfix.plan.plan import Plan, Status
from stackfix.plan.request import Strategy
from stackfix.rules.judge import errors
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.uv import Uv
from tests.registry.server import Index
from tests.resolver.making import graph
from tests.resolver.plan.mirrored import on_index, plan_on
from tests.resolver.plan.planning import project_of

FILES = sorted((Path(__file__).parent / "stacks").glob("*.toml"))
CASES = {file.stem: tomllib.loads(file.read_text(encoding="utf-8"))["case"] for file in FILES}
ROWS = [row for rows in CASES.values() for row in rows]
SHOWN = [row for row in ROWS if "reason" not in row]


def cases() -> Iterator[Any]:
    """Every case; after the first with the same end in a file, they are slow."""
    known: set[tuple[str, ...]] = set()
    for file, rows in CASES.items():
        for row in (row for row in rows if row in SHOWN):
            kind = (file, row["outcome"])
            marks = [pytest.mark.slow(reason="another case of a kind")] if kind in known else []
            known.add(kind)
            yield pytest.param(row, id=row["id"], marks=marks)


@pytest.mark.parametrize("row", list(cases()))
def test_a_real_problem_ends_as_it_should(
    row: Mapping[str, Any], facts_index: Index, tmp_path: Path
) -> None:
    project = made(row, facts_index, tmp_path / "p")
    asked = {key: tuple(row.get(key, ())) for key in ("require", "keep", "platforms")}
    strategy = Strategy(row.get("strategy", Strategy.LEAST_CHANGE))
    plan = plan_on(facts_index, project, *row["targets"], strategy=strategy, **asked)
    assert plan.status is Status(row["outcome"]), [o.reason for o in plan.obstacles]
    assert set(row["findings"]) <= {finding.code for finding in plan.findings}
    assert set(row.get("about", ())) <= {finding.package for finding in errors(plan.findings)}
    assert any(row.get("lifts", "") in line for line in ("", *plan.ways_out))
    assert any(row.get("obstacle", "") in reason for reason in ("", *reasons(plan)))
    if "asks" in row:
        assert dependencies(plan, project) == row["asks"]
    versions = installed(plan, project)
    for name, wanted in row.get("after", {}).items():
        assert agrees(versions.get(name), wanted), (name, versions.get(name))


def test_every_case_has_a_name_of_its_own() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS)


def test_cases_that_no_lock_can_show_say_why() -> None:
    assert len(SHOWN) >= 100
    assert all(row["reason"] for row in ROWS if row not in SHOWN)


def made(row: Mapping[str, Any], index: Index, folder: Path) -> Path:
    """The project of a row, locked; with `locked`, from those versions on.

    One that uv cannot lock has no lock, and uv is seen to refuse it.
    """
    home = row.get("index")
    sources = on_index(home["name"], *home["packages"]) if home else ""
    project = index.restore(project_of(folder, *row["depends"], extra=sources))
    file = project / "pyproject.toml"
    plain = file.read_text()
    overrides = f"[tool.uv]\noverride-dependencies = {row.get('overrides', [])}\n"
    start = [f"{name}=={version}" for name, version in row.get("locked", {}).items()]
    for held in ([f"constraint-dependencies = {start}\n"] if start else []) + [""]:
        file.write_text(f"{plain}\n{overrides}{held}")
        finished = Uv.find().run(["lock"], cwd=project, timeout=120)
        assert (finished.returncode == 0) is not row.get("unlockable", False), finished.stderr
    return project


def reasons(plan: Plan) -> list[str]:
    return [obstacle.reason for obstacle in plan.obstacles]


def dependencies(plan: Plan, project: Path) -> list[str]:
    """What the project asks for after the plan."""
    data = next(
        (data for path, data in plan.files.items() if path.name == "pyproject.toml"),
        (project / "pyproject.toml").read_bytes(),
    )
    asked: list[str] = tomllib.loads(data.decode())["project"]["dependencies"]
    return asked


def installed(plan: Plan, project: Path) -> dict[str, Version]:
    """What the first target installs after the plan."""
    from stackfix.plan.request import Request
    from stackfix_lockfiles.project import Project

    written = {path.name: data for path, data in plan.files.items()}
    data = written.get("uv.lock") or (project / "uv.lock").read_bytes()
    request = Request(project=Project.find(project), graph=graph(), targets=plan.targets[:1])
    (stack,) = lock_state(Lock.parse(data), request).stacks
    return {piece.name: piece.version for piece in stack}


def agrees(version: Version | None, wanted: str) -> bool:
    if wanted == "absent" or version is None:
        return version is None and wanted == "absent"
    if wanted[0].isdigit():
        return version == Version(wanted)
    bounds = [part.partition("+")[0] for part in wanted.split(",")]
    return SpecifierSet(",".join(bounds)).contains(version.public)
