"""`stackfix env`, on a real lock and host files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stackfix.cli.main import main
from stackfix.documents.document import dump
from stackfix.host.document import host_document
from stackfix.host.host import Host
from tests.conftest import FIXTURES
from tests.resolver.report.published import valid
from tests.resolver.targets.test_hosts import RTX_5090, a_card, a_host

PROJECT = ["--project", str(FIXTURES / "openpi")]
TWO = a_host(a_card(0, RTX_5090, "12.0"), a_card(1, RTX_5090, "12.0"))


def save(path: Path, host: Host) -> list[str]:
    path.write_text(dump(host_document(host)))
    return ["--host", str(path)]


def test_the_locked_stack_gets_its_variables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = replace(TWO.system, container=True, sys_nice=False, numa_nodes=2)
    host = save(tmp_path / "host.json", replace(TWO, system=system))
    assert main(["env", *PROJECT, *host]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "# for 2 × RTX 5090 (12.0), driver 570.133.07"
    assert any(
        line.startswith("export NCCL_DEBUG=INFO  # nvidia-nccl-cu12 2.26.2") for line in lines
    )
    assert any(line.startswith("export XLA_PYTHON_CLIENT_MEM_FRACTION=0.9  # ") for line in lines)
    assert any(line.startswith("export NCCL_CUMEM_HOST_ENABLE=0  # ") for line in lines)


def test_json_keeps_to_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host = save(tmp_path / "host.json", TWO)
    assert main(["env", *PROJECT, *host, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    valid("env-1", document)
    assert document["targets"][0]["count"] == 2


def test_this_machine_is_the_host_unless_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("stackfix.host.detect.detect", lambda **_: TWO)
    assert main(["env", *PROJECT]) == 0
    assert "export NCCL_DEBUG=INFO" in capsys.readouterr().out


def test_a_machine_without_a_card_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("stackfix.host.detect.detect", lambda **_: a_host())
    assert main(["env", *PROJECT]) == 2
    error = capsys.readouterr().err
    assert error.startswith("this machine shows no usable NVIDIA card: give --host FILE")
    assert error.count("\n") == 1
