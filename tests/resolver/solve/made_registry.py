"""Invented registries for plans: releases that uv can lock, the facts of them, and a project."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.version import Version

from tests.registry.server import Index
from tests.resolver.solve.made_problem import Made, MadeGraph

FRAMEWORKS = ("torch", "tensorflow", "onnxruntime-gpu", "cupy-cuda12x")
CUDNN, NCCL = "nvidia-cudnn-cu12", "nvidia-nccl-cu12"
LIBRARIES = {CUDNN: ("9.5.0", "9.8.0", "9.10.0"), NCCL: ("2.25.1", "2.26.2", "2.27.3")}
VERSIONS = ("1.0.0", "1.0.1", "1.1.0", "1.2.0", "2.0.0", "2.1.0")
OLD, NEW, LATEST = (
    "sm_70 sm_80 sm_90",
    "sm_70 sm_80 sm_90 sm_100 sm_120",
    "sm_80 sm_90 sm_100 sm_120",
)
HOMES = ("cu126", "cu128")
LINUX, OTHERS = "sys_platform == 'linux'", "sys_platform != 'linux'"


@dataclass(frozen=True, kw_only=True)
class MadeRegistry:
    """One generated case: everything that is served and known, and what the project asks."""

    seed: str
    releases: Mapping[str, Mapping[str, Made]]
    """The GPU packages; facts and served metadata say the same."""
    outside: Mapping[str, Mapping[str, Sequence[str]]]
    """Packages that no facts know: requirements by version."""
    dependencies: tuple[str, ...]
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Extras that exclude each other."""
    constraints: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    locked: Mapping[str, str] = field(default_factory=dict)
    """Where the lock starts; the rest is as uv likes it."""
    cards: tuple[str, ...] = ("RTX 5090",)

    @property
    def frameworks(self) -> tuple[str, ...]:
        return tuple(name for name in self.releases if name in FRAMEWORKS)

    def graph(self, index: Index) -> MadeGraph:
        return MadeGraph(self.releases, index.whl)

    def serve(self, index: Index) -> None:
        """Put every release on the index, as wheels that hold nothing."""
        for name, releases in self.releases.items():
            for version, made in releases.items():
                _serve(index, name, version, made.requires)
        for name, versions in self.outside.items():
            for version, requires in versions.items():
                _serve(index, name, version, requires)

    def write(self, folder: Path, more: Sequence[str] = ()) -> Path:
        """The project's pyproject.toml; `more` are constraints beside its own."""
        folder.mkdir(parents=True, exist_ok=True)
        text = pyproject(self.dependencies, self.extras, (*self.constraints, *more), self.overrides)
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")
        return folder


def pyproject(
    dependencies: Sequence[str],
    extras: Mapping[str, Sequence[str]],
    constraints: Sequence[str],
    overrides: Sequence[str],
    indexes: Mapping[str, str] | None = None,
) -> str:
    """A pyproject.toml for these requirements, whose extras exclude each other.

    `indexes` are the addresses of indexes that packages come from.
    """
    lines = ["[project]", 'name = "made"', 'version = "0.1.0"', 'requires-python = ">=3.11"']
    lines += [f"dependencies = {_array(dependencies)}"]
    if extras:
        lines += ["", "[project.optional-dependencies]"]
        lines += [f"{name} = {_array(texts)}" for name, texts in extras.items()]
    lines += ["", "[tool.uv]", f"constraint-dependencies = {_array(constraints)}"]
    if overrides:
        lines += [f"override-dependencies = {_array(overrides)}"]
    if extras:
        lines += [f"conflicts = [[{', '.join(f'{{ extra = {name!r} }}' for name in extras)}]]"]
    for number, (name, url) in enumerate((indexes or {}).items()):
        lines += ["", "[tool.uv.sources]"] if not number else []
        lines += [f'{name} = {{ index = "{name}-home" }}', "", "[[tool.uv.index]]"]
        lines += [f'name = "{name}-home"', f'url = "{url}"', "explicit = true"]
    return "\n".join(lines) + "\n"


def _array(texts: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{text}"' for text in texts) + "]"


def _serve(index: Index, name: str, version: str, requires: Sequence[str]) -> None:
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata = head + "".join(f"Requires-Dist: {line}\n" for line in requires)
    filename = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    if (home := Version(version).local) is not None:
        index.add_build(home, filename, filename.encode(), metadata)
        return
    index.add(filename, filename.encode(), metadata=metadata)  # uv knows wheels by their hash


def with_builds(made: MadeRegistry) -> MadeRegistry:
    """The registry with builds of torch on PyTorch's indexes: same versions, other code."""
    rng = random.Random(f"builds of {made.seed}")
    torch = {
        version: Made(code=_code(rng), requires=tuple(_requires(rng, "torch", {"torch": VERSIONS})))
        for public in made.releases["torch"]
        for home in HOMES
        if rng.random() < 0.6
        for version in [f"{public}+{home}"]
    }
    everything = {**made.releases, "torch": {**made.releases["torch"], **torch}}
    return replace(made, releases=everything)


def generate(seed: str) -> MadeRegistry:
    """The registry of a seed: always the same one."""
    rng = random.Random(seed)
    count = rng.choices((1, 2, 3, 4), (2, 4, 3, 1))[0]
    names = rng.sample(FRAMEWORKS, count)
    many = 6 if count < 3 else 4
    releases: dict[str, dict[str, Made]] = {
        library: {version: Made(code=_code(rng)) for version in versions}
        for library, versions in LIBRARIES.items()
    }
    versions = {
        name: sorted(rng.sample(VERSIONS, rng.randint(2, many)), key=Version) for name in names
    }
    helped = rng.choice(names) if rng.random() < 0.3 else None
    for name in names:
        releases[name] = {
            version: Made(code=_code(rng), requires=tuple(_requires(rng, name, versions)))
            for version in versions[name]
        }
    outside: dict[str, dict[str, Sequence[str]]] = {"numpy": {"1.26.0": (), "2.0.0": ()}}
    if helped:
        outside["helper"] = {v: (_bound(rng, helped, versions[helped]),) for v in ("1.0", "1.1")}
    dependencies = [_declared(rng, name, versions[name]) for name in names]
    dependencies += ["helper"] if helped else []
    dependencies += [rng.choice(("numpy", "numpy<2", "numpy>=2"))] if rng.random() < 0.5 else []
    extras = {}
    if rng.random() < 0.2:
        chosen = rng.choice(names)
        dependencies = [d for d in dependencies if not re.match(rf"{chosen}\b(?!-)", d)]
        extras = {
            "one": (_declared(rng, chosen, versions[chosen], plain=True),),
            "other": (f"{chosen}=={rng.choice(versions[chosen])}",),
        }
    return MadeRegistry(
        seed=seed,
        releases=releases,
        outside=outside,
        dependencies=tuple(part for text in dependencies for part in text.split("|")),
        extras=extras,
        constraints=tuple(_constraints(rng, names, versions)),
        overrides=tuple(_overrides(rng, names, versions)),
        locked={name: rng.choice(versions[name]) for name in names if rng.random() < 0.8},
        cards=rng.choice((("RTX 5090",), ("RTX 5090",), ("V100",), ("RTX 5090", "V100"))),
    )


def _code(rng: random.Random) -> str:
    return rng.choices((OLD, NEW, LATEST), (3, 5, 2))[0]


def _requires(
    rng: random.Random, name: str, versions: Mapping[str, Sequence[str]]
) -> Sequence[str]:
    """What one release asks: libraries by pin or bound, other frameworks, something outside."""
    found = []
    for library, known in LIBRARIES.items():
        if rng.random() < 0.7:
            found.append(_bound(rng, library, known, pin=0.5))
    others = [other for other in versions if other != name and rng.random() < 0.2]
    found += [_bound(rng, other, versions[other]) for other in others]
    if rng.random() < 0.2:
        found.append(rng.choice(("numpy<2", "numpy>=2", "numpy")))
    return [f"{text} ; {LINUX}" if rng.random() < 0.2 else text for text in found]


def _bound(rng: random.Random, name: str, versions: Sequence[str], *, pin: float = 0.2) -> str:
    version = rng.choice(versions)
    if rng.random() < pin:
        return f"{name}=={version}"
    return f"{name}{rng.choice(('>=', '>=', '<=', '!='))}{version}"


def _declared(
    rng: random.Random, name: str, versions: Sequence[str], *, plain: bool = False
) -> str:
    """What the project asks of a framework; two texts where it differs by platform."""
    kind = rng.random()
    version = rng.choice(versions)
    if kind < 0.25:
        return name
    if kind < 0.45:
        return f"{name}=={version}"
    if kind < 0.6:
        return f"{name}>={version}"
    if kind < 0.75:
        return f"{name}<={version}"
    if kind < 0.85:
        return f"{name}!={version}"
    if plain:
        return f"{name}>={versions[0]}"
    return f"{name}=={version} ; {LINUX}|{name}=={rng.choice(versions)} ; {OTHERS}"


def _constraints(
    rng: random.Random, names: Sequence[str], versions: Mapping[str, Sequence[str]]
) -> Sequence[str]:
    found = []
    if rng.random() < 0.2:
        name = rng.choice(names)
        found.append(_bound(rng, name, versions[name]))
    if rng.random() < 0.2:
        library = rng.choice(list(LIBRARIES))
        found.append(_bound(rng, library, LIBRARIES[library]))
    if rng.random() < 0.1:
        found.append("numpy<2")
    return found


def _overrides(
    rng: random.Random, names: Sequence[str], versions: Mapping[str, Sequence[str]]
) -> Sequence[str]:
    kind = rng.random()
    if kind < 0.1:
        library = rng.choice(list(LIBRARIES))
        return [f"{library}=={rng.choice(LIBRARIES[library])}"]
    if kind < 0.15:
        name = rng.choice(names)
        return [f"{name}=={rng.choice(versions[name])}"]
    return ["numpy==1.26.0"] if kind < 0.2 else []
