"""Does the test for contamination keep its promises: false positives at 5 %, accusations of clean models, power?

    python -m benchmarks.contamination [--repeats 150] [--data ../shared/data]

Recorded contests (where the shared data are there): random subsets of the LeetCode contests before and after the end
of August 2023 show with how many contests the linear gap of four contaminated models is seen, and how often it is
"seen" in the 12 controls. Simulated boards: problems that become harder with time, controls of their own abilities,
clean models and contaminated ones, put through the single tests and through the whole procedure with its placebos, and
through the scan that knows no date, by itself and as it is believed.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.judging import ROOT
from eval.statistics.breaks import ScanCase, judge_breaks
from eval.statistics.changepoint import differences, scan
from eval.statistics.gap import Sides, control_scale, find_gap, sides
from eval.statistics.placebo import Case, Verdict, judge_gaps
from eval.statistics.regression import Refusal, logit, ols
from tests.eval.statistics.boards import board, table

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

ALPHA = 0.05
BOARD = "lcb_v1_2024-04-17"
# Contests are a day before the site's date; no contest was on the last day of August.
AUGUST = np.datetime64("2023-09-01")
# The models of the recorded table of power, and its columns.
CONTAMINATED = {
    "DSCoder-33b-Base": "pow_33bBase_.51",
    "DSCoder-33b-Ins": "pow_33bIns_.37",
    "OC-DS-6.7B": "pow_OC6.7B_.22",
    "DSCoder-6.7b-Ins": "pow_6.7bIns_.20",
}
SAMPLES = 10


@dataclass(frozen=True, eq=False)
class Recorded:
    """Differences from the controls, by model, on the LeetCode problems; their contests; those up to August 2023."""

    differences: dict[str, FloatArray]
    controls: tuple[str, ...]
    clusters: IntArray
    before: BoolArray


@dataclass(frozen=True)
class Setting:
    """A kind of board: contests on either side, controls, and how much harder problems become, in logits.

    ``gap`` (logits) is what the last of ``models`` gains before the cut-off; the others are clean. All of them are
    ``stronger`` (logits) than a model in the midst of the controls. ``level`` is that of the problems, likewise.
    """

    before: int = 20
    after: int = 20
    controls: int = 8
    models: int = 4
    drift: float = 1.0
    gap: float = 0.0
    stronger: float = 0.0
    level: float = 0.0


@dataclass(frozen=True)
class Rates:
    """Shares of ``n`` tests of clean models with p below 5 %: by E1, by E2 with a mean for each side, with one mean."""

    n: int
    linear: float
    logit: float
    logit_one_mean: float


def recorded(data: Path) -> Recorded:
    """The recorded board, its 12 controls each compared with the other 11."""
    whole = board(data, BOARD)
    of = whole.take(whole.platforms == "leetcode")
    rows = table(data, "lcb_v1_did_aug2023")
    controls = tuple(sorted({row["model"] for row in rows if row["control"] == "True"}))
    found = {
        model: of.row(model) - np.mean([of.row(name) for name in controls if name != model], axis=0)
        for model in (*CONTAMINATED, *controls)
    }
    return Recorded(found, controls, of.contests, np.asarray(of.dates <= AUGUST))


def recorded_rates(
    of: Recorded, before: int, after: int, repeats: int, rng: np.random.Generator
) -> tuple[dict[str, float], float]:
    """How often the gap of each contaminated model is seen, and the mean of that over the controls.

    Contests are drawn without replacement; fewer than the test accepts are put through the same regression.
    """
    seen: Counter[str] = Counter()
    contests = [np.unique(of.clusters[half]) for half in (of.before, ~of.before)]
    for _ in range(repeats):
        drawn = [rng.choice(half, size, replace=False) for half, size in zip(contests, (before, after), strict=True)]
        chosen = np.isin(of.clusters, np.concatenate(drawn))
        design = np.column_stack([np.ones(chosen.sum()), of.before[chosen]])
        for model, values in of.differences.items():
            fitted = ols(values[chosen], design, of.clusters[chosen])
            if not isinstance(fitted, Refusal):
                seen[model] += fitted.estimate(1, fitted.n_clusters - 2).p < ALPHA
    power = {model: seen[model] / repeats for model in CONTAMINATED}
    return power, sum(seen[name] for name in of.controls) / repeats / len(of.controls)


def simulated_board(setting: Setting, rng: np.random.Generator) -> tuple[FloatArray, IntArray, Sides]:
    """Scores (models first, then controls), contests of four problems from easy to hard, and the sides of a cut-off.

    Ten samples of a problem are nearly copies: a model either has the idea or not, and then most samples agree.
    """
    contests = setting.before + setting.after
    clusters = np.repeat(np.arange(contests), 4)
    parts = sides(clusters, setting.before - 1, setting.before - 1)
    hard = setting.level + np.tile([-2.0, -0.5, 0.7, 2.2], contests) + rng.normal(0, 0.6, contests)[clusters]
    hard += rng.normal(0, 0.6, clusters.size) + setting.drift * np.where(parts.before, -0.5, 0.5)
    models = np.linspace(-1, 1, setting.models) + setting.stronger
    abilities = np.concatenate([models, np.linspace(-1.5, 1.5, setting.controls)])
    logits = abilities[:, None] - hard + rng.normal(0, 0.5, (abilities.size, clusters.size))
    logits[setting.models - 1] += setting.gap * parts.before
    idea = rng.random(logits.shape) < 1 / (1 + np.exp(-logits))
    return rng.binomial(SAMPLES, np.where(idea, 0.95, 0.05)) / SAMPLES, clusters, parts


def error_rates(setting: Setting, repeats: int, rng: np.random.Generator) -> Rates:
    """Each test on its own, over the clean models of so many boards."""
    seen, n = np.zeros(3), 0
    for _ in range(repeats):
        scores, clusters, parts = simulated_board(setting, rng)
        for row in range(setting.models):
            peers = scores[setting.models :]
            own = find_gap(scores[row], peers, parts, clusters, any_ability=True)
            hard = control_scale(scores[row], peers).difficulty
            one = logit(scores[row], np.column_stack([np.ones(hard.size), -hard, parts.before]), clusters)
            if own.linear is not None and own.logit is not None and not isinstance(one, Refusal):
                n += 1
                p = one.estimate(2, one.n_clusters - 2).p
                seen += [own.linear.p < ALPHA, own.logit.p < ALPHA, p < ALPHA]
    return Rates(n, *(seen / max(n, 1)).tolist())


def verdicts(setting: Setting, repeats: int, rng: np.random.Generator) -> tuple[Counter[Verdict], Counter[Verdict]]:
    """The words of the whole procedure over so many boards: of clean models, and of the contaminated one of each."""
    clean: Counter[Verdict] = Counter()
    contaminated: Counter[Verdict] = Counter()
    for _ in range(repeats):
        scores, clusters, parts = simulated_board(setting, rng)
        controls = tuple(range(setting.models, len(scores)))
        cases = [Case(row, parts, controls) for row in range(setting.models)]
        found = [one.verdict for one in judge_gaps(scores, clusters, clusters, cases)]
        last = setting.gap > 0
        clean.update(found[:-1] if last else found)
        contaminated.update(found[-1:] if last else [])
    return clean, contaminated


def scans(setting: Setting, repeats: int, rng: np.random.Generator) -> tuple[Counter[str], Counter[str]]:
    """The same of scans: what is said of the two kinds of models, and breaks of scans by themselves."""
    clean: Counter[str] = Counter()
    contaminated: Counter[str] = Counter()
    for _ in range(repeats):
        scores, clusters, parts = simulated_board(setting, rng)
        controls, every = tuple(range(setting.models, len(scores))), np.ones_like(parts.before)
        cases = [ScanCase(row, every, controls) for row in range(setting.models)]
        seed = int(rng.integers(2**32))

        def draws(row: int, seed: int = seed) -> np.random.Generator:
            return np.random.default_rng([seed, row])

        found = judge_breaks(scores, clusters, clusters, cases, draws)
        for one in found:
            of = contaminated if setting.gap > 0 and one.model == setting.models - 1 else clean
            of["scanned"] += 1
            by_itself = scan(differences(scores[one.model], scores[setting.models :]), clusters, clusters, rng)
            of["break by itself"] += by_itself.p is not None and by_itself.p < ALPHA / setting.models
            of["break"] += one.is_break
            of["withheld or not scanned"] += not one.is_told
    return clean, contaminated


def _print_recorded(data: Path, repeats: int, rng: np.random.Generator) -> None:
    of, started = recorded(data), time.monotonic()
    print("contests   power (this run / the table)                                        false positives")
    for row in table(data, "did_power_by_contests"):
        before, after = int(row["pre_contests"]), int(row["post_contests"])
        power, false = recorded_rates(of, before, after, repeats, rng)
        shown = "  ".join(f"{power[model]:.2f} / {float(row[column]):.2f}" for model, column in CONTAMINATED.items())
        print(f"{before:3d} + {after:2d}   {shown}   {false:.3f} / {float(row['fpr_controls_.05']):.3f}", flush=True)
    print(f"{time.monotonic() - started:.0f} s")


def _print_simulated(repeats: int, rng: np.random.Generator) -> None:
    print("false positives of single tests, nominal 5 %: linear, logit with a mean for each side, logit with one mean")
    for setting in (
        Setting(drift=0.0),
        Setting(),
        Setting(drift=2.0),
        Setting(drift=2.0, controls=4),
        Setting(4, 20),
        Setting(6, 6),
    ):
        rates = error_rates(setting, repeats, rng)
        print(
            f"  {setting}: {rates.linear:.3f} {rates.logit:.3f} {rates.logit_one_mean:.3f} ({rates.n} tests)",
            flush=True,
        )
    print("verdicts of the whole procedure")
    for setting in (Setting(drift=2.0), Setting(drift=2.0, controls=4), Setting(gap=1.0), Setting(gap=2.0)):
        clean, contaminated = verdicts(setting, repeats, rng)
        shown = {str(word): f"{count / clean.total():.3f}" for word, count in clean.most_common()}
        print(f"  {setting}: clean {shown}", flush=True)
        if contaminated:
            shown = {str(word): f"{count / contaminated.total():.3f}" for word, count in contaminated.most_common()}
            print(f"    contaminated {shown}", flush=True)


def _print_scans(repeats: int, rng: np.random.Generator) -> None:
    print("scans without a date, over the models of a board (p below 5 % by Bonferroni, or by Holm)")
    for setting in (
        Setting(),
        Setting(drift=2.0),
        Setting(drift=3.0, stronger=2.5, level=3.0),
        Setting(gap=1.0),
        Setting(gap=2.0),
    ):
        for kind, counts in zip(("clean", "contaminated"), scans(setting, repeats, rng), strict=True):
            total = counts.pop("scanned", 0)
            if total:
                shown = {word: f"{count / total:.3f}" for word, count in counts.items()}
                print(f"  {setting}: {kind} {shown} ({total})", flush=True)


def main() -> None:
    """Run it and print one line for each kind of board."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=150)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    if (options.data / "leaderboards").is_dir():
        _print_recorded(options.data, options.repeats, rng)
    _print_simulated(options.repeats, rng)
    _print_scans(options.repeats, rng)


if __name__ == "__main__":
    main()
