"""Sources and indexes are added and taken out, and nothing beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix_lockfiles.edits import (
    add_constraint,
    add_index,
    add_source,
    apply_edits,
    remove_index,
    remove_source,
)
from stackfix_lockfiles.errors import InputError
from tests.lockfiles.test_edits import CU128, HEAD, MAIN, edited, project

NT, POSIX = "os_name == 'nt'", "os_name == 'posix'"
OTHER = 'jax = { path = "b" }\n'
INDEX = f'[[tool.uv.index]]\nname = "cu128"\nurl = "{CU128}"\nexplicit = true\n'
CPU = INDEX.replace("cu128", "cpu")


LISTED = '[[tool.uv.index]]\nname = "{0}"\nurl = "https://{0}.example/simple"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HEAD, HEAD + "\n@"),
        (
            HEAD + LISTED.format("one") + "# end of one\n\n[x]\n",
            HEAD + LISTED.format("one") + "\n@# end of one\n\n[x]\n",
        ),
        (
            HEAD + LISTED.format("one") + "\n[x]\n" + LISTED.format("two") + "\n[y]\n",
            HEAD + LISTED.format("one") + "\n[x]\n" + LISTED.format("two") + "\n@\n[y]\n",
        ),
        (
            HEAD + "[tool.uv]\npackage = false\n[tool.ruff]\n[tool.uv.sources]\n[x]\n",
            HEAD + "[tool.uv]\npackage = false\n[tool.ruff]\n[tool.uv.sources]\n\n@[x]\n",
        ),
        (
            HEAD + "[tool.uv]\npackage = false\n[tool.uv.sources]\n[x]\n",
            HEAD + "[tool.uv]\npackage = false\n[tool.uv.sources]\n\n@[x]\n",
        ),
    ],
)
def test_an_index_goes_below_the_others(tmp_path: Path, before: str, after: str) -> None:
    new = f'[[tool.uv.index]]\nname = "cu128"\nurl = "{CU128}"\nexplicit = true\n'
    found = project(tmp_path, before)
    assert edited(found, add_index(found, "cu128", CU128)) == after.replace("@", new)


def test_an_index_may_be_asked_for_every_package(tmp_path: Path) -> None:
    found = project(tmp_path, HEAD)
    assert "explicit" not in edited(found, add_index(found, "cu128", CU128, explicit=False))


def test_an_index_in_an_array_joins_the_array(tmp_path: Path) -> None:
    text = f'{HEAD}[tool.uv]\nindex = [\n  {{ name = "one", url = "https://one.example" }},\n]\n'
    found = project(tmp_path, text)
    new = f'  {{ name = "cu128", url = "{CU128}", explicit = true }},\n]\n'
    assert edited(found, add_index(found, "cu128", CU128)) == text.removesuffix("]\n") + new


def test_an_index_for_every_package_goes_into_the_uv_toml_that_hides_the_others(
    tmp_path: Path,
) -> None:
    found = project(tmp_path, HEAD + "[tool.uv]\n", uv_toml="offline = true\n")
    edits = (add_index(found, "cu128", CU128, explicit=False), add_constraint(found, "a<2"))
    changed = apply_edits(found, edits)
    assert changed[Path("uv.toml")].decode() == (
        f'offline = true\n\n[[index]]\nname = "cu128"\nurl = "{CU128}"\n'
    )
    assert 'constraint-dependencies = ["a<2"]' in changed[MAIN].decode()


def test_an_index_for_sources_stays_in_the_pyproject_beside_a_uv_toml(tmp_path: Path) -> None:
    settings = '[[index]]\nname = "cu128"\nurl = "https://cu128.example/simple"\n'
    found = project(tmp_path, HEAD, uv_toml=settings)
    assert list(apply_edits(found, [add_index(found, "cu128", CU128)])) == [MAIN]
    with pytest.raises(InputError, match=r"uv\.toml:1: index: expected a new name"):
        add_index(found, "cu128", CU128, explicit=False)


def test_a_name_is_given_to_one_index_only(tmp_path: Path) -> None:
    found = project(tmp_path, HEAD + LISTED.format("one"))
    with pytest.raises(InputError, match=r"pyproject.toml:4: tool\.uv\.index: expected a new name"):
        add_index(found, "one", CU128)


SOURCES = HEAD + "[tool.uv.sources]\n"


@pytest.mark.parametrize(
    ("before", "marker", "after"),
    [
        ("", None, 'torch = { index = "cu128" }'),
        ('Torch = { index = "cu126" }', None, 'Torch = { index = "cu128" }'),
        ('torch = {index="cu126"} # x', None, 'torch = { index = "cu128" } # x'),
        (
            "torch = [\n  { index = \"cpu\", marker = \"os_name == 'nt'\" },\n]",
            "os_name == 'posix'",
            (
                "torch = [\n  { index = \"cpu\", marker = \"os_name == 'nt'\" },\n"
                "  { index = \"cu128\", marker = \"os_name == 'posix'\" },\n]"
            ),
        ),
        (
            "torch = { index = \"cpu\", marker = \"os_name == 'nt'\" }",
            "os_name == 'posix'",
            (
                "torch = [\n    { index = \"cpu\", marker = \"os_name == 'nt'\" },\n"
                "    { index = \"cu128\", marker = \"os_name == 'posix'\" },\n]"
            ),
        ),
        (
            "torch = { index = \"cu126\", marker = \"os_name == 'nt'\" }",
            "os_name == 'nt'",
            "torch = { index = \"cu128\", marker = \"os_name == 'nt'\" }",
        ),
    ],
)  # fmt: skip
def test_a_source_is_added_or_replaced_by_its_scope(
    tmp_path: Path, before: str, marker: str | None, after: str
) -> None:
    found = project(tmp_path, f"{SOURCES}{before}\n" if before else SOURCES)
    edit = add_source(found, "torch", "cu128", marker=marker)
    assert edited(found, edit) == f"{SOURCES}{after}\n"


def test_a_source_for_everywhere_replaces_all_of_the_package(tmp_path: Path) -> None:
    found = project(
        tmp_path, f'{SOURCES}torch = [\n  {{ index = "a", extra = "x" }},\n  {{ path = "b" }},\n]\n'
    )
    edit = add_source(found, "torch", "cu128")
    assert edited(found, edit) == f'{SOURCES}torch = {{ index = "cu128" }}\n'


TABLE = f"{HEAD}[tool.uv.sources.torch]\n"


@pytest.mark.parametrize(
    ("before", "marker", "after"),
    [
        (
            f'{TABLE}index = "a"  # why\n\n# about x\n[x]\n',
            None,
            f'{TABLE}index = "cu128"  # why\n\n# about x\n[x]\n',
        ),
        (
            f'{TABLE}git = "https://git.example/torch"\n# the tag\ntag = "v2"\n\n# about x\n[x]\n',
            None,
            f'{TABLE}# the tag\nindex = "cu128"\n\n# about x\n[x]\n',
        ),
        (
            f'{TABLE}index = "a"\n\n# about x\n[x]\n',
            NT,
            (
                f'{HEAD}[[tool.uv.sources.torch]]\nindex = "a"\n\n'
                f'[[tool.uv.sources.torch]]\nindex = "cu128"\nmarker = "{NT}"\n\n# about x\n[x]\n'
            ),
        ),
        (
            f'{HEAD}[[tool.uv.sources.torch]]\nindex = "a"\nmarker = "{POSIX}"\n',
            POSIX,
            f'{HEAD}[[tool.uv.sources.torch]]\nindex = "cu128"\nmarker = "{POSIX}"\n',
        ),
        (
            f"{HEAD}\n[tool.uv]\npackage = false\n\n# about x\n[x]\ny = 1",
            None,
            (
                f"{HEAD}\n[tool.uv]\npackage = false\n\n[tool.uv.sources]\n"
                'torch = { index = "cu128" }\n\n# about x\n[x]\ny = 1'
            ),
        ),
        (
            f'{SOURCES}torch.index = "a" # why\njax.path = "b"\n',
            None,
            f'{SOURCES}torch = {{ index = "cu128" }} # why\njax.path = "b"\n',
        ),
        (
            f'{HEAD}\n# about jax\n[tool.uv.sources.jax]\npath = "b"\n',
            None,
            (
                f'{HEAD}\n[tool.uv.sources]\ntorch = {{ index = "cu128" }}\n'
                f'\n# about jax\n[tool.uv.sources.jax]\npath = "b"\n'
            ),
        ),
        (
            f'{HEAD}[tool]\nuv = {{ sources = {{ jax = {{ path = "b" }} }} }}\n',
            None,
            (
                f'{HEAD}[tool]\nuv = {{ sources = {{ jax = {{ path = "b" }}, '
                'torch = { index = "cu128" } } }\n'
            ),
        ),
        (
            f"{HEAD}[tool]\nuv.package = false\n",
            None,
            f'{HEAD}[tool]\nuv.package = false\nuv.sources.torch = {{ index = "cu128" }}\n',
        ),
    ],
)  # fmt: skip
def test_a_source_may_be_written_in_any_way(
    tmp_path: Path, before: str, marker: str | None, after: str
) -> None:
    found = project(tmp_path, before)
    assert edited(found, add_source(found, "torch", "cu128", marker=marker)) == after


def test_what_cannot_be_edited_safely_is_left_to_the_user(tmp_path: Path) -> None:
    two = f'[[tool.uv.sources.torch]]\nindex = "a"\nmarker = "{NT}"\n'
    found = project(tmp_path, f"{HEAD}{two}{two.replace('nt', 'posix')}")
    with pytest.raises(InputError) as caught:
        edited(found, add_source(found, "torch", "cu128"))
    assert str(caught.value) == (
        f"{tmp_path}/pyproject.toml:4: tool.uv.sources: expected a layout that can be edited; "
        "please write 'torch = { index = \"cu128\" }' by hand"
    )


def test_a_source_of_an_extra_says_so(tmp_path: Path) -> None:
    found = project(tmp_path, HEAD)
    edit = add_source(found, "torch", "cu128", extra="gpu")
    assert edit.new == '{ index = "cu128", extra = "gpu" }'
    assert edited(found, edit) == f"{HEAD}\n[tool.uv.sources]\ntorch = {edit.new}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            f'{SOURCES}torch = {{ index = "a" }}\n{OTHER}',
            f"{SOURCES}{OTHER}",
        ),
        (
            f'{SOURCES}{OTHER}Torch = {{index="a"}} # why\n# about x\n[x]\n',
            f"{SOURCES}{OTHER}# about x\n[x]\n",
        ),
        (
            f'{HEAD}\n[tool.uv.sources]\ntorch = {{ index = "a" }}\n\n# about x\n[x]\ny = 1\n',
            f"{HEAD}\n# about x\n[x]\ny = 1\n",
        ),
        (
            f'{HEAD}[tool.uv]\npackage = false\n\n[tool.uv.sources]\ntorch = {{ index = "a" }}\n',
            f"{HEAD}[tool.uv]\npackage = false\n",
        ),
        (
            f'{HEAD}[tool.uv]\npackage = false\nsources.torch = {{ index = "a" }}\n',
            f"{HEAD}[tool.uv]\npackage = false\n",
        ),
        (
            f'{SOURCES}torch.index = "a"\njax.path = "b"\n',
            f'{SOURCES}jax.path = "b"\n',
        ),
        (
            f'{HEAD}[tool.uv.sources.torch]\nindex = "a"\n\n# about x\n[x]\n',
            f"{HEAD}\n# about x\n[x]\n",
        ),
        (
            (
                f'{HEAD}[tool]\nuv = {{ sources = {{ torch = {{ index = "a" }}, '
                'jax = { path = "b" } } }\n'
            ),
            f'{HEAD}[tool]\nuv = {{ sources = {{ jax = {{ path = "b" }} }} }}\n',
        ),
        (
            (
                f'{HEAD}[tool]\nuv = {{ sources = {{ jax = {{ path = "b" }}, '
                'torch = { index = "a" } } }\n'
            ),
            f'{HEAD}[tool]\nuv = {{ sources = {{ jax = {{ path = "b" }} }} }}\n',
        ),
    ],
)  # fmt: skip
def test_a_source_goes_and_a_table_left_empty_with_it(
    tmp_path: Path, before: str, after: str
) -> None:
    found = project(tmp_path, before)
    source = next(source for source in found.sources if source.package == "torch")
    assert edited(found, remove_source(found, source)) == after


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("style", ["array", "sections"])
def test_of_several_sources_only_the_one_goes(tmp_path: Path, style: str, position: int) -> None:
    two = {"a": NT, "b": POSIX}
    if style == "array":
        lines = [f'  {{ index = "{name}", marker = "{mark}" }},\n' for name, mark in two.items()]
        head, tail = f"{SOURCES}torch = [\n", "]\n# about x\n[x]\n"
    else:
        lines = [
            f'[[tool.uv.sources.torch]]\nindex = "{name}"\nmarker = "{mark}"\n'
            for name, mark in two.items()
        ]
        head, tail = HEAD, "\n# about x\n[x]\n"
    found = project(tmp_path, head + "".join(lines) + tail)
    del lines[position]
    assert edited(found, remove_source(found, found.sources[position])) == head + lines[0] + tail


def test_the_last_of_several_sources_takes_the_list_along(tmp_path: Path) -> None:
    found = project(tmp_path, f'{SOURCES}torch = [{{ index = "a", extra = "x" }}]\n{OTHER}')
    assert edited(found, remove_source(found, found.sources[0])) == f"{SOURCES}{OTHER}"


def test_several_sources_go_one_after_another(tmp_path: Path) -> None:
    found = project(
        tmp_path, f'{SOURCES}torch = {{ index = "a" }}\ntorchvision = {{ index = "a" }}\n'
    )
    assert edited(found, *(remove_source(found, source) for source in found.sources)) == HEAD


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            f"{HEAD}\n{INDEX}\n# about x\n[x]\ny = 1\n",
            f"{HEAD}\n# about x\n[x]\ny = 1\n",
        ),
        (
            f"{HEAD}\n{INDEX}\n{CPU}\n[x]\n",
            f"{HEAD}\n{CPU}\n[x]\n",
        ),
        (
            f"{HEAD}\n{CPU}\n{INDEX}\n[x]\n",
            f"{HEAD}\n{CPU}\n[x]\n",
        ),
        (
            f'{HEAD}[tool.uv]\nindex = [\n  {{ name = "cu128", url = "{CU128}" }},\n]\n',
            f"{HEAD}[tool.uv]\n",
        ),
    ],
)  # fmt: skip
def test_an_index_goes_and_its_neighbours_stay(tmp_path: Path, before: str, after: str) -> None:
    found = project(tmp_path, before)
    index = next(index for index in found.indexes if index.name == "cu128")
    assert edited(found, remove_index(found, index)) == after


def test_an_index_of_a_uv_toml_goes_there(tmp_path: Path) -> None:
    found = project(tmp_path, HEAD, uv_toml=f'[[index]]\nname = "x"\nurl = "{CU128}"\n')
    assert edited(found, remove_index(found, found.indexes[0]), file=Path("uv.toml")) == ""


def test_an_index_in_an_older_spelling_is_left_to_the_user(tmp_path: Path) -> None:
    found = project(tmp_path, f'{HEAD}[tool.uv]\nextra-index-url = ["{CU128}"]\n')
    with pytest.raises(InputError, match="as an entry of its own"):
        remove_index(found, found.indexes[0])
