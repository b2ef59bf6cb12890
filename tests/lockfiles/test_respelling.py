"""Another name or extra in a requirement: everything else stays as it was spelled."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from stackfix_lockfiles.edits import apply_edits, respell_requirement
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project
from tests.lockfiles.samples import write_project
from tests.lockfiles.test_edits_properties import check_only_the_string_changed, documents

HEAD = '[project]\nname = "robot"\nversion = "0.1.0"\n'
TO_13 = {"cuda12": "cuda13", "cuda": "cuda13", "cuda12-local": "cuda13-local"}


def declared(folder: Path, requirement: str) -> Project:
    text = f"{HEAD}dependencies = [{requirement}]\n"
    return Project.find(write_project(folder, {"pyproject.toml": text}))


def respelled(folder: Path, requirement: str, name: str | None = None) -> str:
    """A dependency (TOML) with its CUDA 12 extras exchanged, or under another name."""
    found = declared(folder, requirement)
    edit = respell_requirement(found.requirements[0], name=name, extras=TO_13, why="it must")
    assert edit.why == "it must"
    text = apply_edits(found, [edit])[Path("pyproject.toml")].decode()
    return text.removeprefix(f"{HEAD}dependencies = [").removesuffix("]\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"jax[cuda12]==0.8.0"', '"jax[cuda13]==0.8.0"'),
        ("'jax[cuda12]'  # ours\n", "'jax[cuda13]'  # ours\n"),
        ('"JAX[CUDA12] >= 0.8, < 0.10"', '"JAX[cuda13] >= 0.8, < 0.10"'),
        ('"jax [ k8s, cuda12 , xprof ]>=0.8"', '"jax [ k8s, cuda13 , xprof ]>=0.8"'),
        ('"jax[cuda12_local]"', '"jax[cuda13_local]"'),
        ('"jax[cuda12-local]"', '"jax[cuda13-local]"'),
        ('"jax[cuda]"', '"jax[cuda13]"'),
        ('"jax[cuda12,cuda]"', '"jax[cuda13]"'),
        ('"jax[cuda12,cuda13]"', '"jax[cuda13]"'),
        (
            "\"jax[cuda12] (>=0.8) ; sys_platform == 'linux'\"",
            "\"jax[cuda13] (>=0.8) ; sys_platform == 'linux'\"",
        ),
        ('"jax[cuda12]; extra == \\"cuda12\\""', '"jax[cuda13]; extra == \\"cuda12\\""'),
    ],
)
def test_an_extra_takes_the_place_of_another(tmp_path: Path, before: str, after: str) -> None:
    assert respelled(tmp_path, before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"cupy-cuda12x==13.6.0"', '"cupy-cuda13x==13.6.0"'),
        ('"cupy_cuda12x>=13"', '"cupy_cuda13x>=13"'),
        ('"CuPy-CUDA12x[ctk] ~= 13.6"', '"cupy-cuda13x[ctk] ~= 13.6"'),
        (
            "\"cupy-cuda12x ; platform_machine == 'x86_64'\"",
            "\"cupy-cuda13x ; platform_machine == 'x86_64'\"",
        ),
    ],
)
def test_a_name_takes_the_place_of_another(tmp_path: Path, before: str, after: str) -> None:
    assert respelled(tmp_path, before, "cupy-cuda13x") == after


def test_a_url_is_refused_with_its_place(tmp_path: Path) -> None:
    found = declared(tmp_path, '"jax[cuda12] @ https://a.example/jax-0.8.0-py3-none-any.whl"')
    with pytest.raises(InputError, match=r"project.dependencies\[0\].*expected a requirement"):
        respell_requirement(found.requirements[0], extras=TO_13)


def parts(requirement: Requirement) -> tuple[object, ...]:
    return (requirement.specifier, str(requirement.marker))


@given(documents(), st.data())
def test_everything_but_the_variant_stays(text: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = Project.find(write_project(Path(folder), {"pyproject.toml": text}))
        one = data.draw(st.sampled_from(found.requirements))
        name = data.draw(st.sampled_from([None, "other-cu13"]))
        edit = respell_requirement(one, name=name, extras=TO_13)
        assert edit.new is not None
        after = Requirement(edit.new)
        assert parts(after) == parts(one.requirement)
        assert canonicalize_name(after.name) == (name or one.name)
        assert after.extras == {TO_13.get(extra, extra) for extra in one.requirement.extras}
        if edit.new != one.raw:
            changed = apply_edits(found, [edit])[one.file].decode()
            check_only_the_string_changed(text, changed, one, edit)


SPACE = st.sampled_from(["", " ", "  "])
EXTRA = st.sampled_from(["k8s", "Cuda12", "cuda12_local", "xprof", "cuda", "cuda12-pip"])


@given(st.lists(st.tuples(SPACE, EXTRA, SPACE), min_size=1, max_size=4), SPACE, SPACE)
def test_the_other_extras_stay_where_they_are(
    items: list[tuple[str, str, str]], gap: str, tail: str
) -> None:
    raw = f"jax{gap}[{','.join(''.join(item) for item in items)}]{tail}>=0.8"
    with tempfile.TemporaryDirectory() as folder:
        (one,) = declared(Path(folder), f'"{raw}"').requirements
        new = respell_requirement(one, extras=TO_13).new
    assert new is not None
    wanted = {canonicalize_name(extra) for _, extra, _ in items}
    found = [canonicalize_name(extra) for extra in Requirement(new).extras]
    assert sorted(found) == sorted({TO_13.get(extra, extra) for extra in wanted})
    for item in items:
        if canonicalize_name(item[1]) not in TO_13:
            assert "".join(item) in new
    assert new.startswith(f"jax{gap}[")
    assert new.endswith(f"]{tail}>=0.8")
