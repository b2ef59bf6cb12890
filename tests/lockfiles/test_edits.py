import tomllib
from pathlib import Path

import pytest

from stackfix_lockfiles.edits import (
    Edit,
    add_conflict,
    add_constraint,
    add_index,
    add_override,
    add_requirement,
    add_source,
    apply_edits,
    remove_override,
    replace_requirement,
)
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import ConflictItem
from stackfix_lockfiles.project import Project
from tests.lockfiles.samples import OPENPI, write_project

MAIN = Path("pyproject.toml")
HEAD = '[project]\nname = "robot"\nversion = "0.1.0"\n'
CU128 = "https://download.pytorch.org/whl/cu128"


def project(folder: Path, text: str, **files: str) -> Project:
    named = {name.replace("_toml", ".toml"): body for name, body in files.items()}
    return Project.find(write_project(folder, {"pyproject.toml": text, **named}))


def edited(found: Project, *edits: Edit, file: Path = MAIN) -> str:
    return apply_edits(found, edits)[file].decode()


def replaced(folder: Path, before: str, specifier: str) -> str:
    """Return a dependency (TOML) after its specifier was replaced."""
    found = project(folder, f"{HEAD}dependencies = [{before}]\n")
    text = edited(found, replace_requirement(found.requirements[0], specifier))
    assert text.startswith(f"{HEAD}dependencies = [")
    assert text.endswith("]\n")
    return text.removeprefix(f"{HEAD}dependencies = [").removesuffix("]\n")


@pytest.mark.parametrize(
    ("before", "specifier", "after"),
    [
        ('"torch==2.7.1"', "==2.8.0", '"torch==2.8.0"'),
        ("'torch==2.7.1'", "==2.8.0", "'torch==2.8.0'"),
        ('"torch"', ">=2.8", '"torch>=2.8"'),
        ('"torch == 2.7.1"', "==2.8.0", '"torch == 2.8.0"'),
        ('"torch >= 2.7, < 3"', ">=2.8,<2.10", '"torch >= 2.8, < 2.10"'),
        ('"torch>=2.7,<3"', ">=2.8,<2.10", '"torch>=2.8,<2.10"'),
        ('"torch >= 2.7"', "<2.10,>=2.8", '"torch < 2.10, >= 2.8"'),
        ('"torch (>=2.7)"', "==2.8.0", '"torch (==2.8.0)"'),
        ('"Torch_Vision[a, b]~=0.22"', "~=0.23", '"Torch_Vision[a, b]~=0.23"'),
        ('"jax[cuda12]==0.5.3"', "jax[cuda12]==0.7.2", '"jax[cuda12]==0.7.2"'),
        ('"jax[cuda12]==0.5.3"', "jax==0.7.2", '"jax[cuda12]==0.7.2"'),
        (
            "\"torch==2.7.1 ; sys_platform == 'linux'\"",
            "==2.8.0",
            "\"torch==2.8.0 ; sys_platform == 'linux'\"",
        ),
        (
            '"torch ; sys_platform == \\"linux\\""',
            ">=2.8",
            '"torch>=2.8 ; sys_platform == \\"linux\\""',
        ),
        ("'torch;os_name==\"nt\"'", "==2.8.0", "'torch==2.8.0;os_name==\"nt\"'"),
        ('" torch==2.7.1 "', "==2.8.0", '" torch==2.8.0 "'),
        ('"""torch==2.7.1"""', "==2.8.0", '"""torch==2.8.0"""'),
        ('"t\\u006frch==2.7.1"', "==2.8.0", '"torch==2.8.0"'),  # an escape that nobody writes
        ('"torch==2.7.1"', "", '"torch"'),
    ],
)
def test_only_the_specifier_changes(
    tmp_path: Path, before: str, specifier: str, after: str
) -> None:
    assert replaced(tmp_path, before, specifier) == after


def test_a_url_is_not_edited(tmp_path: Path) -> None:
    found = project(tmp_path, f'{HEAD}dependencies = [\n"a @ https://index.example/a.whl"]\n')
    with pytest.raises(InputError) as caught:
        replace_requirement(found.requirements[0], "==2")
    assert str(caught.value) == (
        "pyproject.toml:5: project.dependencies[0]: expected a requirement with versions, "
        "found a URL: 'a @ https://index.example/a.whl'"
    )


@pytest.mark.parametrize("new", ["jax==2", "torch[x]==2", "torch=>2", "==banana"])
def test_another_package_or_no_specifier_is_refused(tmp_path: Path, new: str) -> None:
    found = project(tmp_path, f'{HEAD}dependencies = ["torch"]\n')
    with pytest.raises(InputError, match=r"project\.dependencies\[0\]: expected"):
        replace_requirement(found.requirements[0], new)


def test_an_edit_says_where_and_why() -> None:
    found = Project.find(OPENPI)
    torch = next(found.declarations_of("torch"))
    edit = replace_requirement(torch, "==2.8.0", why="2.7.1 pins a cuDNN without code for 12.0")
    assert edit.place == "pyproject.toml:29 project.dependencies"
    assert (edit.old, edit.new) == ("torch==2.7.1", "torch==2.8.0")
    assert edit.why.startswith("2.7.1 pins")


def test_edits_of_one_file_compose_in_any_order() -> None:
    found = Project.find(OPENPI)
    edits = [
        replace_requirement(next(found.declarations_of("torch")), "==2.8.0"),
        replace_requirement(next(found.declarations_of("jax")), "==0.7.2"),
        *remove_override(found, "ml-dtypes"),
        add_constraint(found, "nvidia-nccl-cu12>=2.27"),
        add_index(found, "pytorch-cu128", CU128),
        add_source(found, "torch", "pytorch-cu128"),
    ]
    forward = edited(found, *edits)
    before = (OPENPI / "pyproject.toml").read_text()
    expected = before.replace("torch==2.7.1", "torch==2.8.0").replace("]==0.5.3", "]==0.7.2")
    expected = expected.replace('"ml-dtypes==0.4.1", ', "")
    expected = expected.replace(
        '"tensorstore==0.1.74"]\n',
        '"tensorstore==0.1.74"]\nconstraint-dependencies = ["nvidia-nccl-cu12>=2.27"]\n',
    )
    expected = expected.replace(
        "\n\n[tool.uv.workspace]", '\ntorch = { index = "pytorch-cu128" }\n\n[tool.uv.workspace]'
    )
    expected = expected.replace(
        'members = ["packages/*"]\n',
        'members = ["packages/*"]\n\n[[tool.uv.index]]\nname = "pytorch-cu128"\n'
        f'url = "{CU128}"\nexplicit = true\n',
    )
    assert forward == expected
    assert edited(found, *reversed(edits)) == forward


def test_members_are_edited_in_their_own_file() -> None:
    found = Project.find(OPENPI)
    numpy = next(one for one in found.declarations_of("numpy") if one.file != MAIN)
    changed = apply_edits(found, [replace_requirement(numpy, ">=2")])
    assert list(changed) == [Path("packages/openpi-client/pyproject.toml")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[]", '["new"]'),
        ('["a"]', '["a", "new"]'),
        ("['a', 'b']", "['a', 'b', 'new']"),
        ('[ "a" ]', '[ "a", "new" ]'),
        ('["a",]', '["a", "new",]'),
        ("[\n]", '[\n    "new",\n]'),
        ('[\n  "a",\n]', '[\n  "a",\n  "new",\n]'),
        ('[\n\t"a",\n\t"b"\n]', '[\n\t"a",\n\t"b",\n\t"new"\n]'),
        ('[\n  "a", # first\n]', '[\n  "a", # first\n  "new",\n]'),
        ('[\n  "a" # first\n]', '[\n  "a", # first\n  "new"\n]'),
        ('[\n  "a",\n  # "b",\n]', '[\n  "a",\n  # "b",\n  "new",\n]'),
        ('[\n  "a",\n  "b"]', '[\n  "a",\n  "b",\n  "new"]'),
        ('[\n  "a", "b",\n]', '[\n  "a", "b",\n  "new",\n]'),
        ('["a",\n "b",\n]', '["a",\n "b",\n "new",\n]'),
        ('[\n  "a"\n  , "b"\n]', '[\n  "a"\n  , "b", "new"\n]'),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
def test_an_addition_follows_the_style_of_its_array(
    tmp_path: Path, before: str, after: str, end: str
) -> None:
    head = f"{HEAD}[tool.uv]\nconstraint-dependencies = "
    tail = "  # why\n[tool.ruff]\nx = 1\n"
    text = f"{head}{before}{tail}".replace("\n", end)
    found = project(tmp_path, text)
    assert edited(found, add_constraint(found, "new")) == f"{head}{after}{tail}".replace("\n", end)


def test_the_reason_stands_beside_what_is_added(tmp_path: Path) -> None:
    found = project(tmp_path, f'{HEAD}[tool.uv]\nconstraint-dependencies = [\n  "a"\n]\n')
    edits = (
        add_constraint(found, "b<2", why="b 2 has no code\nfor 7.0"),
        add_override(found, "c==1", why="d asks for less"),
    )
    assert edited(found, *edits) == (
        f"{HEAD}[tool.uv]\n"
        'constraint-dependencies = [\n  "a",\n  "b<2",  # b 2 has no code for 7.0\n]\n'
        'override-dependencies = [\n    "c==1",  # d asks for less\n]\n'
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HEAD, HEAD + '\n[tool.uv]\nKEY = ["new"]\n'),
        (HEAD.rstrip(), HEAD + '\n[tool.uv]\nKEY = ["new"]\n'),
        (HEAD + "[tool.uv]\n\n[x]\n", HEAD + '[tool.uv]\nKEY = ["new"]\n\n[x]\n'),
        (
            HEAD + "[tool.uv]\npackage = false  # no\n\n# about x\n[x]\n",
            HEAD + '[tool.uv]\npackage = false  # no\nKEY = ["new"]\n\n# about x\n[x]\n',
        ),
        (
            HEAD + "\n# below\n[tool.uv.sources]\na = 1\n".replace("1", "{ path = 'a' }"),
            HEAD
            + '\n[tool.uv]\nKEY = ["new"]\n'
            + "\n# below\n[tool.uv.sources]\na = 1\n".replace("1", "{ path = 'a' }"),
        ),
        (
            HEAD + "[tool]\nuv.package = false\n",
            HEAD + '[tool]\nuv.package = false\nuv.KEY = ["new"]\n',
        ),
        (
            HEAD + "[tool]\nuv = { package = false }\n",
            HEAD + '[tool]\nuv = { package = false, KEY = ["new"] }\n',
        ),
        (
            "tool.uv.package = false\n" + HEAD,
            'tool.uv.package = false\ntool.uv.KEY = ["new"]\n' + HEAD,
        ),
    ],
)  # fmt: skip
def test_a_missing_table_is_made_where_one_would_look_for_it(
    tmp_path: Path, before: str, after: str
) -> None:
    found = project(tmp_path, before)
    wanted = after.replace("KEY", "constraint-dependencies")
    assert edited(found, add_constraint(found, "new")) == wanted


def test_a_constraint_of_the_same_package_and_marker_is_replaced(tmp_path: Path) -> None:
    text = (
        f'{HEAD}[tool.uv]\nconstraint-dependencies = ["Torch<3", "torch<2 ; os_name == \'nt\'"]\n'
    )
    found = project(tmp_path, text)
    edit = add_constraint(found, "torch<2.10")
    assert (edit.old, edit.new, edit.line) == ("Torch<3", "Torch<2.10", 5)
    assert edited(found, edit) == text.replace("Torch<3", "Torch<2.10")
    other = add_constraint(found, "torch<2.10 ; os_name == 'posix'")
    assert other.old is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('["a==1"]', "[]"),
        ('["a==1", "b"]', '["b"]'),
        ('["b", "a==1"]', '["b"]'),
        ('["b", "a==1", "c"]', '["b", "c"]'),
        ('["b", "a==1",]', '["b"]'),
        ('[\n  "a==1",  # gone with it\n  "b",\n]', '[\n  "b",\n]'),
        ('[\n  "b",\n  "a==1"\n]', '[\n  "b",\n]'),
        ('[\n  # stays\n  "a==1",\n]', "[\n  # stays\n]"),
        ('[\n  "a==1", "b",\n]', '[\n  "b",\n]'),
        ('["a==1 ; os_name == \'nt\'", "b", "a==2"]', '["b"]'),
    ],
)
def test_an_override_is_removed_with_what_belongs_to_it(
    tmp_path: Path, before: str, after: str
) -> None:
    head = f"{HEAD}[tool.uv]\noverride-dependencies = "
    found = project(tmp_path, f"{head}{before}\n")
    assert edited(found, *remove_override(found, "A")) == f"{head}{after}\n"


def test_an_override_that_is_not_there_cannot_be_removed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected an override of a"):
        remove_override(project(tmp_path, HEAD), "a")


def test_a_change_since_the_plan_is_noticed(tmp_path: Path) -> None:
    found = project(tmp_path, f'{HEAD}dependencies = ["torch==2.7.1"]\n')
    edit = replace_requirement(found.requirements[0], "==2.8.0")
    since = project(tmp_path, f'{HEAD}dependencies = ["torch==2.7.0"]\n')
    with pytest.raises(
        InputError, match=r"expected 'torch==2\.7\.1', which is not there"
    ) as caught:
        apply_edits(since, [edit])
    assert caught.value.place == "project.dependencies"


def test_of_equal_strings_the_meant_one_is_edited(tmp_path: Path) -> None:
    text = f'{HEAD}dependencies = ["torch", "jax", "torch"]\n'
    found = project(tmp_path, text)
    first = edited(found, replace_requirement(found.requirements[0], ">=2"))
    last = edited(found, replace_requirement(found.requirements[2], ">=2"))
    assert '["torch>=2", "jax", "torch"]' in first
    assert '["torch", "jax", "torch>=2"]' in last


def test_keys_with_dots_are_found(tmp_path: Path) -> None:
    text = f"{HEAD}[project.optional-dependencies]\n'cu12.8' = ['torch==2.7.1']\n"
    found = project(tmp_path, text)
    edit = replace_requirement(found.requirements[0], "==2.8.0")
    assert edited(found, edit) == text.replace("2.7.1", "2.8.0")


def test_a_byte_order_mark_and_a_missing_last_newline_stay(tmp_path: Path) -> None:
    text = f'\ufeff{HEAD}dependencies = ["torch==2.7.1"]'
    found = project(tmp_path, text)
    edit = replace_requirement(found.requirements[0], "==2.8.0")
    assert edited(found, edit) == text.replace("2.7.1", "2.8.0")


def test_a_file_of_another_project_is_refused() -> None:
    found = Project.find(OPENPI)
    edit = add_constraint(found, "a")
    foreign = Edit(**{**{name: getattr(edit, name) for name in edit.__slots__}, "file": Path("x")})
    with pytest.raises(InputError, match="expected a file of this project"):
        apply_edits(found, [foreign])


def test_a_requirement_is_added_to_an_extra_or_group(tmp_path: Path) -> None:
    text = """\
[project]
name = "robot"
version = "1"

[project.optional-dependencies]
Cu_128 = ["torchvision"]  # the newest

[dependency-groups]
gpu = [
    "torchvision",
]
"""
    found = Project.find(write_project(tmp_path, {"pyproject.toml": text}))
    asked = {"package": "robot", "why": "it must"}
    edits = [
        add_requirement(found, "torch<3", extra="cu-128", **asked),
        add_requirement(found, "torch<4", group="gpu", **asked),
    ]
    changed = apply_edits(found, edits)[Path("pyproject.toml")].decode()
    document = tomllib.loads(changed)
    assert document["project"]["optional-dependencies"] == {"Cu_128": ["torchvision", "torch<3"]}
    assert document["dependency-groups"] == {"gpu": ["torchvision", "torch<4"]}
    assert '    "torchvision",\n    "torch<4",  # it must\n' in changed
    assert "# the newest" in changed


OURS = '    [{ group = "a" }, { group = "b" }],  # ours\n'
SET = '[{ extra = "cpu" }, { extra = "cu128" }]'
RIVALS = (ConflictItem("robot", extra="cpu"), ConflictItem("robot", extra="cu128"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"[tool.uv]\nconflicts = [{SET}]\n"),
        (
            "[tool.uv]\npackage = false\n",
            '[tool.uv]\npackage = false\nconflicts = [[{ extra = "cpu" }, { extra = "cu128" }]]\n',
        ),
        (
            f"[tool.uv]\nconflicts = [\n{OURS}]\n",
            f"[tool.uv]\nconflicts = [\n{OURS}    {SET},\n]\n",
        ),
    ],
)
def test_extras_are_declared_to_exclude_each_other(tmp_path: Path, before: str, after: str) -> None:
    found = project(tmp_path, HEAD + before)
    text = edited(found, add_conflict(found, RIVALS))
    assert text.removeprefix(HEAD).lstrip("\n") == after


def test_a_member_s_extra_and_a_group_carry_their_package(tmp_path: Path) -> None:
    found = project(tmp_path, HEAD)
    items = (ConflictItem("arm", extra="cpu"), ConflictItem("robot", group="gpu"))
    assert (
        add_conflict(found, items).new == '[{ package = "arm", extra = "cpu" }, { group = "gpu" }]'
    )
