"""Plans for tests: the real workflow on a project that the recorded index serves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stackfix.audit.settings import policy, settings_of
from stackfix.plan.plan import Plan, Status
from stackfix.plan.propose import propose
from stackfix.plan.request import Request
from stackfix.rules.judge import errors
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.transaction import commit
from stackfix_lockfiles.uv import Uv
from tests.resolver.making import graph, target


def plan_for(
    project: Path, *cards: str, overlays: tuple[Path, ...] = (), **options: object
) -> Plan:
    """The plan for these cards, as `stackfix plan --target …` makes it."""
    facts = Graph.load(overlays) if overlays else graph()
    return propose(request_for(project, facts, *cards, **options))


def request_for(
    project: Path, facts: Graph, *cards: str, platforms: tuple[str, ...] = (), **options: object
) -> Request:
    """What `stackfix plan --target … --platform …` asks."""
    found = Project.find(project)
    targets = [target(card) for card in cards]
    if platforms:
        targets = [replace(one, platform=name) for one in targets for name in platforms]
    return Request(
        project=found,
        graph=facts,
        targets=tuple(targets),
        policy=policy(settings_of(found, found.root)),
        **options,  # type: ignore[arg-type]  # keywords of Request
    )


def apply(plan: Plan) -> None:
    """Write a plan, as `stackfix apply --yes` does."""
    files = {Path(path): data for path, data in plan.files.items()}
    base = {Path(path): digest for path, digest in plan.base.items()}
    commit(Path(plan.root), files, expected=base, label="test")


def project_of(folder: Path, *dependencies: str, extra: str = "") -> Path:
    """A project that depends on these packages, without a lock."""
    folder.mkdir(parents=True)
    asked = ", ".join(f'"{text}"' for text in dependencies)
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "made"\nversion = "0.1.0"\nrequires-python = ">=3.11"\n'
        f"dependencies = [{asked}]\n{extra}",
        encoding="utf-8",
    )
    return folder


def locked(folder: Path, *dependencies: str, extra: str = "") -> Path:
    """A project that uv has locked."""
    project = project_of(folder, *dependencies, extra=extra)
    run_uv(project, "lock")
    return project


def run_uv(project: Path, *arguments: str) -> None:
    """uv as its users run it; it must succeed."""
    done = Uv.find().run(arguments, cwd=project, timeout=120)
    assert done.returncode == 0, done.stderr


def holds(project: Path, plan: Plan, *cards: str, **options: object) -> bool:
    """Whether no error comes back: after applying, and after all that a user does next."""
    apply(plan)
    if plan_for(project, *cards, **options).status is not Status.NOTHING_TO_DO:
        return False
    for arguments in (["lock", "--check"], ["add", "--no-sync", "six"], ["lock", "--upgrade"]):
        run_uv(project, *arguments)
        if errors(plan_for(project, *cards, **options).findings):
            return False
    return True


def moved(plan: Plan) -> dict[str, str | None]:
    """Package → new version of every move."""
    return {move.package: move.after for move in plan.moves}
