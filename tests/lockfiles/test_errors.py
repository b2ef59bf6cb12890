from pathlib import Path

from stackfix_lockfiles.errors import InputError


def test_names_file_place_and_what_was_expected() -> None:
    error = InputError("uv.lock", "expected a string", place="package[41].wheels[2].hash")
    assert str(error) == "uv.lock: package[41].wheels[2].hash: expected a string"


def test_names_the_line_where_it_is_known() -> None:
    error = InputError(Path("a/pyproject.toml"), "expected a requirement", line=12)
    assert str(error) == "a/pyproject.toml:12: expected a requirement"


def test_is_one_printable_line_whatever_it_quotes() -> None:
    error = InputError("uv.lock", "found 'a\nb\x1b[31m'")
    assert str(error).isprintable()
    assert "\\n" in str(error)
