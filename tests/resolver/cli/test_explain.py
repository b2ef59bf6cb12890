"""`stackfix explain`."""

from __future__ import annotations

import json

import pytest

from stackfix.cli.main import main
from stackfix.rules.catalogue import titles

CODES = list(titles())


@pytest.mark.parametrize("code", CODES)
def test_every_rule_says_what_why_and_how(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", code.lower()]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{code}: ")
    for part in ("What:", "Why:", "Evidence:", "Fix:", "Ignore:"):
        assert part in text


def test_a_code_that_no_rule_has_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "SF999"]) == 2
    assert capsys.readouterr().err == "no rule has the code SF999\n"


def test_a_release_shows_what_it_runs_on_and_where_that_is_known_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "nvidia-cudnn-cu12==9.5.1.17"]) == 0
    text = capsys.readouterr().out
    assert "measured in nvidia_cudnn_cu12-9.5.1.17" in text
    assert "partial" in text


def test_a_release_as_json_has_the_same_facts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "torch==2.7.1", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    wheel = next(one for one in document["wheels"] if one["platform"] == "linux_x86_64")
    assert "12.0" in wheel["runs_on"]["unsupported"]
    assert "9.0" in wheel["runs_on"]["supported"]


def test_a_package_alone_lists_its_known_releases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "Torch"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("torch: ")
    assert "2.7.1" in output


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("torch==0.0.1", "torch 0.0.1 is not known; "),
        ("torch==latest", 'expected a version like "2.7.1"'),
        ("numpy==1.26.4", "it is no package of the GPU stack"),
        ("torchvison==0.22.1", "did you mean torchvision"),
    ],
)
def test_what_is_not_known_is_one_line(
    subject: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", subject]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
