"""``live audit``: what may be wrong with scores, or with the problems that they rest on."""

from __future__ import annotations

import typer

from live.commands.audits import (
    composition,
    contamination,
    difficulty,
    memorisation,
    problems,
    runs,
    saturation,
    split,
    stability,
    weights,
)

app = typer.Typer(
    help="What may be wrong with scores, or with the problems that they rest on. Nothing is judged or changed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("composition")(composition.composition)
app.command("contamination")(contamination.contamination)
app.command("difficulty")(difficulty.difficulty)
app.command("memorisation")(memorisation.memorisation)
app.command("problems")(problems.problems)
app.command("runs")(runs.runs)
app.command("saturation")(saturation.saturation)
app.command("split")(split.split)
app.command("stability")(stability.stability)
app.command("weights")(weights.weights)
