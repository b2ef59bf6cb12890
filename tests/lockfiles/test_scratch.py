"""The copy that uv works in: what it reads of a project, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
import rtoml
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.requirements import Requirement

from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.scratch import scratch
from stackfix_lockfiles.scratch.known import known, without_pseudo_extras
from stackfix_lockfiles.scratch.local import find_local
from tests.conftest import FIXTURES

ROOT = '[project]\nname = "root"\nversion = "1"\nrequires-python = ">=3.11"\n'
HEAD = 'version = 1\nrequires-python = ">=3.11"\n'


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_the_copy_holds_only_what_uv_reads(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "root/pyproject.toml": ROOT + '[tool.uv.workspace]\nmembers = ["packages/*"]\n',
            "root/uv.lock": HEAD,
            "root/.python-version": "3.11\n",
            "root/setup.py": "raise SystemExit",
            "root/src/root/__init__.py": "",
            "root/.git/config": "",
            "root/.venv/pyvenv.cfg": "",
            "root/packages/one/pyproject.toml": ROOT.replace("root", "one"),
            "root/packages/one/one.py": "",
        },
    )
    project = Project.find(tmp_path / "root")
    with scratch(project, {}, project.read_lock()) as copy:
        assert listing(copy.root) == {
            "pyproject.toml",
            "uv.lock",
            ".python-version",
            "packages/one/pyproject.toml",
        }
        base = copy.base
    assert not base.exists()


def test_static_files_are_copied_byte_for_byte_and_edits_take_their_place(tmp_path: Path) -> None:
    data = ROOT.encode() + b"# a comment\r\n"
    (tmp_path / "pyproject.toml").write_bytes(data)
    project = Project.find(tmp_path)
    with scratch(project, {}, None) as copy:
        assert (copy.root / "pyproject.toml").read_bytes() == data
    edited = ROOT.encode() + b"# edited\n"
    with scratch(project, {Path("pyproject.toml"): edited}, None) as copy:
        assert (copy.root / "pyproject.toml").read_bytes() == edited
    assert (tmp_path / "pyproject.toml").read_bytes() == data


def test_path_sources_stay_at_the_same_relative_place(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a/b/root/pyproject.toml": ROOT
            + '[tool.uv.sources]\nlib = { path = "../../lib" }\n'
            + 'wheel = { path = "w-1-py3-none-any.whl" }\n',
            "a/b/root/w-1-py3-none-any.whl": "wheel",
            "a/lib/pyproject.toml": ROOT.replace("root", "lib")
            + '[tool.uv.sources]\ndeep = { path = "../deep" }\n',
            "a/deep/pyproject.toml": ROOT.replace("root", "deep"),
            "a/deep/code.py": "",
        },
    )
    project = Project.find(tmp_path / "a/b/root")
    with scratch(project, {}, None) as copy:
        assert (copy.root / "../../lib/pyproject.toml").is_file()
        assert (copy.root / "../../deep/pyproject.toml").is_file()
        assert not (copy.root / "../../deep/code.py").exists()
        assert (copy.root / "w-1-py3-none-any.whl").read_text() == "wheel"
        assert copy.root.resolve().is_relative_to(copy.base.resolve())


def test_a_local_index_is_linked(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": ROOT
            + '[[tool.uv.index]]\nname = "own"\nurl = "./wheels"\nformat = "flat"\n'
            + '[tool.uv]\nfind-links = ["links"]\n',
            "wheels/x": "1",
            "links/y": "2",
        },
    )
    with scratch(Project.find(tmp_path), {}, None) as copy:
        assert (copy.root / "wheels/x").read_text() == "1"
        assert (copy.root / "links/y").read_text() == "2"


def test_a_uv_toml_above_counts_where_the_project_has_no_settings(tmp_path: Path) -> None:
    write(tmp_path, {"uv.toml": "offline = true\n", "root/pyproject.toml": ROOT})
    with scratch(Project.find(tmp_path / "root"), {}, None) as copy:
        assert (copy.root / "uv.toml").read_text() == "offline = true\n"
        assert copy.settings == copy.root / "uv.toml"
    (tmp_path / "root/pyproject.toml").write_text(ROOT + "[tool.uv]\npackage = false\n")
    with scratch(Project.find(tmp_path / "root"), {}, None) as copy:
        assert copy.settings == copy.root / "pyproject.toml"


def test_a_cache_beside_the_project_is_used_and_not_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UV_CACHE_DIR", raising=False)
    write(tmp_path, {"pyproject.toml": ROOT + '[tool.uv]\ncache-dir = ".cache"\n'})
    with scratch(Project.find(tmp_path), {}, None) as copy:
        assert copy.environment == {"UV_CACHE_DIR": str(tmp_path / ".cache")}


def test_a_dynamic_version_gets_a_stand_in(tmp_path: Path) -> None:
    text = '[project]\nname = "Root_X"\ndynamic = ["version", "readme"]\ndependencies = ["six"]\n'
    write(tmp_path, {"pyproject.toml": text})
    with scratch(Project.find(tmp_path), {}, None) as copy:
        made = rtoml.loads((copy.root / "pyproject.toml").read_text())["project"]
        assert made["version"] == "0.0.0"
        assert made["dynamic"] == ["readme"]
        assert made["dependencies"] == ["six"]
        assert copy.unversioned == {"root-x"}


def test_dynamic_dependencies_come_from_the_old_lock(tmp_path: Path) -> None:
    lock = (
        HEAD + '[[package]]\nname = "root"\nsource = { editable = "." }\n'
        "[package.metadata]\nrequires-dist = [\n"
        '  { name = "six", specifier = ">=1.16" },\n'
        '  { name = "torch", marker = "extra == \'gpu\'", specifier = "==2.7.1" },\n'
        '  { name = "tool", git = "https://host.example/tool?rev=v1&subdirectory=py" },\n'
        '  { name = "sourced", git = "https://host.example/sourced" },\n'
        "]\nprovides-extras = ['gpu']\n"
    )
    text = (
        '[project]\nname = "root"\ndynamic = ["version", "dependencies", "optional-dependencies"]\n'
        '[tool.uv.sources]\nsourced = { git = "https://host.example/sourced" }\n'
    )
    write(tmp_path, {"pyproject.toml": text, "uv.lock": lock})
    project = Project.find(tmp_path)
    with scratch(project, {}, project.read_lock()) as copy:
        made = rtoml.loads((copy.root / "pyproject.toml").read_text())["project"]
        assert made["dependencies"] == [
            "six>=1.16",
            "tool @ git+https://host.example/tool@v1#subdirectory=py",
            "sourced",
            "torch==2.7.1 ; extra == 'gpu'",
        ]
        assert made["optional-dependencies"] == {"gpu": []}
        assert copy.unknown == set()


def test_dynamic_dependencies_that_no_lock_recorded_are_said_to_be_unknown(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": '[project]\nname = "r"\ndynamic = ["dependencies"]\n'})
    with scratch(Project.find(tmp_path), {}, None) as copy:
        assert copy.unknown == {"r"}


def test_a_folder_with_only_a_setup_py_is_described_by_the_lock(tmp_path: Path) -> None:
    lock = (
        HEAD + '[[package]]\nname = "old"\nversion = "3.1"\nsource = { directory = "../old" }\n'
        "[package.metadata]\nrequires-dist = [{ name = 'six' }]\n"
    )
    write(
        tmp_path,
        {
            "root/pyproject.toml": ROOT + '[tool.uv.sources]\nold = { path = "../old" }\n',
            "root/uv.lock": lock,
            "old/setup.py": "raise SystemExit",
        },
    )
    project = Project.find(tmp_path / "root")
    with scratch(project, {}, project.read_lock()) as copy:
        made = rtoml.loads((copy.root / "../old/pyproject.toml").read_text())
        assert made["project"]["name"] == "old"
        assert made["project"]["version"] == "3.1"
        assert made["project"]["dependencies"] == ["six"]
        assert "build-system" in made
        assert not (copy.root / "../old/setup.py").exists()


# What the old lock knows


def test_openpi_has_five_packages_that_uv_could_not_read_cheaply() -> None:
    entries = {entry.name: entry for entry in known(Lock.read(FIXTURES / "openpi" / "uv.lock"))}
    assert sorted(entries) == ["antlr4-python3-runtime", "dlimp", "evdev", "lerobot", "promise"]
    lerobot = entries["lerobot"]
    assert "torch" in lerobot.requires_dist
    assert "huggingface-hub[cli,hf-transfer] ; python_full_version < '4'" in lerobot.requires_dist
    assert not lerobot.complete
    assert entries["evdev"].complete  # it has no dependencies, so no limits are lost


def test_metadata_that_is_given_already_is_not_given_twice(tmp_path: Path) -> None:
    settings = '[[tool.uv.dependency-metadata]]\nname = "a"\n'
    write(tmp_path, {"pyproject.toml": ROOT + settings})
    lock = Lock.parse(
        (
            HEAD
            + '[[package]]\nname = "a"\nversion = "1"\nsource = { git = "https://h.example/a" }\n'
            '[[package]]\nname = "b"\nversion = "2"\nsource = { git = "https://h.example/b" }\n'
        ).encode()
    )
    with scratch(Project.find(tmp_path), {}, None) as copy:
        added = copy.inject(known(lock))
        assert [entry.name for entry in added] == ["b"]
        given = rtoml.loads((copy.root / "pyproject.toml").read_text())["tool"]["uv"]
        assert [entry["name"] for entry in given["dependency-metadata"]] == ["a", "b"]


def test_forks_of_one_commit_are_united() -> None:
    text = HEAD
    for name in ("x", "y"):
        text += f"""
[[package]]
name = "a"
version = "1"
source = {{ git = "https://h.example/{name}" }}
dependencies = [{{ name = "{name}", marker = "extra == 'extra-4-root-gpu'" }}]

[[package]]
name = "{name}"
version = "1"
source = {{ registry = "https://i.example" }}
wheels = [{{ url = "https://i.example/{name}-1-py3-none-any.whl" }}]
"""
    (entry,) = known(Lock.parse(text.encode()))
    assert entry.requires_dist == ("x", "y")


# Markers without uv's pseudo extras

PSEUDO = "extra == 'extra-4-root-gpu'"


@pytest.mark.parametrize(
    ("marker", "left"),
    [
        ("sys_platform == 'linux'", "sys_platform == 'linux'"),
        (PSEUDO, None),
        (f"sys_platform == 'linux' and {PSEUDO}", "sys_platform == 'linux'"),
        (f"sys_platform == 'linux' or {PSEUDO}", None),
        ("extra == 'gpu'", "extra == 'gpu'"),
        (
            f"(os_name == 'nt' and {PSEUDO}) or (os_name == 'posix' and extra != 'group-4-r-dev')",
            "os_name == 'nt' or os_name == 'posix'",
        ),
        (
            f"({PSEUDO} and (os_name == 'nt' or os_name == 'posix')) and extra == 'gpu'",
            "(os_name == 'nt' or os_name == 'posix') and extra == 'gpu'",
        ),
        (f"os_name == 'nt' and ({PSEUDO} or extra == 'project-4-root')", "os_name == 'nt'"),
    ],
)
def test_pseudo_extras_are_taken_as_true(marker: str, left: str | None) -> None:
    assert without_pseudo_extras(marker) == left


atoms = st.sampled_from(
    ["sys_platform == 'linux'", "os_name == 'nt'", "python_version >= '3.12'", PSEUDO]
)
markers = st.recursive(
    atoms,
    lambda inner: st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
        lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})"
    ),
    max_leaves=8,
)


@given(
    marker=markers,
    system=st.sampled_from(["linux", "win32"]),
    name=st.sampled_from(["nt", "posix"]),
    python=st.sampled_from(["3.11", "3.13"]),
    on=st.booleans(),
)
def test_the_result_holds_wherever_the_original_does(
    marker: str, system: str, name: str, python: str, on: bool
) -> None:
    environment = {
        "sys_platform": system,
        "os_name": name,
        "python_version": python,
        "extra": "extra-4-root-gpu" if on else "",
    }
    left = without_pseudo_extras(marker)
    if left is not None:
        assert "extra" not in left
        Requirement(f"x ; {left}")
    if Marker(marker).evaluate(environment):
        assert left is None or Marker(left).evaluate(environment)


def test_a_deeply_nested_marker_is_no_danger() -> None:
    deep = "(" * 5000 + PSEUDO + ")" * 5000
    assert without_pseudo_extras(deep) is None
    assert without_pseudo_extras(deep.replace(PSEUDO, "extra == 'x'")) == "extra == 'x'"


def test_the_copy_is_removed_when_something_fails(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": ROOT})
    seen: list[Path] = []

    def fail() -> None:
        with scratch(Project.find(tmp_path), {}, None) as copy:
            seen.append(copy.base)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not seen[0].exists()


@pytest.mark.parametrize("name", ["x" * 5_000, "../" * 3_000, "x\\u0000y"])
def test_a_path_that_no_system_has_is_merely_not_there(tmp_path: Path, name: str) -> None:
    text = (
        f'[tool.uv]\nfind-links = ["{name}"]\n[[tool.uv.index]]\nurl = "{name}"\n'
        f'[tool.uv.sources]\nx = {{ path = "{name}" }}\n'
    )
    write(tmp_path, {"pyproject.toml": ROOT + text})
    found = find_local(Project.find(tmp_path), None)
    assert not found.links
