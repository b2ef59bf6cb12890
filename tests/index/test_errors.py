"""An unreadable file or index is told in one line that names file, place and what was expected."""

from stackfix_index.errors import Unreadable


def test_the_line_names_file_place_and_expectation() -> None:
    error = Unreadable("lib.so", "offset 12", "a container")
    assert str(error) == "lib.so: offset 12: expected a container"


def test_a_fault_of_the_whole_file_names_no_place() -> None:
    assert str(Unreadable("a.whl", None, "a wheel")) == "a.whl: expected a wheel"


def test_a_hostile_name_cannot_break_the_line_or_the_terminal() -> None:
    line = str(Unreadable("a\nb\x1b[31m\udc80.so", None, "a wheel"))
    assert line.isprintable()
    assert len(line.splitlines()) == 1
