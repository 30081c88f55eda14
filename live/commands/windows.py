"""Which problems a table rests on, read from the options of a command."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from live.errors import UsageError

if TYPE_CHECKING:
    from eval.settings import Settings
    from eval.window import Window

AfterCutoff = Annotated[
    bool, typer.Option("--after-cutoff", help="Each model on problems published after its own training cut-off.")
]
Since = Annotated[str | None, typer.Option(help="From this day, month or instant on (UTC), itself included.")]
Until = Annotated[str | None, typer.Option(help="Up to this day or month, itself included, or up to an instant.")]
Margin = Annotated[str, typer.Option(help="Distance to keep from the cut-off: 30d, 2w, 12h.")]
CutoffsAsOf = Annotated[
    str | None,
    typer.Option("--cutoffs-as-of", metavar="DAY", help="Cut-offs as they were known on this day: 2026-05-04."),
]
Platforms = Annotated[list[str] | None, typer.Option("--platform", help="Only this platform (repeatable).")]
Difficulties = Annotated[list[str] | None, typer.Option("--difficulty", help="Only this difficulty (repeatable).")]
IncludeFlagged = Annotated[
    bool,
    typer.Option("--include-flagged", help="Score interactive, many-answer and otherwise flagged problems too."),
]


class ProblemSplit(StrEnum):
    """Which problems a table looks at: all, or one side of the split into public and private ones."""

    ALL = "all"
    PUBLIC = "public"
    PRIVATE = "private"


Split = Annotated[
    ProblemSplit,
    typer.Option(
        "--split",
        help="Only public or only private problems; private are those flagged so (live problems flag ID private "
        "--reason TEXT), which are never published.",
    ),
]


def read_settings(  # noqa: PLR0913 - one parameter for each option
    after_cutoff: bool,
    since: str | None,
    until: str | None,
    margin: str,
    platforms: list[str] | None,
    difficulties: list[str] | None,
    ks: str,
    include_flagged: bool,
    *,
    split: str = ProblemSplit.ALL,
) -> Settings:
    """The settings that the options say. Raises ``UsageError`` or ``CutoffUnreadable``."""
    from eval.settings import Settings
    from eval.window import parse_margin

    if not after_cutoff and since is None and until is None:
        raise UsageError(
            "which problems? there is no default that mixes old problems in",
            "use --after-cutoff, or give a window with --since and --until",
        )
    try:
        return Settings(
            after_cutoff=after_cutoff,
            since=read_since(since),
            until=read_until(until),
            margin=parse_margin(margin),
            platforms=tuple(platforms or ()),
            difficulties=tuple(difficulties or ()),
            ks=_read_ks(ks),
            include_flagged=include_flagged,
            split=str(split),
        )
    except ValueError as error:
        hint = getattr(error, "hint", "check --since, --until, --margin and --k")
        raise UsageError(str(error), hint) from error


def read_since(text: str | None, option: str = "--since") -> datetime | None:
    """The instant that an option means, a day at its UTC midnight. Raises ``UsageError`` that names the option."""
    from eval.window import parse_since

    return _read_instant(text, option, parse_since)


def read_until(text: str | None) -> datetime | None:
    """The end of a half-open window that ``--until`` means: a day is itself included."""
    from eval.window import parse_until

    return _read_instant(text, "--until", parse_until)


def _read_instant(text: str | None, option: str, parse: Callable[[str], datetime]) -> datetime | None:
    try:
        return parse(text) if text else None
    except ValueError as error:
        raise UsageError(f"{option}: {error}", getattr(error, "hint", f"check {option}")) from error


def _read_ks(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise UsageError(f'cannot read --k "{text}"', "write it as numbers of at least 1: 1,5,10")
    return tuple(int(part) for part in parts)


def read_range(text: str, option: str) -> Window:
    """The half-open window that "FROM..TO" means, both ends as coarse dates that are themselves included.

    Raises ``UsageError`` that names the option.
    """
    from eval.window import Window, parse_since, parse_until, window_for

    first, dots, last = text.partition("..")
    if not dots or not (first.strip() or last.strip()):
        raise UsageError(f'{option}: cannot read the window "{text}"', "write it as 2023-05..2024-07")
    since = _read_instant(first.strip(), option, parse_since)
    until = _read_instant(last.strip(), option, parse_until)
    try:
        window_for(None, since=since, until=until)
    except ValueError as error:
        raise UsageError(f"{option}: {error}", "the first date comes first") from error
    return Window(None, since, until)
