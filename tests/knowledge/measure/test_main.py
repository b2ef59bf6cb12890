"""The command line of measuring refuses what it does not understand."""

from pathlib import Path

import pytest

from stackfix_knowledge.measure.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["torch=2"], "expected a requirement like torch==2.8.0"),
        (["torch", "--platform", "beos"], "expected some of linux_x86_64"),
        (["torch", "--depth", "none"], "invalid choice"),
        ([], "arguments are required"),
    ],
)
def test_bad_arguments(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert words in capsys.readouterr().err


def test_an_index_that_cannot_be_reached_is_one_line_a_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["torch", "jax", "--index", "http://127.0.0.1:9/simple", "--facts", str(tmp_path)]
    assert main(arguments) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["torch", "jax"]
    assert not list(tmp_path.iterdir())
