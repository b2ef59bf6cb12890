import os
from pathlib import Path

import pytest

from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project
from tests.lockfiles.samples import OPENPI, RESSELT, write_project

MINIMAL = '[project]\nname = "robot"\nversion = "0.1.0"\n'


def project(folder: Path, text: str = MINIMAL, **files: str) -> Project:
    named = {name.replace("_toml", ".toml"): body for name, body in files.items()}
    return Project.find(write_project(folder, {"pyproject.toml": text, **named}))


def read_all(folder: Path, text: str) -> None:
    found = project(folder, text)
    assert found.requirements or found.sources or found.indexes


def refusal(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        Project.find(folder)
    return str(caught.value)


def test_reads_a_real_workspace() -> None:
    found = Project.find(OPENPI)
    assert found.name == "openpi"
    assert [file.name for file in found.files] == ["openpi", "openpi-client"]
    assert found.requires_python == ">=3.11"
    assert [override.raw for override in found.overrides] == [
        "ml-dtypes==0.4.1",
        "tensorstore==0.1.74",
    ]
    assert {source.package: source.kind for source in found.sources} == {
        "openpi-client": "workspace",
        "lerobot": "git",
        "dlimp": "git",
    }
    assert found.read_lock().named("torch")


def test_finds_the_line_of_every_requirement() -> None:
    found = Project.find(OPENPI)
    (torch,) = (declared for declared in found.requirements if declared.name == "torch")
    lines = (OPENPI / "pyproject.toml").read_text().splitlines()
    assert lines[torch.line - 1].strip() == '"torch==2.7.1",'
    assert (torch.file, torch.place) == (Path("pyproject.toml"), "project.dependencies[20]")
    for declared in found.requirements:
        lines = (OPENPI / declared.file).read_text().splitlines()
        assert declared.raw in lines[declared.line - 1]


def test_reads_indexes_and_sources_by_extra() -> None:
    found = Project.find(RESSELT)
    assert [index.name for index in found.indexes][:2] == ["pytorch-cu128", "pytorch-cu126"]
    assert all(index.explicit for index in found.indexes)
    cu128 = next(source for source in found.sources if source.extra == "cu128")
    assert (cu128.package, cu128.value, cu128.marker) == (
        "torch",
        "pytorch-cu128",
        "sys_platform != 'darwin'",
    )
    assert found.source_indexes == found.indexes


EVERYWHERE = """\
[project]
name = "robot"
dynamic = ["version"]
dependencies = ["torch>=2.7"]

[project.optional-dependencies]
"GPU_12" = [
    "jax[cuda12]",  # the card
]

[dependency-groups]
dev = [{ include-group = "lint" }, "pytest"]
lint = ["ruff"]

[tool.uv]
dev-dependencies = ["mypy"]
constraint-dependencies = ["numpy<2"]
override-dependencies = ["ml-dtypes==0.4.1"]
build-constraint-dependencies = ["setuptools<80"]
default-groups = ["lint"]
environments = ["sys_platform == 'linux'"]
required-environments = "platform_machine == 'x86_64'"

[tool.stackfix]
targets = ["RTX 5090"]
"""


def test_knows_every_place_where_requirements_stand(tmp_path: Path) -> None:
    found = project(tmp_path, EVERYWHERE)
    assert [(one.place, one.line, one.name) for one in found.requirements] == [
        ("project.dependencies[0]", 4, "torch"),
        ("project.optional-dependencies.GPU_12[0]", 8, "jax"),
        ("dependency-groups.dev[1]", 12, "pytest"),
        ("dependency-groups.lint[0]", 13, "ruff"),
        ("tool.uv.dev-dependencies[0]", 16, "mypy"),
    ]
    assert [one.extra for one in found.requirements] == [None, "gpu-12", None, None, None]
    assert [one.group for one in found.requirements] == [None, None, "dev", "lint", "dev"]
    assert [(one.line, one.raw) for one in found.constraints] == [(17, "numpy<2")]
    assert [(one.line, one.raw) for one in found.overrides] == [(18, "ml-dtypes==0.4.1")]
    (included,) = found.included_groups
    assert (included.group, included.includes, included.index, included.line) == (
        "dev",
        "lint",
        0,
        12,
    )
    assert found.default_groups == ("lint",)
    assert found.environments == ("sys_platform == 'linux'",)
    assert found.tool_stackfix == {"targets": ["RTX 5090"]}
    assert found.main.dynamic == {"version"}
    assert [one.raw for one in found.declarations_of("ml-dtypes")] == ["ml-dtypes==0.4.1"]


def test_default_group_is_dev_unless_said_otherwise(tmp_path: Path) -> None:
    assert project(tmp_path).default_groups == ("dev",)
    assert (
        project(tmp_path, MINIMAL + '[tool.uv]\ndefault-groups = "all"\n').default_groups == "all"
    )


def test_python_version_file(tmp_path: Path) -> None:
    assert project(tmp_path).python_version is None
    write_project(tmp_path, {".python-version": "# for robots\n3.11  # not newer\n"})
    assert Project.find(tmp_path).python_version == "3.11"


WORKSPACE = MINIMAL + '[tool.uv.workspace]\nmembers = ["packages/*"]\nexclude = ["packages/old*"]\n'


def test_members_are_folders_that_the_globs_mean(tmp_path: Path) -> None:
    files = {f"packages/{name}/pyproject.toml": MINIMAL for name in ("b", "a", "old-b")}
    write_project(tmp_path, {**files, "packages/notes/README.md": "x"})
    found = project(tmp_path, WORKSPACE)
    assert [file.path.as_posix() for file in found.files] == [
        "pyproject.toml",
        "packages/a/pyproject.toml",
        "packages/b/pyproject.toml",
    ]


def test_is_found_from_anywhere_inside(tmp_path: Path) -> None:
    files = {"packages/a/pyproject.toml": MINIMAL, "packages/old/pyproject.toml": MINIMAL}
    write_project(tmp_path, {**files, "packages/a/src/deep/x.py": "", "lib/x.py": ""})
    project(tmp_path, WORKSPACE)
    for inside in ("lib", "packages/a", "packages/a/src/deep", "packages/a/pyproject.toml"):
        assert Project.find(tmp_path / inside).root == tmp_path
    assert Project.find(tmp_path / "packages/old").root == tmp_path / "packages/old"


@pytest.mark.parametrize("pattern", ["/etc/*", "", "**/**/x**y"])
def test_a_pattern_that_is_no_glob_is_refused_or_matches_nothing(
    tmp_path: Path, pattern: str
) -> None:
    text = MINIMAL + f'[tool.uv.workspace]\nmembers = ["{pattern}"]\n'
    try:
        assert len(project(tmp_path, text).files) == 1
    except InputError as error:
        assert "expected a glob relative to the project" in str(error)  # noqa: PT017


def test_uv_toml_decides_settings_but_not_constraints(tmp_path: Path) -> None:
    text = MINIMAL + (
        '[tool.uv]\nconstraint-dependencies = ["numpy<2"]\n'
        '[[tool.uv.index]]\nname = "hidden"\nurl = "https://hidden.example/simple"\n'
    )
    settings = (
        'index-strategy = "unsafe-best-match"\nextra-index-url = ["https://more.example/simple"]\n'
        '[[index]]\nname = "shown"\nurl = "https://index.example/simple"\ndefault = true\n'
    )
    found = project(tmp_path, text, uv_toml=settings)
    assert found.uv_config.is_uv_toml
    assert found.uv_config.table["index-strategy"] == "unsafe-best-match"
    assert [(index.name, index.line) for index in found.indexes] == [("shown", 3), (None, 2)]
    assert [one.raw for one in found.constraints] == ["numpy<2"]
    assert [index.name for index in found.source_indexes] == ["hidden"], "sources name these"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "found no pyproject.toml here or in a folder above"),
        ({"requirements.txt": "torch"}, "found one for pip (requirements.txt); `uv init --bare"),
        ({"environment.yml": "name: x"}, "found one for conda (environment.yml)"),
        ({"pixi.toml": ""}, "found one for pixi (pixi.toml)"),
        ({"Pipfile": ""}, "found one for Pipenv (Pipfile); `uvx migrate-to-uv` converts it"),
        ({"setup.py": ""}, "found one for setuptools, without metadata in a pyproject.toml"),
        ({"uv.lock": "version = 1"}, "found a uv.lock without its pyproject.toml"),
        (
            {"pyproject.toml": '[tool.poetry]\nname = "x"\n'},
            "found one for Poetry ([tool.poetry] without [project]); `uvx migrate-to-uv` converts",
        ),
        ({"pyproject.toml": MINIMAL, "poetry.lock": ""}, "found one for Poetry (poetry.lock)"),
        ({"pyproject.toml": MINIMAL, "pdm.lock": ""}, "found one for PDM (pdm.lock)"),
        ({"pyproject.toml": MINIMAL + "[tool.pixi.w]\n"}, "found one for pixi ([tool.pixi])"),
        ({"pyproject.toml": "[tool.ruff]\n", "requirements.txt": ""}, "found one for pip"),
        ({"pyproject.toml": "[tool.ruff]\n"}, "found no [project] table"),
    ],
)  # fmt: skip
def test_says_whose_project_it_is(tmp_path: Path, files: dict[str, str], says: str) -> None:
    message = refusal(write_project(tmp_path, files))
    assert message.isprintable()
    assert "expected a uv project (a pyproject.toml with [project], and its uv.lock)" in message
    assert says in message


def test_a_uv_project_stays_one_beside_files_of_other_tools(tmp_path: Path) -> None:
    files = {"requirements.txt": "", "environment.yml": "", "poetry.lock": "", "uv.lock": "x"}
    assert (
        Project.find(write_project(tmp_path, {"pyproject.toml": MINIMAL, **files})).name == "robot"
    )


def test_the_older_workspace_without_a_project_table_is_a_project(tmp_path: Path) -> None:
    found = project(tmp_path, '[tool.uv]\ndev-dependencies = ["pytest"]\n')
    assert found.name is None
    assert [one.raw for one in found.requirements] == ["pytest"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[project\n", "pyproject.toml:1: expected valid TOML: "),
        (MINIMAL + "x = 1\nx = 2\n", "pyproject.toml:5: expected valid TOML: duplicate"),
        (
            MINIMAL + 'dependencies = [\n  "torch",\n  "torch 2.7",\n]\n',
            ("pyproject.toml:6: project.dependencies[1]: expected a requirement such as "
            "'torch>=2.7', found 'torch 2.7': "),
        ),
        (
            MINIMAL + "dependencies = [3]\n",
            ("pyproject.toml:4: project.dependencies[0]: expected a requirement string, "
            "found an integer"),
        ),
        (
            MINIMAL + 'dependencies = "torch"\n',
            "pyproject.toml:4: project.dependencies: expected an array, found a string",
        ),
        (
            MINIMAL + "[tool.uv.sources]\ntorch = 'cu128'\n",
            "pyproject.toml:5: tool.uv.sources.torch: expected a table, found a string",
        ),
        (
            MINIMAL + "[[tool.uv.index]]\nname = 'x'\n",
            "pyproject.toml:4: tool.uv.index[0]: expected a table with a url",
        ),
        (MINIMAL + "[tool]\nuv = 3\n", "pyproject.toml:5: tool.uv: expected a table, found an int"),
        (
            MINIMAL + "[tool.uv]\nmanaged = false\n",
            "pyproject.toml:5: tool.uv.managed: expected a project that uv manages",
        ),
    ],
)  # fmt: skip
def test_names_file_line_and_place_of_a_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        read_all(tmp_path, text)
    assert str(caught.value).startswith(says)


def test_a_missing_start_is_refused(tmp_path: Path) -> None:
    assert "expected a folder with a pyproject.toml, found nothing" in refusal(tmp_path / "no")


def test_a_link_loop_among_members_ends(tmp_path: Path) -> None:
    write_project(tmp_path, {"packages/a/pyproject.toml": MINIMAL})
    os.symlink(tmp_path, tmp_path / "packages" / "a" / "loop")
    text = MINIMAL + '[tool.uv.workspace]\nmembers = ["packages/**"]\n'
    assert len(project(tmp_path, text).files) >= 2
