"""`stackfix knowledge outdated`: what the index has and the facts lack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stackfix.cli.main import main
from tests.index.serving import Served
from tests.resolver.report.published import valid


def test_newer_releases_are_listed_with_what_is_known(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["knowledge", "outdated", "nvidia-nccl-cu12"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("nvidia-nccl-cu12  knows 2.")
    assert first.endswith("newer: 2.99.0, 2.98.0")
    assert "stackfix knowledge measure" in last


def test_as_json(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["knowledge", "outdated", "nvidia-nccl-cu12", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    valid("outdated-1", document)
    (row,) = document["packages"]
    assert [new["version"] for new in row["newer"]] == ["2.98.0", "2.99.0"]
    assert row["older"] == []


def test_without_a_package_all_that_there_are_facts_about(
    served: Served, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["knowledge", "measure", "nvidia-nccl-cu12==2.27.3"])
    capsys.readouterr()
    assert main(["knowledge", "outdated"]) == 0
    assert capsys.readouterr().out.startswith("nvidia-nccl-cu12  knows ")


def test_a_package_that_the_index_lacks_hides_no_other(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["knowledge", "outdated", "no-such-thing", "nvidia-nccl-cu12"]) == 1
    output = capsys.readouterr()
    assert "2.99.0" in output.out
    assert output.err == "no-such-thing: expected an index that has it (HTTP 404)\n"


def test_nothing_new_is_said_so(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["knowledge", "outdated", "nvidia-nccl-cu13"]) == 0
    assert capsys.readouterr().out == "✓ the facts know the newest release of 1 package\n"


def test_a_bad_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["knowledge", "outdated", "a b"]) == 2
    assert "expected names of packages, not 'a b'" in capsys.readouterr().err
