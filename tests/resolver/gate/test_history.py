"""`check --base` over a whole history flags the bad bumps, with their reasons, and only them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stackfix.cli.main import main
from tests.registry.server import Index
from tests.resolver.gate.history import STEPS, Step, git, made

History = tuple[Path, list[str]]


@pytest.fixture(scope="module")
def history(shared_index: Index, tmp_path_factory: pytest.TempPathFactory) -> History:
    folder = tmp_path_factory.mktemp("history")
    return folder / "fleet", made(folder)


def checked(
    at: tuple[Path, str, str], capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str]:
    project, commit, base = at
    git(project, "checkout", "-q", commit)
    code = main(["check", str(project), "--base", base, *arguments])
    out, err = capsys.readouterr()
    assert not err
    return code, out


@pytest.mark.parametrize(
    ("number", "step"), list(enumerate(STEPS)), ids=lambda v: getattr(v, "name", "")
)
def test_a_change_is_judged_by_what_it_brings(
    number: int, step: Step, history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    project, commits = history
    at = (project, commits[number + 1], commits[number])
    code, out = checked(at, capsys, "--format", "json")
    (lock,) = json.loads(out)["locks"]
    found = _of(lock["findings"], "error")
    assert step.errors <= found
    codes = {code for code, _ in step.errors}
    others = {one for one in found - step.errors if not one[1].startswith(("nvidia-", "cuda-"))}
    assert not others
    assert {code for code, _ in found} == codes
    assert code == (1 if step.errors else 0)
    assert step.repairs <= _of(lock["repaired"], "error")
    if not step.repairs:
        assert not _of(lock["repaired"], "error")
    moves = {move["package"]: (move["from"], move["to"]) for move in lock["moved"]}
    assert step.moves.items() <= moves.items()
    said = " ".join(checked(at, capsys)[1].split())
    for words in step.says:
        assert words in said


def test_an_index_that_nobody_names_fails_where_warnings_do(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    project, commits = history
    code, out = checked((project, commits[-1], commits[-2]), capsys, "--fail-on", "warning")
    assert code == 1
    assert "SF505" in out


def test_the_whole_history_at_once_says_what_is_left_of_it(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    project, commits = history
    code, out = checked((project, commits[-2], commits[0]), capsys, "--format", "json")
    (lock,) = json.loads(out)["locks"]
    assert code == 0
    assert {move["package"] for move in lock["moved"]} >= {"torch", "triton", "nvidia-cudnn-cu12"}


def _of(hits: list[dict[str, Any]], severity: str) -> set[tuple[str, str]]:
    return {(hit["code"], hit["package"]) for hit in hits if hit["severity"] == severity}
