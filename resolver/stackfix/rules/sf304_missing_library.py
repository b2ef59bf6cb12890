"""SF304: a library of CUDA that nothing in this environment installs.

What: the binaries of a package ask the loader for a library such as libcudart.so.13, and no wheel
of the environment installs one of that name: a vllm built with CUDA 13 beside a torch of CUDA 12,
or a lock that leaves out the NVIDIA packages that torch needs.

Why: the loader knows libraries by names that carry their version, and does without none. The
import fails ("libcudart.so.13: cannot open shared object file"), or the package goes on without
its GPU code. Metadata does not name the CUDA of a build, so uv locks such pairs.

It is an error where the import needs the library, a warning where a part of the package does, and
a note where a package is made to find CUDA on the system: whether it is there, no lock tells. A
warning again where the environment holds another CUDA than the one asked for. Where torch comes
from outside the lock, or from a build that nobody looked at, nothing is said; nor of a list of
requirements without hashes that names none of NVIDIA's packages.

Evidence: measured (what the wheel's binaries ask for, and what the NVIDIA wheels install).

Fix: builds of one CUDA (`stackfix plan`), or the packages that install the library.

Ignore: `[tool.stackfix] ignore = [{ code = "SF304", package = "…", reason = "…" }]`, for instance
where the image brings the library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece, Stack
from stackfix.model.target import Target
from stackfix_knowledge.evidence import EvidenceKind
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.loading import Installer, Loading, LoadTime, SharedLibrary

_TORCH = "torch"
_RUNTIME = "cudart"
_SHOWN = 3
"""Libraries named in a message."""


class MissingLibrary:
    code = "SF304"
    title = "a library of CUDA that nothing in this environment installs"

    def judge(self, stack: Stack, target: Target, graph: Graph) -> Iterator[Finding]:
        if not stack.platform.startswith("linux_"):
            return
        if _is_incomplete(stack) or _torch_is_unclear(stack):
            return
        for piece in stack:
            if graph.alternatives(piece.name, piece.version):
                continue  # it holds a library for each CUDA, of which SF303 knows
            loading = graph.loading.of(piece.name, piece.version)
            missing = _missing(piece, loading, stack, graph)
            if missing:
                yield self._finding(piece, missing, loading, stack, target, graph)

    def _finding(
        self,
        piece: Piece,
        missing: Sequence[SharedLibrary],
        loading: Loading,
        stack: Stack,
        target: Target,
        graph: Graph,
    ) -> Finding:
        wanted = frozenset[int]().union(*(graph.cuda_majors(library) for library in missing))
        present = _present(stack, graph)
        other = bool(present) and not present & wanted
        beside = f", which holds CUDA {_listed(map(str, sorted(present)))}," if other else ""
        them = "it" if len(missing) == 1 else "them"
        installers = _installers(missing, graph)
        fix = loading.advice or f"add {installers}, or install CUDA {max(wanted)} on the system"
        measured = piece.wheel.evidence if piece.wheel else ()
        return Finding(
            code=self.code,
            severity=_severity(loading, other),
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"{piece.title} asks for {_listed([each.soname for each in missing])}, and "
            f"nothing in this environment{beside} installs {them} ({installers} would): unless "
            f"the system has {them}, {loading.without}",
            evidence=(
                *(e for e in measured if e.kind is EvidenceKind.MEASURED),
                *loading.evidence,
                *missing[0].evidence,
            ),
            fix=fix if loading.when is LoadTime.SYSTEM else None,
        )


def _severity(loading: Loading, other: bool) -> Severity:
    """How bad it is; `other`: the environment holds another CUDA instead."""
    match loading.when:
        case LoadTime.IMPORT:
            return Severity.ERROR
        case LoadTime.PART:
            return Severity.WARNING
        case LoadTime.SYSTEM:
            return Severity.WARNING if other else Severity.INFO


def _missing(piece: Piece, loading: Loading, stack: Stack, graph: Graph) -> list[SharedLibrary]:
    """The libraries that a package asks for and the environment has not.

    A wheel with libraries for several CUDA majors takes the one that is there.
    """
    if piece.wheel is None:
        return []
    known = (graph.loading.library(name) for name in loading.asks(piece.wheel))
    asked = [library for library in known if library is not None]
    # An environment shows all that torch's own build has beside it; a combination that the solver
    # makes leaves that to uv.
    own = piece.name == _TORCH and stack.environment is not None
    inside = frozenset[int]() if own else _inside(stack, graph)
    missing = [
        library
        for library in asked
        if not graph.cuda_majors(library) & inside
        and not any(_is_there(installer, stack) for installer in library.installers)
    ]
    builds = {majors for library in asked if len(majors := graph.cuda_majors(library)) == 1}
    lacking = {graph.cuda_majors(library) for library in missing}
    return missing if len(builds) < 2 or builds <= lacking else []


def _is_there(installer: Installer, stack: Stack) -> bool:
    piece = stack.get(installer.package)
    return piece is not None and installer.installs(piece.version)


def _inside(stack: Stack, graph: Graph) -> frozenset[int]:
    """The CUDA majors whose libraries torch brings, beyond what the stack lists.

    Of PyTorch's own builds it is not known what they ask for, and some hold it all inside.
    """
    torch = stack.get(_TORCH)
    if torch is None or torch.wheel is None or torch.wheel.cuda is None:
        return frozenset()
    if any(graph.loading.library(name) for name in torch.wheel.needs):
        return frozenset()
    return frozenset({torch.wheel.cuda.major})


def _is_incomplete(stack: Stack) -> bool:
    """Whether the installer adds packages that are not listed, NVIDIA's among them."""
    open_ended = stack.environment is not None and stack.environment.open_ended
    return open_ended and not stack.providers(_RUNTIME)


def _torch_is_unclear(stack: Stack) -> bool:
    """Whether torch comes from outside the lock, or from a build that nobody looked at."""
    torch = stack.get(_TORCH)
    if torch is None:
        return any(
            name.startswith("libtorch")
            for piece in stack
            if piece.wheel
            for name in piece.wheel.needs
        )
    return torch.wheel is None or (torch.wheel.cuda is None and not torch.wheel.cpu_only)


def _present(stack: Stack, graph: Graph) -> frozenset[int]:
    """The CUDA majors that the environment holds."""
    runtimes = (piece.package.cuda_major for piece in stack.providers(_RUNTIME))
    return _inside(stack, graph) | {major for major in runtimes if major is not None}


def _installers(missing: Sequence[SharedLibrary], graph: Graph) -> str:
    """The packages that would help, those of the CUDA that the other libraries are of."""
    named = [majors for library in missing if len(majors := graph.cuda_majors(library)) == 1]
    cuda = frozenset[int]().union(*named)
    names: list[str] = []
    for library in missing:
        for installer in library.installers:
            package = graph.packages.get(installer.package)
            if not cuda or package is None or package.cuda_major in cuda:
                names.append(f"{installer.package}{installer.versions}")
    return _listed(dict.fromkeys(names))


def _listed(names: Iterable[str]) -> str:
    """ "a, b and c", or "a, b, c and 4 more"."""
    names = list(names)
    rest = len(names) - _SHOWN
    if rest > 0:
        return f"{', '.join(names[:_SHOWN])} and {rest} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
