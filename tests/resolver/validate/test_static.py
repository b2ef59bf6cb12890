"""The binaries of an environment, judged in a process of their own for the very targets named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stackfix.model.policy import DEFAULT_POLICY
from stackfix.model.target import Target
from stackfix.targets.parse import parse_target
from stackfix.validate.static import inspection_argument, main
from stackfix_knowledge.cards.gpus import GpuTable
from tests.knowledge.measure.building import elf, fatbin, install

GPUS = GpuTable.load()
FOR_HOPPER = elf({".nv_fatbin": fatbin("sm_90 compute_80", "sm_90 compute_80", ptx=(9, 0))})


def judged(tmp_path: Path, target: Target) -> list[dict[str, Any]]:
    """What is told of a torch of CUDA 13 whose code other cards than Hopper take by JIT."""
    site = tmp_path / "site-packages"
    libraries = {"torch/lib/libtorch_cuda.so": FOR_HOPPER}
    install(site, "torch", "2.9.0+cu130", libraries)
    told = tmp_path / "told.jsonl"
    main([inspection_argument([site], [target], [], DEFAULT_POLICY), str(told)])
    return [json.loads(line) for line in told.read_text().splitlines()]


def test_the_compatibility_libraries_of_a_target_are_seen(tmp_path: Path) -> None:
    _, result, end = judged(tmp_path, parse_target("A100@535.183.01+580.65.06", GPUS))
    assert (result["event"], end["event"]) == ("passed", "end")
    assert "the driver compiles its PTX" in result["detail"]


def test_a_driver_alone_is_too_old_for_the_same_code(tmp_path: Path) -> None:
    result = judged(tmp_path, parse_target("A100@535.183.01", GPUS))[1]
    assert result["event"] == "failed"
    assert "which driver 535.183.01 cannot" in result["detail"]
