"""Findings on stdout, in the form that was asked for; and the options that choose it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from live.errors import UsageError

if TYPE_CHECKING:
    from eval.sheets import Sheet

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Rows as CSV, unrounded.")]
AsMarkdown = Annotated[bool, typer.Option("--md", help="Markdown.")]
Seed = Annotated[int, typer.Option(help="Seed of what is drawn at random; the same one gives the same numbers.", min=0)]


def chosen_form(as_json: bool, as_csv: bool, as_markdown: bool) -> str:
    """The one form that was asked for; "table" when none was. Raises ``UsageError``."""
    if as_json + as_csv + as_markdown > 1:
        raise UsageError("only one of --json, --csv and --md can be asked for at a time", "choose one")
    return "json" if as_json else "csv" if as_csv else "md" if as_markdown else "table"


def show(sheet: Sheet, form: str) -> None:
    """Print a finding."""
    from eval import sheets
    from live.session import output_console

    if form == "table":
        sheets.print_sheet(sheet, output_console())
        return
    text = {"json": sheets.sheet_to_json, "csv": sheets.sheet_to_csv, "md": sheets.sheet_to_markdown}[form](sheet)
    sys.stdout.write(text)
