"""`stackfix knowledge measure` and `verify`: from the index into the facts, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stackfix.cli.main import main
from stackfix_knowledge.graph import Graph
from tests.index.serving import Served
from tests.resolver.report.published import valid

NCCL = "nvidia-nccl-cu12==2.27.3"


def test_a_release_is_measured_into_the_facts_of_a_checkout(
    served: Served, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["knowledge", "measure", NCCL]) == 0
    text = (facts / "nvidia-nccl-cu12.toml").read_text()
    assert '"sm_80 sm_90" = 1' in text
    assert "measured = " in text
    assert capsys.readouterr().err.startswith("measured: nvidia_nccl_cu12-2.27.3-")


def test_what_is_known_is_not_fetched_again(
    served: Served, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["knowledge", "measure", NCCL])
    fetched = served.fetched
    assert main(["knowledge", "measure", NCCL]) == 0
    assert served.fetched == fetched
    assert "known already" in capsys.readouterr().err
    main(["knowledge", "measure", NCCL, "--again"])
    assert served.fetched > fetched


def test_into_a_file_that_a_project_can_name(served: Served, facts: Path, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    assert main(["knowledge", "measure", NCCL, "--into", str(file)]) == 0
    assert not list(facts.iterdir())
    release = Graph.load([file]).release("nvidia-nccl-cu12", "2.27.3")
    assert release is not None
    assert release.wheel("linux_x86_64") is not None
    assert main(["knowledge", "lint", str(file)]) == 0


def test_what_the_shipped_facts_know_does_not_go_into_the_file(
    served: Served, facts: Path, tmp_path: Path
) -> None:
    main(["knowledge", "measure", NCCL])
    file = tmp_path / "own.toml"
    main(["knowledge", "measure", NCCL, "nvidia-nccl-cu12==2.99.0", "--into", str(file)])
    text = file.read_text()
    assert "2.99.0" in text
    assert "2.27.3" not in text


def test_metadata_alone_on_request(served: Served, facts: Path) -> None:
    assert main(["knowledge", "measure", NCCL, "--metadata-only"]) == 0
    text = (facts / "nvidia-nccl-cu12.toml").read_text()
    assert "metadata-date" in text
    assert "measured" not in text


def test_a_wheel_that_cannot_be_read_is_one_line_and_exit_1(
    served: Served, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ["nvidia-nccl-cu12==2.98.0", NCCL, "nvidia-nccl-cu12==0.1"]
    assert main(["knowledge", "measure", *wanted]) == 1
    broken, measured, missing = capsys.readouterr().err.splitlines()
    assert "2.98.0" in broken
    assert measured.startswith("measured: ")
    assert missing == "nvidia-nccl-cu12==0.1: the index has no such release"


def test_an_installed_stackfix_asks_for_a_file(
    served: Served, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (facts.parents[3] / "pyproject.toml").unlink()
    assert main(["knowledge", "measure", NCCL]) == 2
    assert "name a file with --into" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["measure", "verify"])
@pytest.mark.parametrize("release", ["torch", "torch>=2", "torch==2.*", "torch=2", "==2", ""])
def test_only_exact_releases_are_taken(
    command: str, release: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["knowledge", command, release]) == 2
    error = capsys.readouterr().err
    assert "expected releases like torch==2.8.0" in error
    assert error.count("\n") == 1


def test_a_package_that_the_index_lacks_is_one_line(
    served: Served, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["knowledge", "measure", "no-such-thing==1"]) == 2
    error = capsys.readouterr().err
    assert "no-such-thing: expected an index that has it (HTTP 404)" in error
    assert error.count("\n") == 1


def test_the_index_of_the_projects_lock_is_asked(
    served: Served, facts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UV_DEFAULT_INDEX")
    monkeypatch.delenv("UV_INDEX_URL", raising=False)
    (tmp_path / "uv.lock").write_text(
        'version = 1\nrequires-python = ">=3.11"\n[[package]]\nname = "six"\nversion = "1"\n'
        'source = { registry = "https://index.example/simple" }\n'
    )
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert main(["knowledge", "measure", NCCL]) == 0
    assert served.requests[0] == "/simple/nvidia-nccl-cu12/"


def test_facts_that_hold_are_said_to(
    served: Served, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["knowledge", "measure", NCCL])
    capsys.readouterr()
    assert main(["knowledge", "verify", NCCL]) == 0
    assert capsys.readouterr().out == "✓ nvidia-nccl-cu12 2.27.3: the facts hold\n"


def test_facts_that_differ_from_the_index_are_exit_1(
    served: Served, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["knowledge", "measure", NCCL])
    file = facts / "nvidia-nccl-cu12.toml"
    before = file.read_text().replace('"sm_80 sm_90" = 1', '"sm_80 sm_90" = 2')
    file.write_text(before)
    capsys.readouterr()
    assert main(["knowledge", "verify", NCCL]) == 1
    assert "sm_80 sm_90: recorded 2 containers, now 1" in capsys.readouterr().out
    assert file.read_text() == before
    assert main(["knowledge", "verify", NCCL, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    valid("verify-1", document)
    assert len(document["releases"][0]["differences"]) == 1


def test_what_nobody_measured_cannot_be_verified(
    served: Served, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["knowledge", "verify", NCCL]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert served.requests == []


@pytest.mark.network
def test_a_small_wheel_is_measured_from_the_real_index(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    release = "nvidia-cuda-cupti-cu12==12.0.90"
    # Shipped facts may know it already: then it is measured again, to the same result.
    assert main(["knowledge", "measure", release, "--into", str(file), "--again"]) == 0
    known = Graph.load([file] if file.exists() else []).release("nvidia-cuda-cupti-cu12", "12.0.90")
    assert known is not None
    wheel = known.wheel("linux_x86_64")
    assert wheel is not None
    assert wheel.coverage is not None
    assert str(wheel.cuda) == "12.0"
