import tomllib
from pathlib import Path

import pytest

from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import ConflictItem, Lock, SourceKind
from tests.lockfiles.samples import HEAD, OPENPI, REGISTRY, RESSELT, lock, package, root


def refusal(text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(InputError) as caught:
        Lock.parse(data)
    message = str(caught.value)
    assert message.isprintable()
    return message


def test_reads_a_real_lock() -> None:
    read = Lock.read(OPENPI / "uv.lock")
    (torch,) = read.named("torch")
    assert (torch.version, torch.source.kind) == ("2.7.1", SourceKind.REGISTRY)
    assert "nvidia-cudnn-cu12" in {edge.name for edge in torch.dependencies}
    assert {package.version for package in read.named("nvidia-cudnn-cu12")} == {
        "9.5.1.17",
        "9.10.1.4",
    }
    assert [override.name for override in read.manifest.overrides] == ["ml-dtypes", "tensorstore"]
    assert read.root is not None
    assert read.root.name == "openpi"
    assert {member.name for member in read.members} == {"openpi", "openpi-client"}
    assert read.requires_python == ">=3.11"


def test_keeps_what_it_has_no_field_for() -> None:
    read = lock(root(novelty='"kept"'), head="novelty = 7\n" + HEAD)
    assert read.raw["novelty"] == 7
    assert read.packages[0].raw["novelty"] == "kept"


@pytest.mark.parametrize("revision", ["", "revision = 1\n", "revision = 5\n", "revision = 99\n"])
def test_reads_any_revision(revision: str) -> None:
    read = Lock.parse(f'version = 1\n{revision}requires-python = ">=3.11"\n{root()}'.encode())
    assert read.revision == (int(revision.split()[-1]) if revision else 0)


def test_reads_the_older_spelling_of_package() -> None:
    text = (HEAD + root()).replace("[[package]]", "[[distribution]]")
    read = Lock.parse(text.encode())
    assert read.named("robot")
    assert read.line_of(read.packages[0]) == 4


def test_normalises_names() -> None:
    read = lock(package("Torch_Vision"), root(dependencies='[{ name = "torch.vision" }]'))
    (found,) = read.named("torch-vision")
    assert read.target(read.named("robot")[0].dependencies[0]) is found


def test_tells_the_line_of_a_package() -> None:
    read = Lock.read(OPENPI / "uv.lock")
    lines = read.data.decode().splitlines()
    for found in read.packages:
        line = read.line_of(found)
        assert line is not None
        assert lines[line - 1] == "[[package]]"
        assert lines[line] == f'name = "{found.name}"'


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("https://index.example/a-2%2Bcu128-py3-none-any.whl", "a-2+cu128-py3-none-any.whl"),
        ("https://index.example/a-1-py3-none-any.whl?x=/y#sha256=/00", "a-1-py3-none-any.whl"),
        ("https://[bad/a-1-py3-none-any.whl", "a-1-py3-none-any.whl"),
        ("https://index.example/a/", ""),
    ],
)  # fmt: skip
def test_decodes_the_file_name_of_a_wheel(location: str, name: str) -> None:
    read = lock(package("torch", "2.8.0+cu128", wheels=f'[{{ url = "{location}" }}]'))
    assert read.packages[0].wheels[0].filename == name


def test_reads_conflicts_and_names_their_pseudo_extras() -> None:
    read = Lock.read(RESSELT / "uv.lock")
    assert ConflictItem("resselt", extra="cu128") in read.conflicts[0]
    assert ConflictItem("resselt", extra="cu128").pseudo_extra == "extra-7-resselt-cu128"
    assert ConflictItem("a-b", group="dev").pseudo_extra == "group-3-a-b-dev"
    assert ConflictItem("a-b").pseudo_extra == "project-3-a-b"


def test_tells_two_versions_of_one_package_apart() -> None:
    edges = f"""[
        {{ name = "numpy", version = "1.26.4", source = {REGISTRY}, marker = "python_full_version < '3.12'" }},
        {{ name = "numpy", version = "2.2.6", source = {REGISTRY}, marker = "python_full_version >= '3.12'" }},
    ]"""  # noqa: E501
    read = lock(package("numpy", "1.26.4"), package("numpy", "2.2.6"), root(dependencies=edges))
    older, newer = read.named("robot")[0].dependencies
    assert read.target(older).version == "1.26.4"
    assert read.target(newer).version == "2.2.6"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "uv.lock: expected a uv.lock, found an empty file"),
        (" \n\n", "uv.lock: expected a uv.lock, found an empty file"),
        (b"version = 1\n\xff\xfe", "uv.lock:2: expected UTF-8, found byte 0xff"),
        (b"version = 1\nname = '\0'", "uv.lock:2: expected text, found a NUL byte"),
        ("version = 2\n" + HEAD[12:], "uv.lock: version: expected 1 (a uv.lock), found 2"),
        ("lock-version = '2.1'", "uv.lock: version: expected 1 (a uv.lock), found nothing"),
        ("version = 1\n", "uv.lock: requires-python: expected a string, found nothing"),
        (HEAD + "package = 3", "uv.lock: package: expected an array, found an integer"),
        (HEAD + "package = [3]", "uv.lock: package[0]: expected a table, found an integer"),
        (HEAD + package("a/b"), "uv.lock: package[0].name: expected a package name, found 'a/b'"),
        (HEAD + package("a", "x"), "uv.lock: package[0].version: expected a version, found 'x'"),
        (
            HEAD + package("a", source="{ rumour = 'x' }"),
            ("uv.lock: package[0].source: expected one of the keys registry, git, url, path, "
            "directory, editable, virtual; found rumour"),
        ),
        (
            HEAD + package("a") + package("b", wheels='[{ url = "u" }, { url = "u", hash = 4 }]'),
            "uv.lock: package[1].wheels[1].hash: expected a string, found an integer",
        ),
        (
            HEAD + package("a") + package("a"),
            "uv.lock: package[1]: expected each package once, found a==1.0 a second time",
        ),
        (
            HEAD + package("a", dependencies='[{ name = "b" }]'),
            ("uv.lock: package[0].dependencies[0]: expected a package of this lock, found b, "
            "which it does not hold"),
        ),
        (
            HEAD + package("a", "1") + package("a", "2") + root(dependencies='[{ name = "a" }]'),
            ("uv.lock: package[2].dependencies[0]: expected exactly one package of this lock, "
            "found a where it holds a==1, a==2"),
        ),
        (
            HEAD + root() + "[package.optional-dependencies]\ngpu = [{ name = 1 }]",
            ("uv.lock: package[0].optional-dependencies.gpu[0].name: expected a string, "
            "found an integer"),
        ),
        (
            HEAD + package("a", dependencies='[{ name = "a", marker = "python > 3" }]'),
            ("uv.lock: package[0].dependencies[0].marker: expected a comparison, "
            "found 'python > 3' in the marker 'python > 3'"),
        ),
        (
            HEAD + "[manifest]\noverrides = [{ name = 'numpy', specifier = ['<2'] }]",
            "uv.lock: manifest.overrides[0].specifier: expected a string, found an array",
        ),
        (
            HEAD.replace(">=3.11", "new"),
            "uv.lock: requires-python: expected a specifier, found 'new'",
        ),
    ],
)  # fmt: skip
def test_refuses_in_one_line_that_names_the_place(text: str | bytes, message: str) -> None:
    assert refusal(text) == message


def test_refuses_a_lock_cut_off_in_the_middle() -> None:
    data = (OPENPI / "uv.lock").read_bytes()
    message = refusal(data[: len(data) // 2])
    assert message.startswith("uv.lock:")
    assert "expected valid TOML" in message
    line = int(message.split(":")[1])
    assert line == data[: len(data) // 2].count(b"\n") + 1


def test_refuses_a_missing_file_a_folder_and_a_huge_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected a uv\.lock, found no such file"):
        Lock.read(tmp_path / "uv.lock")
    with pytest.raises(InputError, match="not a regular file"):
        Lock.read(tmp_path)
    huge = tmp_path / "huge.lock"
    with huge.open("wb") as stream:
        stream.truncate(64 * 1024 * 1024 + 1)
    with pytest.raises(InputError, match="expected at most 64 MB"):
        Lock.read(huge)


def test_reads_every_value_that_the_document_has() -> None:
    data = (RESSELT / "uv.lock").read_bytes()
    document = tomllib.loads(data.decode())
    read = Lock.parse(data)
    assert len(read.packages) == len(document["package"])
    for found, table in zip(read.packages, document["package"], strict=True):
        assert found.name == table["name"]
        assert len(found.dependencies) == len(table.get("dependencies", []))
        assert [wheel.url for wheel in found.wheels] == [
            wheel["url"] for wheel in table.get("wheels", [])
        ]
        assert set(found.optional_dependencies) == set(table.get("optional-dependencies", {}))
