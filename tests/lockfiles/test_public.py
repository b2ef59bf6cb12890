"""What the packages of this folder show to others, at the price of what is used."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

PACKAGES = ("stackfix_lockfiles", "stackfix_index")


@pytest.mark.parametrize("name", PACKAGES)
def test_every_public_name_is_there(name: str) -> None:
    package = import_module(name)
    assert sorted(set(package.__all__)) == sorted(package.__all__)
    assert all(getattr(package, one) is not None for one in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018


@pytest.mark.parametrize("name", PACKAGES)
def test_importing_a_package_loads_none_of_its_modules(name: str) -> None:
    code = f"import sys, {name}; print(*(m for m in sys.modules if m.startswith('{name}.')))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
