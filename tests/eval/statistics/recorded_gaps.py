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

from eval.statistics.gap import Sides, sides
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
