"""Positions of values, held against the values that the standard library's reader gives."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest
import rtoml

from stackfix_lockfiles._source import Node, SourceMap
from tests.lockfiles.samples import DATA


def check(node: Node, value: Any, text: str) -> None:
    if isinstance(value, dict):
        assert node.shape in ("table", "inline")
        assert list(node.children) == list(value) or set(node.children) == set(value)
        for key, child in value.items():
            check(node.children[key], child, text)
    elif isinstance(value, list):
        assert len(node.children) == len(value)
        for index, child in enumerate(value):
            check(node.children[str(index)], child, text)
    else:
        assert tomllib.loads(f"value = {text[node.start : node.end]}")["value"] == value


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
    "windows": "a = [\r\n  'x', # y\r\n  'z',\r\n]\r\n[b]\r\nc = 1\r\n",
    "byte order mark": "\ufeffa = 1\n[b]\nc = 2\n",
    "supertable last": "[a.b]\nc = 1\n[a]\nd = 2\n",
}


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_every_value_stands_where_it_says(text: str) -> None:
    check(SourceMap(text).root, tomllib.loads(text.removeprefix("\ufeff")), text)


FILES = sorted((*DATA.rglob("*.toml"), *DATA.rglob("*.lock")))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_real_files(path: Path) -> None:
    text = path.read_bytes().decode()
    check(SourceMap(text).root, tomllib.loads(text), text)


SPLICES = (
    "\n", "\r\n", " ", "\t", "#", "# x\n", ",", ".", "=", "[", "[[", "]]", "{", "}", "{}", "[]",
    "'", '"', "'''", '"""', "\\", "\\\"", "a", "a.b", "a = 1\n", "b.c = 'x'\n", "[t]\n", "[[u]]\n",
    "1", "-", "true", "nan", "1979-05-27 07:32:00", "\ufeff", "é", "\x85", "\u2028",
)  # fmt: skip


def test_whatever_the_reader_accepts_is_mapped() -> None:
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
        assert shape(SourceMap(text).root) == shape_of(value), text
    assert accepted > 500


def shape(node: Node) -> Any:
    if node.shape in ("array", "tables"):
        return [shape(child) for child in node.children.values()]
    if node.shape in ("table", "inline"):
        return {key: shape(child) for key, child in node.children.items()}
    return None


def shape_of(value: Any) -> Any:
    if isinstance(value, list):
        return [shape_of(child) for child in value]
    return (
        {key: shape_of(child) for key, child in value.items()} if isinstance(value, dict) else None
    )


def test_lines_are_counted_from_one() -> None:
    source = SourceMap("a = [\n  'x',\n  'y',\n]\n\n[b]\nc = 1\n")
    lines = {path: source.find(*path) for path in (("a",), ("a", 0), ("a", 1), ("b", "c"))}
    assert [source.line(node.start) for node in lines.values() if node] == [1, 2, 3, 7]
    assert source.find("b", "d") is None


def test_a_section_ends_with_its_last_entry() -> None:
    text = "[a]\nb = 1\n# about c\n\n[c]\n"
    first, second = SourceMap(text).headers
    assert text[first.start : first.body_end] == "[a]\nb = 1"
    assert text[second.start : second.body_end] == "[c]"
