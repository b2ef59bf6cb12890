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


def test_what_is_quoted_may_be_of_any_length() -> None:
    error = InputError("uv.lock", f"expected a version, found {'9' * 100_000!r}, which is none")
    assert len(str(error)) < 700
    assert str(error).startswith("uv.lock: expected a version, found '999")
    assert str(error).endswith("999', which is none")


def test_a_url_is_quoted_without_credentials() -> None:
    error = InputError("pyproject.toml", "found https://me:secret@host.example/simple")
    assert str(error) == "pyproject.toml: found https://host.example/simple"
