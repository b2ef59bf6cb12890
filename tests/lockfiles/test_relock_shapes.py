"""Projects of every shape are locked as uv itself would, which may build and write where it is."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import ConflictItem, Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.relock import RelockRefused, relock
from tests.lockfiles.shapes import (
    BACKEND,
    BUILD,
    HEAD,
    by_uv,
    locked,
    metadata,
    project,
    versions,
    wheel,
)
from tests.registry.server import Index

PINS = {"six": "1.17.0"}
UPGRADE = ("--upgrade-package", "six==1.17.0")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Where the project lies; what it takes from beside it lies in the same folder."""
    return tmp_path / "work" / "root"


def old_six(
    folder: Path, dependencies: str = "", rest: str = "", files: Mapping[str, str] | None = None
) -> Project:
    """A locked project with six 1.15, which nothing holds there any more."""
    both = f'{dependencies}, "six{{}}"' if dependencies else '"six{}"'
    locked(project(folder, both.format("==1.15.0"), rest, files))
    return project(folder, both.format(""), rest, files)


def like_uv(made: Project) -> Lock:
    """Move six: nothing of the project is touched, and the lock is uv's own, to the byte."""
    around = made.root.parent
    before = {path: path.read_bytes() for path in around.rglob("*") if path.is_file()}
    found = relock(made, {}, pins=PINS)
    assert {path: path.read_bytes() for path in around.rglob("*") if path.is_file()} == before
    assert versions(before[made.lock_path], "six") == {"1.15.0"}
    assert versions(found.lock, "six") == {"1.17.0"}
    assert found.lock == by_uv(made, *UPGRADE)
    return Lock.parse(found.lock)


def names(lock: Lock) -> set[str]:
    return {package.name for package in lock.packages}


def package(name: str, dependencies: str = '"six"', rest: str = "") -> str:
    """The pyproject.toml of another package."""
    return f"{HEAD.replace('root', name)}dependencies = [{dependencies}]\n{rest}"


# Where packages come from


def test_a_wheel_by_url(index: Index, work: Path) -> None:
    url = index.add(*wheel("far", "1.0", "six"))
    made = old_six(work, f'"far @ {url}"')
    assert like_uv(made).named("far")[0].source.value == url


def test_a_wheel_by_url_that_is_gone_stands_by_the_old_lock(
    index: Index, work: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name, data = wheel("far", "1.0", "six")
    made = old_six(work, f'"far @ {index.add(name, data)}"')
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cold"))
    index.remove(name)
    found = relock(made, {}, pins=PINS)
    assert versions(found.lock, "six") == {"1.17.0"}
    old, new = made.read_lock().named("far"), Lock.parse(found.lock).named("far")
    assert [one.raw for one in new] == [one.raw for one in old]


def test_wheels_and_folders_inside_and_outside_the_root(index: Index, work: Path) -> None:
    name, data = wheel("near", "1.0", "six")
    (work.parent / "wheels").mkdir(parents=True)
    (work.parent / "wheels" / name).write_bytes(data)
    files = {
        "libs/inner/pyproject.toml": package(
            "inner", '"outer"', '[tool.uv.sources]\nouter = { path = "../../../outer" }\n'
        ),
        "../outer/pyproject.toml": package("outer"),
    }
    sources = (
        '[tool.uv.sources]\ninner = { path = "libs/inner", editable = true }\n'
        f'near = {{ path = "../wheels/{name}" }}\n'
    )
    made = old_six(work, '"inner", "near"', sources, files)
    assert names(like_uv(made)) == {"root", "inner", "outer", "near", "six"}


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("by_url", [False, True], ids=["source", "url"])
def test_a_folder_by_absolute_path(
    index: Index,
    work: Path,
    dynamic: bool,
    by_url: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """uv reads it where it is, where it may not be built."""
    folder = work.parent / "away"
    text = package("away")
    if dynamic:
        text = HEAD.replace("root", "away").replace('version = "1"', 'dynamic = ["version"]')
        text = text.replace('"version"]', '"version", "dependencies"]') + BUILD
        folder.mkdir(parents=True)
        (folder / "b.py").write_text(BACKEND.format(kind="wheel", name="away"))
    files = {"../away/pyproject.toml": text}
    asked = f'"away @ file://{folder}"' if by_url else '"away"'
    sources = "" if by_url else f'[tool.uv.sources]\naway = {{ path = "{folder}" }}\n'
    made = old_six(work, asked, sources, files)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cold"))
    found = like_uv(made)
    assert found.named("away")[0].source.value == str(folder)
    assert [one.raw for one in found.named("away")] == [
        one.raw for one in made.read_lock().named("away")
    ]


def test_an_sdist_by_path_is_not_built(index: Index, work: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        files = {
            "setup.py": "from setuptools import setup; setup()\n",
            "PKG-INFO": metadata("packed", "1.0", "six").replace("2.1", "2.2"),
            "pyproject.toml": package("packed"),
        }
        for path, text in files.items():
            member = tarfile.TarInfo(f"packed-1.0/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    (work / "vendor").mkdir(parents=True)
    (work / "vendor/packed-1.0.tar.gz").write_bytes(buffer.getvalue())
    sources = '[tool.uv.sources]\npacked = { path = "vendor/packed-1.0.tar.gz" }\n'
    made = old_six(work, '"packed"', sources)
    assert like_uv(made).named("packed")[0].source.value == "vendor/packed-1.0.tar.gz"


def test_a_member_of_another_workspace_beside(index: Index, work: Path) -> None:
    """Nested: the path dependency finds a sibling through its own workspace's root."""
    files = {
        "../other/pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\n'
        "[tool.uv.sources]\ntwo = { workspace = true }\n",
        "../other/packages/one/pyproject.toml": package("one", '"two"'),
        "../other/packages/two/pyproject.toml": package("two"),
    }
    made = old_six(
        work, '"one"', '[tool.uv.sources]\none = { path = "../other/packages/one" }\n', files
    )
    assert names(like_uv(made)) == {"root", "one", "two", "six"}


def test_a_workspace_with_an_excluded_workspace_inside(index: Index, work: Path) -> None:
    files = {
        "packages/a/pyproject.toml": package(
            "a", '"b"', "[tool.uv.sources]\nb = { path = '../../nested/b' }\n"
        ),
        "nested/pyproject.toml": '[tool.uv.workspace]\nmembers = ["b"]\n',
        "nested/b/pyproject.toml": package("b"),
    }
    rest = '[tool.uv.workspace]\nmembers = ["packages/*"]\nexclude = ["nested"]\n'
    made = old_six(work, "", rest, files)
    assert names(like_uv(made)) == {"root", "a", "b", "six"}


def test_a_workspace_without_a_root_project(index: Index, work: Path) -> None:
    files = {
        "pyproject.toml": '[tool.uv.workspace]\nmembers = ["a"]\n'
        '[dependency-groups]\ndev = ["six"]\n',
        "a/pyproject.toml": package("a", '"six==1.15.0"'),
    }
    made = locked(project(work, "", "", files))
    (work / "a/pyproject.toml").write_text(package("a"))
    assert names(like_uv(Project.find(made.root))) == {"a", "six"}


# What a project may say


def test_dynamic_version_and_dependencies_stand_as_the_lock_has_them(
    index: Index, work: Path
) -> None:
    dynamic = HEAD.replace('version = "1"', 'dynamic = ["version", "dependencies"]') + BUILD
    limit = '[tool.uv]\nconstraint-dependencies = ["six==1.15.0"]\n'
    locked(
        project(
            work,
            "",
            "",
            {
                "pyproject.toml": dynamic + limit,
                "b.py": BACKEND.format(kind="editable", name="root"),
            },
        )
    )
    (work / "pyproject.toml").write_text(dynamic)
    (root,) = like_uv(Project.find(work)).named("root")
    assert root.version is None
    assert [edge.name for edge in root.dependencies] == ["six"]


def test_settings_of_a_uv_toml(index: Index, work: Path) -> None:
    text = 'exclude-newer = "2025-08-01T00:00:00Z"\nprerelease = "allow"\n'
    made = old_six(work, '"torch>=2.7"', "", {"uv.toml": text})
    found = like_uv(made)
    assert found.options["prerelease-mode"] == "allow"
    assert found.named("torch")[0].version == "2.7.1"


def test_exclude_newer_in_the_pyproject(index: Index, work: Path) -> None:
    made = old_six(work, '"torch>=2.7"', '[tool.uv]\nexclude-newer = "2025-08-01T00:00:00Z"\n')
    assert like_uv(made).named("torch")[0].version == "2.7.1"
    with pytest.raises(RelockRefused, match=r"torch==2\.8\.0|2\.8\.0"):
        relock(made, {}, pins={"torch": "2.8.0"})


def test_a_python_version_file_beside_and_above(index: Index, work: Path) -> None:
    assert "six" in names(like_uv(old_six(work, "", "", {".python-version": "3.11\n"})))
    made = old_six(work.with_name("second"), "", "", {"../.python-version": "3.11\n"})
    assert "six" in names(like_uv(made))


def test_another_uv_than_required_is_one_line(index: Index, work: Path) -> None:
    made = project(work, '"six"', '[tool.uv]\nrequired-version = "==0.0.1"\n')
    with pytest.raises(InputError, match=r"0\.0\.1"):
        relock(made, {}, pins={})


def test_environments_limit_the_lock(index: Index, work: Path) -> None:
    rest = (
        "[tool.uv]\nenvironments = [\"sys_platform == 'linux'\"]\n"
        "required-environments = [\"platform_machine == 'aarch64'\"]\n"
    )
    found = like_uv(old_six(work, '"torch==2.7.1"', rest))
    assert found.supported_markers == ("sys_platform == 'linux'",)
    assert found.required_markers


def test_overrides_constraints_excludes_and_metadata_of_the_user(index: Index, work: Path) -> None:
    index.add(*wheel("odd", "1.0", "six<1.17", "idna<3"))
    rest = (
        '[tool.uv]\noverride-dependencies = ["idna==3.10"]\n'
        'constraint-dependencies = ["six<2"]\nexclude-dependencies = ["packaging"]\n'
        'build-constraint-dependencies = ["setuptools<90"]\n'
        '[[tool.uv.dependency-metadata]]\nname = "odd"\nversion = "1.0"\n'
        'requires-dist = ["six", "idna<3", "packaging"]\n'
    )
    made = old_six(work, '"odd"', rest)
    found = like_uv(made)
    assert found.manifest == made.read_lock().manifest
    assert found.manifest.overrides
    assert found.manifest.constraints
    assert found.named("idna")[0].version == "3.10"
    assert not found.named("packaging")


def test_groups_with_includes_and_extras_with_markers(index: Index, work: Path) -> None:
    rest = (
        "[project.optional-dependencies]\n"
        'gpu = ["typing-extensions ; sys_platform == \'linux\'"]\nall = ["root[gpu]"]\n'
        '[dependency-groups]\ndev = ["idna", { include-group = "test" }]\ntest = ["packaging"]\n'
    )
    found = like_uv(old_six(work, "", rest))
    assert names(found) == {"root", "six", "typing-extensions", "idna", "packaging"}


def test_extras_in_conflict(index: Index, work: Path) -> None:
    rest = (
        '[project.optional-dependencies]\nold = ["torch==2.7.1"]\nnew = ["torch==2.8.0"]\n'
        '[tool.uv]\nconflicts = [[{ extra = "old" }, { extra = "new" }]]\n'
    )
    found = like_uv(old_six(work, "", rest))
    assert {package.version for package in found.named("torch")} == {"2.7.1", "2.8.0"}
    assert found.conflicts


# Indexes


def test_a_package_pinned_to_another_index(index: Index, work: Path, tmp_path: Path) -> None:
    with Index(tmp_path / "none") as other:
        other.add(*wheel("private", "1.0", "six"), metadata=metadata("private", "1.0", "six"))
        rest = (
            f'[[tool.uv.index]]\nname = "other"\nurl = "{other.url}"\nexplicit = true\n'
            '[tool.uv.sources]\nprivate = { index = "other" }\n'
        )
        found = like_uv(old_six(work, '"private"', rest))
        assert found.named("private")[0].source.index == other.url
        assert found.named("six")[0].source.index == index.url


def test_an_index_that_shadows_the_default_one(index: Index, work: Path, tmp_path: Path) -> None:
    """First-index strategy: a name that the first has is not sought in the second."""
    with Index(tmp_path / "none") as first:
        first.add(*wheel("idna", "99.0"), metadata=metadata("idna", "99.0"))
        rest = f'[[tool.uv.index]]\nname = "first"\nurl = "{first.url}"\n'
        found = like_uv(old_six(work, '"idna"', rest))
        assert found.named("idna")[0].version == "99.0"


def test_an_index_that_speaks_html_only_and_has_no_metadata_beside(
    index: Index, work: Path, tmp_path: Path
) -> None:
    with Index(tmp_path / "none") as old:
        old.html_only = True
        old.add(*wheel("private", "1.0", "six"))
        rest = f'[[tool.uv.index]]\nname = "old"\nurl = "{old.url}"\n'
        assert "private" in names(like_uv(old_six(work, '"private"', rest)))
        assert any(path.endswith(".whl") for path in old.asked)


@pytest.mark.parametrize("inside", [True, False], ids=["inside", "outside"])
def test_a_flat_index_in_a_folder(index: Index, work: Path, inside: bool) -> None:
    folder = work / "wheels" if inside else work.parent / "wheels"
    folder.mkdir(parents=True)
    name, data = wheel("private", "1.0", "six")
    (folder / name).write_bytes(data)
    place = "wheels" if inside else "../wheels"
    rest = f'[[tool.uv.index]]\nname = "flat"\nurl = "{place}"\nformat = "flat"\n'
    found = like_uv(old_six(work, '"private"', rest))
    assert found.named("private")[0].source.value == place


def test_find_links(index: Index, work: Path) -> None:
    name, data = wheel("private", "1.0", "six")
    (work / "links").mkdir(parents=True)
    (work / "links" / name).write_bytes(data)
    found = like_uv(old_six(work, '"private"', '[tool.uv]\nfind-links = ["links"]\n'))
    assert found.named("private")[0].wheels[0].filename == name


def test_a_default_index_that_is_set_no_more_is_told(
    index: Index, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index() as company:
        monkeypatch.setenv("UV_DEFAULT_INDEX", company.url)
        made = old_six(work, '"idna"')
        assert not relock(made, {}, pins=PINS).warnings
        monkeypatch.setenv("UV_DEFAULT_INDEX", index.url)
        (warning,) = relock(made, {}, pins=PINS).warnings
        assert warning.startswith(f"uv.lock takes 2 packages from {company.url}, which no setting")
        assert index.url in warning


# What the lock itself says


def test_forks_of_the_old_lock_that_no_longer_work_are_made_anew(index: Index, work: Path) -> None:
    """As an older uv locked: it split Macs by machine, and let a fork go without wheels."""
    limits = "[tool.uv]\nenvironments = [\"sys_platform == 'darwin'\"]\n"
    index.add("mac-1.0-py3-none-macosx_11_0_arm64.whl", b"", metadata=metadata("mac", "1.0"))
    made = old_six(work, '"mac"', limits)
    machines = ("== 'arm64'", "!= 'arm64'")
    forks = "".join(
        f"    \"platform_machine {machine} and sys_platform == 'darwin'\",\n"
        for machine in machines
    )
    text = made.lock_path.read_text()
    listed = "resolution-markers = [\n"
    one = text.index(listed) + len(listed)
    made.lock_path.write_text(text[:one] + forks + text[text.index("]\n", one) :])
    found = relock(Project.find(made.root), {}, pins=PINS)
    assert versions(found.lock, "six") == {"1.17.0"}
    assert versions(found.lock, "mac") == {"1.0"}
    assert len(found.warnings) == 1
    assert "forks" in found.warnings[0]


@pytest.mark.parametrize("kind", ["extra", "group"])
def test_pins_for_one_of_two_in_conflict(index: Index, work: Path, kind: str) -> None:
    """The other is not taken along to the newest, and the copy's requests leave no trace."""
    table = "project.optional-dependencies" if kind == "extra" else "dependency-groups"
    rest = (
        f'[{table}]\none = ["idna{{}}"]\ntwo = ["idna{{}}"]\n'
        f'[tool.uv]\nconflicts = [[{{{{ {kind} = "one" }}}}, {{{{ {kind} = "two" }}}}]]\n'
    )
    made = locked(project(work, "", rest.format("==2.10", "==2.10")))
    made = project(work, "", rest.format("<3", ">=2"))
    item = ConflictItem("root", **{kind: "two"})
    found = relock(made, {}, pins={"idna": "3.13 ; sys_platform == 'linux'"}, within=[item])
    assert versions(found.lock, "idna") == {"2.10", "3.13"}
    made.lock_path.write_bytes(found.lock)
    locked(made, "--check")
