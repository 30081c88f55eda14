"""Under which conditions the runs of an edition were made: what all share, and in what they differ. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from eval.editions.document import EditionRun
from eval.site.runs import RunsOf
from eval.site.wording import counted

ASKING = (("prompt", "prompt"), ("temperature", "temperature"))
"""The conditions that readers look for first: the name of each in a run, and on the page."""

MAX_NAMED = 4
"""Runs of one value that are named; where there are more, they are counted."""


def asking_lines(runs: RunsOf) -> Iterator[tuple[str, str]]:
    """Prompt, temperature and samples of each problem, as pairs of a name and a sentence; none where none is known."""
    for key, name in ASKING:
        if any(key in run.conditions for run in runs.edition.runs):
            yield name, _values({run.name: _condition(run, key) for run in runs.in_order})
    samples = {name: row.samples_per_problem for name, row in runs.rows.items()}
    said = {
        name: str(span[0]) if span[0] == span[1] else f"{span[0]} to {span[1]}"
        for name, span in samples.items()
        if span is not None
    }
    if said:
        yield (
            "samples of each problem",
            _values({run.name: said[run.name] for run in runs.in_order if run.name in said}),
        )


def _condition(run: EditionRun, key: str) -> str:
    if key in run.conditions:
        return str(run.conditions[key])
    return "not known, since imported" if run.imported else "not set"


def _values(of_run: dict[str, str]) -> str:
    """Each value with its runs, the most frequent first; the value alone where all runs share it."""
    runs_of: dict[str, list[str]] = defaultdict(list)
    for run, value in of_run.items():
        runs_of[value].append(run)
    if len(runs_of) == 1:
        return f"{next(iter(runs_of))}, in every run"
    ordered = sorted(runs_of.items(), key=lambda item: (-len(item[1]), item[0]))
    return "the runs differ: " + "; ".join(f"{value}: {_named(names)}" for value, names in ordered)


def _named(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= MAX_NAMED else counted(len(names), "run")
