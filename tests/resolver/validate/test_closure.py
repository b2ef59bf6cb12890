"""What of a lock is installed to prove its stack."""

from __future__ import annotations

from stackfix.validate.closure import Closure, closure
from stackfix_lockfiles.environment import environment
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.platforms import Platform
from tests.resolver.making import graph

_LOCK = """\
version = 1
requires-python = ">=3.11"

[[package]]
name = "app"
version = "0.1.0"
source = { editable = "." }
dependencies = [{ name = "torch" }, { name = "requests" }, { name = "flash-attn" }]

[[package]]
name = "torch"
version = "2.7.1"
source = { registry = "https://index.example/simple" }
dependencies = [{ name = "sympy" }]
wheels = [{ url = "https://files.index.example/torch-2.7.1-cp311-cp311-manylinux_2_28_x86_64.whl", size = 1000, hash = "sha256:00" }]

[[package]]
name = "sympy"
version = "1.14.0"
source = { registry = "https://index.example/simple" }
wheels = [{ url = "https://files.index.example/sympy-1.14.0-py3-none-any.whl", hash = "sha256:00" }]

[[package]]
name = "requests"
version = "2.0"
source = { registry = "https://index.example/simple" }
wheels = [{ url = "https://files.index.example/requests-2.0-py3-none-any.whl", size = 10, hash = "sha256:00" }]

[[package]]
name = "flash-attn"
version = "2.8.0"
source = { registry = "https://index.example/simple" }
sdist = { url = "https://files.index.example/flash_attn-2.8.0.tar.gz", size = 10, hash = "sha256:00" }
dependencies = [{ name = "torch" }]
"""  # noqa: E501


def _closure(lock: str = _LOCK, *, everything: bool = False) -> Closure:
    walked = environment(
        Lock.parse(lock.encode()), platform=Platform.parse("linux_x86_64"), python="3.11"
    )
    return closure(walked, graph(), everything=everything)


def _names(found: Closure) -> list[str]:
    return [package.name for package in found.packages]


def test_the_stack_comes_with_all_that_it_needs_and_nothing_else() -> None:
    found = _closure()
    assert _names(found) == ["sympy", "torch"]
    assert found.left_out == ("app", "flash-attn", "requests")


def test_what_has_no_wheel_is_left_out_and_named() -> None:
    assert _closure().built == ("flash-attn",)


def test_everything_includes_what_has_to_be_built() -> None:
    found = _closure(everything=True)
    assert _names(found) == ["app", "flash-attn", "requests", "sympy", "torch"]
    assert found.built == ("app", "flash-attn")
    assert found.left_out == ()


def test_a_folder_named_by_an_absolute_path_is_not_built_there() -> None:
    source = 'version = "2.0"\nsource = { registry = "https://index.example/simple" }'
    lock = _LOCK.replace(source, 'version = "2.0"\nsource = { directory = "/home/me/requests" }')
    found = _closure(lock, everything=True)
    assert found.in_place == ("requests",)
    assert "requests" in found.left_out
    assert "requests" not in _names(found)


def test_a_wheel_beside_the_project_belongs_to_the_stack_and_is_not_fetched() -> None:
    wheel = "wheels/sympy-1.14.0-py3-none-any.whl"
    lock = _LOCK.replace(
        'version = "1.14.0"\nsource = { registry = "https://index.example/simple" }',
        f'version = "1.14.0"\nsource = {{ path = "{wheel}" }}',
    ).replace("https://files.index.example/sympy", "wheels/sympy")
    found = _closure(lock)
    assert "sympy" in _names(found)
    assert (found.download(), found.unsized) == (1000, 0)


def test_sizes_come_from_the_lock_and_what_it_lacks_is_counted() -> None:
    found = _closure()
    assert found.download() == 1000
    assert found.unsized == 1
    assert found.disk() > 1000


def test_what_is_there_already_takes_nothing_more() -> None:
    found = _closure()
    assert found.download({"torch"}) == 0
    assert found.disk({"torch", "sympy"}) == 0
    assert found.download({"requests"}) == 1000
