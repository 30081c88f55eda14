"""``live audit``: what may be wrong with scores, or with the problems that they rest on."""

from __future__ import annotations

import typer

from live.commands.audits import composition, difficulty

app = typer.Typer(
    help="What may be wrong with scores, or with the problems that they rest on. Nothing is judged or changed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("composition")(composition.composition)
app.command("difficulty")(difficulty.difficulty)
