"""A requirement's text is read fast, as `packaging` reads it, and whatever is in it."""

from __future__ import annotations

import time

import pytest
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from stackfix_lockfiles.requirement import full_requirement, read_requirement

TEXTS = (
    "torch",
    "Torch.Vision_x",
    " torch >= 2.7 , < 3 ",
    "torch(>=2.7)",
    "torch (==2.7.*) ; python_version < '3.12'",
    "jax[cuda12,Cuda_12.Local]==0.5.3",
    "jax [ cuda12 ] ~= 0.5",
    "torch===2.7.1+cu128",
    "torch!=2.6.0,>=2;sys_platform=='linux' and extra == 'gpu'",
    "torch @ https://files.index.example/torch.whl",
    "torch[x]@https://me:a=b@host/t.whl#sha256=ab ; sys_platform == 'linux'",
    "torch @ git+https://host/x@v1;b#subdirectory=y",
    "a",
    "2to3",
)


@pytest.mark.parametrize("text", TEXTS)
def test_it_says_what_packaging_says(text: str) -> None:
    read, full = read_requirement(text), Requirement(text)
    assert read is not None
    assert read.name == canonicalize_name(full.name)
    assert read.extras == {canonicalize_name(extra) for extra in full.extras}
    assert {*filter(None, read.specifier.split(","))} == {str(one) for one in full.specifier}
    assert read.url == full.url
    assert (read.marker is None) == (full.marker is None)
    assert full_requirement(text) == full


@pytest.mark.parametrize(
    "text",
    ["", " ", "-torch", "torch-", "torch[x", "torch (>=2", "torch @", "torch; nonsense", "torch; (",
     "a\n@", "torch)", "@ https://host/", "torch >=2 @ https://host/", "x" * 20_000],
)  # fmt: skip
def test_what_is_none_is_none(text: str) -> None:
    assert read_requirement(text) is None
    if len(text) < 100:
        with pytest.raises(InvalidRequirement):
            Requirement(text)
    assert len(text) > 100 or full_requirement(text) is None


@pytest.mark.parametrize(
    "text",
    ["a" * 9000 + "@", "a" + " " * 9000 + ")", "a" + "-" * 9000 + "!", "a" + "[" * 9000,
     "a @ " + ";" * 9000 + " ;", "a" + "(" * 9000, "a" + " ;" * 4500, "a >=1" + " ," * 4000 + "("],
)  # fmt: skip
def test_a_text_made_to_take_long_does_not(text: str) -> None:
    start = time.perf_counter()
    read_requirement(text)
    assert time.perf_counter() - start < 5
