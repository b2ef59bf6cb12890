"""Lines of values, held against the values that the standard library's reader gives."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import rtoml

from stackfix_lockfiles.toml import lines
from tests.lockfiles.samples import DATA

Path = tuple[str | int, ...]

DOCUMENTS = {
    "empty": "",
    "comment only": "# nothing",
    "no last newline": "a = 1",
    "dotted": "a.b.c = 1\na.b.d = 'x'\n[t]\nx.y = { p.q = 2 }\n",
    "quoted keys": '"a b" = 1\n\'c.d\' = 2\n["e\\u0066".g]\nh = 3\n',
    "spaced headers": "[ a . b ]\nc = 1\n[[ d . e ]]\nf = 2\n[[d.e]]\nf = 3\n[d.e.g]\nh = 4\n",
    "strings": """a = "x # y ] \\" "\nb = '''\nline ''\nit's'''\nd = ''\n""",
    "long strings": 'a = """\n\\"" # no comment """\nb = """"quoted" \\\\"""\n',
    "quotes at the end": "a = \"\"\"x\"\"\"\"\"\nb = '''y'''''\n",
    "arrays": "a = [ 1, 2.5, # three\n  [ 'x', \"]\" ], { b = [ ] }, ]\nc = []\n",
    "scalars": "a = 1979-05-27 07:32:00Z # when\nb = -inf\nc = 0xFF\nd = [true,false]\n",
    "dates in tables": "a = { b = 1979-05-27 07:32:00, c.d = [07:32:00, 1.5e+3] }\ne = 1\n",
    "windows": "a = [\r\n  'x', # y\r\n  'z',\r\n]\r\n[b]\r\nc = 1\r\n",
    "byte order mark": "\ufeffa = 1\n[b]\nc = 2\n",
    "supertable last": "[a.b]\nc = 1\n[a]\nd = 2\n",
}
FILES = sorted((*DATA.rglob("*.toml"), *DATA.rglob("*.lock")))


def paths(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every table, array and value with its path."""
    if path:
        yield path, value
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield from paths(item, (*path, key))


def check(text: str, document: Any) -> None:
    found = lines(text)
    assert set(found) == {path for path, _ in paths(document)}
    rows = text.split("\n")
    for path, value in paths(document):
        row, last = rows[found[path] - 1], path[-1]
        if isinstance(last, str) and last.isalnum() and "\\" not in row:
            assert last in row
        elif isinstance(value, str) and value.isprintable() and "\\" not in row:
            assert value in row


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_every_value_has_its_line(text: str) -> None:
    check(text, tomllib.loads(text.removeprefix("\ufeff")))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_real_files(path: Any) -> None:
    text = path.read_bytes().decode()
    check(text, tomllib.loads(text))


SPLICES = (
    "\n", "\r\n", " ", "\t", "#", "# x\n", ",", ".", "=", "[", "[[", "]]", "{", "}", "{}", "[]",
    "'", '"', "'''", '"""', "\\", "\\\"", "a", "a.b", "a = 1\n", "b.c = 'x'\n", "[t]\n", "[[u]]\n",
    "1", "-", "true", "nan", "1979-05-27 07:32:00", "\ufeff", "é", "\x85", "\u2028",
)  # fmt: skip


def test_whatever_the_reader_accepts_has_lines() -> None:
    chance, accepted = random.Random(3), 0
    texts = [path.read_bytes().decode() for path in FILES if path.suffix == ".toml"]
    texts += DOCUMENTS.values()
    for _ in range(6000):
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 3)):
            at = chance.randint(0, len(text))
            cut = at + chance.choice((0, 0, 1, 3))
            text = text[:at] + chance.choice(SPLICES) + text[cut:]
        try:
            value = rtoml.loads(text)
        except ValueError:
            continue
        accepted += 1
        assert set(lines(text)) == {path for path, _ in paths(value)}, text
    assert accepted > 500


def test_lines_are_counted_from_one() -> None:
    found = lines("a = [\n  'x',\n  'y',\n]\n\n[b]\nc = 1\n\n[[d]]\n[[d]]\ne.f = [\n]\n")
    assert found == {
        ("a",): 1, ("a", 0): 2, ("a", 1): 3,
        ("b",): 6, ("b", "c"): 7,
        ("d",): 9, ("d", 0): 9, ("d", 1): 10, ("d", 1, "e"): 11, ("d", 1, "e", "f"): 11,
    }  # fmt: skip


def test_a_table_stands_where_it_is_first_mentioned() -> None:
    assert lines("[a.b]\n[a]\nc = 1\n")[("a",)] == 1
