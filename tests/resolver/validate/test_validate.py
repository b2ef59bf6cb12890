"""The whole of it: a lock installed for real, from an index, and proven stage by stage."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from stackfix.cli.main import main
from tests.resolver.validate.libraries import build, needs_compiler
from tests.resolver.validate.running import (
    CARD,
    broken,
    content,
    leftovers,
    outcomes,
    report,
    stage,
)
from tests.resolver.validate.stack import PYPROJECT, TORCH, SmallStack, make_project

pytestmark = needs_compiler


def test_a_sound_stack_passes_what_runs_without_a_card(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(project)
    document = report(capsys, "--project", str(project), *CARD)
    assert outcomes(document) == {
        "install": "passed",
        "code": "passed",
        "versions": "passed",
        "import-torch": "passed",
        "libraries": "passed",
        "conv": "skipped",
        "attention": "skipped",
        "nccl": "skipped",
        "compiled": "skipped",
        "jax-conv": "skipped",
        "jax-collectives": "skipped",
    }
    assert stage(document, "conv")["reason"] == "this machine shows no NVIDIA card"
    assert stage(document, "jax-conv")["reason"] == "jax is not installed"
    assert document["ran_on_a_card"] is False
    libraries = {c["name"]: c["detail"] for c in stage(document, "libraries")["checks"]}
    assert libraries["cudnn"].startswith("9.5.1 from ")
    assert libraries["cudnn"].endswith("nvidia/cudnn/lib/libcudnn.so.9")
    assert "leftpad" not in document["environment"]["packages"]
    assert content(project) == before
    assert leftovers(tmp_path) == []


def test_the_text_names_what_is_not_proven(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", "--project", str(project), *CARD]) == 0
    captured = capsys.readouterr()
    assert "3 packages: " in captured.err
    assert " kB to fetch and about " in captured.err
    assert "✓ passed what could run: 5 stages" in captured.out
    assert "not proven: cuDNN convolutions (torch), attention (torch)" in captured.out
    assert "nothing ran on a card" in captured.out


def test_without_a_card_require_gpu_is_1(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--project", str(project), "--require-gpu", "--quick"]) == 1
    assert "no stage passed on a card" in capsys.readouterr().err


def test_code_that_lacks_the_card_fails(
    small: SmallStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.cudnn("9.1.0.70", tells=90100, cards="sm_80 sm_90")
    small.torch("2.6.0", needs=["nvidia-cudnn-cu12==9.1.0.70", "nvidia-nccl-cu12==2.26.2"])
    project = make_project(tmp_path / "old", PYPROJECT.replace("2.7.1", "2.6.0"))
    document = report(capsys, "--project", str(project), *CARD, code=1)
    assert outcomes(document)["code"] == "failed"
    assert "nvidia-cudnn-cu12 9.1.0.70" in stage(document, "code")["reason"]
    assert outcomes(document)["import-torch"] == "passed"


def test_what_the_project_accepts_does_not_fail(
    small: SmallStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.cudnn("9.1.0.70", tells=90100, cards="sm_80 sm_90")
    small.torch("2.6.0", needs=["nvidia-cudnn-cu12==9.1.0.70", "nvidia-nccl-cu12==2.26.2"])
    accepted = '{ code = "SF101", package = "nvidia-cudnn-cu12", reason = "no convolutions" }'
    text = f"{PYPROJECT}\n[tool.stackfix]\nignore = [{accepted}]\n".replace("2.7.1", "2.6.0")
    project = make_project(tmp_path / "old", text)
    assert outcomes(report(capsys, "--project", str(project), *CARD))["code"] == "passed"


def test_a_wheel_that_holds_another_version_than_it_says_fails(
    small: SmallStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.cudnn("9.8.0.87", tells=90501)
    small.torch("2.8.0", needs=["nvidia-cudnn-cu12==9.8.0.87", "nvidia-nccl-cu12==2.26.2"])
    project = make_project(tmp_path / "other", PYPROJECT.replace("2.7.1", "2.8.0"))
    document = report(capsys, "--project", str(project), *CARD, code=1)
    assert outcomes(document)["versions"] == "failed"
    assert "is 9.5.1, the lock has 9.8.0.87" in stage(document, "versions")["reason"]
    assert outcomes(document)["libraries"] == "failed"


def test_a_system_copy_in_ld_library_path_fails(
    small: SmallStack,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    system = build(tmp_path / "system/libcudnn.so.9", 80907)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(system.parent))
    by_path = "ctypes.CDLL(str(_nvidia / name))"
    code = TORCH.replace(by_path, 'ctypes.CDLL(name.rpartition("/")[2])')
    project = broken(small, tmp_path, code.replace('"nccl/lib/libnccl.so.2"', ""))
    document = report(capsys, "--project", str(project), *CARD, code=1)
    assert outcomes(document)["libraries"] == "failed"
    assert f"the process loaded {system}" in stage(document, "libraries")["reason"]


def test_an_import_that_crashes_is_a_result_and_stops_nothing(
    small: SmallStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = (
        "import os, signal\nprint('last words', flush=True)\nos.kill(os.getpid(), signal.SIGSEGV)\n"
    )
    project = broken(small, tmp_path, code)
    document = report(capsys, "--project", str(project), *CARD, code=1)
    crashed = stage(document, "import-torch")
    assert crashed["reason"].startswith("crashed with SIGSEGV")
    assert crashed["ending"]["signal"] == "SIGSEGV"
    assert "last words" in crashed["log"]
    assert outcomes(document)["code"] == "passed"
    assert outcomes(document)["conv"] == "skipped"


def test_an_import_that_hangs_ends_at_the_limit(
    small: SmallStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = broken(small, tmp_path, "import time\ntime.sleep(600)\n")
    document = report(capsys, "--project", str(project), "--timeout", "2", code=1)
    assert stage(document, "import-torch")["reason"].startswith("hung: not done after 2 s")
    assert stage(document, "import-torch")["ending"]["limit"] == "time"


def test_a_missing_library_fails_the_import(
    small: SmallStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = broken(small, tmp_path, TORCH.replace("libnccl.so.2", "libnccl.so.3"))
    document = report(capsys, "--project", str(project), *CARD, code=1)
    failed = stage(document, "import-torch")
    assert "libnccl.so.3" in failed["reason"]
    assert "cannot open shared object file" in failed["reason"]
    assert "Traceback" in failed["log"]
    assert failed["cause"]["family"] == "missing_shared_library"
    assert failed["cause"]["fixes"]


def test_an_installation_that_fails_is_a_result(
    small: SmallStack, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.index.refuses = 503
    document = report(capsys, "--project", str(project), *CARD, code=1)
    assert outcomes(document) == {"install": "failed"}
    assert "uv could not install it" in stage(document, "install")["reason"]
    assert document["environment"] is None


def test_too_little_disk_is_told_before_anything_is_fetched(
    small: SmallStack,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    real = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda place: real(place)._replace(free=512 << 20))
    small.index.asked.clear()
    document = report(capsys, "--project", str(project), *CARD, code=1)
    assert "3 packages need about" in stage(document, "install")["reason"]
    assert not [path for path in small.index.asked if path.endswith(".whl")]


def test_a_kept_environment_is_taken_again(
    small: SmallStack, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = report(capsys, "--project", str(project), "--keep", "--quick")
    kept = Path(first["environment"]["kept"])
    assert (kept / "venv/bin/python").exists()
    small.index.refuses = 503
    again = report(capsys, "--project", str(project), "--reuse", "--quick")
    assert again["environment"]["kept"] == str(kept)
    assert outcomes(again)["install"] == "passed"


def test_what_the_stack_does_not_need_comes_with_all(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = report(capsys, "--project", str(project), "--all", "--keep", "--quick")
    site = next(Path(document["environment"]["kept"]).glob("venv/lib/python*/site-packages"))
    assert (site / "leftpad.py").exists()


def test_an_existing_environment_is_compared_with_the_lock(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = report(capsys, "--project", str(project), "--keep", "--quick")["environment"]
    arguments = ("--project", str(project), "--python", kept["python"], *CARD)
    document = report(capsys, *arguments)
    assert outcomes(document)["install"] == "skipped"
    assert outcomes(document)["lock"] == "passed"
    assert document["environment"]["scratch"] is False
    site = next(Path(kept["kept"]).glob("venv/lib/python*/site-packages"))
    (site / "nvidia_nccl_cu12-2.26.2.dist-info").rename(site / "nvidia_nccl_cu12-2.27.3.dist-info")
    info = site / "nvidia_nccl_cu12-2.27.3.dist-info/METADATA"
    info.write_text(info.read_text().replace("2.26.2", "2.27.3"))
    document = report(capsys, *arguments, code=1)
    assert stage(document, "lock")["reason"] == (
        "nvidia-nccl-cu12: 2.27.3 is installed, the lock has 2.26.2"
    )


def test_an_environment_that_lacks_the_locks_stack_fails(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--project", str(project), "--python", sys.executable, "--quick")
    document = report(capsys, *arguments, code=1)
    assert document["project"] == "small"
    assert stage(document, "lock")["reason"] == (
        "nvidia-cudnn-cu12: it is not installed, the lock has 9.5.1.17, and 2 more"
    )


def test_a_lock_without_a_stack_is_compared_with_nothing(
    small: SmallStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(tmp_path / "plain", PYPROJECT.replace('"torch==2.7.1", ', ""))
    arguments = ("--project", str(project), "--python", sys.executable, "--quick")
    document = report(capsys, *arguments)
    assert stage(document, "lock")["outcome"] == "skipped"
    assert stage(document, "lock")["reason"] == "the lock has no GPU package"


def test_an_environment_needs_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    document = report(capsys, "--python", sys.executable, "--quick")
    assert document["project"] is None
    assert outcomes(document)["import"] == "skipped"


def test_an_environment_is_proven_where_the_cache_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on a node that is being set up, whose home is not there or full."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    assert outcomes(report(capsys, "--python", sys.executable, "--quick"))["install"] == "skipped"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--python", "none"), "none: expected a Python interpreter or the folder"),
        (("--python", "/bin/false"), "/bin/false: expected a Python 3.9 or newer that runs"),
        (("--python", sys.executable, "--keep"), "--keep is about a scratch environment"),
        (("--plan", "none"), "none/plan.json: expected a readable file"),
        (("--extra", "none"), "none"),
        (("--python", sys.executable, "--extra", "none"), "none"),
    ],
)
def test_bad_input_is_one_line(
    arguments: tuple[str, ...],
    error: str,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project)
    assert main(["validate", *arguments]) == 2
    told = capsys.readouterr().err
    assert error in told
    assert told.count("\n") == 1
