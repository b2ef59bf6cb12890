"""Which files a check looks at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stackfix.audit.lock_files import Kind, find
from stackfix_lockfiles.errors import InputError


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("version = 1\n")


def test_every_lock_below_a_folder_in_order_but_none_of_other_peoples(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "uv.lock", "b/uv.lock", "a/deep/uv.lock", ".venv/x/uv.lock", "node_modules/y/uv.lock",
        "b/.git/uv.lock", "c/requirements.txt", "c/pylock.toml",
    )  # fmt: skip
    found = [file.path.relative_to(tmp_path).as_posix() for file in find([tmp_path])]
    assert found == ["uv.lock", "a/deep/uv.lock", "b/uv.lock"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("uv.lock", Kind.UV),
        ("old-uv.lock", Kind.UV),
        ("pylock.toml", Kind.PYLOCK),
        ("pylock.gpu.toml", Kind.PYLOCK),
        ("requirements.txt", Kind.REQUIREMENTS),
        ("requirements-gpu.txt", Kind.REQUIREMENTS),
    ],
)
def test_a_named_file_by_its_name(name: str, kind: Kind, tmp_path: Path) -> None:
    touch(tmp_path, name)
    (file,) = find([tmp_path / name])
    assert (file.kind, file.named) == (kind, True)


def test_a_file_is_checked_once_however_often_it_is_named(tmp_path: Path) -> None:
    touch(tmp_path, "uv.lock")
    os.symlink(tmp_path, tmp_path / "again")
    assert len(list(find([tmp_path, tmp_path / "uv.lock", tmp_path / "again/uv.lock"]))) == 1


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nothing", "found nothing"),
        ("pyproject.toml", "name its folder"),
        ("poetry.toml", "expected a uv.lock, a pylock.toml or a requirements.txt"),
    ],
)
def test_what_cannot_be_checked_is_said(name: str, says: str, tmp_path: Path) -> None:
    if name != "nothing":
        touch(tmp_path, name)
    with pytest.raises(InputError, match=says):
        list(find([tmp_path / name]))


def test_a_folder_without_a_lock_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected a uv.lock in it or below, found none"):
        list(find([tmp_path]))
