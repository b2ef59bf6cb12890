"""Small projects with locks written by hand, so that a test says all that matters in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stackfix.audit.lock_files import Kind, LockFile
from stackfix.gate.check_one import check_one
from stackfix.gate.result import Checked
from stackfix.gate.subject import Options

__all__ = ["checked", "codes", "package", "project", "root"]

INDEX = "https://index.example/simple"


def package(
    name: str,
    version: str,
    *dependencies: str,
    index: str = INDEX,
    wheels: Sequence[str] = (),
    forks: Sequence[str] = (),
    tag: str = "py2.py3-none-any",
) -> str:
    """A `[[package]]`. A dependency is a name, or that and the rest of its table."""
    file = f"{name.replace('-', '_')}-{version}-{tag}.whl"
    files = wheels or (
        f'{{ url = "https://files.index.example/{file}", hash = "sha256:{0:064}" }}',
    )
    markers = f"resolution-markers = {list(forks)!r}\n" if forks else ""
    return (
        f'[[package]]\nname = "{name}"\nversion = "{version}"\n'
        f'source = {{ registry = "{index}" }}\n{markers}'
        f"dependencies = [{', '.join(map(edge, dependencies))}]\nwheels = [{', '.join(files)}]\n"
    )


def edge(text: str) -> str:
    """`torch` or `torch, marker = "…"` as a table."""
    name, comma, rest = text.partition(",")
    return f'{{ name = "{name}"{comma}{rest} }}'


def root(*dependencies: str, more: str = "") -> str:
    """The project itself; `more` holds further keys and tables of it."""
    return (
        '[[package]]\nname = "made"\nversion = "0.1.0"\nsource = { virtual = "." }\n'
        f"dependencies = [{', '.join(map(edge, dependencies))}]\n{more}"
    )


def project(
    folder: Path,
    *packages: str,
    head: str = "",
    targets: Sequence[str] = ("H100",),
    settings: str = "",
    pyproject: str = "",
    python: str = ">=3.11",
) -> Path:
    """A project with a lock of these packages, and what `[tool.stackfix]` says."""
    folder.mkdir(parents=True, exist_ok=True)
    named = f"targets = [{', '.join(repr(t) for t in targets)}]\n" if targets else ""
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "made"\nversion = "0.1.0"\nrequires-python = "{python}"\n'
        f'dependencies = ["torch"]\n{pyproject}\n[tool.stackfix]\n{named}{settings}',
        encoding="utf-8",
    )
    (folder / "uv.lock").write_text(
        f'version = 1\nrevision = 3\nrequires-python = "{python}"\n{head}\n' + "\n".join(packages),
        encoding="utf-8",
    )
    return folder


def checked(folder: Path, **options: object) -> Checked:
    """The check of the lock in a folder."""
    file = LockFile(path=folder / "uv.lock", kind=Kind.UV, named=True)
    return check_one(file, Options(**options))  # type: ignore[arg-type]  # keywords of Options


def codes(result: Checked, *, least: str = "warning") -> set[tuple[str, str]]:
    """Code and package of what was found, without what is only worth knowing."""
    shown = {"error": {"error"}, "warning": {"error", "warning"}}[least]
    return {(hit.code, hit.package) for hit in result.hits if hit.severity.value in shown}
