"""`python -m tests.bench`: all figures, smallest first."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stackfix_lockfiles.uv import Uv
from tests.bench.gate import against_uv, many_locks
from tests.bench.projects import TARGET, projects
from tests.corpus import folder

FLEET = (TARGET, "V100:8@535.183.01", "H100:8@550.90.07", "T4@580.65")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        # An installed program has its bytecode; this one shall too, wherever it lies.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = f"{scratch}/bytecode"
        for name, project in projects(Path(scratch)).items():
            say(f"{name}, {TARGET}, uv {Uv.find().version}")
            measure(project, project.parent / f"{project.name}-out")
        if corpus := folder():
            measure_many(corpus / "corpus", Path(scratch) / "many")


def measure(project: Path, out: Path) -> None:
    uv = Uv.find()
    ratio("check / uv lock --check, median of ten", *against_uv(project, TARGET), at_most=1.0)

    runs = [plan(project, out / f"plan-{number}") for number in range(3)]
    warm = runs[1:]  # the first fills the caches
    own = min(run["seconds"] - run["inside_uv"] for run in warm)
    figure("plan without its uv calls, warm", f"{own:.2f} s", own <= 0.5)

    whole = min(run["seconds"] for run in warm)
    bare = bare_lock(uv, project, out / "plan-1/files", out / "bare")
    if bare is None:
        say("  whole plan / bare uv lock: uv alone refuses these edits or cannot reach the sources")
    else:
        ratio("whole plan / bare uv lock with the same edits", whole, bare)
    peak, peak_uv = (max(run[key] for run in runs) for key in ("peak_mib", "peak_uv_mib"))
    say(f"  peak memory: {peak:.0f} MiB, uv beside it {peak_uv:.0f} MiB")
    say(f"  the plan: {runs[0]['status']}, {runs[0]['moves']} moves")


def measure_many(corpus: Path, folder: Path) -> None:
    wall, cpu, count = many_locks(corpus, folder, FLEET)
    say(f"{count:,} locks of the corpus, {len(FLEET)} targets")
    figure("check", f"{wall:.0f} s, {cpu:.0f} s of processors", wall <= 60)


def plan(project: Path, out: Path) -> dict[str, float]:
    result: dict[str, float] = json.loads(child("plan_once", project, TARGET, out))
    return result


def bare_lock(uv: Uv, project: Path, files: Path, copy: Path) -> float | None:
    """Seconds of `uv lock` on the edited pyproject files and the old lock; None if it fails."""

    def once() -> int:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(project, copy)
        for edited in files.rglob("pyproject.toml"):
            shutil.copyfile(edited, copy / edited.relative_to(files))
        begun = time.perf_counter()
        code = uv.run(["lock"], cwd=copy).returncode
        times.append(time.perf_counter() - begun)
        return code

    times: list[float] = []
    return None if any(once() for _ in range(3)) else min(times[1:])


def child(name: str, *arguments: object) -> str:
    return subprocess.run(
        [sys.executable, "-m", f"tests.bench.{name}", *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def ratio(name: str, ours: float, theirs: float, *, at_most: float | None = None) -> None:
    figure(
        name,
        f"{ours / theirs:.2f} ({ours:.2f} s / {theirs:.2f} s)",
        at_most is None or ours <= at_most * theirs,
    )


def figure(name: str, value: str, kept: bool) -> None:
    say(f"  {name}: {value}{'' if kept else '   OVER BUDGET'}")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
