"""Advice about the environment as shell and as JSON."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from stackfix.documents.document import dump
from stackfix.env.advise import Advice, Variable
from stackfix.report.environment import environment_document, environment_lines
from tests.resolver.making import target
from tests.resolver.report.published import valid

TARGETS = [target("RTX 5090:2@570.133.07")]
ADVICE = Advice(
    variables=(
        Variable(name="A", value="1", set=True, reasons=("first", "second"), advisories=("x",)),
        Variable(name="B", value="=eth0", set=True, reasons=("r",)),
        Variable(name="C", value="it's $HOME `x`", set=True, reasons=("end\nexport EVIL=1",)),
        Variable(name="D", value="1", set=False, reasons=("only if",)),
        Variable(name="E", value=None, set=False, reasons=("name one",)),
        Variable(name="F; touch x", value="1", set=True, reasons=("no name",)),
    ),
    notes=("a note\nexport EVIL=1",),
)


def test_each_line_has_its_reason() -> None:
    assert list(environment_lines(ADVICE, TARGETS)) == [
        "# for 2 × RTX 5090 (12.0), driver 570.133.07",
        "export A=1  # first; second",
        "export B='=eth0'  # r",
        "export C='it'\\''s $HOME `x`'  # end export EVIL=1",
        "# export D=1  # only if",
        "# export E=…  # name one",
        "# a note export EVIL=1",
    ]


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
def test_a_shell_takes_what_is_set_and_nothing_else() -> None:
    script = "\n".join(environment_lines(ADVICE, TARGETS)) + "\nenv\n"
    done = subprocess.run(
        ["sh"], input=script, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True
    )
    found = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert done.stderr == ""
    assert (found["A"], found["B"], found["C"]) == ("1", "=eth0", "it's $HOME `x`")
    assert not {"D", "E", "EVIL"} & set(found)


def test_the_json_keeps_to_its_schema() -> None:
    document = json.loads(dump(environment_document(ADVICE, TARGETS)))
    valid("env-1", document)
    assert document["variables"][0]["advisories"] == ["x"]
