"""Plans for tests: the real workflow on a project that the recorded index serves."""

from __future__ import annotations

from pathlib import Path

from stackfix.plan.plan import Plan
from stackfix.plan.propose import propose
from stackfix.plan.request import Request
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.transaction import commit
from tests.resolver.making import graph, target


def plan_for(
    project: Path, *cards: str, overlays: tuple[Path, ...] = (), **options: object
) -> Plan:
    """The plan for these cards, as `stackfix plan --target …` makes it."""
    facts = Graph.load(overlays) if overlays else graph()
    request = Request(
        project=Project.find(project),
        graph=facts,
        targets=tuple(target(card) for card in cards),
        **options,  # type: ignore[arg-type]  # keywords of Request
    )
    return propose(request)


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


def moved(plan: Plan) -> dict[str, str | None]:
    """Package → new version of every move."""
    return {move.package: move.after for move in plan.moves}
