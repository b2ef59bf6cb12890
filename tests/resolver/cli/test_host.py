"""`stackfix host`, on machines made up by the stand-in for the driver."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from stackfix.cli.main import main
from stackfix.documents.document import dump
from stackfix.host.document import host_document
from stackfix.host.host import Host
from tests.resolver.host.stub import A100, H100, RTX_5090, stub_env
from tests.resolver.host.test_document import HOST
from tests.resolver.report.published import valid


def host(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stackfix", "host", *arguments],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )


def test_text_shows_the_cards(nvml_stub: Path) -> None:
    done = host(stub_env(nvml_stub, RTX_5090(1), A100(2)))
    assert "2 cards, driver 570.133.07 (CUDA 12.8)" in done.stdout
    assert "NVIDIA A100-SXM4-80GB" in done.stdout
    assert done.stderr == ""


def test_json_keeps_to_its_schema(nvml_stub: Path) -> None:
    document = json.loads(host(stub_env(nvml_stub, RTX_5090()), "--format", "json").stdout)
    valid("host-1", document)
    assert document["cards"][0]["capability"] == "12.0"


FABRIC = {"STUB_FABRIC": "1 0 0", "STUB_NVLINKS": "0-s:18,1-s:18", "STUB_ROUTES": "0-1=40"}


def test_a_fabric_that_is_not_set_up_is_said_with_what_helps(nvml_stub: Path) -> None:
    text = host(stub_env(nvml_stub, H100(1), H100(2), **FABRIC)).stdout
    assert "between the cards NV18" in text
    assert "✗ the fabric of cards 0, 1 is not started" in text
    assert "CUDA fails with error 802\n  Install the Fabric Manager" in text


def test_json_has_the_same_as_troubles(nvml_stub: Path) -> None:
    env = stub_env(nvml_stub, H100(1), H100(2), **FABRIC)
    document = json.loads(host(env, "--format", "json").stdout)
    valid("host-1", document)
    (trouble,) = (one for one in document["troubles"] if one["severity"] == "error")
    assert "fabric of cards 0, 1" in trouble["text"]
    assert document["links"][0]["nvlinks"] == 18


def test_a_machine_without_a_card_is_no_error(tmp_path: Path) -> None:
    assert host(stub_env(tmp_path)).stdout.startswith("no NVIDIA card")


def save(path: Path, machine: Host) -> str:
    path.write_text(dump(host_document(machine)))
    return str(path)


def test_a_file_shows_the_machine_that_it_was_written_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["host", save(tmp_path / "a.json", HOST)]) == 0
    assert "2 cards, driver 570.133.07 (CUDA 12.8)" in capsys.readouterr().out


def test_several_files_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [save(tmp_path / f"{name}.json", HOST) for name in "ab"]
    assert main(["host", *files]) == 0
    assert capsys.readouterr().out == "2 hosts: same cards, driver and platform\n"
    other = save(tmp_path / "c.json", replace(HOST, driver="560.35.03"))
    assert main(["host", *files, other]) == 1
    text = capsys.readouterr().out
    assert "3 hosts: not the same driver" in text
    assert "  560.35.03  " in text
    assert other in "".join(text.split())


def test_a_comparison_as_json_keeps_to_its_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [
        save(tmp_path / "a.json", HOST),
        save(tmp_path / "b.json", replace(HOST, driver="560.35.03", cuda_driver=None)),
    ]
    assert main(["host", *files, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    valid("hosts-1", document)
    assert document["differences"] == [
        {"what": "driver", "decides": True, "values": ["570.133.07", "560.35.03"]}
    ]
    assert document["untold"] == ["CUDA of the driver"]


def test_a_file_that_is_no_host_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "b.json").write_text("[]")
    assert main(["host", save(tmp_path / "a.json", HOST), str(tmp_path / "b.json")]) == 2
    error = capsys.readouterr().err
    assert "b.json: expected" in error
    assert error.count("\n") == 1
