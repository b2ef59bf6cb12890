"""Diagnoses printed: JSON that keeps to its schema, text that renders nothing of the log's."""

from __future__ import annotations

import io
import json
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

from stackfix.diagnose.redact import Redactor
from stackfix.documents.document import as_json, dump
from stackfix.report.diagnosis import diagnosis_document, diagnosis_text
from stackfix.report.text import show
from tests.resolver.diagnose.logs import diagnose_text
from tests.resolver.report.published import valid

LOGS = {
    "cause": "h:1:2 [3] transport/nvls.cc:165 NCCL WARN Cuda failure 'invalid argument'\n",
    "wrapper": "ncclUnhandledCudaError: Call to CUDA function failed.\n",
    "empty": "",
    "fine": "step 1\nrun finished\n",
}


def text_of(folder: Path, log: str, redactor: Redactor | None = None) -> str:
    file = io.StringIO()
    console = Console(file=file, width=100, highlight=False, emoji=False, markup=False)
    show(console, diagnosis_text(diagnosis_document(diagnose_text(folder, run=log), redactor)))
    return file.getvalue()


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_a_diagnosis_keeps_to_its_schema(log: str, tmp_path: Path) -> None:
    document = json.loads(dump(diagnosis_document(diagnose_text(tmp_path, run=log))))
    valid("diagnosis-1", document)


def test_the_schema_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    document = as_json(diagnosis_document(diagnose_text(tmp_path, run=""))) | {"extra": 1}
    with pytest.raises(jsonschema.ValidationError):
        valid("diagnosis-1", document)


def test_the_cause_stands_with_its_place_and_rank(tmp_path: Path) -> None:
    text = text_of(tmp_path, LOGS["cause"])
    assert text.startswith("nvls_fabric, rank 3 (high confidence)")
    # However the path to the log is broken into lines.
    assert "run.log:1(rank3)" in "".join(text.split())
    assert "NCCL_NVLS_ENABLE=0" in text


def test_markup_and_escapes_of_a_log_are_not_rendered(tmp_path: Path) -> None:
    line = "RuntimeError: CUDA error: misaligned address [bold]x[/bold] :smile: \x07\x9b31m\n"
    text = text_of(tmp_path, line)
    assert "[bold]x[/bold] :smile:" in text
    assert "\x07" not in text
    assert "\x9b" not in text


def test_a_redacted_report_names_no_host_or_path(tmp_path: Path) -> None:
    log = "secret-9:1:2 [3] transport/nvls.cc:165 NCCL WARN Cuda failure 'invalid argument'\n"
    text = text_of(tmp_path, log, Redactor())
    assert "secret-9" not in text
    assert str(tmp_path) not in text.replace("\n", "")
    assert "transport/nvls.cc:165" in text
