"""What the recorded tables of gaps rest on: the instants of contests, the controls, and who is related to whom."""

from __future__ import annotations

import csv
import gzip
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eval.statistics.gap import PRIOR, Sides, control_scale, sides
from eval.statistics.irt_newton import Settings
from eval.statistics.regression import Estimate, Refusal, Regression, average_effect, logit
from tests.eval.statistics.boards import Board, board, table

V1, V5, V6 = "lcb_v1_2024-04-17", "lcb_v5_2025-01-15", "lcb_v6_2025-04-22"
V1_CUTOFF = "2023-08-31"
PLATFORMS = ("all", "leetcode", "atcoder")


@cache
def instants(data: Path, name: str) -> NDArray[np.datetime64]:
    """When the contest of each problem was, to the minute: the site's date less the 24 hours that it adds.

    Some lie in the evening, and that decides on which side of a cut-off they fall. Where a problem carries two dates,
    the one that most rows give counts.
    """
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    path = data / "leaderboards" / "matrices" / f"{name}.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            seen[row["question_id"]][row["site_date"].removesuffix("Z")] += 1
    texts = [seen[problem].most_common(1)[0][0] for problem in board(data, name).problems]
    return np.asarray(np.array(texts, dtype="datetime64[m]") - np.timedelta64(24, "h"), dtype="datetime64[m]")


def days(moments: NDArray[np.datetime64]) -> NDArray[np.float64]:
    """Instants as days from 1970 on."""
    return np.asarray(moments.astype("datetime64[m]").astype(np.int64) / (24 * 60), dtype=np.float64)


def day(text: str) -> float:
    """The start of a day, or of a month, as days from 1970 on."""
    return float(days(np.array([text], dtype="datetime64[m]"))[0])


def part(of: Board, platform: str) -> NDArray[np.bool_]:
    """The problems of one platform; of AtCoder and LeetCode together for "all"."""
    return np.asarray((of.platforms != "codeforces") if platform == "all" else (of.platforms == platform))


def split(moments: NDArray[np.datetime64], cutoff: str) -> Sides:
    """Before and after the start of a day, as the tables have it."""
    return sides(days(moments), day(cutoff), day(cutoff))


def v1_controls(data: Path) -> tuple[str, ...]:
    """The 12 models that the table of August 2023 takes for clean."""
    rows = table(data, "lcb_v1_did_aug2023")
    return tuple(sorted({row["model"] for row in rows if row["control"] == "True"}))


def v6_controls(data: Path) -> tuple[str, ...]:
    """The 7 models of the later tables whose declared cut-off lies before 2024."""
    rows = table(data, "lcb_v6_did_declared_cutoffs")
    return tuple(dict.fromkeys(row["model"] for row in rows if row["role"] != "tested"))


def unrelated(model: str, controls: Sequence[str]) -> tuple[str, ...]:
    """The controls of a model: not itself, and for one of the three settings of o3-mini none of these."""
    family = model.startswith("O3-Mini")
    return tuple(name for name in controls if name != model and not (family and name.startswith("O3-Mini")))


def declared(row: dict[str, str]) -> str:
    """The cut-off of a row of the later tables: as declared, and for placebos the one that all of these have."""
    return row["declared"] if row["role"] == "tested" else "2024-06-30"


def with_one_mean(
    of: Board, model: str, controls: Sequence[str], parts: Sides, priors: Settings = PRIOR
) -> tuple[Estimate, Estimate]:
    """E2 as the tables have it: in log-odds, and in points over all problems. One prior mean for all difficulties."""
    peers = np.array([of.row(name) for name in controls])
    hard = control_scale(of.row(model), peers, priors).difficulty
    design = np.column_stack([np.ones(hard.size), -hard, parts.before])
    fitted = logit(of.row(model), design, of.contests)
    assert not isinstance(fitted, Refusal), (model, fitted.reason)
    degrees = fitted.n_clusters - 2
    return fitted.estimate(2, degrees), average_effect(fitted, design, 2, None, degrees)


def best_break(
    of: Board, model: str, controls: Sequence[str], moments: NDArray[np.float64], candidates: Sequence[float]
) -> tuple[float, float, Estimate, tuple[float, float]]:
    """The candidate at which E2 has the largest likelihood among those with a drop, as the tables of months have it.

    With what it gains over no break, the gap in log-odds, and the first and last candidate within 1.92 of it. A
    candidate after which the model solves nothing has no finite gap, and is passed over.
    """
    scores = of.row(model)
    hard = control_scale(scores, np.array([of.row(name) for name in controls])).difficulty
    base = np.column_stack([np.ones(scores.size), -hard])

    def likelihood(found: Regression) -> float:
        return float((scores * np.log(found.fitted) + (1 - scores) * np.log1p(-found.fitted)).sum())

    without = logit(scores, base, of.contests)
    assert not isinstance(without, Refusal), without.reason
    gains = {}
    for candidate in candidates:
        fitted = logit(scores, np.column_stack([base, moments < candidate]), of.contests)
        if not isinstance(fitted, Refusal) and fitted.coefficients[2] > 0:
            gains[candidate] = likelihood(fitted) - likelihood(without), fitted.estimate(2)
    best = max(gains, key=lambda candidate: gains[candidate][0])
    within = [candidate for candidate, (gain, _) in gains.items() if gain > gains[best][0] - 1.92]
    return best, *gains[best], (min(within), max(within))
