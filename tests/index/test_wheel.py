"""A wheel's members come out whole or with one clear error, whoever made the wheel."""

import io
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix_index import wheel as module
from stackfix_index.errors import Unreadable
from stackfix_index.remote import RemoteFile
from stackfix_index.wheel import Wheel, read_metadata
from tests.index.serving import FILES, Served
from tests.knowledge.measure.building import metadata, wheel

MEMBERS: dict[str, bytes | str] = {
    "lib/libbig.so": bytes(range(256)) * 50_000,
    "lib/empty.so": b"",
    "x-1.dist-info/METADATA": "Name: x\n",
}


def saved(folder: Path, data: bytes) -> Path:
    path = folder / "x-1-py3-none-any.whl"
    path.write_bytes(data)
    return path


def remote(data: bytes) -> Wheel:
    index = Served({"x": {"x.whl": data}})
    return Wheel(RemoteFile(index.client, f"{FILES}/x.whl", name="x.whl"), name="x.whl")


def test_members_of_a_local_wheel(tmp_path: Path) -> None:
    with Wheel(saved(tmp_path, wheel(MEMBERS)), name="x.whl") as archive:
        assert archive.names() == tuple(MEMBERS)
        assert archive.text("x-1.dist-info/METADATA") == "Name: x\n"
        with archive.mapped("lib/libbig.so") as data:
            assert data[:] == MEMBERS["lib/libbig.so"]


def test_members_of_a_remote_wheel_are_the_same() -> None:
    with remote(wheel(MEMBERS)) as archive:
        for name, expected in MEMBERS.items():
            with archive.mapped(name) as data:
                assert data[:] == (expected.encode() if isinstance(expected, str) else expected)


def test_only_the_members_that_are_read_are_fetched() -> None:
    import random

    noise = random.Random(1).randbytes(3_000_000)
    data = wheel({"big.bin": noise, "y.txt": "here", "z.bin": noise})
    index = Served({"x": {"x.whl": data}})
    with Wheel(RemoteFile(index.client, f"{FILES}/x.whl", name="x.whl"), name="x.whl") as archive:
        assert archive.text("y.txt") == "here"
    assert index.fetched < 600_000


def test_an_empty_member_maps_to_no_bytes(tmp_path: Path) -> None:
    path = saved(tmp_path, wheel(MEMBERS))
    with Wheel(path, name="x") as archive, archive.mapped("lib/empty.so") as data:
        assert data[:] == b""


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip" * 99, wheel(MEMBERS)[:-30]])
def test_what_is_no_zip_file_is_one_clear_line(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(Unreadable, match=r"x.whl: expected a wheel, which is a zip file"):
        Wheel(saved(tmp_path, data), name="x.whl")


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="expected a readable file"):
        Wheel(tmp_path / "none.whl", name="none.whl")


def test_a_member_larger_than_the_limit_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    bomb = wheel({"METADATA": b"0" * (9 * 1024 * 1024)})
    assert len(bomb) < 20_000
    with (
        Wheel(saved(tmp_path, bomb), name="x.whl") as archive,
        pytest.raises(Unreadable, match="METADATA: expected at most 8,388,608 bytes"),
    ):
        archive.text("METADATA")


def test_a_member_that_lies_about_its_size_yields_no_more_than_it_states(tmp_path: Path) -> None:
    bomb = bytearray(wheel({"lib.so": b"0" * 5_000_000}))
    directory = bomb.rindex(b"PK\x01\x02")
    struct.pack_into("<I", bomb, directory + 24, 100)
    with (
        Wheel(saved(tmp_path, bytes(bomb)), name="x.whl") as archive,
        pytest.raises(Unreadable, match=r"lib.so: expected a member that can be unpacked"),
        archive.mapped("lib.so"),
    ):
        pass


def test_the_sum_of_all_members_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGEST_SUM", 15_000_000)
    path = saved(tmp_path, wheel({"a.so": b"0" * 9_000_000, "b.so": b"0" * 9_000_000}))
    with Wheel(path, name="x.whl") as archive:
        with archive.mapped("a.so"):
            pass
        with (
            pytest.raises(Unreadable, match="at most 15,000,000 bytes of libraries"),
            archive.mapped("b.so"),
        ):
            pass


def test_a_directory_of_gigabytes_is_refused(tmp_path: Path) -> None:
    data = wheel(MEMBERS)
    end = data.rindex(b"PK\x05\x06")
    padded = bytearray(bytes(20_000_000) + data)
    struct.pack_into("<I", padded, 20_000_000 + end + 12, 20_000_000)
    with pytest.raises(Unreadable, match="expected a zip directory of 8,388,608 bytes"):
        Wheel(saved(tmp_path, bytes(padded)), name="x.whl")


def test_a_damaged_member_is_named(tmp_path: Path) -> None:
    data = bytearray(wheel({"lib.so": bytes(range(256)) * 1000}))
    data[60:90] = bytes(30)
    with (
        Wheel(saved(tmp_path, bytes(data)), name="x.whl") as archive,
        pytest.raises(Unreadable, match=r"x.whl: lib.so: expected a member that can be unpacked"),
        archive.mapped("lib.so"),
    ):
        pass


def test_an_encrypted_member_is_named(tmp_path: Path) -> None:
    data = bytearray(wheel({"lib.so": b"x"}))
    directory = data.rindex(b"PK\x01\x02")
    data[directory + 8] |= 1
    data[6] |= 1
    with (
        Wheel(saved(tmp_path, bytes(data)), name="x.whl") as archive,
        pytest.raises(Unreadable, match=r"lib.so: expected a member that can be unpacked"),
        archive.mapped("lib.so"),
    ):
        pass


def test_members_that_share_their_bytes_do_not_confuse_it(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr("a.so", b"same")
        info = made.getinfo("a.so")
        twin = zipfile.ZipInfo("b.so")
        twin.header_offset, twin.CRC = info.header_offset, info.CRC
        twin.file_size = twin.compress_size = info.file_size
        made.filelist.append(twin)
    with (
        Wheel(saved(tmp_path, stream.getvalue()), name="x.whl") as archive,
        pytest.raises(Unreadable, match=r"b.so: expected a member that can be unpacked"),
        archive.mapped("b.so"),
    ):
        pass


def test_a_wheel_without_files_has_none(tmp_path: Path) -> None:
    with Wheel(saved(tmp_path, wheel({})), name="x.whl") as archive:
        assert archive.names() == ()


@given(st.integers(0, 400), st.binary(min_size=1, max_size=8))
def test_any_damage_gives_an_answer_or_the_one_error(
    tmp_path_factory: pytest.TempPathFactory, position: int, damage: bytes
) -> None:
    data = bytearray(wheel({"a.so": b"x" * 100, "m-1.dist-info/METADATA": "Name: m"}))
    data[position : position + len(damage)] = damage
    path = saved(tmp_path_factory.mktemp("damaged"), bytes(data))
    try:
        with Wheel(path, name="x.whl") as archive:
            for name in archive.names():
                archive.text(name)
    except Unreadable as error:
        line = str(error)
    else:
        line = ""
    assert len(line.splitlines()) <= 1


def test_every_requirement_is_kept_with_its_marker() -> None:
    lines = ("sympy>=1.13.3", 'optree==0.13.0; extra == "optree"', "numpy==2.*")
    text = metadata("torch", "2.8.0", *(f"Requires-Dist: {line}" for line in lines))
    assert read_metadata(text).requires == lines
    assert read_metadata(text).name == "torch"


def test_a_folded_line_is_one_line() -> None:
    text = metadata("x", "1", 'Requires-Dist: torch>=2;\n   extra == "gpu"')
    assert read_metadata(text).requires == ('torch>=2; extra == "gpu"',)


def test_the_description_is_not_metadata() -> None:
    text = metadata("x", "1", "Requires-Python: >=3.9") + "\n\nRequires-Dist: not-this\n"
    read = read_metadata(text)
    assert (read.requires, read.requires_python) == ((), ">=3.9")
