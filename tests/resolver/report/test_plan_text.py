"""What a person reads."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from stackfix.plan.plan import Move, Plan, VariantChange
from stackfix.plan.rebuilds import Rebuild
from stackfix.report.plan_text import download_words, next_text, plan_text
from stackfix.report.text import show
from tests.resolver.report import examples


def shown(plan: Plan, *, width: int = 100, terminal: bool = False) -> str:
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=terminal, markup=False, highlight=False, emoji=False
    )
    show(console, plan_text(plan, origin="project"))
    return file.getvalue()


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_plan_tells_what_is_wrong_what_moves_and_what_stays() -> None:
    text = shown(examples.PLANNED)
    order = [
        "openpi",
        "4 × RTX 5090 (12.0), driver 570.133.07",
        "Wrong now",
        "SF101",
        "torch 2.7.1",
        "Moves together: 3 packages",
        "Edits",
        '+dependencies = ["torch==2.8.0"]',
        "Stays",
        "jax-cuda12-plugin 0.5.3",
        "lock revision 3 → 5",
        "lerobot could not be read",
    ]
    places = [text.find(part) for part in order]
    assert -1 not in places
    footnotes = places[-2:]
    assert places[:-2] == sorted(places[:-2])
    assert min(footnotes) > places[-3]


def test_what_a_finding_names_moves_before_what_is_dragged_along() -> None:
    moves = shown(examples.PLANNED).partition("Moves together")[2]
    assert moves.index("torch") < moves.index("nvidia-cudnn-cu12")
    assert "torch 2.7.1 → 2.8.0 SF101 no code for the card (index cu128)" in words(moves)
    assert "9.5.1.17 → 9.10.2.21 needed by torch 2.8.0" in words(moves)
    assert "old-helper 1.0 → leaves nothing needs it any more" in words(moves)


def test_a_move_for_another_packages_sake_names_it() -> None:
    move = replace(examples.PLANNED.moves[0], because=f"SF101: {examples.NO_CODE.message}")
    text = words(shown(replace(examples.PLANNED, moves=(move,))))
    assert "9.10.2.21 SF101 no code for the card: torch 2.7.1" in text


@pytest.mark.parametrize(
    ("moves", "line"),
    [
        (
            [("jax", "0.8.0", "0.8.0", "jax[cuda13]", "jax[cuda12]")],
            "jax[cuda13] 0.8.0 → jax[cuda12]",
        ),
        (
            [("jax", "0.8.0", "0.9.0", "jax[cuda13]", "jax[cuda12]")],
            "jax[cuda13] 0.8.0 → jax[cuda12] 0.9.0",
        ),
        (
            [
                ("cupy-cuda13x", "14.0.0", None, "cupy-cuda13x", "cupy-cuda12x"),
                ("cupy-cuda12x", None, "13.6.0", "cupy-cuda13x", "cupy-cuda12x"),
            ],
            "cupy-cuda13x 14.0.0 → cupy-cuda12x 13.6.0",
        ),
        (
            [("nvidia-cudnn-cu12", "9.10.2.21", None, "nvidia-cudnn-cu12", "nvidia-cudnn-cu13")],
            "nvidia-cudnn-cu12 9.10.2.21 → nvidia-cudnn-cu13",
        ),
    ],
)
def test_a_variant_that_takes_the_place_of_another_is_one_line(
    moves: list[tuple[str, str | None, str | None, str, str]], line: str
) -> None:
    made = tuple(
        Move(
            package=package,
            before=before,
            after=after,
            because="SF201: too old",
            variant=VariantChange(before=old, after=new),
        )
        for package, before, after, old, new in moves
    )
    text = shown(replace(examples.PLANNED, moves=made)).partition("Moves together")[2]
    assert f" {line} SF201: too old " in words(text)
    assert text.count("SF201") == 1


def test_a_fault_shows_its_first_source_and_how_many_more_there_are() -> None:
    text = words(shown(examples.PLANNED))
    assert "sm_50 … sm_90 · measured and 1 more" in text  # its own
    assert "measured: torch-2.7.1-cp311-cp311-manylinux_2_28_x86_64.whl" in text  # another's


def test_what_stays_is_not_called_wrong() -> None:
    wrong = shown(examples.PLANNED).partition("Wrong now")[2].partition("Moves together")[0]
    assert "jax-cuda12-plugin" not in wrong


def test_nothing_to_do_is_said_first_and_warnings_follow() -> None:
    text = shown(examples.NOTHING)
    assert "Nothing to do" in text
    assert "Moves" not in text
    assert text.index("Nothing to do") < text.index("jax-cuda12-plugin 0.5.3")


def test_a_project_without_gpu_packages_is_told_so() -> None:
    text = shown(examples.NO_GPU)
    assert "Nothing here uses the GPU" in text
    assert "Nothing to do" not in text


def test_no_gpu_is_said_once() -> None:
    plan = replace(examples.NO_GPU, warnings=("nothing here uses the GPU",))
    assert shown(plan).lower().count("nothing here uses the gpu") == 1


def test_an_impossible_plan_tells_every_reason_and_what_would_help() -> None:
    text = words(shown(examples.IMPOSSIBLE))
    assert "No set of pins supports every target (41 combinations tried)" in text
    assert "torch 2.4.0 … 2.6.0 (4) no code for 12.0" in text
    assert "torch 2.8.0 no code for 7.0" in text
    assert "driver 570.26 or newer" in text
    assert "without V100: torch 2.8.0" in text


def test_a_fault_of_one_target_of_several_names_it() -> None:
    assert "[RTX 5090]" in shown(examples.IMPOSSIBLE)
    assert "[RTX 5090]" not in shown(examples.PLANNED)


def test_unmeasured_packages_are_told_in_one_line() -> None:
    text = shown(examples.PLANNED)
    assert words(text).count("torchcodec") == 1
    assert "Not known" in text


def test_pipes_get_no_escape_codes_and_terminals_do() -> None:
    assert "\x1b" not in shown(examples.PLANNED)
    assert "\x1b" in shown(examples.PLANNED, terminal=True)


def test_no_colour_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    coloured = [f"\x1b[{code}" for code in ("31", "32", "33", "36", "1;31")]
    text = shown(examples.PLANNED, terminal=True)
    assert not any(code in text for code in coloured)


@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_lines_keep_to_the_width(width: int) -> None:
    assert max(map(len, shown(examples.PLANNED, width=width).splitlines())) <= width


def test_text_from_a_lock_is_no_markup() -> None:
    evil = replace(examples.NO_CODE, message="[red]x[/red] [link=file:///]y[/link]")
    assert "[red]x[/red]" in shown(replace(examples.PLANNED, findings=(evil,)))


def test_control_characters_do_not_reach_the_terminal() -> None:
    evil = replace(examples.NO_CODE, message="a\x1b]0;title\x07b\x9bc")
    text = shown(replace(examples.PLANNED, findings=(evil,)))
    assert not any(character in text for character in "\x1b\x07\x9b")


def test_pipes_get_no_blanks_at_the_end_of_lines() -> None:
    assert not [line for line in shown(examples.PLANNED).splitlines() if line != line.rstrip()]


def test_what_has_to_be_compiled_again_is_told_with_the_commands() -> None:
    flash = Rebuild(package="flash-attn", version="2.7.4.post1", against="torch 2.8.0")
    mamba = Rebuild(package="mamba-ssm", version="2.2.4", against="torch 2.8.0")
    text = words(shown(replace(examples.PLANNED, rebuilds=(flash, mamba))))
    assert "Build anew flash-attn, mamba-ssm: compiled on each machine" in text
    assert "against torch 2.8.0;" in text
    assert (
        "uv cache clean flash-attn mamba-ssm && uv sync --reinstall-package flash-attn "
        "--reinstall-package mamba-ssm" in text
    )


def test_a_long_diff_is_cut() -> None:
    text = shown(replace(examples.PLANNED, diff="\n".join(f"+line {n}" for n in range(500))))
    assert "more lines" in text
    assert "line 400" not in text


def test_next_steps_are_commands_with_what_they_do() -> None:
    file = io.StringIO()
    steps = [("uv sync", download_words(examples.PLANNED))]
    show(Console(file=file, width=100), next_text(steps))
    assert "uv sync fetches up to 3.1 GB" in words(file.getvalue())
