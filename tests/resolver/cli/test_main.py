"""The entry point: commands, exit codes, and what becomes of errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from stackfix.cli.commands import COMMANDS
from stackfix.cli.failures import failure_of
from stackfix.cli.main import main
from stackfix.errors import StackfixError
from stackfix_lockfiles.errors import InputError


def stackfix(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stackfix", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | settings,
        check=False,
    )


def modules_after(arguments: list[str]) -> set[str]:
    """The modules that a command line has imported when it is done."""
    code = (
        "import json, sys; from stackfix.cli.main import main;"
        f"main({arguments!r}); print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_version_is_told_without_loading_anything() -> None:
    assert stackfix("--version").stdout.startswith("stackfix ")
    loaded = modules_after(["--version"])
    assert not loaded & {"rich", "packaging", "stackfix_knowledge", "stackfix_lockfiles"}


def test_help_lists_every_command_without_loading_one() -> None:
    output = stackfix("--help").stdout
    assert all(name in output for name in COMMANDS)
    loaded = modules_after(["--help"])
    assert not loaded & {module for module, _ in COMMANDS.values()}
    assert "rich" not in loaded


def test_planning_loads_no_framework_and_no_network_before_it_needs_them() -> None:
    loaded = modules_after(["plan", "--help"])
    assert not loaded & {"httpx", "rich", "tomlkit", "resolvelib", "elftools", "pynvml"}


def test_what_a_terminal_cannot_show_ends_no_run() -> None:
    done = stackfix("inspect", "--help", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: stackfix inspect [OPTIONS] PATH\\u2026\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_exists_has_help_and_is_named_as_listed(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module = import_module(COMMANDS[name][0])
    about = module.__doc__ if hasattr(module, "COMMANDS") else module.run.__doc__
    assert main([name, "--help"]) == 0
    output = capsys.readouterr().out
    assert output.startswith(f"Usage: stackfix {name} [OPTIONS]")
    assert " ".join(about.split()) in " ".join(output.split())


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Commands" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plann"], "No such command 'plann'"),
        (["plan", "--targt", "L4"], "No such option '--targt'"),
        (["plan", "--platform", "amiga"], "expected one of linux_x86_64"),
        (["plan", "--python", "two"], 'expected a version like "3.11"'),
        (["plan", "--require", "torch<<2"], 'expected one like "torch<2.10"'),
        (["plan", "--keep", "not a name"], "expected the name of a package"),
        (["plan", "--strategy", "magic"], "'magic' is not one of"),
        (["explain", "???"], "expected a code like SF101"),
        (["explain"], "Missing argument"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert words in output.err
    assert output.err.count("\n") == 1
    assert "--help" in output.err
    assert output.out == ""


def test_an_error_of_ours_is_its_own_line() -> None:
    failure = failure_of(InputError("uv.lock", "expected a string", place="package[4].name"), [])
    assert (failure.line, failure.code) == ("uv.lock: package[4].name: expected a string", 2)


def test_an_error_never_takes_two_lines_or_steers_the_terminal() -> None:
    failure = failure_of(StackfixError("a\nb\x1b[31mc"), [])
    assert failure.line == "a b\\x1b[31mc"


def test_a_file_that_cannot_be_used_is_named() -> None:
    error = PermissionError(13, "Permission denied", "/somewhere/plan.json")
    assert failure_of(error, []).line == "/somewhere/plan.json: Permission denied"


def test_an_unexpected_error_is_one_line_and_its_report_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    try:
        {}["missing"]
    except KeyError as error:
        failure = failure_of(error, ["plan", "--target", "L4"])
    (report,) = tmp_path.iterdir()
    assert failure.code == 2
    assert failure.line == f"internal error (KeyError: 'missing'); the full report is in {report}"
    text = report.read_text()
    assert "Traceback" in text
    assert "['plan', '--target', 'L4']" in text


def test_ctrl_c_is_130() -> None:
    assert failure_of(KeyboardInterrupt(), []).code == 130


@pytest.mark.skipif(os.name != "posix", reason="signals are sent the POSIX way")
def test_ctrl_c_while_a_command_waits_leaves_no_traceback(nvml_stub: Path) -> None:
    from tests.resolver.host.stub import RTX_5090, stub_env

    env = stub_env(nvml_stub, RTX_5090(), STUB_SLOW="nvmlInitWithFlags=8")
    child = subprocess.Popen(
        [sys.executable, "-m", "stackfix", "host"],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(1.5)
    os.killpg(child.pid, signal.SIGINT)
    output, errors = child.communicate(timeout=20)
    assert child.returncode == 130
    assert "Traceback" not in output + errors


@pytest.mark.skipif(os.name != "posix", reason="pipes break the POSIX way")
def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m stackfix explain SF101 | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
