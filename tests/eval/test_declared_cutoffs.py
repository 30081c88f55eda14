"""The 16 models of LiveCodeBench's board of April 2025 under declared cut-offs: the recorded table, and our rule.

The table counts a problem as after a cut-off when its contest began later than 0:00 UTC of the declared day (the site's
dates are 24 hours late, so they are taken back first). Ours begins when the cut-off's month has ended in the last time
zone on earth, 12 hours into the next month in UTC. The two part over problems of the month's last day, which the
table counts, and of the first 12 hours of the next month.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from eval.cutoffs import parse_cutoff
from eval.eligibility import UsedCutoff, usable_cutoff
from eval.evaluation import RunOutcomes, evaluate
from eval.models import Registry
from eval.registry_files import load_registry
from eval.registry_import import import_claims
from eval.report import Row
from eval.settings import Settings
from eval.window import ProblemFacts
from tests.eval.facts import NOW, matrix
from tests.eval.statistics.boards import table

pytestmark = pytest.mark.shared

BUILD_DELAY = timedelta(hours=24)
SINCE, UNTIL = datetime(2024, 8, 1, tzinfo=UTC), datetime(2025, 5, 1, tzinfo=UTC)

# Board name: name in the public list, name in the shipped registry.
NAMES = {
    "O4-Mini (High)": ("o4-mini", "o4-mini-2025-04-16"),
    "O4-Mini (Medium)": ("o4-mini", "o4-mini-2025-04-16"),
    "O4-Mini (Low)": ("o4-mini", "o4-mini-2025-04-16"),
    "O3-Mini-2025-01-31 (High)": ("o3-mini", "o3-mini-2025-01-31"),
    "O3-Mini-2025-01-31 (Med)": ("o3-mini", "o3-mini-2025-01-31"),
    "O3-Mini-2025-01-31 (Low)": ("o3-mini", "o3-mini-2025-01-31"),
    "Gemini-2.5-Pro": ("Gemini 2.5 Pro", "gemini-2.5-pro-exp-03-25"),
    "Gemini-2.5-Flash-Preview": ("Gemini 2.5 Flash", "gemini-2.5-flash-preview-04-17"),
    "Grok-3-Mini (High)": ("Grok 3", "grok-3-mini-beta"),
    "Claude-3.7-Sonnet (Thinking)": ("Claude 3.7 Sonnet", "claude-3-7-sonnet-20250219"),
    "Claude-3.5-Sonnet-20241022": ("Claude 3.5 Sonnet", "claude-3-5-sonnet-20241022"),
    "Claude-3-Haiku": ("Claude 3 Haiku", "claude-3-haiku-20240307"),
    "GPT-4O-2024-08-06": ("GPT-4o (2024-08-06)", "gpt-4o-2024-08-06"),
    "GPT-4-Turbo-2024-04-09": ("GPT-4-turbo (2024-04-09)", "gpt-4-turbo-2024-04-09"),
    "GPT-4O-mini-2024-07-18": ("GPT-4o mini (2024-07-18)", "gpt-4o-mini-2024-07-18"),
    "DeepSeek-V3": ("DeepSeek-V3", "deepseek-v3-2024-12-26"),
}
# How many problems of the table's own window our rule leaves out beside it, and why.
FEWER = {
    "Gemini-2.5-Pro": 9,  # contests at 2025-02-01T00:00Z and 06:30Z: January is not yet over everywhere
    "Gemini-2.5-Flash-Preview": 9,
    "Grok-3-Mini (High)": 2,  # a contest at 2024-11-30T18:30Z: the last day of the cut-off's month
    "Claude-3.7-Sonnet (Thinking)": 2,
}


@pytest.fixture(scope="module")
def board(shared_data: Path) -> tuple[list[ProblemFacts], dict[str, RunOutcomes]]:
    """The board's problems by the instants of their contests, and its runs by name."""
    problems, runs = matrix(shared_data, "lcb_v6_2025-04-22")
    at_contest = [
        replace(problem, exposed_at=problem.exposed_at - BUILD_DELAY) for problem in problems if problem.exposed_at
    ]
    return at_contest, {run.model: run for run in runs}


def own_window(
    board: tuple[list[ProblemFacts], dict[str, RunOutcomes]], names: dict[str, str], registry: Registry
) -> dict[str, Row]:
    """Every model's row of the window, after its own cut-off, by the name that the board has for it."""
    problems, runs = board
    found = {}
    for name, run in runs.items():
        (row,) = evaluate(
            problems, [replace(run, model=names[name])], registry, Settings(since=SINCE, until=UNTIL), now=NOW
        ).rows
        found[name] = row
    return found


def test_the_table_counts_from_midnight_of_the_declared_day(
    board: tuple[list[ProblemFacts], dict[str, RunOutcomes]], shared_data: Path
) -> None:
    problems, runs = board
    rows = table(shared_data, "lcb_v6_board_site_vs_declared")
    assert {row["model"] for row in rows} == set(runs) == set(NAMES)
    registry = load_registry()
    for row in rows:
        run = runs[row["model"]]
        declared = datetime.fromisoformat(row["declared_cutoff"]).replace(tzinfo=UTC)
        for since, count, score in (
            (SINCE, "n_window", "pass_window"),
            (max(SINCE, declared + timedelta(microseconds=1)), "n_after_declared", "pass_after_declared"),
        ):
            settings = Settings(after_cutoff=False, since=since, until=UNTIL)
            (found,) = evaluate(problems, [run], registry, settings, now=NOW).rows
            assert found.n_judged == int(row[count]), row["model"]
            assert found.pass_at_1.value == pytest.approx(float(row[score]), abs=5e-5), row["model"]


def test_a_public_list_brought_in_gives_the_tables_eligibility(
    board: tuple[list[ProblemFacts], dict[str, RunOutcomes]], shared_data: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    listed = shared_data / "cutoffs" / "haooowang_current.csv"
    nothing = load_registry(shipped=None)
    import_claims(listed, "haooowang", own, nothing, looked_up=date(2026, 5, 4), today=date(2026, 5, 4))
    registry = load_registry([own], shipped=None)
    found = own_window(board, {name: names[0] for name, names in NAMES.items()}, registry)
    for row in table(shared_data, "lcb_v6_board_site_vs_declared"):
        ours = found[row["model"]]
        assert ours.cutoff is not None
        assert parse_cutoff(ours.cutoff).last == parse_cutoff(row["declared_cutoff"][:7]).last
        assert ours.cutoff_status == "stated"
        assert ours.n_judged == int(row["n_after_declared"]) - FEWER.get(row["model"], 0), row["model"]
        assert str(ours.n_judged < int(row["n_window"])) == row["declared_flags"], row["model"]


def test_the_problems_that_our_rule_leaves_out_beside_the_table(
    board: tuple[list[ProblemFacts], dict[str, RunOutcomes]],
) -> None:
    between = {
        "2025-01": (datetime(2025, 1, 31, tzinfo=UTC), {"2025-02-01T00:00": 6, "2025-02-01T06:30": 3}),
        "2024-11": (datetime(2024, 11, 30, tzinfo=UTC), {"2024-11-30T18:30": 2}),
    }
    for month, (declared, expected) in between.items():
        counts: dict[str, int] = {}
        for problem in board[0]:
            assert problem.exposed_at is not None
            if declared < problem.exposed_at < parse_cutoff(month).after:
                key = problem.exposed_at.strftime("%Y-%m-%dT%H:%M")
                counts[key] = counts.get(key, 0) + 1
        assert counts == expected


def test_the_shipped_registry_agrees_but_for_a_model_whose_maker_states_nothing(
    board: tuple[list[ProblemFacts], dict[str, RunOutcomes]], shared_data: Path
) -> None:
    registry = load_registry()
    found = own_window(board, {name: names[1] for name, names in NAMES.items()}, registry)
    for row in table(shared_data, "lcb_v6_board_site_vs_declared"):
        if row["model"] != "DeepSeek-V3":
            expected = int(row["n_after_declared"]) - FEWER.get(row["model"], 0)
            assert found[row["model"]].n_judged == expected, row["model"]
    entry = registry.resolve("deepseek-v3-2024-12-26")
    assert entry is not None
    used = usable_cutoff(entry, registry)
    assert isinstance(used, UsedCutoff)
    assert (used.kind, used.cutoff.as_written) == ("release_date", "2024-12-26")
    assert found["DeepSeek-V3"].n_judged == 191  # a list of a third party says July 2024, which would leave all 454


def test_the_list_beside_the_shipped_registry_leaves_every_row_as_it_was(
    board: tuple[list[ProblemFacts], dict[str, RunOutcomes]], shared_data: Path, tmp_path: Path
) -> None:
    own, shipped = tmp_path / "own.toml", load_registry()
    listed = shared_data / "cutoffs" / "haooowang_current.csv"
    report = import_claims(listed, "haooowang", own, shipped, looked_up=date(2026, 5, 4), today=date(2026, 5, 4))
    assert report.n_refused == 0
    names = {name: known for name, (_, known) in NAMES.items()}
    before, after = own_window(board, names, shipped), own_window(board, names, load_registry([own]))
    for name, row in after.items():
        assert (row.cutoff, row.cutoff_kind, row.n_judged) == (
            before[name].cutoff, before[name].cutoff_kind, before[name].n_judged,
        )  # fmt: skip
    # The list's date for DeepSeek-V3 is that of a page which the registry knows for an estimate.
    (deepseek,) = (one for one in load_registry([own]).entries if one.name == "deepseek-v3-2024-12-26")
    assert [str(one.kind) for one in deepseek.claims if one.by and one.by.startswith("HaoooWang")] == ["estimate"]
