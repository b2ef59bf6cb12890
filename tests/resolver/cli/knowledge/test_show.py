"""`stackfix knowledge show` and `matrix`: the graph, read aloud."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stackfix.cli.knowledge import COMMANDS
from stackfix.cli.main import main
from tests.knowledge.lint.test_lint import WHEEL
from tests.resolver.report.published import valid


def document(capsys: pytest.CaptureFixture[str], schema: str, *arguments: str) -> dict[str, Any]:
    assert main(["knowledge", *arguments, "--format", "json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    valid(schema, found)
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["knowledge", name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: stackfix knowledge {name} ")


def test_a_release_shows_every_set_of_images_and_its_evidence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = document(capsys, "release-1", "show", "nvidia-cudnn-cu12==9.5.1.17")
    engines = next(one for one in found["libraries"] if "engines_precompiled" in one["name"])
    assert engines["containers"] == 727 == sum(one["count"] for one in engines["sets"])
    assert {"count": 142, "images": ["sm_90a"]} in engines["sets"]
    assert found["wheels"][0]["evidence"][0]["kind"] in ("measured", "metadata")
    assert "12.0" not in found["vendor_matrix"]["capabilities"]


def test_a_release_on_a_card_has_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(
        capsys, "release-1", "show", "nvidia-cudnn-cu12==9.5.1.17", "--target", "RTX 5090"
    )
    engines = next(one for one in found["libraries"] if "engines_precompiled" in one["name"])
    (verdict,) = engines["verdicts"]
    assert (verdict["native"], verdict["jit"], verdict["none"]) == (0, 107, 620)
    assert verdict["state"] == "partial"
    assert [one["state"] for one in found["verdicts"]] == ["partial"]


def test_a_release_as_text_shows_libraries_matrix_and_sources(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["knowledge", "show", "nvidia-cudnn-cu12==9.5.1.17", "--target", "L4"]) == 0
    output = capsys.readouterr().out
    for words in (
        "measured in nvidia_cudnn_cu12-9.5.1.17",
        "727 containers",
        "142 × sm_90a",
        "The vendor's matrix (of 9.5.1)",
        "L4 (8.9)  supported",
        "Overwrites files of",
    ):
        assert words in output


def test_another_platform_shows_its_wheel(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("show", "torch==2.12.0", "--platform", "linux_aarch64")
    assert document(capsys, "release-1", *arguments)["platform"] == "linux_aarch64"


@pytest.mark.parametrize("release", ["torch==2.7.1", "torch==2.7.1+cu128", "jax==0.5.3"])
def test_every_kind_of_release_keeps_to_the_schema(
    release: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document(capsys, "release-1", "show", release)


def test_explain_prints_the_very_same(capsys: pytest.CaptureFixture[str]) -> None:
    for subject in ("torch", "torch==2.7.1"):
        main(["explain", subject])
        explained = capsys.readouterr().out
        main(["knowledge", "show", subject])
        assert capsys.readouterr().out == explained


def test_a_package_shows_its_releases_and_how_each_is_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = document(capsys, "package-1", "show", "torch")
    assert found["role"] == "framework"
    assert "2.7.1+cu128" in found["versions"]
    release = next(one for one in found["releases"] if one["version"] == "2.7.1")
    wheel = next(one for one in release["wheels"] if one["platform"] == "linux_x86_64")
    assert wheel["measured"]
    assert main(["knowledge", "show", "torch"]) == 0
    line = next(
        line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("2.7.1 ")
    )
    assert "linux_x86_64 measured" in line
    assert "+cu128" in line


def row(capsys: pytest.CaptureFixture[str], package: str, version: str) -> dict[str, str]:
    found = document(capsys, "matrix-1", "matrix", package)
    states: dict[str, str] = next(
        one["states"] for one in found["releases"] if one["version"] == version
    )
    return states


@pytest.mark.parametrize(
    ("package", "version", "card", "state"),
    [
        ("torch", "2.8.0", "6.1", "unsupported"),
        ("torch", "2.8.0", "8.9", "supported"),
        ("torch", "2.12.0", "7.5", "partial"),
        ("nvidia-cudnn-cu12", "9.5.1.17", "12.0", "partial"),
        ("nvidia-nccl-cu12", "2.26.2", "12.0", "jit"),
        ("nvidia-nccl-cu12", "2.26.2.post1", "12.0", "supported"),
        ("jax-cuda12-pjrt", "0.5.3", "12.0", "jit"),
        ("jax-cuda12-pjrt", "0.6.2", "12.0", "supported"),
    ],
)
def test_a_matrix_has_a_verdict_for_each_release_and_card(
    package: str, version: str, card: str, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert row(capsys, package, version)[card] == state


def test_a_matrix_as_text_is_a_letter_a_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["knowledge", "matrix", "torch"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines[1].split()) == "6.1 7.0 7.5 8.0 8.6 8.9 9.0 10.0 10.3 11.0 12.0 12.1"
    line = next(line for line in lines if line.startswith("2.7.1 "))
    assert " ".join(line.split()) == "2.7.1 CUDA 12.6 S S S S S S S – – – – –"
    assert not any("+cu" in line for line in lines)


def test_a_matrix_marks_where_the_vendor_disagrees(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["knowledge", "matrix", "nvidia-cudnn-cu12"]) == 0
    output = capsys.readouterr().out
    assert "S*" in output
    assert "* the vendor's matrix says otherwise" in output


def test_a_matrix_of_chosen_cards_and_of_other_builds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = document(capsys, "matrix-1", "matrix", "torch", "--target", "L4", "--builds")
    assert found["capabilities"] == ["8.9"]
    assert any(one["version"] == "2.7.1+cu128" for one in found["releases"])


def test_a_package_without_gpu_code_has_nothing_to_tell(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["knowledge", "matrix", "jax"]) == 0
    assert "nothing in them depends on the card" in capsys.readouterr().out


def test_facts_of_a_project_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "facts.toml").write_text(WHEEL)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "p"\nversion = "1"\n[tool.stackfix]\nknowledge = ["facts.toml"]\n'
    )
    project = ("--project", str(tmp_path))
    assert document(capsys, "matrix-1", "matrix", "own-lib", *project)["releases"][0]["states"][
        "8.0"
    ] == "supported"  # fmt: skip
    assert document(capsys, "release-1", "show", "own-lib==1.0", *project)["libraries"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show"], "Missing argument"),
        (["show", "???"], "expected a package or a release like torch==2.7.1"),
        (["show", "torch==latest"], 'expected a version like "2.7.1"'),
        (["show", "torch==0.0.1"], "torch 0.0.1 is not known; "),
        (["show", "numpy"], "it is no package of the GPU stack"),
        (["matrix", "torhc"], "did you mean torch"),
        (["matrix", "torch", "--platform", "amiga"], "'amiga' is not one of"),
        (["matrix", "torch", "--target", "RTX 9999"], "no single card is known as"),
        (["frobnicate"], "No such command 'frobnicate'"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["knowledge", *arguments]) == 2
    output = capsys.readouterr()
    assert words in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""
