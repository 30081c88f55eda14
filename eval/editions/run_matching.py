"""Which run of one edition is which run of another. Pure."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from eval.editions.document import EditionRun

_NUMBERED = re.compile(r"(?P<label>.*) #[0-9]+", re.DOTALL)
_WITHOUT_LABEL = "run"


@dataclass(frozen=True)
class MatchedRuns:
    """The runs that are in both editions as pairs (before, after), and those that are in one; by name."""

    pairs: tuple[tuple[EditionRun, EditionRun], ...]
    gone: tuple[EditionRun, ...]
    came: tuple[EditionRun, ...]

    @property
    def swapped(self) -> MatchedRuns:
        """The same with the second edition as the first."""
        return MatchedRuns(tuple((new, old) for old, new in self.pairs), self.came, self.gone)


def match_runs(before: Iterable[EditionRun], after: Iterable[EditionRun]) -> MatchedRuns:
    """Match runs by what they are, and only then by the name in the table.

    A name alone does not tell a run: it grows a label once its model has a second run, and the bare name may go to
    that one. In turn are asked: everything that names a run; its model in the store, its label and origin; the model in
    the registry instead; the label without the number that it gets where two runs share it, with equal conditions; the
    name. A match of two runs with two others is none.
    """
    old, new = list(before), list(after)
    pairs: list[tuple[EditionRun, EditionRun]] = []
    for key in _KEYS:
        found = list(_pairs(old, new, key))
        pairs += found
        matched = {id(run) for pair in found for run in pair}
        old = [run for run in old if id(run) not in matched]
        new = [run for run in new if id(run) not in matched]
    pairs.sort(key=lambda pair: pair[1].name)
    return MatchedRuns(tuple(pairs), tuple(sorted(old, key=_name)), tuple(sorted(new, key=_name)))


def _pairs(
    before: Iterable[EditionRun], after: Iterable[EditionRun], key: Callable[[EditionRun], object]
) -> Iterable[tuple[EditionRun, EditionRun]]:
    groups: dict[object, tuple[list[EditionRun], list[EditionRun]]] = defaultdict(lambda: ([], []))
    for side, runs in enumerate((before, after)):
        for run in runs:
            groups[key(run)][side].append(run)
    return [(old[0], new[0]) for old, new in groups.values() if len(old) == len(new) == 1]


def _name(run: EditionRun) -> str:
    return run.name


def _everything(run: EditionRun) -> object:
    return (run.name, *_in_registry(run), run.model)


def _in_store(run: EditionRun) -> tuple[object, ...]:
    return run.model.casefold(), run.label, run.origin, run.imported


def _in_registry(run: EditionRun) -> tuple[object, ...]:
    return (run.entry or run.model).casefold(), run.label, run.origin, run.imported


def _conditions(run: EditionRun) -> object:
    match = _NUMBERED.fullmatch(run.label)
    label = run.label if match is None else "" if match["label"] == _WITHOUT_LABEL else match["label"]
    label = label if run.stored_label is None else run.stored_label
    return run.model.casefold(), label, run.origin, run.imported, json.dumps(run.conditions, sort_keys=True)


_KEYS: tuple[Callable[[EditionRun], object], ...] = (_everything, _in_store, _in_registry, _conditions, _name)
