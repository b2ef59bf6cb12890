"""Extras and groups that exclude each other are judged apart, all others together."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.audit.selections import MOST, InstallChoice, every_choice
from stackfix_lockfiles.lock import Lock
from tests.resolver.gate.making import checked, package, project, root

TWO = """conflicts = [[
    { package = "made", extra = "cpu" },
    { package = "made", extra = "cu126" },
    { package = "made", extra = "cu128" },
]]
"""


def lock(head: str, more: str) -> Lock:
    text = f'version = 1\nrequires-python = ">=3.11"\n{head}\n'
    return Lock.parse((text + root("torch", more=more) + package("torch", "2.7.1")).encode())


def extras(*names: str) -> str:
    lines = "".join(f'{name} = [{{ name = "torch" }}]\n' for name in names)
    return f"\n[package.optional-dependencies]\n{lines}"


def chosen(found: tuple[InstallChoice, ...]) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    return {(one.extras, one.groups) for one in found}


def test_without_conflicts_everything_is_judged_at_once_and_the_plain_choice_alone() -> None:
    found = every_choice(lock("", extras("vision", "audio")))
    assert chosen(found) == {((), ()), (("audio", "vision"), ())}
    assert found[0].plain
    assert found[0].label == ""


def test_each_extra_of_a_conflict_is_judged_with_all_that_it_admits() -> None:
    found = every_choice(lock(TWO, extras("cpu", "cu126", "cu128", "vision")))
    assert chosen(found) == {
        ((), ()),
        (("vision", "cpu"), ()),
        (("vision", "cu126"), ()),
        (("vision", "cu128"), ()),
    }


def test_two_conflicts_give_every_combination() -> None:
    head = TWO.replace("]]\n", "], [\n") + (
        '    { package = "made", extra = "train" },\n'
        '    { package = "made", group = "serve" },\n]]\n'
    )
    more = extras("cpu", "cu126", "cu128", "train")
    more += '\n[package.dev-dependencies]\nserve = [{ name = "torch" }]\n'
    found = chosen(every_choice(lock(head, more)))
    assert (("cu128", "train"), ()) in found
    assert (("cu128",), ("serve",)) in found
    assert len(found) == 1 + 3 * 2


def test_an_extra_that_turns_another_on_conflicts_with_what_that_one_does() -> None:
    more = (
        "\n[package.optional-dependencies]\n"
        'all = [{ name = "made", extra = ["cu128"] }]\n'
        'cpu = [{ name = "torch" }]\ncu126 = [{ name = "torch" }]\ncu128 = [{ name = "torch" }]\n'
    )
    found = chosen(every_choice(lock(TWO, more)))
    assert (("all", "cu128"), ()) in found
    assert not any("all" in one and "cpu" in one for one, _ in found)


def test_hundreds_of_combinations_are_bounded_and_still_cover_each_extra() -> None:
    names = [f"{letter}{digit}" for letter in "abcd" for digit in range(6)]
    sets = ", ".join(
        "[" + ", ".join(f'{{ package = "made", extra = "{letter}{d}" }}' for d in range(6)) + "]"
        for letter in "abcd"
    )
    found = every_choice(lock(f"conflicts = [{sets}]", extras(*names)))
    assert len(found) <= MOST + len(names) + 1
    assert {extra for one in found for extra in one.extras} == set(names)


def test_findings_of_one_extra_say_so(tmp_path: Path) -> None:
    old = 'version = "2.7.1", marker = "extra == \'extra-4-made-old\'"'
    new = 'version = "2.8.0", marker = "extra != \'extra-4-made-old\'"'
    made = project(
        tmp_path,
        root(
            f"torch, {old}",
            f"torch, {new}",
            more=f'\n[package.optional-dependencies]\nold = [{{ name = "torch", {old} }}]\n'
            f'new = [{{ name = "torch", {new} }}]\n',
        ),
        package("torch", "2.7.1", forks=["sys_platform == 'linux'"]),
        package("torch", "2.8.0", forks=["sys_platform != 'linux'"]),
        head='conflicts = [[{ package = "made", extra = "old" }, '
        '{ package = "made", extra = "new" }]]',
        targets=["RTX 5090"],
    )
    result = checked(made)
    (hit,) = (hit for hit in result.hits if hit.code == "SF101")
    assert (hit.title, hit.only) == ("torch 2.7.1", "extra old")
    assert hit.via == ("made", "torch")


@pytest.mark.parametrize("group", ["dev", "all"])
def test_default_groups_are_part_of_the_plain_choice(group: str) -> None:
    more = '\n[package.dev-dependencies]\ndev = [{ name = "torch" }]\n'
    found = every_choice(lock("", more), "all" if group == "all" else ("dev",))
    assert chosen(found) == {((), ("dev",))}
