"""A lock is untrusted: whatever is in it, it is read, or refused with an InputError."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import rtoml

from stackfix_lockfiles.diff import diff, drift
from stackfix_lockfiles.environment import environment
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.platforms import PLATFORMS, Platform
from tests.lockfiles.samples import HEAD, OPENPI, RESSELT, lock, package, root

LINUX = Platform.parse("linux")

SPLICES = (
    b"]", b"[", b"{", b"}", b'"', b"'", b"\n", b",", b"=", b"#", b"\xff", b"\0", b"[[package]]\n",
    b"name = 3\n", b'name = ""\n', b'"version" = "1"\n', b"source = []\n", b"wheels = 3\n",
    b"dependencies = [{}]\n", b'marker = "("\n', b"[package.metadata]\n", b"[manifest]\n",
    b"conflicts = [[{}]]\n", b"extra == 'x'", b" and ", b"99999999999999999999", b"1979-05-27",
    b"\r", b"\x1b[31m", "é".encode(), b"'''", b"inf", b"true",
)  # fmt: skip


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the lock with a few random changes: bytes flipped, lines moved, pieces put in."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed))
        match chance.randrange(5):
            case 0:
                changed[at] = chance.randrange(256)
            case 1:
                changed[at:at] = chance.choice(SPLICES)
            case 2:
                del changed[at : at + chance.randint(1, 200)]
            case 3:
                end = changed.find(b"\n", at)
                start = changed.rfind(b"\n", 0, at) + 1
                changed[start:start] = changed[start : end + 1]
            case _:
                lines = bytes(changed).splitlines(keepends=True)
                first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
                lines[first], lines[second] = lines[second], lines[first]
                changed = bytearray(b"".join(lines))
    return bytes(changed)


def check_message(error: InputError) -> None:
    assert str(error).isprintable()
    assert len(str(error)) < 2_000


def use(original: Lock, data: bytes) -> bool:
    """Read and use a lock in every way; return whether it was readable."""
    try:
        found = Lock.parse(data)
    except InputError as error:
        check_message(error)
        return False
    diff(original, found)
    drift(original, found)
    for platform in PLATFORMS.values():
        try:
            walked = environment(found, platform=platform, python="3.12", all_groups=True)
        except InputError as error:
            check_message(error)
            continue
        for name, locked in walked.packages.items():
            platform.wheels(locked, "3.12")
            assert walked.chain(name)
    return True


@pytest.mark.parametrize("folder", [OPENPI, RESSELT], ids=lambda path: path.name)
def test_survives_changed_bytes(folder: Path) -> None:
    data = (folder / "uv.lock").read_bytes()
    original, chance = Lock.parse(data), random.Random(1)
    readable = sum(use(original, mutated(data, chance)) for _ in range(400))
    assert readable > 10, "mutations this harsh test the TOML reader only"


VALUES: tuple[Any, ...] = (
    None, 0, -1, 2**70, True, 1.5, "", "a", "é\n\x1b", "extra == 'extra-7-x-y'", "(", "1.0",
    [], [[]], [{}], {}, {"name": "torch"}, {"registry": "x"}, {"editable": "."}, "torch", "../x",
)  # fmt: skip


def changed(value: Any, chance: random.Random) -> Any:
    """Return the value with one place in it replaced by something else, or taken away."""
    if isinstance(value, dict) and value and chance.random() < 0.95:
        likely = "package" in value and chance.random() < 0.9
        key = "package" if likely else chance.choice(list(value))
        new = changed(value[key], chance)
        return {
            **{k: v for k, v in value.items() if k != key},
            **({} if new is None else {key: new}),
        }
    if isinstance(value, list) and value and chance.random() < 0.95:
        at = chance.randrange(len(value))
        new = changed(value[at], chance)
        return [*value[:at], *([] if new is None else [new]), *value[at + 1 :]]
    return chance.choice(VALUES)


@pytest.mark.parametrize("folder", [OPENPI, RESSELT], ids=lambda path: path.name)
def test_survives_changed_values(folder: Path) -> None:
    data = (folder / "uv.lock").read_bytes()
    original, chance = Lock.parse(data), random.Random(2)
    document = rtoml.loads(data.decode())
    readable = 0
    for _ in range(200):
        odd = document
        for _ in range(chance.choice((1, 1, 1, 2))):
            odd = changed(odd, chance)
        if isinstance(odd, dict):
            readable += use(original, rtoml.dumps(odd).encode())
    assert 10 < readable < 190


def test_a_cycle_ends() -> None:
    cyclic = lock(
        package("a", dependencies='[{ name = "b", extra = ["x"] }]'),
        package("b", dependencies='[{ name = "a" }, { name = "b" }]')
        + '[package.optional-dependencies]\nx = [{ name = "b", extra = ["x"] }, { name = "a" }]\n',
        root(dependencies='[{ name = "a" }]'),
    )
    walked = environment(cyclic, platform=LINUX, python="3.12")
    assert set(walked.packages) == {"robot", "a", "b"}
    assert walked.chain("b") == ("robot", "a", "b")


def test_a_marker_nested_deep_is_evaluated_without_recursion() -> None:
    deep = "(" * 20_000 + "sys_platform == 'linux'" + ")" * 20_000
    nested = lock(package("a"), root(dependencies=f'[{{ name = "a", marker = "{deep}" }}]'))
    assert "a" in environment(nested, platform=LINUX, python="3.12").packages


@pytest.mark.parametrize(
    "value",
    ["[" * 5000 + "]" * 5000, "{a=" * 5000 + "1" + "}" * 5000],
    ids=["arrays", "tables"],
)
def test_toml_nested_deep_is_refused(value: str) -> None:
    with pytest.raises(InputError, match="expected valid TOML"):
        Lock.parse(f"{HEAD}deep = {value}".encode())


def test_a_chain_of_ten_thousand_packages_is_walked() -> None:
    blocks = [
        package(f"p{number}", dependencies=f'[{{ name = "p{number + 1}" }}]')
        for number in range(10_000)
    ]
    long = lock(*blocks, package("p10000"), root(dependencies='[{ name = "p0" }]'))
    walked = environment(long, platform=LINUX, python="3.12")
    assert len(walked.chain("p10000")) == 10_002


def test_thousands_of_versions_of_one_name_are_refused() -> None:
    many = "".join(package("a", f"1.{number}") for number in range(5_000))
    with pytest.raises(InputError, match="expected at most 500 versions of a, found more"):
        Lock.parse((HEAD + many).encode())
