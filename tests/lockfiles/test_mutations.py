"""Five thousand locks and pyprojects with something wrong in them: read, or refused in one line.

Each within two seconds and 300 MB. With STACKFIX_CORPUS, real projects are what is mutated.
"""

from __future__ import annotations

import random
import resource
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rtoml

from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.scratch import scratch
from stackfix_lockfiles.scratch.known import known
from tests.corpus import projects
from tests.lockfiles import test_lock_hostile as locks
from tests.lockfiles import test_project_hostile as pyprojects
from tests.lockfiles.samples import OPENPI, RESSELT

COUNT = 5_000
SECONDS = 6.0
BYTES = 300 << 20

ODD: tuple[Any, ...] = (
    2**63 - 1, -(2**63), 1e308, "9" * 5_000, "1." * 3_000 + "1", "\u202e\u0000x", "\U0010ffff",
    "ﬁ", "a" * 100_000, ["x"] * 3_000, "torch[" + "a," * 5_000 + "a]", ">=" * 1_000, "~" * 5_000,
    "extra == 'x' and " * 3_000 + "extra == 'x'", "file:///dev/zero", "/dev/zero", "../" * 500,
    {"path": "/dev/zero"}, {"path": "/"}, {"git": "x" * 5_000}, {"workspace": True},
)  # fmt: skip

Document = dict[str, Any]


def dropped(document: Document, chance: random.Random) -> Document:
    """Without one key, somewhere."""
    return _at_random(document, chance, lambda table, key: table.pop(key))


def odd(document: Document, chance: random.Random) -> Document:
    """With something large or strange as one value."""

    def put(table: Any, key: Any) -> None:
        table[key] = chance.choice(ODD)

    return _at_random(document, chance, put)


def doubled(document: Document, chance: random.Random) -> Document:
    """With an entry of some array twice, or often."""

    def put(table: Any, key: Any) -> None:
        if isinstance(table, list):
            table.extend([table[key]] * chance.choice((1, 1, 1_000)))
        elif isinstance(table[key], list):
            table[key] = table[key] * 2

    return _at_random(document, chance, put)


def cyclic(document: Document, chance: random.Random) -> Document:
    """With packages (or groups, or extras) that need each other."""
    packages = document.get("package")
    if isinstance(packages, list) and packages and all(isinstance(p, dict) for p in packages):
        for one in chance.choices(packages, k=20):
            edges = one.get("dependencies")
            edge = {"name": chance.choice(packages).get("name", "x")}
            one["dependencies"] = [*(edges if isinstance(edges, list) else []), edge]
        return document
    document["dependency-groups"] = {
        "a": [{"include-group": "b"}],
        "b": [{"include-group": "a"}, "torch"],
    }
    project = document.get("project")
    if isinstance(project, dict):
        project["optional-dependencies"] = {"a": [f"{project.get('name')}[b]"], "b": ["torch"]}
    return document


def wrong(document: Document, chance: random.Random) -> Document:
    """With a value of another type."""
    found = locks.changed(document, chance)
    return found if isinstance(found, dict) else document


MUTATORS = (dropped, odd, doubled, cyclic, wrong)


def _at_random(
    document: Document, chance: random.Random, change: Callable[[Any, Any], object]
) -> Document:
    """Change the document at a place chosen by walking down at random."""
    table: Any = document
    while True:
        keys = list(table) if isinstance(table, dict) else list(range(len(table)))
        if not keys:
            return document
        key = chance.choice(keys)
        inner = table[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.9:
            table = inner
            continue
        change(table, key)
        return document


def mutant(source: Path, chance: random.Random) -> tuple[bytes, bytes]:
    """Bytes of a lock and a pyproject, of which one is not as it was."""
    files = [(source / name).read_bytes() for name in ("uv.lock", "pyproject.toml")]
    which = chance.randrange(2)
    if chance.random() < 0.3:
        files[which] = locks.mutated(files[which], chance)
    else:
        try:
            document = rtoml.loads(files[which].decode())
        except rtoml.TomlParsingError:
            return files[0], files[1]  # one of the corpus is broken as it is
        for _ in range(chance.choice((1, 1, 2, 5))):
            document = chance.choice(MUTATORS)(document, chance)
        files[which] = rtoml.dumps(document).encode("utf-8", "replace")
    return files[0], files[1]


def use(folder: Path, original: Lock) -> str:
    """All that is done with a project but asking uv; says how far it went."""
    try:
        project = Project.find(folder)
        pyprojects.use(project)
        lock = project.read_lock()
        locks.use(original, lock.data)
        known(lock)
        with scratch(project, {}, lock):
            return "used"
    except InputError as error:
        said = str(error)
    assert said.isprintable()
    assert len(said) < 2_500
    assert any(name in said for name in ("pyproject.toml", "uv.lock", str(folder))), said
    return "refused"


@pytest.mark.slow(reason="five thousand locks")
def test_five_thousand_mutants(tmp_path: Path) -> None:
    chance, ends, slowest = random.Random(7), Counter[str](), (0.0, 0)
    sources = projects() or [OPENPI, RESSELT]
    originals = {source: Lock.read(source / "uv.lock") for source in sources}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    for number in range(COUNT):
        source = sources[number % len(sources)]
        lock, pyproject = mutant(source, chance)
        (tmp_path / "uv.lock").write_bytes(lock)
        (tmp_path / "pyproject.toml").write_bytes(pyproject)
        begun = time.process_time()
        ends[use(tmp_path, originals[source])] += 1
        slowest = max(slowest, (time.process_time() - begun, number))
        assert slowest[0] < SECONDS, (source.name, number)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    print(dict(ends), f"slowest {slowest[0]:.2f} s", f"peak {peak >> 20} MiB")  # noqa: T201
    assert peak - before < BYTES
    assert min(ends.values()) > COUNT / 20
