"""A repository whose history a script makes: bumps by real `uv lock`, and edits as bots make them.

What each commit should lead to stands beside it, written before the check ever saw it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from stackfix_lockfiles.uv import Uv

__all__ = ["STEPS", "Step", "commit", "git", "made"]

PYPROJECT = """\
[project]
name = "fleet"
version = "0.1.0"
requires-python = ">=3.11,<3.13"
dependencies = ["torch==2.6.0", "numpy<2.3"]

[tool.uv]
environments = ["sys_platform == 'linux' and platform_machine == 'x86_64'"]

[tool.stackfix]
targets = [
  { name = "v100-pool", gpu = "V100", count = 8, driver = "535.183.01" },
  { name = "h100-pool", gpu = "H100", count = 8, driver = "570.133.07" },
]
"""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One commit, and what a check against the commit before must say."""

    name: str
    change: Callable[[Path], None]
    errors: frozenset[tuple[str, str]] = frozenset()
    """The errors that it brings, as code and package. Where a framework is named, libraries of
    NVIDIA's may have the same fault; no other error may be there."""
    says: tuple[str, ...] = ()
    """Words that a person must find in the report."""
    repairs: frozenset[tuple[str, str]] = frozenset()
    """Errors that it mends, among others."""
    moves: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)


def lock(project: Path, *arguments: str) -> None:
    """Let uv lock."""
    done = Uv.find().run(["lock", *arguments], cwd=project, timeout=120)
    assert done.returncode == 0, done.stderr


def edited(file: str, *pairs: tuple[str, str], relock: bool = False) -> Callable[[Path], None]:
    """Replace texts, each of which must be there once."""

    def change(project: Path) -> None:
        path = project / file
        text = path.read_text(encoding="utf-8")
        for old, new in pairs:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
        if relock:
            lock(project)

    return change


def requiring(old: str, new: str) -> Callable[[Path], None]:
    """Change a requirement and let uv lock, as a person or a careful bot does."""
    return edited("pyproject.toml", (old, new), relock=True)


def block(text: str, package: str) -> str:
    """The `[[package]]` table of a lock."""
    found = re.search(
        rf'\[\[package\]\]\nname = "{package}"\n.*?(?=\n\[\[package\]\]|\Z)', text, re.DOTALL
    )
    assert found, package
    return found.group()


def version_line(package: str, version: str) -> Callable[[Path], None]:
    """Edit the version of a package in the lock and nothing else, as careless bots do."""

    def change(project: Path) -> None:
        path = project / "uv.lock"
        text = path.read_text(encoding="utf-8")
        old = block(text, package)
        new = re.sub(r'version = "[^"]+"', f'version = "{version}"', old, count=1)
        path.write_text(text.replace(old, new), encoding="utf-8")

    return change


def swapped_block(package: str, requirement: str) -> Callable[[Path], None]:
    """Put the whole, well-formed block of another version in its place."""

    def change(project: Path) -> None:
        other = project.parent / "elsewhere"
        other.mkdir(exist_ok=True)
        (other / "pyproject.toml").write_text(
            '[project]\nname = "elsewhere"\nversion = "0"\nrequires-python = ">=3.11,<3.13"\n'
            f'dependencies = ["{requirement}"]\n[tool.uv]\n'
            "environments = [\"sys_platform == 'linux' and platform_machine == 'x86_64'\"]\n"
        )
        lock(other)
        new = block((other / "uv.lock").read_text(encoding="utf-8"), package)
        path = project / "uv.lock"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(block(text, package), new), encoding="utf-8")

    return change


def reverted(project: Path) -> None:
    """Take the last commit back."""
    git(project, "checkout", "-q", "HEAD~1", "--", ".")


def upgraded(package: str) -> Callable[[Path], None]:
    """Let uv upgrade one package."""

    def change(project: Path) -> None:
        lock(project, "--upgrade-package", package)

    return change


def other_index(project: Path) -> None:
    """Lock with an index from the environment, which the project does not name."""
    path = project / "uv.lock"
    text = path.read_text(encoding="utf-8")
    old = block(text, "torch")
    new = re.sub(
        r'registry = "[^"]+"', 'registry = "https://mirror.example/whl/cu126"', old, count=1
    )
    path.write_text(text.replace(old, new), encoding="utf-8")


STEPS = (
    Step(
        name="a patch within CUDA 12, by uv",
        change=requiring("torch==2.6.0", "torch==2.7.1"),
        says=("torch 2.6.0 → 2.7.1", "CUDA 12.4 → 12.6"),
        moves={"torch": ("2.6.0", "2.7.1"), "triton": ("3.2.0", "3.3.1")},
    ),
    Step(
        name="a package that has nothing to do with cards",
        change=requiring("numpy<2.3", "numpy>=2.3"),
    ),
    Step(
        name="a bot edits the version line of cuDNN alone",
        change=version_line("nvidia-cudnn-cu12", "9.10.2.21"),
        errors=frozenset({("SF502", "nvidia-cudnn-cu12")}),
        says=("nvidia-cudnn-cu12==9.5.1.17", "lists the files of another version"),
        moves={"nvidia-cudnn-cu12": ("9.5.1.17", "9.10.2.21")},
    ),
    Step(
        name="and takes it back",
        change=reverted,
        repairs=frozenset({("SF502", "nvidia-cudnn-cu12")}),
    ),
    Step(
        name="a whole block of another cuDNN, swapped in",
        change=swapped_block("nvidia-cudnn-cu12", "nvidia-cudnn-cu12==9.7.1.26"),
        errors=frozenset({("SF502", "nvidia-cudnn-cu12")}),
        says=("nvidia-cudnn-cu12 9.7.1.26 is not what torch 2.7.1 requires",),
    ),
    Step(
        name="uv is asked again and reverts it",
        change=reverted,
        repairs=frozenset({("SF502", "nvidia-cudnn-cu12")}),
    ),
    Step(
        name="an override of cuDNN hides torch's pin",
        change=edited(
            "pyproject.toml",
            ("[tool.uv]\n", '[tool.uv]\noverride-dependencies = ["nvidia-cudnn-cu12==9.7.1.26"]\n'),
            relock=True,
        ),
        says=("stands by an override",),
    ),
    Step(name="without it", change=reverted, says=("repaired: SF503",)),
    Step(
        name="the last torch that carries 7.0",
        change=requiring("torch==2.7.1", "torch==2.10.0"),
        moves={"torch": ("2.7.1", "2.10.0")},
    ),
    Step(
        name="torch goes to CUDA 13: no code for 7.0, and drivers too old for both pools",
        change=requiring("torch==2.10.0", "torch==2.11.0"),
        errors=frozenset({("SF101", "torch"), ("SF201", "torch")}),
        says=("CUDA 12.8 → 13.0", "drops 7.0", "needs driver ≥ 580", "v100-pool", "h100-pool"),
        moves={"torch": ("2.10.0", "2.11.0")},
    ),
    Step(
        name="jax for CUDA 12 beside a torch for CUDA 13",
        change=requiring('"torch==2.11.0", ', '"torch==2.11.0", "jax[cuda12]==0.7.2", '),
        errors=frozenset({("SF302", "nvidia-cudnn-cu12"), ("SF302", "nvidia-nccl-cu12")}),
        says=("both install",),
    ),
    Step(
        name="without jax again",
        change=reverted,
        repairs=frozenset({("SF302", "nvidia-cudnn-cu12"), ("SF302", "nvidia-nccl-cu12")}),
    ),
    Step(
        name="an override of cuda-toolkit strips the extras that torch asks for",
        change=edited(
            "pyproject.toml",
            ("[tool.uv]\n", '[tool.uv]\noverride-dependencies = ["cuda-toolkit==13.0.2"]\n'),
            relock=True,
        ),
        errors=frozenset({("SF503", "cuda-toolkit"), ("SF304", "torch")}),
        says=("strips the extras", "cublas"),
        moves={"nvidia-cufft": ("12.0.0.61", None), "nvidia-curand": ("10.4.0.35", None)},
    ),
    Step(
        name="back to CUDA 12 as a whole",
        change=edited(
            "pyproject.toml",
            ('override-dependencies = ["cuda-toolkit==13.0.2"]\n', ""),
            ("torch==2.11.0", "torch==2.10.0"),
            relock=True,
        ),
        says=("adds 7.0",),
        repairs=frozenset({("SF101", "torch"), ("SF201", "torch"), ("SF503", "cuda-toolkit")}),
        moves={"torch": ("2.11.0", "2.10.0")},
    ),
    Step(
        name="a bot edits the version line of torch alone",
        change=version_line("torch", "2.11.0"),
        errors=frozenset({("SF502", "torch")}),
        says=("lists the files of another version", "torch==2.10.0"),
    ),
    Step(
        name="and takes it back once more",
        change=reverted,
        repairs=frozenset({("SF502", "torch")}),
    ),
    Step(
        name="torch from an index that the project does not name",
        change=other_index,
        says=("mirror.example", "does not name"),
    ),
)


def git(project: Path, *arguments: str) -> str:
    """Run git with an identity of its own and nobody's configuration."""
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "test" for who in ("AUTHOR", "COMMITTER") for what in ("NAME",)},
        **{f"GIT_{who}_EMAIL": "test@example.invalid" for who in ("AUTHOR", "COMMITTER")},
    }
    return subprocess.run(
        ["git", *arguments],
        cwd=project,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def commit(project: Path, message: str) -> str:
    """Commit everything and return the commit's name."""
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", message)
    return git(project, "rev-parse", "HEAD").strip()


def made(folder: Path) -> list[str]:
    """Make the repository; the names of its commits, the first state before all steps."""
    project = folder / "fleet"
    project.mkdir(parents=True)
    git(project, "init", "-q", "-b", "main")
    (project / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    lock(project)
    commits = [commit(project, "start")]
    for step in STEPS:
        step.change(project)
        commits.append(commit(project, step.name))
    return commits
