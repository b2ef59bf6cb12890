"""Sources and indexes are taken out, and nothing beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix_lockfiles.edits import remove_index, remove_source
from stackfix_lockfiles.errors import InputError
from tests.lockfiles.test_edits import CU128, HEAD, SOURCES, edited, project

NT, POSIX = "os_name == 'nt'", "os_name == 'posix'"
OTHER = 'jax = { path = "b" }\n'
INDEX = f'[[tool.uv.index]]\nname = "cu128"\nurl = "{CU128}"\nexplicit = true\n'
CPU = INDEX.replace("cu128", "cpu")


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
