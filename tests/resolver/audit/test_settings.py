"""What a project decides about its own check: severities, what fails, what is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix_lockfiles.errors import InputError
from tests.resolver.gate.making import checked, codes, package, project, root

CARD = ["RTX 5090@570.133.07"]


def old_torch(folder: Path, settings: str = "", **more: object) -> Path:
    return project(
        folder,
        root("triton"),
        package("triton", "3.1.0", "filelock"),
        package("filelock", "3.20.0"),
        targets=CARD,
        settings=settings,
        **more,  # type: ignore[arg-type]  # keywords of project
    )


def test_an_error_fails_and_a_warning_does_not(tmp_path: Path) -> None:
    assert checked(old_torch(tmp_path)).fails
    soft = checked(old_torch(tmp_path, 'severity = { SF106 = "warning", SF502 = "off" }'))
    assert ("SF106", "triton") in codes(soft)
    assert not soft.fails
    strict = old_torch(tmp_path, 'severity = { SF106 = "warning" }\nfail-on = "warning"')
    assert checked(strict).fails


def test_the_command_line_goes_before_the_project(tmp_path: Path) -> None:
    made = old_torch(tmp_path, 'severity = { SF106 = "warning", SF502 = "off" }')
    assert checked(made, fail_on="warning").fails


def test_a_rule_that_is_off_says_nothing(tmp_path: Path) -> None:
    result = checked(old_torch(tmp_path, 'severity = { sf106 = "off" }'))
    assert "SF106" not in {hit.code for hit in result.hits}


def test_an_accepted_finding_is_counted(tmp_path: Path) -> None:
    made = old_torch(
        tmp_path, 'ignore = [{ code = "SF106", package = "Triton", reason = "never compiles" }]'
    )
    result = checked(made)
    assert "SF106" not in {hit.code for hit in result.hits}
    assert result.ignored == 1
    assert result.notes == ()


def test_acceptance_ends_on_its_day_and_says_so(tmp_path: Path) -> None:
    entry = 'ignore = [{{ code = "SF106", reason = "until the move", until = {} }}]'
    result = checked(old_torch(tmp_path, entry.format("2020-01-31")))
    assert ("SF106", "triton") in codes(result)
    assert result.notes == ("the ignore of SF106 ended on 2020-01-31: until the move",)
    result = checked(old_torch(tmp_path, entry.format("2999-01-31")))
    assert ("SF106", "triton") not in codes(result)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ('ignore = [{ code = "SF106" }]', "expected a reason for ignoring SF106"),
        ('severity = { SF106 = "fatal" }', "expected one of error, warning, info, off"),
        ('fail-on = "info"', 'expected "error" or "warning"'),
        ("severity = 3", "expected a table"),
        ('ignore = [{ code = "SF106", reason = "x", until = "soon" }]', "expected a date"),
        ("knowledge = 3", "expected a list of paths"),
    ],
)
def test_a_wrong_setting_is_one_line_with_its_place(
    settings: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=says) as raised:
        checked(old_torch(tmp_path, settings))
    assert "pyproject.toml" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_repository_of_many_projects_names_its_targets_once(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text(
        '[tool.stackfix]\ntargets = ["RTX 5090"]\nseverity = { SF106 = "warning" }\n'
    )
    made = project(
        tmp_path / "one",
        root("triton"),
        package("triton", "3.1.0", "filelock"),
        package("filelock", "3.20.0"),
        targets=(),
        settings="",
    )
    text = (made / "pyproject.toml").read_text()
    (made / "pyproject.toml").write_text(text.replace("[tool.stackfix]\n", ""))
    result = checked(made)
    assert result.targets == ("RTX 5090",)
    assert ("SF106", "triton") in codes(result)


def test_the_search_for_targets_ends_at_the_repository(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.stackfix]\ntargets = ["RTX 5090"]\n')
    (tmp_path / "repository/.git").mkdir(parents=True)
    made = project(
        tmp_path / "repository/one",
        root("triton"),
        package("triton", "3.1.0", "filelock"),
        package("filelock", "3.20.0"),
        targets=(),
    )
    assert checked(made).targets == ()


def test_facts_that_a_project_adds_count(tmp_path: Path) -> None:
    (tmp_path / "facts.toml").write_text(
        'package = "ourkernels"\n[[release]]\nversion = "1.0"\n[[release.wheel]]\n'
        'file = "ourkernels-1.0-cp311-cp311-linux_x86_64.whl"\nplatform = "linux_x86_64"\n'
        'measured = 2026-11-30\n[[release.wheel.library]]\nname = "ours.so"\n'
        'containers = { "sm_70 sm_80" = 5 }\n'
    )
    made = project(
        tmp_path,
        root("ourkernels"),
        package("ourkernels", "1.0"),
        targets=["H100"],
        settings='knowledge = ["facts.toml"]',
    )
    assert ("SF101", "ourkernels") in codes(checked(made))
