"""Many locks: on all cores, streamed in order, in flat memory; hostile ones end in a clear line."""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackfix.audit.lock_files import Kind, LockFile
from stackfix.gate.check_one import check_one
from stackfix.gate.run import check
from stackfix.gate.subject import Options
from stackfix.targets.parse import TargetError
from stackfix_lockfiles.errors import InputError
from tests.conftest import FIXTURES
from tests.resolver.gate.making import package, project, root

OPENPI = FIXTURES / "openpi"


@pytest.fixture
def many(tmp_path: Path) -> Path:
    for number in range(40):
        card = "RTX 5090" if number % 2 else "H100"
        project(
            tmp_path / f"{number:03}",
            root("triton"),
            package("triton", "3.1.0", "filelock"),
            package("filelock", "3.20.0"),
            targets=[card],
        )
    (tmp_path / "007/uv.lock").write_text("nonsense = [")
    return tmp_path


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order_whoever_finishes_first(many: Path, workers: int) -> None:
    results = list(check([many], Options(), workers=workers))
    assert [Path(result.path).parent.name for result in results] == [f"{n:03}" for n in range(40)]
    assert {result.fails for result in results[1::2]} == {True}
    assert [hit.code for hit in results[7].hits] == ["SF500"]


def test_the_first_result_is_there_before_the_last_lock_is_read(many: Path) -> None:
    results: Iterator[object] = check([many], Options(), workers=2)
    next(results)
    (many / "039/uv.lock").write_text("version = 1\n\x00")
    last = list(results)[-1]
    assert "NUL byte" in str(last)


def test_who_stops_listening_stops_the_workers(many: Path) -> None:
    results = check([many], Options(), workers=2)
    next(results)
    begun = time.monotonic()
    results.close()  # type: ignore[attr-defined]  # a generator
    assert time.monotonic() - begun < 30


@pytest.mark.slow(reason="a hundred copies of a lock")
def test_memory_stays_flat_over_many_copies(tmp_path: Path) -> None:
    def peak(copies: int) -> int:
        folder = tmp_path / str(copies)
        for number in range(copies):
            place = folder / str(number)
            place.mkdir(parents=True)
            for name in ("uv.lock", "pyproject.toml"):
                (place / name).write_bytes((OPENPI / name).read_bytes())
            text = (place / "pyproject.toml").read_text().replace('["packages/*"]', "[]")
            (place / "pyproject.toml").write_text(text)
        program = (
            "import sys, resource\nfrom stackfix.cli.main import main\n"
            "main(sys.argv[1:])\n"
            "who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)\n"
            "print('PEAK', max(resource.getrusage(one).ru_maxrss for one in who))"
        )
        arguments = ["check", str(folder), "--target", "RTX 5090", "--output", f"sarif={folder}.s"]
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
        )
        return int(done.stdout.rsplit(maxsplit=1)[-1])

    assert peak(120) < 1.3 * peak(12)


KEYWORDS = (b"[[package]]", b'version = "', b"marker", b"source", b"{", b"}", b"]", b'"', b"==")


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Bytes flipped, cut, doubled or replaced at a few places."""
    made = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(made))
        length = chance.choice((1, 1, 2, 8, 60, 400))
        kind = chance.randrange(6)
        if kind == 0:
            made[at] = chance.randrange(256)
        elif kind == 1:
            del made[at : at + length]
        elif kind == 2:
            made[at:at] = made[at : at + length]
        elif kind == 3:
            made[at : at + length] = chance.choice(KEYWORDS)
        elif kind == 4:
            other = chance.randrange(len(made))
            made[at : at + length] = made[other : other + length]
        else:
            digit = next((i for i in range(at, len(made)) if 48 <= made[i] < 58), at)
            made[digit : digit + 1] = str(chance.randrange(10**9)).encode()
    return bytes(made)


def survive(count: int, tmp_path: Path) -> None:
    """Check mutations of two locks: a result, or one clear line; never longer than 2 s."""
    samples = [(OPENPI / "uv.lock").read_bytes()]
    tiny = project(tmp_path / "tiny", root("triton"), package("triton", "3.1.0"))
    samples.append((tiny / "uv.lock").read_bytes())
    folder = tmp_path / "mutated"
    folder.mkdir()
    options = Options(targets=("RTX 5090:4@570.133.07",))
    file = LockFile(path=folder / "uv.lock", kind=Kind.UV, named=True)
    for seed in range(count):
        chance = random.Random(seed)
        data = mutated(samples[seed % 2], chance)
        file.path.write_bytes(data)
        begun = time.process_time()
        try:
            result = check_one(file, options)
            said = json.dumps([hit.message for hit in result.hits])
        except (InputError, TargetError) as error:
            said = str(error)
        assert said.isprintable(), seed
        assert time.process_time() - begun < 2.0, seed


def test_mutated_locks_end_in_a_result_or_a_clear_line(tmp_path: Path) -> None:
    survive(50, tmp_path)


@pytest.mark.slow(reason="two thousand locks")
def test_two_thousand_mutated_locks(tmp_path: Path) -> None:
    survive(2000, tmp_path)


def test_a_lock_with_absurdly_many_choices_is_bounded(tmp_path: Path) -> None:
    sets, tables = [], []
    for letter in "abcdefgh":
        names = [f"{letter}{number}" for number in range(12)]
        items = ", ".join(f'{{ package = "made", extra = "{name}" }}' for name in names)
        sets.append(f"[{items}]")
        tables += [f'{name} = [{{ name = "triton" }}]' for name in names]
    made = project(
        tmp_path,
        root("triton", more="\n[package.optional-dependencies]\n" + "\n".join(tables) + "\n"),
        package("triton", "3.4.0", "setuptools"),
        package("setuptools", "80.9.0"),
        head=f"conflicts = [{', '.join(sets)}]",
    )
    file = LockFile(path=made / "uv.lock", kind=Kind.UV, named=True)
    begun = time.process_time()
    check_one(file, Options())
    assert time.process_time() - begun < 2.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2 << 20
