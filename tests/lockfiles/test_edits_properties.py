"""Whatever the layout, an edit changes the string it is meant for and no other byte."""

from __future__ import annotations

import re
import tempfile
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix_lockfiles.edits import (
    Edit,
    add_constraint,
    add_index,
    add_source,
    apply_edits,
    replace_requirement,
)
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.requirement import DeclaredRequirement
from tests.corpus import each, projects
from tests.lockfiles.samples import OPENPI, RESSELT, write_project

STRING = re.compile(
    r'#[^\n]*|("""(?:[^\\]|\\.)*?"""|'
    r"'''.*?'''|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'[^'\n]*')",
    re.DOTALL,
)


def check_only_the_string_changed(
    before: str, after: str, declared: DeclaredRequirement, edit: Edit
) -> None:
    """Byte for byte: one string differs, on the line and with the values that were announced."""
    strings, changed = (
        [match for match in STRING.finditer(text) if match[1]] for text in (before, after)
    )
    differing = [(old, new) for old, new in zip(strings, changed, strict=True) if old[0] != new[0]]
    ((old, new),) = differing
    assert before[: old.start() + 1] == after[: new.start() + 1]
    assert before[old.end() - 1 :] == after[new.end() - 1 :]
    assert before.count("\n", 0, old.start()) + 1 == declared.line == edit.line
    assert tomllib.loads(f"value = {old[0]}")["value"] == declared.raw == edit.old
    assert tomllib.loads(f"value = {new[0]}")["value"] == edit.new
    document = tomllib.loads(before)
    array: Any = document
    for key in declared.keys:
        array = array[key]
    array[declared.index] = edit.new
    assert tomllib.loads(after) == document


SPACE = st.sampled_from(["", " ", "  "])
NAMES = st.sampled_from(["torch", "Torch_Vision", "jax[cuda12]", "nvidia-cudnn-cu12", "a.b"])
CLAUSE = st.builds(
    lambda operator, space, version: f"{operator}{space}{version}",
    st.sampled_from([">=", "==", "<", "~=", "!="]),
    SPACE,
    st.sampled_from(["2.7.1", "2.0", "0.5.3.post1"]),
)
SPECIFIERS = st.lists(CLAUSE, max_size=3).map(",".join)
MARKERS = st.sampled_from(["", "; os_name == 'nt'", " ; sys_platform != 'darwin'"])
REQUIREMENTS = st.builds(
    lambda name, gap, spec, marker: f"{name}{gap}{spec}{marker}", NAMES, SPACE, SPECIFIERS, MARKERS
)
ITEMS = st.builds(
    lambda text, lead, tail, comment: (text, lead, tail, comment),
    REQUIREMENTS,
    st.sampled_from(["", " ", "\n    ", "\n\t", "\n\n  # above\n  "]),
    SPACE,
    st.sampled_from(["", '  # beside, "quoted"\n', " # ]\n"]),
)
NEW = st.sampled_from(["==2.8.0", ">=2.8,<2.10", "~=3.1", "<9"])


SECTIONS = (
    "\n# ours\n[tool.uv]\n# nothing yet\n",
    "[tool.uv.sources]\na = {path='a'}  # a\n\n\n",
    "# about b\n[tool.uv.sources.b]\nindex = 'x' # x\n# after b\n",
    "\n[[tool.uv.dependency-metadata]]\nname = 'd'\n# e\n[[tool.uv.dependency-metadata]]\n",
    "\n[tool.ruff]  # r\nx.y = 1\n  # indented\n  [tool.ruff.lint]\n",
    "\n# groups\n[dependency-groups]\ndev = []\n",
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A pyproject.toml with an array of requirements in any layout."""
    body = ""
    items = draw(st.lists(ITEMS, min_size=1, max_size=5))
    for number, (text, lead, tail, comment) in enumerate(items):
        quote = "'" if "'" not in text and draw(st.booleans()) else '"'
        last = number == len(items) - 1
        comma = "" if last and draw(st.booleans()) else ","
        body += f"{lead}{quote}{text}{quote}{tail}{comma}{comment}"
    table = draw(st.sampled_from(["[project]\n", "[ project ]  # the project\n"]))
    rest = "".join(draw(st.permutations(SECTIONS))[: draw(st.integers(0, 4))])
    rest += draw(st.sampled_from(["", "\n# end", "# end\n\n"]))
    text = f"{table}name = 'robot'\nversion = '1'\ndependencies = [{body}]\n{rest}"
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@given(documents(), NEW, st.data())
def test_replacing_changes_only_the_string(text: str, new: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = Project.find(write_project(Path(folder), {"pyproject.toml": text}))
        declared = data.draw(st.sampled_from(found.requirements))
        edit = replace_requirement(declared, new)
        changed = apply_edits(found, [edit])[declared.file].decode()
    check_only_the_string_changed(text, changed, declared, edit)


def introduced(text: str) -> set[tuple[str, str]]:
    """The comments that stand directly above a table."""
    lines = text.splitlines()
    return {
        (above, line) for above, line in pairwise(lines) if above[:1] == "#" and line[:1] == "["
    }


@given(documents(), st.sampled_from(["torch<3", "a ; os_name == 'nt'"]), st.booleans())
def test_adding_keeps_every_line(text: str, new: str, with_reason: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = Project.find(write_project(Path(folder), {"pyproject.toml": text}))
        edits = [
            add_constraint(found, new, why="it must" if with_reason else ""),
            add_constraint(found, "b==1"),
            add_index(found, "cu128", "https://download.pytorch.org/whl/cu128"),
            add_source(found, "torch", "cu128"),
        ]
        changed = apply_edits(found, edits)[Path("pyproject.toml")].decode()
    document = tomllib.loads(changed)
    assert document["tool"]["uv"]["constraint-dependencies"] == [new, "b==1"]
    assert document["tool"]["uv"]["index"][0]["name"] == "cu128"
    assert document["tool"]["uv"]["sources"]["torch"] == {"index": "cu128"}
    lines = iter(changed.splitlines())
    assert all(line in lines for line in text.splitlines()), "lines in order, all kept"
    assert introduced(text) <= introduced(changed)
    ends = {"\r\n"} if "\r\n" in text else {"\n"}
    assert {line[len(line.rstrip("\r\n")) :] for line in changed.splitlines(True)} - {""} == ends


@each([OPENPI, RESSELT, *projects()])
def test_every_requirement_of_a_real_project_can_be_edited(folder: Path) -> None:
    try:
        found = Project.find(folder)
        declared = (*found.requirements, *found.constraints, *found.overrides)
    except InputError as error:
        pytest.skip(str(error))
    for one in declared:
        if one.requirement.url:
            continue
        edit = replace_requirement(one, "==9.9.9")
        file = found.file(one.file)
        changed = apply_edits(found, [edit])[one.file].decode()
        check_only_the_string_changed(file.text, changed, one, edit)
        assert "9.9.9" in changed
    together = [replace_requirement(one, "==9.9.9") for one in declared if not one.requirement.url]
    for path, data in apply_edits(found, together).items():
        assert data.count(b"9.9.9") == sum(edit.file == path for edit in together)
