"""`stackfix validate`."""

from __future__ import annotations

import contextlib
import signal
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from stackfix.cli.failures import FINDINGS, UsageError
from stackfix.cli.options import card_options, format_option, project_options, selection_options
from stackfix.cli.parser import Parser, folder_path
from stackfix.cli.printing import print_note

if TYPE_CHECKING:
    from stackfix.validate.closure import InstallRequest
    from stackfix.validate.result import Validation
    from stackfix.validate.validate import ValidationRequest
    from stackfix_knowledge.graph import Graph
    from stackfix_lockfiles.project import Project

__all__ = ["configure", "prove_files", "run"]

Tell = Callable[[str], None]

_BY_SIGNAL = 128
"""Shells add a signal's number to this for the exit code of what it ended."""


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--plan",
        type=folder_path,
        metavar="DIR",
        help="Validate a plan saved with `stackfix plan -o DIR` in place of the project's lock.",
    )
    parser.add_argument(
        "--python",
        type=Path,
        metavar="PATH",
        help="Validate an existing environment (its interpreter, or its folder); install nothing.",
    )
    card_options(parser)
    selection_options(parser)
    parser.add_argument(
        "--all",
        dest="everything",
        action="store_true",
        help="Install everything, not only what the GPU stack needs: the project's own packages"
        " too. Builds what has no wheel, from a copy, which runs its code.",
    )
    parser.add_argument(
        "--quick", action="store_true", help="A few checks of each kind, in seconds."
    )
    parser.add_argument(
        "--require-gpu",
        action="store_true",
        help="Exit with 1 where nothing could run on a card.",
    )
    parser.add_argument("--keep", action="store_true", help="Keep the scratch environment.")
    parser.add_argument(
        "--reuse", action="store_true", help="Take the environment kept for this lock; keep it."
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        metavar="SECONDS",
        help="How long each stage may take. Default: two minutes to twenty, by stage.",
    )
    project_options(parser)
    format_option(parser)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not seconds >= 1:
        raise ArgumentTypeError(f"expected a number of seconds, at least 1, not {text!r}")
    return seconds


def run(arguments: Namespace) -> int:
    """Prove the pins: install them in a scratch environment, and run kernels on the cards.

    Installs the GPU stack of the lock, reads every binary, imports the frameworks, looks where
    their libraries come from and which version they have, then runs convolutions, attention and
    collectives and compares them with exact results. Every stage is a process of its own: a crash
    or a hang is a result. Without a card, the stages that need one are skipped and named.

    Exit code: 0 passed what could run, 1 something failed, 2 bad input.
    """
    from stackfix.report.text import progress

    quiet = arguments.output_format == "json"
    with _tidily(), progress(quiet=quiet) as tell:
        validation = _validate(vars(arguments), tell)
    _print(validation, arguments.output_format)
    if arguments.require_gpu and not validation.ran_on_a_card:
        print_note("--require-gpu: no stage passed on a card")
        return FINDINGS
    return FINDINGS if validation.failed else 0


def prove_files(
    project: Project, files: Mapping[Path, bytes], *, offline: bool, **chosen: Any
) -> bool:
    """Validate a project with a plan's new files, print the report; whether nothing failed."""
    from stackfix.report.text import progress

    options: dict[str, Any] = {
        "extras": (),
        "groups": (),
        "all_extras": False,
        "targets": (),
        "hosts": (),
        **chosen,
    }
    with _tidily(), progress() as tell:
        request = _request_for(project, files, {**options, "offline": offline}, tell)
        validation = _run(request)
    _print(validation, "text")
    return not validation.failed


def _validate(options: dict[str, Any], tell: Tell) -> Validation:
    from stackfix.cli.asking import find_project

    if options["python"] is not None:
        return _run(_request_for_python(options, tell))
    if options["plan"] is not None:
        project, files = _saved(options["plan"], options["project"])
    else:
        project, files = find_project(options["project"]), {}
    return _run(_request_for(project, files, options, tell))


def _run(request: ValidationRequest) -> Validation:
    from stackfix.validate.validate import validate

    return validate(request)


def _request_for(
    project: Project, files: Mapping[Path, bytes], options: dict[str, Any], tell: Tell
) -> ValidationRequest:
    from stackfix.cli.asking import graph_of

    graph = graph_of(project)
    install = _install_request(project, files, options)
    return _request(options, graph, project, tell, install=install)


def _install_request(
    project: Project, files: Mapping[Path, bytes], options: dict[str, Any]
) -> InstallRequest:
    from stackfix.validate.closure import InstallRequest
    from stackfix_lockfiles.lock import Lock

    new = files.get(Path("uv.lock"))
    return InstallRequest(
        project=project,
        lock=project.read_lock() if new is None else Lock.parse(new),
        files=files,
        extras=options["extras"],
        groups=options["groups"],
        all_extras=options["all_extras"],
        everything=options.get("everything", False),
        offline=options["offline"],
    )


def _request_for_python(options: dict[str, Any], tell: Tell) -> ValidationRequest:
    """An environment that exists; compared with the project's lock where there is a project."""
    from stackfix.cli.asking import find_project, graph_of
    from stackfix_lockfiles.errors import InputError

    for name, flag in (("plan", "--plan"), ("keep", "--keep"), ("reuse", "--reuse")):
        if options[name]:
            raise UsageError(f"{flag} is about a scratch environment; --python installs none")
    if options["everything"]:
        raise UsageError("--all is about a scratch environment; --python installs none")
    try:
        project: Project | None = find_project(options["project"])
    except InputError:
        if options["project"] is not None:
            raise
        project = None
    locked = project is not None and project.lock_path.exists()
    install = _install_request(project, {}, options) if project and locked else None
    graph = graph_of(project)
    return _request(options, graph, project, tell, python=options["python"], install=install)


def _request(
    options: dict[str, Any], graph: Graph, project: Project | None, tell: Tell, **more: Any
) -> ValidationRequest:
    from stackfix.audit.settings import declaring, overlays, policy, settings_of
    from stackfix.cli.asking import machine
    from stackfix.targets.select import NoTarget, select_targets
    from stackfix.validate.validate import ValidationRequest

    host = machine(graph)
    settings = settings_of(project, project.root) if project else None
    try:
        targets = select_targets(
            named=options["targets"],
            hosts=options["hosts"],
            declared=declaring(project, project.root) if project else (),
            gpus=graph.gpus,
            machine=lambda: host,
        ).targets
    except NoTarget:
        if options["hosts"]:
            raise
        targets = ()
    return ValidationRequest(
        graph=graph,
        host=host,
        targets=targets,
        knowledge=overlays(settings),
        policy=policy(settings),
        quick=options.get("quick", False),
        keep=options.get("keep", False),
        reuse=options.get("reuse", False),
        timeout=options.get("timeout"),
        progress=tell,
        tell=_tell_line,
        **more,
    )


def _saved(folder: Path, project_path: Path | None) -> tuple[Project, Mapping[Path, bytes]]:
    """The plan's project and new files. Raises InputError where the project changed since."""
    from stackfix.cli.asking import project_of_plan
    from stackfix.plan.plan import Status
    from stackfix.report.plan import load_plan
    from stackfix_lockfiles.errors import InputError

    saved = load_plan(folder)
    if saved.status is Status.IMPOSSIBLE:
        raise InputError(folder, "expected a plan with a way, found one that found none")
    project = project_of_plan(saved, project_path)
    saved.require_unchanged(project.root)
    return project, saved.files


def _print(validation: Validation, output_format: str) -> None:
    from stackfix.cli.printing import print_result
    from stackfix.report.validation import validation_document, validation_text

    print_result(
        output_format, lambda: validation_document(validation), lambda: validation_text(validation)
    )


def _tell_line(line: str) -> None:
    """A line that stays, above the one that shows progress."""
    print_note(f"\r\x1b[2K{line}" if sys.stderr.isatty() else line)


@contextlib.contextmanager
def _tidily() -> Iterator[None]:
    """Clean up when asked to end, as by Ctrl-C; what a kill leaves behind, the next run sweeps."""

    def end(number: int, frame: object) -> NoReturn:
        raise SystemExit(_BY_SIGNAL + number)

    before = {
        number: signal.signal(number, end)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN  # nohup
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
