"""Platforms and difficulties that somebody wrote, checked against those that there are. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from eval.scoring import UNKNOWN
from eval.window import ProblemFacts

LEVELS = ("easy", "medium", "hard")
MAX_SHOWN = 12


class LabelUnknown(ValueError):
    """No problem has a label; the message says which there are."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def check_labels(
    problems: Iterable[ProblemFacts], platforms: Iterable[str], difficulties: Iterable[str], where: str = ""
) -> None:
    """Raises ``LabelUnknown`` for a platform or a difficulty that none of the problems has, whatever its case.

    ``where`` names what the label stands in. Of no problems at all nothing can be said.
    """
    wanted, levels = list(platforms), list(difficulties)
    if not (wanted or levels):
        return
    universe = tuple(problems)
    if not universe:
        return
    prefix = f"{where}: " if where else ""
    check_known(wanted, (one.platform for one in universe), prefix + "no problem is of the platform")
    check_known(levels, (one.difficulty or UNKNOWN for one in universe), prefix + "no problem is labelled")


def check_known(wanted: Iterable[str], labels: Iterable[str], message: str) -> None:
    """Raises ``LabelUnknown``, with ``message`` and the labels that there are, for one that is not among them."""
    counts = Counter(label.casefold() for label in labels)
    for name in wanted:
        if name.casefold() not in counts:
            there = f"there {'are' if len(counts) > 1 else 'is'} {_shown(counts)}"
            raise LabelUnknown(f'{message} "{name}"; {there}', "take one of these, or leave it out")


def _shown(counts: Counter[str]) -> str:
    """Easy before hard, then the commonest."""
    levels = {level: place for place, level in enumerate(LEVELS)}
    names = sorted(counts, key=lambda name: (levels.get(name, len(levels)), -counts[name], name))
    more = len(names) - MAX_SHOWN
    return ", ".join(names[:MAX_SHOWN]) + (f" and {more} more" if more > 0 else "")
