"""``live models``: the registry of models and their cut-offs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.errors import UsageError
from live.session import output_console, print_json, session_of

if TYPE_CHECKING:
    from eval.models import ModelEntry

app = typer.Typer(
    help="Models and their training cut-offs. Entries of your own are TOML files ([[model]] name, cutoff, "
    "cutoff_status, cutoff_source, cutoff_looked_up, release_date, aliases, web_access), named by --models, "
    "by LIVE_MODELS or in live.toml.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document.")]


@app.command("list")
def list_models(context: typer.Context, as_json: AsJson = False) -> None:
    """All known models with the cut-off that a score of theirs rests on."""
    session = session_of(context)
    entries = sorted(session.registry.entries, key=lambda entry: entry.name.casefold())
    if as_json:
        print_json([_as_dict(entry) for entry in entries])
        return
    from rich.table import Table

    table = Table("model", "provider", "cut-off", "status", "counts as over at (UTC)", box=None, pad_edge=False)
    for entry in entries:
        facts = _as_dict(entry)
        cells = [facts["name"], facts["provider"], facts["cutoff"], facts["cutoff_status"], facts["counts_as_over_at"]]
        table.add_row(*("–" if cell is None else str(cell) for cell in cells))
    output_console().print(table)


@app.command("show")
def show_model(context: typer.Context, name: Annotated[str, typer.Argument(help="A model or an alias.")]) -> None:
    """One model with everything that is known, where from, and since when."""
    session = session_of(context)
    entry = session.registry.resolve(name)
    if entry is None:
        raise UsageError(session.registry.unknown_model(name), "live models list shows all")
    for key, value in _as_dict(entry).items():
        typer.echo(f"{key}: {'–' if value is None else value}")


def _as_dict(entry: ModelEntry) -> dict[str, Any]:
    from eval.models import NotScored, usable_cutoff
    from eval.report import utc_text

    used = usable_cutoff(entry)
    scored = None if isinstance(used, NotScored) else used
    return {
        "name": entry.name,
        "provider": entry.provider,
        "aliases": [alias.name for alias in entry.aliases],
        "cutoff": scored.cutoff.as_written if scored else None,
        "cutoff_precision": str(scored.cutoff.precision) if scored else None,
        "cutoff_status": str(scored.status) if scored else None,
        "counts_as_over_at": utc_text(scored.cutoff.after) if scored else None,
        "cutoff_source": scored.source if scored else None,
        "cutoff_looked_up": scored.looked_up if scored else None,
        "release_date": entry.release.as_written if entry.release else None,
        "web_access": entry.web_access,
        "not_scored_because": None if scored else used.reason,  # type: ignore[union-attr]
        "notes": entry.notes,
        "file": entry.origin,
    }
