"""``live publish``: frozen editions as a site of plain files, and their tables in files of yours."""

from __future__ import annotations

import re
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from live.errors import ExitCode, UsageError, explain
from live.session import Session, session_of

if TYPE_CHECKING:
    from db.engine import Store
    from eval.publishing.plan import Load, SitePlan
    from eval.publishing.publication import File
    from eval.publishing.readme_files import Readme

_SHOWN = 20
_LONGEST_TITLE = 200


def publish(
    context: typer.Context,
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="The site's folder: a new one, an empty one, or one of ours.")
    ] = None,
    edition: Annotated[
        str | None, typer.Option(metavar="NAME", help="The edition at the front; by default the newest one.")
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Where the site will stand: for the feed, badges and whole addresses in files."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="The site's title.")] = "livecut",
    readme: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="In this Markdown file (repeatable), replace what stands between <!-- live:own --> (or common, "
            "equated) and <!-- /live -->, each on a line of its own.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit code 1, with a list, where something is out of date.")
    ] = False,
) -> None:
    """Turn frozen editions into a folder of plain files that any web server or browser opens.

    DIR is replaced as a whole in one step: readers have all of the old or all of the new. Other editions stay below
    editions/. What you put beside our files at the top of DIR (.git, CNAME) is kept.
    """
    if folder is None and not readme:
        raise UsageError("nothing to publish to", "name a folder for the site, or a file with --readme")
    from eval.editions.stored import load_frozen

    session = session_of(context)
    with session.open_store(reading=True, must_exist=True) as store:
        load = lru_cache(maxsize=2)(partial(load_frozen, store))
        plan = _plan(session, store, load, edition, _title(title), None if base_url is None else _address(base_url))
        readmes = _readmes(readme or (), plan, load)
        if check:
            lines = [*(_check_folder(session, folder, plan, load) if folder else ()), *_check_readmes(readmes)]
            for line in lines:
                typer.echo(line)
            if lines:
                raise typer.Exit(ExitCode.SOMETHING_FAILED)
            typer.echo("up to date")
            return
        if folder is not None:
            write_folder(session, folder, plan, load)
        _write_readmes(session, readmes)


def _title(text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > _LONGEST_TITLE:
        raise UsageError("--title: no title can be read", f"write a line of at most {_LONGEST_TITLE} characters")
    return text.strip()


def _address(text: str) -> str:
    """An address that ends with a slash."""
    hint = "write it as https://example.org/board/"
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018 - it raises where the port is no number
    except ValueError as error:
        raise UsageError(f'--base-url: cannot read "{text}"', hint) from error
    is_plain = re.fullmatch(r"[!-~]+", text) and not (set(text) & set("<>\"'`{}|\\^"))
    if not is_plain or parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(f'--base-url: "{text}" is no address of a folder on the web', hint)
    return text if text.endswith("/") else f"{text}/"


def _plan(
    session: Session, store: Store, load: Load, edition: str | None, title: str, base_url: str | None
) -> SitePlan:
    from db.editions import list_editions
    from eval.publishing.plan import plan_site

    with store.read() as reading:
        names = [row.name for row in list_editions(reading)]
    if not names:
        error = UsageError(f"there is no edition in {store.shown}", "live edition freeze NAME makes one")
        for line in explain(error):
            typer.echo(line, err=True)
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)
    root = None if edition is None else load(edition).name
    plan = plan_site(names, load, root=root, private=_private(store), title=title, base_url=base_url)
    for name, why in plan.left_out.items():
        session.messages.print(f"the edition {name} is left out: {why}", markup=False)
    return plan


def _private(store: Store) -> set[str]:
    """The written ids of the problems that are private now."""
    from db.summaries import list_problems
    from eval.outcomes import problem_facts

    with store.read() as reading:
        return {str(one.key) for one in list_problems(reading) if problem_facts(one).is_private}


def write_folder(session: Session, folder: Path, plan: SitePlan, load: Load) -> None:
    """Write a site, and say what was written, what of the user's was kept, and where to open it."""
    from eval.publishing.building import build_site
    from eval.publishing.folder import write_site

    with _progress(session, "making the site") as on_file:
        files = build_site(plan, load, tell=partial(session.messages.print, markup=False))
        written = write_site(folder, files, on_file)
    front = next(one for one in plan.editions if one.name == plan.root)
    for path in written.changed[:_SHOWN]:
        session.messages.print(f"replaced, though it was not as we had written it: {path}", markup=False)
    if len(written.changed) > _SHOWN:
        session.messages.print(f"… and {len(written.changed) - _SHOWN} more")
    if written.kept:
        session.messages.print(f"kept, since it is not ours: {', '.join(written.kept)}", markup=False)
    for path in written.set_aside:
        session.messages.print(f"not ours, and written while the site was: it is kept at {path}", markup=False)
    others = f", {len(plan.others)} more below editions/" if plan.others else ""
    session.messages.print(
        f"edition {front.name}, digest {front.digest}: {written.n_files} files, {written.n_bytes / 1e6:.1f} MB{others}",
        markup=False,
    )
    typer.echo(str(folder / "index.html"))


def _check_folder(session: Session, folder: Path, plan: SitePlan, load: Load) -> list[str]:
    from eval.publishing.building import build_site
    from eval.publishing.folder import check_site
    from eval.publishing.plan import published_edition

    with _progress(session, "comparing the site") as on_file:
        files = build_site(plan, load, tell=partial(session.messages.print, markup=False))
        published = published_edition(plan, plan.root, load)
        faults = list(check_site(folder, published, files, plan.builds, on_file))
    counts = Counter(fault.kind for fault in faults)
    shown: Counter[str] = Counter()
    lines = []
    for fault in faults:
        shown[fault.kind] += 1
        if shown[fault.kind] <= _SHOWN:
            lines.append(str(fault))
    return lines + [f"{kind}: … and {count - _SHOWN} more" for kind, count in counts.items() if count > _SHOWN]


@contextmanager
def _progress(session: Session, what: str) -> Iterator[Callable[[File], None]]:
    """How many files are done, on a terminal. Gives what to call after each, where Ctrl-C is heeded."""
    n_files = 0
    with session.messages.status(what) as status, _interrupted_between_files() as heed:

        def on_file(file: File) -> None:
            nonlocal n_files
            heed()
            n_files += 1
            status.update(f"{what}: {n_files} files, {file.path}")

        yield on_file


@contextmanager
def _interrupted_between_files() -> Iterator[Callable[[], None]]:
    """Hold Ctrl-C back until the function is called; a second one ends whatever is being done.

    Where it meets the libraries that draw and pack, they lose it, turn it into errors of their own, or crash.
    """
    is_pending = False

    def hold(number: int, frame: object) -> None:
        nonlocal is_pending
        is_pending = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def heed() -> None:
        if is_pending:
            raise KeyboardInterrupt

    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not listens or threading.current_thread() is not threading.main_thread():
        yield heed
        return
    signal.signal(signal.SIGINT, hold)
    try:
        yield heed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _readmes(files: Sequence[Path], plan: SitePlan, load: Load) -> list[Readme]:
    if not files:
        return []
    from eval.exports.markdown import table_markdown
    from eval.publishing.plan import published_edition
    from eval.publishing.readme_files import read_readmes

    return read_readmes(files, partial(table_markdown, published_edition(plan, plan.root, load)))


def _check_readmes(readmes: Sequence[Readme]) -> list[str]:
    return [
        f"stale: {one.named}:{table.line} (the table {table.which})"
        for one in readmes
        for table in one.now.tables
        if table.is_stale
    ]


def _write_readmes(session: Session, readmes: Sequence[Readme]) -> None:
    from eval.publishing.readme_files import write_readme

    for one in readmes:
        if one.now.is_stale:
            write_readme(one)
        tables = ", ".join(table.which for table in one.now.tables)
        said = f"replaced the tables: {tables}" if one.now.is_stale else "up to date"
        session.messages.print(f"{one.named}: {said}", markup=False)
