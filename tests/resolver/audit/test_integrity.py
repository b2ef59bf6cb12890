"""SF502, SF503 and SF505: a lock against the wheels' own metadata, and against its project."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.rules.requires import admits
from stackfix_lockfiles.markers import Truths
from stackfix_lockfiles.metadata import RequirementsCache
from stackfix_lockfiles.platforms import Platform
from stackfix_lockfiles.requirement import read_requirement
from tests.resolver.gate.making import checked, codes, package, project, root

CUDNN = "nvidia-cudnn-cu12"


def messages(folder: Path, code: str) -> str:
    return " ".join(hit.message for hit in checked(folder).hits if hit.code == code)


def minimal_jax(folder: Path, version: str, ml_dtypes: str, head: str = "") -> Path:
    """jax with what it requires, at versions that fit but for ml-dtypes."""
    return project(
        folder,
        root("jax"),
        package("jax", version, "jaxlib", "ml-dtypes", "numpy", "opt-einsum", "scipy"),
        package("jaxlib", version, "ml-dtypes", "numpy", "scipy"),
        package("ml-dtypes", ml_dtypes, "numpy"),
        package("numpy", "2.2.6"),
        package("opt-einsum", "3.4.0"),
        package("scipy", "1.15.3"),
        head=head,
    )


def test_versions_that_fit_are_no_finding(tmp_path: Path) -> None:
    assert "SF502" not in {
        code for code, _ in codes(checked(minimal_jax(tmp_path, "0.6.2", "0.5.1")))
    }


def test_a_version_that_a_dependent_does_not_admit(tmp_path: Path) -> None:
    made = minimal_jax(tmp_path, "0.6.2", "0.4.1")
    assert ("SF502", "ml-dtypes") in codes(checked(made))
    assert "ml-dtypes 0.4.1 is not what jax 0.6.2 requires: ml-dtypes>=0.5.0" in messages(
        made, "SF502"
    )


def test_the_same_under_an_override_is_the_overrides_fault(tmp_path: Path) -> None:
    head = '[manifest]\noverrides = [{ name = "ml-dtypes", specifier = "==0.4.1" }]\n'
    made = minimal_jax(tmp_path, "0.6.2", "0.4.1", head)
    assert ("SF503", "ml-dtypes") in codes(checked(made), least="error")
    assert "SF502" not in {code for code, _ in codes(checked(made))}


def test_an_override_that_changes_nothing_is_none(tmp_path: Path) -> None:
    head = '[manifest]\noverrides = [{ name = "ml-dtypes", specifier = "==0.5.1" }]\n'
    made = minimal_jax(tmp_path, "0.6.2", "0.5.1", head)
    assert "SF503" not in {code for code, _ in codes(checked(made))}


def test_requirements_that_the_lock_leaves_out_are_one_finding(tmp_path: Path) -> None:
    made = project(tmp_path, root("torch"), package("torch", "2.7.1"))
    result = checked(made)
    (hit,) = (hit for hit in result.hits if hit.code == "SF502")
    assert hit.title == "torch 2.7.1"
    assert "requires what the lock leaves out" in hit.message
    assert "filelock" in hit.message
    assert hit.message.endswith(" more")
    assert hit.evidence[0].kind == "metadata"


def test_what_the_project_excludes_is_not_left_out(tmp_path: Path) -> None:
    made = minimal_jax(tmp_path, "0.6.2", "0.5.1")
    text = (made / "uv.lock").read_text()
    cut = text.replace('{ name = "scipy" }', "").replace(", ]", "]").replace(", ,", ",")
    (made / "uv.lock").write_text(cut)
    assert "scipy" in messages(made, "SF502")
    head = '[manifest]\nexcludes = ["scipy"]\n'
    (made / "uv.lock").write_text(cut.replace("[[package]]", f"{head}\n[[package]]", 1))
    assert "scipy" not in messages(made, "SF502")


def test_a_members_own_requirement_counts(tmp_path: Path) -> None:
    lines = (
        '{ name = "triton", specifier = "==3.3.1" }',
        '{ name = "einops", marker = "extra == \'x\'" }',
    )
    more = f"\n[package.metadata]\nrequires-dist = [{', '.join(lines)}]\n"
    made = project(tmp_path, root("triton", more=more), package("triton", "3.4.0"))
    assert "triton 3.4.0 is not what made 0.1.0 requires: triton==3.3.1" in messages(made, "SF502")
    assert "einops" not in messages(made, "SF502")


def test_an_entry_with_the_files_of_another_version(tmp_path: Path) -> None:
    wheel = "triton-3.3.1-cp311-cp311-manylinux_2_28_x86_64.whl"
    files = [f'{{ url = "https://files.index.example/{wheel}", hash = "sha256:{0:064}" }}']
    made = project(tmp_path, root("triton"), package("triton", "3.4.0", wheels=files))
    assert f"triton 3.4.0 lists the files of another version: {wheel}" in messages(made, "SF502")


@pytest.mark.parametrize(
    ("version", "wheel"),
    [
        ("2.8.0+cu128", "torch-2.8.0%2Bcu128-cp311-cp311-manylinux_2_28_x86_64.whl"),
        ("2.0.0.post1", "torch-2.0.0.post1-cp311-cp311-manylinux_2_28_x86_64.whl"),
        ("1.0", "torch-1.0.0-py3-none-any.whl"),
        ("2.10.0", "torch-2.10.0-3-cp311-cp311-manylinux_2_28_x86_64.whl"),
    ],
)
def test_spellings_of_one_version_are_that_version(
    version: str, wheel: str, tmp_path: Path
) -> None:
    files = [f'{{ url = "https://files.index.example/{wheel}", hash = "sha256:{0:064}" }}']
    made = project(tmp_path, root("torch"), package("torch", version, wheels=files))
    assert "another version" not in messages(made, "SF502")


def test_another_hash_than_that_of_the_measured_wheel(tmp_path: Path) -> None:
    known = "nvidia_cudnn_cu12-9.5.1.17-py3-none-manylinux_2_28_{}.whl"
    right = "30ac3869f6db17d170e0e556dd6cc5eee02647abc31ca856634d5a40f82c15b2"
    wheels = [
        f'{{ url = "https://files.index.example/{known.format(machine)}", hash = "sha256:{sha}" }}'
        for machine, sha in (("x86_64", right), ("aarch64", "0" * 64))
    ]
    made = project(tmp_path, root(CUDNN), package(CUDNN, "9.5.1.17", wheels=wheels))
    result = messages(made, "SF502")
    assert ("has another hash for" in result) is _measured_on_aarch64()
    wheels = wheels[:1]
    made = project(tmp_path, root(CUDNN), package(CUDNN, "9.5.1.17", wheels=wheels))
    assert "another hash" not in messages(made, "SF502")


def _measured_on_aarch64() -> bool:
    from tests.resolver.making import graph

    release = graph().release(CUDNN, "9.5.1.17")
    return release is not None and any(w.platform == "linux_aarch64" for w in release.wheels)


def test_a_build_from_another_index_is_not_judged_by_the_default_ones_metadata(
    tmp_path: Path,
) -> None:
    others = [package(f"other{number}", "1.0") for number in range(3)]
    made = project(
        tmp_path,
        root("torch", *(f"other{number}" for number in range(3))),
        package("torch", "2.10.0", index="https://boards.example/simple"),
        *others,
        targets=["RTX 5090"],
    )
    result = checked(made)
    assert not [hit for hit in result.hits if hit.code in ("SF502", "SF101")]
    assert result.unknown == ("torch==2.10.0",)


def test_an_override_strips_extras(tmp_path: Path) -> None:
    head = '[manifest]\noverrides = [{ name = "cuda-toolkit", specifier = "==13.0.2" }]\n'
    made = project(
        tmp_path,
        root("torch"),
        package("torch", "2.11.0", "cuda-toolkit"),
        package("cuda-toolkit", "13.0.2"),
        head=head,
    )
    assert "strips the extras that torch 2.11.0 asks for" in messages(made, "SF503")
    with_extras = head.replace('"cuda-toolkit", ', '"cuda-toolkit", extras = ["cublas"], ')
    assert "strips" in messages(
        project(
            tmp_path,
            root("torch"),
            package("torch", "2.11.0", "cuda-toolkit"),
            package("cuda-toolkit", "13.0.2"),
            head=with_extras,
        ),
        "SF503",
    )


def test_an_index_that_the_project_does_not_name(tmp_path: Path) -> None:
    address = "https://download.pytorch.org/whl/cu128"
    packages = (
        root("torch", "einops", "tqdm"),
        package("torch", "2.8.0+cu128", index=address),
        package("einops", "0.8.1"),
        package("tqdm", "4.67.1"),
    )
    made = project(tmp_path, *packages)
    assert ("SF505", "torch") in codes(checked(made))
    index = f'[[tool.uv.index]]\nname = "pt"\nurl = "{address}/"\nexplicit = true\n'
    made = project(tmp_path, *packages, pyproject=index)
    assert ("SF505", "torch") in codes(checked(made))  # no source names it for torch
    table = '{ index = "pt", marker = "sys_platform == \'linux\'" }'
    source = f"{index}[tool.uv.sources]\nTorch = [{table}]\n"
    made = project(tmp_path, *packages, pyproject=source)
    assert "SF505" not in {code for code, _ in codes(checked(made))}
    made = project(tmp_path, *packages, pyproject=index.replace("explicit = true\n", ""))
    assert "SF505" not in {code for code, _ in codes(checked(made))}


ASKED = '[package.metadata]\nrequires-dist = [{{ name = "torch"{} }}]\n'


def test_a_lock_older_than_its_pyproject(tmp_path: Path) -> None:
    def made(recorded: str, pyproject: str = "") -> Path:
        packages = (root("torch", more=ASKED.format(recorded)), package("torch", "2.8.0"))
        return project(tmp_path, *packages, pyproject=pyproject)

    assert "SF507" not in {code for code, _ in codes(checked(made("")))}
    assert messages(made(', specifier = "==2.8.0"'), "SF507") == (
        "pyproject.toml line 5 asks for torch, and the lock was made for torch==2.8.0"
    )
    (hit,) = (h for h in checked(made(', specifier = "<3"')).hits if h.code == "SF507")
    assert (hit.severity, hit.fix) == ("error", "uv lock")
    # What the stack has no part in is one warning, and told in short.
    groups = "[dependency-groups]\ndev = ['a', 'b', 'c', 'd', 'e']\n"
    (hit,) = (h for h in checked(made("", groups)).hits if h.code == "SF507")
    assert hit.severity == "warning"
    assert hit.message.endswith(" and 2 more")


def test_an_index_never_shows_its_password(tmp_path: Path) -> None:
    made = project(
        tmp_path,
        root("torch", "einops", "tqdm"),
        package("torch", "2.8.0", index="https://me:secret@mirror.example/simple"),
        package("einops", "0.8.1"),
        package("tqdm", "4.67.1"),
    )
    assert "secret" not in messages(made, "SF505")
    assert "mirror.example" in messages(made, "SF505")


def test_what_nobody_read_is_counted_and_what_an_earlier_run_read_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wheel = "triton-3.4.0-cp311-cp311-manylinux_2_28_x86_64.whl"
    setup = [f'{{ url = "https://files.index.example/{wheel}", hash = "sha256:{1:064}" }}']
    sha = "sha256:" + "a" * 64
    files = [
        f'{{ url = "https://files.index.example/helper-1.0-py3-none-any.whl", hash = "{sha}" }}'
    ]
    made = project(
        tmp_path / "p",
        root("helper"),
        package("helper", "1.0", "triton", wheels=files),
        package("triton", "3.4.0", "setuptools", wheels=setup),
        package("setuptools", "80.9.0"),
    )
    result = checked(made)
    assert result.unread == ("helper==1.0",)
    assert not [hit for hit in result.hits if hit.code == "SF502"]
    RequirementsCache.default().put(sha, ("triton<3.4",))
    result = checked(made)
    assert result.unread == ()
    assert "triton 3.4.0 is not what helper 1.0 requires: triton<3.4" in messages(made, "SF502")


LINES = [
    ("nvidia-cudnn-cu12==9.5.1.17; platform_system == 'Linux'", "nvidia-cudnn-cu12", "==9.5.1.17"),
    ("ml_dtypes (>=0.4.0)", "ml-dtypes", ">=0.4.0"),
    ("cuda-toolkit[cublas,cudart]==13.0.2", "cuda-toolkit", "==13.0.2"),
    ("scipy (<2,>=1.7.1) ; extra == 'tests'", "scipy", "<2,>=1.7.1"),
    ("torch @ https://example.invalid/torch.whl ; python_version > '3'", "torch", ""),
    ("filelock", "filelock", ""),
]


@pytest.mark.parametrize(("text", "name", "specifier"), LINES)
def test_lines_of_metadata_as_wheels_have_them(text: str, name: str, specifier: str) -> None:
    line = read_requirement(text)
    assert line is not None
    assert (line.name, line.specifier) == (name, specifier)


def test_lines_agree_with_the_library_on_every_known_wheel() -> None:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    from tests.resolver.making import graph

    truths = Truths(Platform.parse("linux").markers("3.12.9"))
    compared = 0
    for name in ("torch", "jax", "jaxlib", "triton", "cuda-toolkit", "torchvision"):
        for release in graph().releases(name):
            for text in {line for wheel in release.wheels for line in wheel.requires or ()}:
                try:
                    theirs = Requirement(text)
                except InvalidRequirement:
                    continue
                ours = read_requirement(text)
                assert ours is not None, text
                assert ours.name == canonicalize_name(theirs.name)
                assert ours.extras == {str(canonicalize_name(e)) for e in theirs.extras}
                wanted = dict(Platform.parse("linux").markers("3.12.9"), extra="")
                assert ours.holds(truths) is (
                    theirs.marker is None or theirs.marker.evaluate(wanted)
                ), text
                compared += 1
    assert compared > 300


@pytest.mark.parametrize(
    ("specifier", "version", "fits"),
    [
        ("==9.5.1.17", "9.5.1.17", True),
        ("==13.0.3", "13.0.3.0", True),
        ("==2.26.2", "2.26.2.post1", False),
        ("==2.7.1", "2.7.1+cu128", True),
        (">=0.5.0", "0.4.1", False),
        ("", "anything", True),
        ("==not a version", "1.0", None),
    ],
)
def test_versions_that_a_specifier_admits(specifier: str, version: str, fits: bool | None) -> None:
    assert admits(specifier, version) is fits
