"""Redaction: nothing that identifies people or machines is left, and what helps stays."""

from __future__ import annotations

import pytest

from stackfix.diagnose.redact import Redactor


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        ("gpu-17.cluster.example.com:12:34 [0] NCCL WARN x", "gpu-17"),
        ("Connect to 10.77.0.4<53307> failed", "10.77.0.4"),
        ("fe80:0:0:0:1:2:3:4 unreachable", "fe80"),
        ('File "/home/alice/secret-project/train.py", line 3', "alice"),
        ('File "/home/alice/secret-project/train.py", line 3', "secret-project"),
        ("HF_TOKEN=hf_abcdefghijklmnop", "hf_abcdefghijklmnop"),
        ('{"api_key": "s3cr3t-value"}', "s3cr3t-value"),
        ("Authorization: Bearer abc.def-ghi_jkl", "abc.def-ghi_jkl"),
        ("mail bob@corp.example", "bob"),
        ("https://user:pass@git.corp.example/x", "pass"),
        ("user=carol", "carol"),
        ("GPU-9a43e899-2cd2-8351-552e-2abc42814fc4", "9a43e899"),
        ("C:\\Users\\dave\\run.py failed", "dave"),
        ("slurmstepd: error: *** JOB 9 ON node-c17 CANCELLED", "node-c17"),
    ],
)
def test_what_identifies_goes(line: str, gone: str) -> None:
    assert gone not in Redactor().text(line)


@pytest.mark.parametrize(
    "line",
    [
        "transport/nvls.cc:165 NCCL WARN Cuda failure 'invalid argument'",
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        "NCCL version 2.26.2+cuda12.2",
        "Error while creating shared memory segment /dev/shm/nccl-kT5oQa (size 9637888)",
        "nvidia-cudnn-cu12==9.5.1.17",
    ],
)
def test_what_helps_stays(line: str) -> None:
    assert Redactor().text(line) == line


def test_the_same_name_gets_the_same_word() -> None:
    redactor = Redactor()
    first = redactor.text("alpha-1:1:2 [0] NCCL WARN to 10.0.0.2 and 10.0.0.3")
    second = redactor.text("alpha-1:9:9 [1] NCCL WARN from 10.0.0.3")
    assert first.split(":")[0] == second.split(":")[0]
    assert first.split()[-1] == second.split()[-1] != first.split()[-3]


def test_known_hosts_are_replaced_wherever_they_stand() -> None:
    assert "beta" not in Redactor(["beta"]).text("Connection closed by remote peer beta<4>")


def test_packages_keep_their_place_inside_the_environment() -> None:
    text = Redactor().text('File "/home/x/.venv/lib/python3.11/site-packages/torch/a.py"')
    assert "<packages>/torch/a.py" in text


def test_a_logs_name_loses_its_folder() -> None:
    assert Redactor().name("/home/alice/run/rank0.log") == "rank0.log"
