"""A plan as text: what is wrong, what moves, what stays, what next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from stackfix.plan.plan import Status
from stackfix.report.findings import findings_table, hits_of_findings
from stackfix.report.plan import move_rows
from stackfix.report.text import assemble, grid, heading, indented, plain
from stackfix.wording import count, listed, size

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from stackfix.model.finding import Finding
    from stackfix.plan.plan import Move, Obstacle, Plan

__all__ = ["download_words", "next_text", "plan_text"]

_MOST_DIFF_LINES = 60


def next_text(lines: Sequence[tuple[str, str]]) -> Iterator[RenderableType]:
    """What to run next: commands and what each does."""
    yield heading("Next")
    width = max((len(command) for command, _ in lines), default=0)
    for command, effect in lines:
        line = assemble((f"  {command:{width}}", "bold"), (f"  {effect}".rstrip(), "dim"))
        line.no_wrap = True  # a wrapped command could not be copied
        yield line


def plan_text(plan: Plan, *, origin: str | None = None) -> Iterator[RenderableType]:
    """The plan. `origin` says who named the targets, where that is not plain."""
    yield _header(plan, origin)
    if not plan.gpu_packages and not plan.findings:
        yield plain("\nNothing here uses the GPU: no package of this environment carries GPU code.")
    elif plan.status is Status.NOTHING_TO_DO:
        yield plain("\n✓ Nothing to do: no error on any target.", style="bold green")
        yield from _findings(plan, plan.findings, None)
    elif plan.status is Status.PLANNED:
        yield from _findings(
            plan, [f for f in plan.findings if f not in plan.remaining], "Wrong now"
        )
        yield from _moves(plan)
        yield from _diff(plan)
        yield from _findings(plan, plan.remaining, "Stays")
    else:
        yield from _findings(plan, plan.findings, "Wrong now")
        yield from _obstacles(plan)
    yield from _answers(plan)
    yield from _footnotes(plan)


def _header(plan: Plan, origin: str | None) -> RenderableType:
    where = ", ".join(plan.selection.platforms)
    extras = "".join(f", extra {extra}" for extra in plan.selection.extras)
    table = grid()
    gpu = f", {count(plan.gpu_packages, 'GPU package')}" if plan.gpu_packages else ""
    table.add_row(
        plain("Project", style="dim"),
        assemble(
            (plan.project, "bold"),
            (f"  Python {plan.selection.python}, {where}{extras}{gpu}", "dim"),
        ),
    )
    for number, target in enumerate(plan.targets):
        named = f"  from {origin}" if origin and not number else ""
        table.add_row(
            plain("Target" if not number else "", style="dim"),
            assemble((target.label, "bold"), (named, "dim")),
        )
    return table


def _findings(
    plan: Plan, findings: Iterable[Finding], title: str | None
) -> Iterator[RenderableType]:
    table = findings_table(hits_of_findings(findings, plan.targets))
    if table is None:
        return
    if title:
        yield heading(title)
    yield indented(table)


def _moves(plan: Plan) -> Iterator[RenderableType]:
    said = {f"{finding.code}: {finding.message}": finding for finding in plan.findings}
    if not plan.moves:
        return
    yield heading(f"Moves together: {count(len(plan.moves), 'package')}")
    table = grid()
    for move, row in move_rows(sorted(plan.moves, key=lambda move: move.dragged)):
        table.add_row(
            plain(row.package, style="" if move.dragged else "bold"),
            plain(row.before, style="dim"),
            plain("→", style="dim"),
            plain(row.after, style="yellow" if row.after == "leaves" else "green"),
            _reason(move, said.get(move.because)),
        )
    yield indented(table)


def _reason(move: Move, finding: Finding | None) -> Text:
    """Why it moves, in short: what was said above is only named by its code."""
    because = move.because
    if finding is not None:
        because = f"{finding.code} {_titles().get(finding.code, '')}".strip()
        if finding.package != move.package:
            because += f": {finding.package} {finding.version}"
    elif move.after and because.endswith(f" needs {move.package}=={move.after}"):
        because = f"needed by {because.removesuffix(f' needs {move.package}=={move.after}')}"
    extra = [part for part in (move.fork, move.index and f"index {move.index}") if part]
    reason = plain(because, style="dim" if move.dragged else "")
    if extra:
        reason.append_text(plain(f" ({', '.join(extra)})", style="cyan"))
    return reason


def _titles() -> dict[str, str]:
    from stackfix.rules import catalogue

    return catalogue.titles()


def _diff(plan: Plan) -> Iterator[RenderableType]:
    lines = plan.diff.splitlines()
    if not lines:
        return
    yield heading("Edits")
    text = plain("")
    for line in lines[:_MOST_DIFF_LINES]:
        style = "bold" if line.startswith(("+++", "---")) else _DIFF_STYLE.get(line[:1], "dim")
        text.append_text(plain(line + "\n", style=style))
    if len(lines) > _MOST_DIFF_LINES:
        text.append_text(plain(f"… {len(lines) - _MOST_DIFF_LINES} more lines\n", style="dim"))
    text.rstrip()
    yield indented(text)


_DIFF_STYLE = {"+": "green", "-": "red", "@": "cyan"}


def _obstacles(plan: Plan) -> Iterator[RenderableType]:
    tried = f" ({count(plan.tried, 'combination')} tried)" if plan.tried else ""
    yield plain(f"\n✗ No set of pins supports every target{tried}.", style="bold red")
    if plan.obstacles:
        yield heading("Why not")
        table = grid()
        for obstacle in plan.obstacles:
            table.add_row(plain(_versions(obstacle), style="bold"), plain(obstacle.reason))
        yield indented(table)
    if plan.ways_out:
        yield heading("What would open a way")
        yield indented(plain("\n".join(f"· {way}" for way in plan.ways_out), style="green"))


def _answers(plan: Plan) -> Iterator[RenderableType]:
    for answer in plan.answers:
        yield heading(answer.question.capitalize())
        for line in answer.lines:
            yield indented(plain(line))
        table = grid()
        for obstacle in answer.obstacles:
            table.add_row(plain(_versions(obstacle), style="bold"), plain(obstacle.reason))
        if table.rows:
            yield indented(table)


def _versions(obstacle: Obstacle) -> str:
    """ "torch 2.4.0 … 2.6.0 (7)": the ends of a group say as much as a list of thirty."""
    versions = obstacle.versions
    if len(versions) <= 3:
        return f"{obstacle.package} {', '.join(versions)}".strip()
    return f"{obstacle.package} {versions[0]} … {versions[-1]} ({len(versions)})"


def _footnotes(plan: Plan) -> Iterator[RenderableType]:
    table = grid()
    if plan.rebuilds:
        table.add_row(plain("Build anew", style="yellow"), plain(rebuild_words(plan)))
    if plan.next_step:
        step = plan.next_step
        verb = "Then possible" if step.possible else "Not possible yet"
        table.add_row(plain(verb, style="dim"), plain(f"{step.offer}: {step.reason}"))
    if plan.unknown:
        table.add_row(
            plain("Not known", style="dim"),
            plain(f"{listed(plan.unknown)}: not measured or not readable, so nothing is claimed"),
        )
    if plan.drift:
        table.add_row(
            plain("Also in uv.lock", style="dim"), plain("; ".join(plan.drift), style="dim")
        )
    for warning in plan.warnings:
        if not plan.gpu_packages and warning.startswith("nothing here uses the GPU"):
            continue  # said above
        table.add_row(plain("Note", style="yellow"), plain(warning))
    if table.rows:
        yield plain("")
        yield table


def rebuild_words(plan: Plan) -> str:
    """What was compiled against a framework that moves, and how to have uv compile it again."""
    names = dict.fromkeys(rebuild.package for rebuild in plan.rebuilds)
    against = " and ".join(dict.fromkeys(rebuild.against for rebuild in plan.rebuilds))
    again = " ".join(f"--reinstall-package {name}" for name in names)
    return (
        f"{', '.join(names)}: compiled on each machine, from now on against {against}; uv would "
        f"take its old build. Once, on each: uv cache clean {' '.join(names)} && uv sync {again}"
    )


def download_words(plan: Plan) -> str:
    """What `uv sync` will fetch for the plan, "" if that is not known."""
    return f"fetches up to {size(plan.download)}" if plan.download else ""
