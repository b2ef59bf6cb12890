"""Which index is asked, from what users have set up for uv or pip."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stackfix_index.configured import NamedIndex, default_index, entries, named_index

INDEX = "https://index.example/simple"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Variables of a user of whom no configuration file is known yet."""
    return {
        "HOME": str(tmp_path),
        "XDG_CONFIG_DIRS": str(tmp_path / "etc"),
        "VIRTUAL_ENV": str(tmp_path / "venv"),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (INDEX, NamedIndex(None, INDEX)),
        (f"ours={INDEX}", NamedIndex("ours", INDEX)),
        (f"our-own.1_2={INDEX}", NamedIndex("our-own.1_2", INDEX)),
        ("https://aws:abc==@host/simple", NamedIndex(None, "https://aws:abc==@host/simple")),
        ("ours=https://aws:abc==@host/s", NamedIndex("ours", "https://aws:abc==@host/s")),
        ("https://me%40x.example:p%3Dw@host/", NamedIndex(None, "https://me%40x.example:p%3Dw@host/")),
        ("ours=https://me@x:p@w=@host/?a=b", NamedIndex("ours", "https://me@x:p@w=@host/?a=b")),
        ("https://host/simple?token=a=b#x=y", NamedIndex(None, "https://host/simple?token=a=b#x=y")),
        ("file:///srv/a=b", NamedIndex(None, "file:///srv/a=b")),
        ("ours=./wheels=new", NamedIndex("ours", "./wheels=new")),
        ("./wheels", NamedIndex(None, "./wheels")),
    ],
)  # fmt: skip
def test_a_name_ends_at_the_first_equals_sign(text: str, expected: NamedIndex) -> None:
    assert named_index(text) == expected
    assert str(expected) == text


def test_lists_are_separated_as_each_variable_has_it() -> None:
    two = f"ours={INDEX}/a\n \thttps://me:a=b,c@host/"
    assert [str(one) for one in entries("UV_INDEX", two)] == two.split()
    assert [one.name for one in entries("UV_INDEX", two)] == ["ours", None]
    extra = [one.url for one in entries("UV_EXTRA_INDEX_URL", f" {INDEX}/a  {INDEX}/b")]
    assert extra == [f"{INDEX}/a", f"{INDEX}/b"]
    links = [one.url for one in entries("UV_FIND_LINKS", f"./my wheels,{INDEX}/?a=b")]
    assert links == ["./my wheels", f"{INDEX}/?a=b"]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"UV_DEFAULT_INDEX": INDEX}, INDEX),
        ({"UV_INDEX_URL": INDEX, "PIP_INDEX_URL": "https://other.example/"}, INDEX),
        ({"PIP_INDEX_URL": INDEX}, INDEX),
        ({"UV_DEFAULT_INDEX": f"company={INDEX}"}, INDEX),
        ({"UV_DEFAULT_INDEX": "https://aws:abc==@host/simple"}, "https://aws:abc==@host/simple"),
        ({"UV_DEFAULT_INDEX": "", "PIP_INDEX_URL": INDEX}, INDEX),
    ],
)
def test_variables_come_first(environment: dict[str, str], expected: str) -> None:
    assert default_index(environment) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other places")
def test_pips_files_are_read_in_pips_order(home: dict[str, str], tmp_path: Path) -> None:
    places = ["etc/pip/pip.conf", ".pip/pip.conf", ".config/pip/pip.conf", "venv/pip.conf"]
    for place in places:
        file = tmp_path / place
        file.parent.mkdir(parents=True)
        file.write_text(f"[global]\nindex-url = {INDEX}/{place}?a=%20=\n")
        assert default_index(home) == f"{INDEX}/{place}?a=%20="
    assert default_index({**home, "PIP_INDEX_URL": INDEX}) == INDEX


def test_a_file_that_is_named_for_pip_counts_before_the_others(
    home: dict[str, str], tmp_path: Path
) -> None:
    named = tmp_path / "named.conf"
    named.write_text(f"[global]\nindex-url: {INDEX}/named\n")
    environment = {**home, "PIP_CONFIG_FILE": str(named)}
    assert default_index(environment) == f"{INDEX}/named"
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "pip.conf").write_text(f"[global]\nindex-url={INDEX}/site\n")
    assert default_index(environment) == f"{INDEX}/site"


@pytest.mark.parametrize(
    "content", [b"", b"[global", b"index-url = x", b"\xff\xfe\0", b"[global]\nindex-url\n"]
)
def test_a_broken_file_is_as_none(home: dict[str, str], tmp_path: Path, content: bytes) -> None:
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "pip.conf").write_bytes(content)
    found = default_index({**home, "PIP_CONFIG_FILE": "/nowhere"})
    assert found.startswith("https://")


def test_without_any_configuration_uvs_own_default_counts(
    monkeypatch: pytest.MonkeyPatch, home: dict[str, str]
) -> None:
    monkeypatch.setenv("UV_INDEX", INDEX)
    monkeypatch.setenv("UV_CONFIG_FILE", "/nowhere")
    found = default_index({**home, "PIP_CONFIG_FILE": "/dev/null"})
    assert found.startswith("https://")
    assert "\n" not in found
