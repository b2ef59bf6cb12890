"""How a command line is read: in any order, without guesses, one sentence for what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.cli.failures import UsageError
from stackfix.cli.options import ANY_NUMBER, REPEATABLE
from stackfix.cli.parser import Parser, file_path, folder_path, one_of


@pytest.fixture
def parser() -> Parser:
    parser = Parser("tool", "Does it.\n\n    And says so.")
    parser.add_argument("paths", **ANY_NUMBER, type=Path, metavar="[PATH]...")
    parser.add_argument("-o", "--output", metavar="DIR", help="Where to.")
    parser.add_argument("--name", dest="names", **REPEATABLE, help="Repeatable.")
    parser.add_argument("--loud", action="store_true", help="Say more.")
    parser.add_argument("--colour", **one_of(("red", "blue")), help="Which.")
    return parser


def test_options_and_arguments_stand_in_any_order(parser: Parser) -> None:
    chosen = parser.parse(["a", "--name", "x", "b", "--loud", "c", "--name=y"])
    assert chosen.paths == (Path("a"), Path("b"), Path("c"))
    assert chosen.names == ("x", "y")
    assert chosen.loud


def test_what_is_not_given_is_empty(parser: Parser) -> None:
    chosen = parser.parse([])
    assert (chosen.paths, chosen.names, chosen.output) == ((), (), None)
    assert (chosen.loud, chosen.colour, chosen.given) == (False, None, ())


def test_what_was_given_is_told_by_its_long_name(parser: Parser) -> None:
    assert parser.parse(["-o", "x", "--loud", "a"]).given == ("--output", "--loud")


@pytest.mark.parametrize("words", [["-o", "-x"], ["-o-x"], ["--output", "-x"], ["--output=-x"]])
def test_a_value_may_begin_with_a_dash(parser: Parser, words: list[str]) -> None:
    assert parser.parse(words).output == "-x"


@pytest.mark.parametrize("value", ["", "a=b", "a b", "--loud"])
def test_a_value_is_taken_as_it_is(parser: Parser, value: str) -> None:
    assert parser.parse(["--output", value]).output == value
    assert parser.parse([f"--output={value}"]).output == value


def test_two_dashes_end_the_options(parser: Parser) -> None:
    chosen = parser.parse(["a", "--", "--loud", "-", "--"])
    assert [str(path) for path in chosen.paths] == ["a", "--loud", "-", "--"]
    assert not chosen.loud


def test_one_dash_is_an_argument(parser: Parser) -> None:
    assert parser.parse(["-", "--loud"]).paths == (Path("-"),)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--lou"], "No such option '--lou'; did you mean --loud?"),
        (["-x"], "No such option '-x'"),
        (["--loud=yes"], "Option '--loud' does not take a value"),
        (["--output"], "Option '--output' requires an argument"),
        (["a", "-o"], "Option '-o' requires an argument"),
        (["-o", "--"], "Option '-o' requires an argument"),
        (
            ["--colour", "green"],
            "Invalid value for '--colour': 'green' is not one of 'red', 'blue'",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(parser: Parser, words: list[str], sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        parser.parse(words)
    assert str(raised.value) == sentence
    assert raised.value.command == "tool"


def test_one_argument_is_neither_missing_nor_two() -> None:
    parser = Parser("tool", None)
    parser.add_argument("subject", metavar="WHAT")
    assert parser.parse(["a"]).subject == "a"
    with pytest.raises(UsageError, match="Missing argument 'WHAT'"):
        parser.parse([])
    with pytest.raises(UsageError, match=r"Got unexpected extra arguments \(b c\)"):
        parser.parse(["a", "b", "c"])


def test_a_command_without_arguments_takes_none() -> None:
    with pytest.raises(UsageError, match=r"Got unexpected extra argument \(a\)"):
        Parser("tool", None).parse(["a"])


@pytest.mark.parametrize("columns", ["40", "60", "200"])
def test_help_shows_all_and_fits_the_terminal(
    parser: Parser, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    page = parser.format_help()
    assert page.startswith("Usage: tool [OPTIONS] [PATH]...\n\n  Does it.\n\n  And says so.\n")
    for option in ("-h", "--help", "--output DIR", "--name", "--loud", "--colour [red|blue]"):
        assert option in page
    assert max(map(len, page.splitlines())) <= 80


def test_help_comes_before_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    parser = Parser("tool", None)
    parser.add_argument("subject", metavar="WHAT")
    with pytest.raises(SystemExit) as ended:
        parser.parse(["--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("Usage: tool [OPTIONS] WHAT\n")


def test_a_file_is_no_folder_and_a_folder_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    parser = Parser("tool", None)
    parser.add_argument("--file", type=file_path)
    parser.add_argument("--folder", type=folder_path)
    good = parser.parse(["--file", str(tmp_path / "file"), "--folder", str(tmp_path)])
    assert (good.file, good.folder) == (tmp_path / "file", tmp_path)
    assert parser.parse(["--file", "nowhere", "--folder", "nowhere"]).file == Path("nowhere")
    with pytest.raises(UsageError, match="is a directory"):
        parser.parse(["--file", str(tmp_path)])
    with pytest.raises(UsageError, match="is a file"):
        parser.parse(["--folder", str(tmp_path / "file")])
