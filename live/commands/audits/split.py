"""``live audit split``: a private part of the problems, chosen by a key."""

from __future__ import annotations

import stat
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.audits.files import read_bytes
from live.commands.audits.selection import Models, choose
from live.commands.findings import AsCsv, AsJson, AsMarkdown, chosen_form, show
from live.commands.windows import Difficulties, IncludeFlagged, Platforms, Since, Until, read_since, read_until
from live.errors import ExitCode, UsageError
from live.session import Session, session_of

if TYPE_CHECKING:
    from eval.audits.split import KeyedSplit


class Part(StrEnum):
    """A part of the problems."""

    PRIVATE = "private"
    PUBLIC = "public"


def split(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    key_file: Annotated[
        Path, typer.Option(metavar="FILE", help="Holds the key: 16 bytes or more, line ends at its end do not count.")
    ],
    names: Models = None,
    share: Annotated[float, typer.Option(min=0.0, max=1.0, help="The share of problems that is private.")] = 0.3,
    part: Annotated[
        Part | None, typer.Option("--list", help="Print the ids of this part of all problems, and nothing else.")
    ] = None,
    since: Since = None,
    until: Until = None,
    platform: Platforms = None,
    difficulty: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """The gap of each model between public problems and private ones, chosen by a key that nobody else has.

    The same key gives the same split for ever: new problems move none of the old ones, a larger share only adds to the
    private part. --list names a part, for who keeps the private one unpublished.
    """
    from eval.audits.broken_months import broken_runs
    from eval.audits.split import audit_split, listed, split_sheet
    from eval.problem_sets import ProblemSet

    form = chosen_form(as_json, as_csv, as_markdown)
    keyed = _read_key(key_file, share, session_of(context))
    chosen = choose(
        context,
        names,
        since=since,
        until=until,
        platforms=platform,
        difficulties=difficulty,
        include_flagged=include_flagged,
        keep_others=True,
    )
    if part is not None:
        if as_json or as_csv or as_markdown:
            raise UsageError("--list prints ids, one a line", "leave out --json, --csv and --md")
        wanted = ProblemSet("", tuple(platform or ()), tuple(difficulty or ()), read_since(since), read_until(until))
        for line in listed(chosen.results.problems, wanted, keyed, private=part is Part.PRIVATE):
            typer.echo(line)
        return
    audit = audit_split(chosen.selection, keyed, broken_runs(chosen.whole_board()))
    show(split_sheet(audit), form)
    if all(one.gap is None for one in audit.found):
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)


def _read_key(file: Path, share: float, session: Session) -> KeyedSplit:
    """The key of a file, with a warning where others can read it. Raises ``UsageError``; no error holds any of it."""
    from eval.audits.split import KeyedSplit
    from eval.statistics.splits import MIN_KEY_BYTES

    key = read_bytes(file).rstrip(b"\r\n")
    if len(key) < MIN_KEY_BYTES:
        raise UsageError(
            f"{file}: a key of {len(key)} bytes can be guessed: it needs at least {MIN_KEY_BYTES}",
            f"make one: (umask 077; head -c 32 /dev/urandom | base64 > {file})",
        )
    if stat.S_IMODE(file.stat().st_mode) & 0o077:
        session.messages.print(f"warning: others can read the key in {file}: chmod 600 {file}", markup=False)
    return KeyedSplit(key, share)
