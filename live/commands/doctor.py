"""``live doctor``: what this machine has for running programs, how well it keeps them in, and what is missing."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from live.errors import ExitCode
from live.session import one_line, output_console, print_json, session_of

if TYPE_CHECKING:
    from sandbox.inspection import Docker, ExecutorState, Lack, Machine

_GIB = 1 << 30


def doctor(
    context: typer.Context,
    full: Annotated[
        bool, typer.Option("--full", help="Run the self-test of every language, not of Python alone.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Look at what programs can be run in here: the machine, Docker, bubblewrap, levels of isolation, languages.

    Exit code 4 when nothing here can run programs.
    """
    from sandbox import inspection

    session = session_of(context)
    machine = inspection.inspect_machine()
    docker = inspection.inspect_docker()
    bubblewrap = inspection.inspect_bubblewrap()
    session.messages.print("starting each executor …" if not full else "running the self-tests of each executor …")
    executors = inspection.inspect_executors(every_language=full)
    lacks = inspection.find_lacks(docker, bubblewrap, executors)
    if as_json:
        print_json(
            {
                "machine": asdict(machine),
                "docker": {**asdict(docker), "reachable": not docker.problem},
                "bubblewrap": bubblewrap,
                "executors": [{**asdict(state), "works": state.works} for state in executors],
                "missing": [asdict(lack) for lack in lacks],
            }
        )
    else:
        _print_machine(machine, docker, bubblewrap)
        _print_executors(executors)
        _print_languages(executors)
        _print_lacks(lacks)
    if not any(state.works for state in executors):
        raise typer.Exit(ExitCode.UNAVAILABLE)


def _print_machine(machine: Machine, docker: Docker, bubblewrap: str | None) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    cores = f"{machine.cores} cores" + (
        f", {machine.usable_cores} for this process" if machine.usable_cores != machine.cores else ""
    )
    table.add_row(
        "machine",
        f"{cores}, {machine.memory_bytes / _GIB:.1f} GiB of memory, {machine.kernel}, {machine.architecture}, "
        f"load {machine.load:.1f}",
    )
    if docker.problem:
        table.add_row("Docker", one_line(docker.problem))
    else:
        table.add_row("Docker", f"{docker.version} at {docker.address}, runtimes: {', '.join(docker.runtimes)}")
    for image in docker.images:
        table.add_row(f"image {image.name}", f"{image.reference} ({image.id or 'not there'})")
    table.add_row("bubblewrap", bubblewrap or "not installed")
    output_console().print(table)


def _print_executors(executors: tuple[ExecutorState, ...]) -> None:
    from rich.table import Table

    table = Table("executor", "level", "start", "what keeps tests in", box=None, pad_edge=False)
    for state in executors:
        if state.isolation is None:
            table.add_row(state.name, "–", "–", f"does not work: {one_line(state.problem)}")
            continue
        layers = ", ".join(state.isolation["layers"])
        if state.isolation["renew_each_solution"]:
            layers += ", a new jail for each solution"
        said = layers if state.works else f"does not work: {one_line(state.problem)}"
        table.add_row(state.name, state.isolation["name"], f"{state.start_s:.1f} s", said)
    output_console().print()
    output_console().print(table)


def _print_languages(executors: tuple[ExecutorState, ...]) -> None:
    """What each executor has: a row for each language and for Python's packages, a column for each executor."""
    from rich.table import Table

    columns = [state for state in executors if state.languages is not None]
    if not columns:
        return
    table = Table("language", *[state.name for state in columns], box=None, pad_edge=False)
    names = sorted({name for state in columns for name in state.languages or ()})
    for name in names:
        table.add_row(name, *[_language(state, name) for state in columns])
    for package in sorted({name for state in columns for name in state.packages or ()}):
        table.add_row(f"  {package}", *[(state.packages or {}).get(package, "–") for state in columns])
    output_console().print()
    output_console().print(table)


def _language(state: ExecutorState, name: str) -> str:
    """A language's version in one executor, and how its self-test ended where it was run."""
    found = (state.languages or {}).get(name)
    if found is None:
        return "–"
    version = one_line(found.version)
    if found.works is None:
        return version
    return f"{version}, {found.wall_s:.2f} s" if found.works else f"{version}, FAILS: {one_line(found.problem)}"


def _print_lacks(lacks: tuple[Lack, ...]) -> None:
    if lacks:
        typer.echo("\nmissing:")
    for lack in lacks:
        typer.echo(f"  {one_line(lack.what)}")
        if lack.remedy:
            typer.echo(f"    what to do: {one_line(lack.remedy)}")
