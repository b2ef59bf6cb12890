"""The examples of docs/api.md run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import stackfix
import stackfix_knowledge
import stackfix_lockfiles
from tests.knowledge.measure.building import elf, fatbin, wheel
from tests.registry.server import Index
from tests.resolver.plan.planning import locked

DOCUMENT = Path(__file__).parents[1] / "docs" / "api.md"
EXAMPLES = dict(
    re.findall(r"^## ([^\n]+)$.*?^```python\n(.*?)^```$", DOCUMENT.read_text(), re.M | re.S)
)
WHEEL = "nvidia_made_cu12-1.0-py3-none-manylinux2014_x86_64.whl"


@pytest.mark.parametrize("title", sorted(EXAMPLES))
def test_an_example_runs(
    title: str,
    index: Index,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if title != "Measure a wheel":
        locked(tmp_path / "project", "torch==2.7.1")
    library = elf({".nv_fatbin": fatbin("sm_80 sm_90", "sm_80 sm_90")})
    (tmp_path / WHEEL).write_bytes(wheel({"nvidia/made/lib/libmade.so": library}))
    monkeypatch.chdir(tmp_path)
    exec(compile(EXAMPLES[title], f"{DOCUMENT.name}: {title}", "exec"), {})
    assert capsys.readouterr().out


def test_there_are_three_examples() -> None:
    assert sorted(EXAMPLES) == ["Judge a lock", "Measure a wheel", "Plan and write"]


def test_every_public_name_is_there() -> None:
    for package in (stackfix, stackfix_lockfiles, stackfix_knowledge):
        assert len(package.__all__) > 10
        for name in package.__all__:
            assert getattr(package, name) is not None, name
        assert package.__version__ == stackfix.__version__
