"""Requirements of wheels are read with little, once, and from servers that may lie."""

from __future__ import annotations

import hashlib
import io
import stat
import zipfile
from pathlib import Path

import pytest

from stackfix_lockfiles import metadata as module
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.metadata import requires
from stackfix_lockfiles.packages import LockedFile, LockedPackage, Source, SourceKind
from stackfix_lockfiles.sources import DeclaredIndex
from tests.registry.server import Index

TEXT = "Metadata-Version: 2.1\nName: Big_Thing\nVersion: 1.0\nRequires-Dist: torch<2.8,>=2.6\n"
TAIL = 64 << 10
WHEEL = "big_thing-1.0-py3-none-any.whl"


def wheel(text: str = TEXT, *, padding: int = 0, compress: bool = True) -> bytes:
    """A wheel with `padding` bytes of code before its METADATA."""
    buffer = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("big_thing/lib.so"), b"\x90" * padding)
        for name, content in (("METADATA", text), ("RECORD", "")):
            member = zipfile.ZipInfo(f"big_thing-1.0.dist-info/{name}")  # the same at any time
            archive.writestr(member, content, compress_type=method)
    return buffer.getvalue()


def package(url: str, data: bytes | None, name: str = "big-thing") -> LockedPackage:
    known = None if data is None else f"sha256:{hashlib.sha256(data).hexdigest()}"
    file = LockedFile(filename=url.rpartition("/")[2], url=url, hash=known)
    source = Source(SourceKind.REGISTRY, "https://index.example/simple")
    return LockedPackage(name=name, version="1.0", source=source, wheels=(file,))


def files_asked(index: Index) -> list[str]:
    return [path for path in index.asked.elements() if path.startswith("/files/")]


def test_metadata_beside_the_wheel_is_enough(index: Index) -> None:
    url = index.add(WHEEL, b"", metadata=TEXT)
    assert requires([package(url, b"x")]) == {"big-thing": ("torch<2.8,>=2.6",)}
    assert files_asked(index) == [f"/files/added/{WHEEL}.metadata"]


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("padding", [0, 10 * TAIL])
def test_else_it_is_read_out_of_the_wheel(index: Index, padding: int, compress: bool) -> None:
    data = wheel(padding=padding, compress=compress)
    url = index.add(WHEEL, data)
    assert requires([package(url, data)]) == {"big-thing": ("torch<2.8,>=2.6",)}
    assert len(files_asked(index)) <= 3


def test_a_second_time_nobody_is_asked_even_offline(index: Index) -> None:
    url = index.add(WHEEL, wheel())
    assert requires([package(url, wheel())]) == requires([package(url, wheel())], offline=True)
    before = files_asked(index)
    assert requires([package(url, wheel())])["big-thing"] is not None
    assert files_asked(index) == before


def test_offline_asks_nobody(index: Index) -> None:
    url = index.add(WHEEL, wheel())
    assert requires([package(url, wheel())], offline=True) == {"big-thing": None}
    assert files_asked(index) == []


def test_a_wheel_without_a_hash_is_read_but_not_kept(index: Index) -> None:
    url = index.add(WHEEL, wheel())
    assert requires([package(url, None)])["big-thing"] == ("torch<2.8,>=2.6",)
    assert requires([package(url, None)], offline=True) == {"big-thing": None}


def test_a_damaged_cache_is_as_none(index: Index, tmp_path: Path) -> None:
    url = index.add(WHEEL, wheel())
    requires([package(url, wheel())])
    (kept,) = (tmp_path / "cache").rglob("*.json")
    for damage in (b"", b"{", b'{"a": 1}', b"[1]", b"[" * 100_000):
        kept.write_bytes(damage)
        assert requires([package(url, wheel())])["big-thing"] == ("torch<2.8,>=2.6",)


def test_a_cache_that_cannot_be_written_is_no_error(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    url = index.add(WHEEL, wheel())
    assert requires([package(url, wheel())])["big-thing"] is not None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no zip",
        wheel()[:-30],
        wheel(TEXT.replace("Big_Thing", "other")),
        wheel().replace(b"METADATA", b"metadata"),
    ],
)
def test_what_is_no_such_wheel_is_unknown(index: Index, data: bytes) -> None:
    url = index.add(WHEEL, data)
    assert requires([package(url, data)]) == {"big-thing": None}


def test_unreachable_and_odd_urls_are_unknown(index: Index) -> None:
    urls = [
        f"http://127.0.0.1:9/{WHEEL}",
        f"file:///etc/{WHEEL}",
        f"http://[::bad/{WHEEL}",
        f"{index.files_url}gone/{WHEEL}",
    ]
    for url in urls:
        assert requires([package(url, b"x")]) == {"big-thing": None}


def test_a_package_without_wheels_is_unknown(index: Index) -> None:
    source = Source(SourceKind.GIT, "https://host.example/x")
    assert requires([LockedPackage(name="x", version="1", source=source)]) == {"x": None}


def test_what_is_late_is_unknown(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DEADLINE", 0.0)
    url = index.add(WHEEL, wheel())
    assert requires([package(url, wheel())]) == {"big-thing": None}


def test_a_host_without_separate_metadata_is_soon_not_asked_for_it(index: Index) -> None:
    many = [
        package(index.add(f"p{n}-1.0-py3-none-any.whl", wheel().replace(b"", b"")), None, f"p{n}")
        for n in range(40)
    ]
    requires(many)
    beside = [path for path in files_asked(index) if path.endswith(".metadata")]
    assert len(beside) < 20


def test_the_linux_wheel_of_several_is_read(openpi: Path, index: Index) -> None:
    """torch's macOS wheels require no CUDA libraries."""
    (torch,) = Lock.read(openpi / "uv.lock").named("torch")
    found = requires([torch])["torch"]
    assert found
    assert any(line.startswith("nvidia-cudnn-cu12==9.5.1.17") for line in found)


def test_all_of_openpi_is_known(openpi: Path, index: Index) -> None:
    packages = [package for package in Lock.read(openpi / "uv.lock").packages if package.wheels]
    found = requires(packages)
    assert [name for name, lines in found.items() if lines is None] == []


def test_cached_files_are_private_to_nobody_and_small(index: Index, tmp_path: Path) -> None:
    url = index.add(WHEEL, wheel())
    requires([package(url, wheel())])
    (kept,) = (tmp_path / "cache").rglob("*.json")
    assert stat.S_ISREG(kept.stat().st_mode)
    assert kept.read_text() == '["torch<2.8,>=2.6"]'


def test_netrc_gives_credentials_to_the_host_it_names(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    requires([package(index.add(WHEEL, wheel()), None)])
    assert set(index.authorized.values()) == {"Basic bWU6c2VjcmV0"}


@pytest.mark.parametrize("text", ["default login me password secret\n", "machine\n", "\xff\0"])
def test_a_netrc_for_others_gives_none(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "netrc").write_text(text)
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert requires([package(index.add(WHEEL, wheel()), None)])["big-thing"]
    assert not index.authorized


def test_uvs_variables_give_credentials_to_the_index_they_name(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_INDEX_OUR_OWN_USERNAME", "me")
    monkeypatch.setenv("UV_INDEX_OUR_OWN_PASSWORD", "secret")
    ours = DeclaredIndex(file=Path("pyproject.toml"), line=1, url=index.url, name="our-own")
    url = index.add(WHEEL, wheel())
    assert requires([package(url, None)], indexes=[ours])["big-thing"]
    assert set(index.authorized.values()) == {"Basic bWU6c2VjcmV0"}


def test_uvs_variables_give_none_to_other_hosts(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_INDEX_OUR_OWN_USERNAME", "me")
    url = "https://index.example/simple"
    ours = DeclaredIndex(file=Path("pyproject.toml"), line=1, url=url, name="our-own")
    assert requires([package(index.add(WHEEL, wheel()), None)], indexes=[ours])["big-thing"]
    assert not index.authorized


def test_credentials_in_a_url_are_used(index: Index) -> None:
    url = index.add(WHEEL, wheel()).replace("http://", "http://me:secret@")
    assert requires([package(url, None)])["big-thing"]
    assert set(index.authorized.values()) == {"Basic bWU6c2VjcmV0"}
