"""`stackfix host`, on machines made up by the stand-in for the driver."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema

from stackfix.report.json import schema
from tests.resolver.host.stub import A100, RTX_5090, stub_env


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
    jsonschema.validate(document, schema("host-1"), cls=jsonschema.Draft202012Validator)
    assert document["cards"][0]["capability"] == "12.0"


def test_a_machine_without_a_card_is_no_error(tmp_path: Path) -> None:
    assert host(stub_env(tmp_path)).stdout.startswith("no NVIDIA card")
