"""Each format is valid by its own rules, whatever stands in the results."""

from __future__ import annotations

import gzip
import json
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import jsonschema
import pytest

from stackfix.report.formats import FORMATS
from tests.conftest import FIXTURES
from tests.resolver.report.formats.examples import CHANGE, CLEAN, HOSTILE, PLAIN, written
from tests.resolver.report.published import valid

EVERYTHING = (PLAIN, CHANGE, CLEAN, HOSTILE)


@pytest.mark.parametrize("name", FORMATS)
def test_no_result_at_all_can_be_written(name: str) -> None:
    assert written(name) is not None


@pytest.mark.parametrize("name", FORMATS)
def test_no_control_character_reaches_a_terminal_or_a_file(name: str) -> None:
    text = written(name, *EVERYTHING)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", text)
    text.encode("utf-8", "backslashreplace")


def sarif(*results: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(written("sarif", *results))
    return document


def test_sarif_is_valid_by_the_standards_schema() -> None:
    path = FIXTURES / "schemas/sarif-2.1.0.json.gz"
    rules = json.loads(gzip.decompress(path.read_bytes()))
    validator = jsonschema.Draft4Validator(rules)
    for results in ((), (CLEAN,), EVERYTHING):
        assert not list(validator.iter_errors(sarif(*results)))


def test_sarif_names_the_line_in_the_lock_and_the_one_in_pyproject() -> None:
    (run,) = sarif(PLAIN)["runs"]
    first = run["results"][0]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {
        "uri": "apps/fleet/uv.lock",
        "uriBaseId": "%SRCROOT%",
    }
    assert place["region"] == {"startLine": 812}
    (related,) = first["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "apps/fleet/pyproject.toml"
    assert related["physicalLocation"]["region"] == {"startLine": 7}
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]


def test_sarif_explains_each_rule_and_refers_to_it() -> None:
    (run,) = sarif(*EVERYTHING)["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert all(rule["help"]["text"] for rule in rules)


def test_a_sarif_fingerprint_outlives_a_bump() -> None:
    from dataclasses import replace

    newer = replace(PLAIN, hits=tuple(replace(hit, version="9") for hit in PLAIN.hits))
    prints = [
        [result["partialFingerprints"] for result in sarif(one)["runs"][0]["results"]]
        for one in (PLAIN, newer)
    ]
    assert prints[0] == prints[1]
    assert len({json.dumps(one) for one in prints[0]}) == len(PLAIN.hits)


def test_json_is_valid_by_its_published_schema() -> None:
    for results in ((), (CLEAN,), EVERYTHING):
        valid("check-1", json.loads(written("json", *results)))


def test_gitlab_has_what_its_widget_needs() -> None:
    issues = json.loads(written("gitlab", *EVERYTHING))
    assert len(issues) == sum(len(one.hits) for one in EVERYTHING)
    for issue in issues:
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["description"]
        assert issue["location"]["lines"]["begin"] >= 1
        assert not issue["location"]["path"].startswith(("/", "./"))
    assert len({issue["fingerprint"] for issue in issues}) == len(issues) - 1  # PLAIN's, CHANGE's


def test_junit_is_xml_whose_counts_are_right() -> None:
    root = ElementTree.fromstring(written("junit", *EVERYTHING))
    assert root.tag == "testsuites"
    suites = list(root)
    assert [suite.get("name") for suite in suites][:3] == [one.path for one in EVERYTHING][:3]
    for suite in suites:
        cases = suite.findall("testcase")
        assert suite.get("tests") == str(len(cases))
        assert suite.get("failures") == str(len(suite.findall("testcase/failure")))
    assert [suite.get("failures") for suite in suites] == ["1", "1", "0", "1"]


def test_github_writes_one_command_a_line_and_nothing_else_can() -> None:
    lines = written("github", HOSTILE).splitlines()
    commands = [line for line in lines if line.startswith("::")]
    assert len(commands) == 1
    assert "%0A" in commands[0]
    assert re.fullmatch(r"::error file=[^,]+%2C[^,]*,line=1,title=[^,]*::.*", commands[0])


def test_github_tells_a_reviewer_what_moved_and_for_whom() -> None:
    text = written("github", CHANGE)
    assert "::error file=apps/fleet/uv.lock,line=812,title=SF101 torch 2.11.0::" in text
    assert "torch 2.10.0 → 2.11.0: CUDA 12.8 → 13.0, drops 7.0" in text
    assert "nvidia-nvtx" not in text  # it matters to nobody


def test_markdown_has_a_table_and_keeps_markup_out() -> None:
    text = written("markdown", PLAIN)
    assert "| ❌ | SF101 | torch 2.11.0 |" in text
    hostile = written("markdown", HOSTILE)
    assert not re.search(r"(?<!\\)<(?!br>)", hostile.replace("<details>", ""))
    assert "**bold**" not in hostile
    rows = [line for line in hostile.splitlines() if line.startswith("| ❌")]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [6]


def test_text_says_where_and_why() -> None:
    text = written("text", PLAIN)
    assert "✗ apps/fleet/uv.lock: 1 error, 1 warning" in text
    assert "[v100-pool; extra cu130]" in text
    assert "fleet → lerobot → torch · measured" in text
    assert "→ driver 580 or newer" in text
    assert "nobody measured xformers==0.1" in text
    assert text.endswith("checked 1 lock for 2 targets: 1 error, 1 warning\n")


def test_text_of_a_change_says_what_moved_and_what_is_repaired() -> None:
    text = written("text", CHANGE)
    assert "↻ torch 2.10.0 → 2.11.0: CUDA 12.8 → 13.0, drops 7.0, needs driver ≥ 580" in text
    assert "↻ nvidia-nvtx-cu12 12.8.90 → gone" in text
    assert "repaired: SF102 nvidia-nccl-cu13" in text
    assert "3 findings that were there before" in text
    assert "1 error that origin/main did not have, 1 repaired" in text


def test_a_clean_lock_is_one_line_of_text() -> None:
    assert written("text", CLEAN).splitlines()[0] == "✓ libs/tools/uv.lock"
