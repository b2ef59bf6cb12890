"""A private index gets its credentials as it would from uv, and nobody else sees them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackfix_lockfiles.edits import add_index
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.relock import IndexUnreachable, RelockRefused, relock
from tests.lockfiles.shapes import metadata, project, versions, wheel
from tests.registry.server import Index

SECRET = "s3cr3t"
INDEX = '[[tool.uv.index]]\nname = "vault"\nurl = "{}"\nexplicit = true\n'
SOURCE = '[tool.uv.sources]\nprivate = { index = "vault" }\n'


@pytest.fixture
def vault(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """An index that answers nobody but `me`, with one package."""
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with Index(tmp_path / "none") as private:
        private.login = ("me", SECRET)
        private.add(*wheel("private", "1.0", "six"), metadata=metadata("private", "1.0", "six"))
        yield private


def using(vault: Index, folder: Path, settings: str = "", *, url: str | None = None) -> Project:
    rest = INDEX.format(url or vault.url) + SOURCE + settings
    return project(folder / "work", '"private"', rest)


def locks(made: Project) -> bool:
    found = relock(made, {}, pins={})
    assert SECRET.encode() not in found.lock
    assert SECRET not in " ".join(found.warnings)
    return versions(found.lock, "private") == {"1.0"}


def test_without_credentials_uvs_answer_is_passed_on(vault: Index, tmp_path: Path) -> None:
    with pytest.raises(RelockRefused, match="401"):
        relock(using(vault, tmp_path), {}, pins={})


def test_from_netrc(vault: Index, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text(f"machine 127.0.0.1 login me password {SECRET}\n")
    assert locks(using(vault, tmp_path))


def test_from_variables(vault: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_INDEX_VAULT_USERNAME", "me")
    monkeypatch.setenv("UV_INDEX_VAULT_PASSWORD", SECRET)
    assert locks(using(vault, tmp_path))


def test_from_the_url(vault: Index, tmp_path: Path) -> None:
    assert locks(using(vault, tmp_path, url=vault.url.replace("//", f"//me:{SECRET}@")))


def test_from_the_default_indexs_url(
    vault: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_INDEX", vault.url.replace("//", f"//me:{SECRET}@"))
    assert locks(project(tmp_path / "work", '"private"'))


def test_from_the_keyring(vault: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    asked = tmp_path / "asked"
    (tools / "keyring").write_text(
        f"#!{sys.executable}\nimport sys\nopen({str(asked)!r}, 'a').write(' '.join(sys.argv[1:]))\n"
        f"print({SECRET!r})\n"
    )
    (tools / "keyring").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    named = vault.url.replace("//", "//me@")
    assert locks(using(vault, tmp_path, '[tool.uv]\nkeyring-provider = "subprocess"\n', url=named))
    assert "me" in asked.read_text()


@pytest.mark.parametrize("answer", [401, 403, 500, "dead", "no such package"])
def test_no_refusal_tells_them(vault: Index, tmp_path: Path, answer: int | str) -> None:
    address = vault.url.replace("//", f"//me:{SECRET}x@" if answer == 401 else f"//me:{SECRET}@")
    if answer == "dead":
        address = f"http://me:{SECRET}@127.0.0.1:9/simple"
    if answer == "no such package":
        vault.remove("private-1.0-py3-none-any.whl")
    if isinstance(answer, int):
        vault.refuses = answer
    made = using(vault, tmp_path, url=address)
    with pytest.raises((RelockRefused, IndexUnreachable)) as caught:
        relock(made, {}, pins={})
    assert "127.0.0.1" in str(caught.value) or "private" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_no_error_about_the_project_tells_them(vault: Index, tmp_path: Path) -> None:
    made = using(vault, tmp_path, url=vault.url.replace("//", f"//me:{SECRET}@"))
    with pytest.raises(InputError, match="a new name") as caught:
        add_index(made, "vault", "https://index.example/simple")
    assert vault.url in str(caught.value)
    assert SECRET not in str(caught.value)
