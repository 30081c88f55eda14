"""The stability panel: what is changed, what is not run, and who moves."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.audits.perturbations import months_either_way
from eval.audits.stability import Changes, Group, StabilityAudit, audit_stability
from eval.audits.stability_sheet import stability_sheet
from eval.cutoffs import parse_cutoff
from eval.evaluation import RunOutcomes
from eval.models import Registry
from eval.settings import Settings
from eval.sheets import sheet_to_json
from eval.statistics.stability import Perturbation
from eval.window import ProblemFacts, Window, parse_since
from eval.workloads import Workload
from tests.eval.facts import NOW, matrix, model, problem, registry, run, utc

MONTHS = [f"2024-{month:02}-15" for month in range(1, 13)]
PROBLEMS = [
    problem(
        number,
        MONTHS[number % 12],
        contest=f"c{number % 24}",
        platform=("atcoder", "leetcode")[number % 2],
        difficulty=("easy", "hard")[number // 60],
    )
    for number in range(120)
]
MODELS = registry(*(model(f"m{place}") for place in range(6)))
ANY_TIME = Settings(after_cutoff=False, since=parse_since("2024-01"))


def solver(place: int, **changes: Any) -> RunOutcomes:
    """The better the higher the place; ``m5`` alone is good on leetcode only."""
    results = []
    for number in range(120):
        right = 2 + place if place < 5 else (9 if number % 2 else 2)
        results.append((number, 10, min(10, right)))
    return run(f"m{place}", results, **changes)


def audited(
    runs: list[RunOutcomes],
    settings: Settings | None = None,
    changes: Changes | None = None,
    models: Registry = MODELS,
    problems: Iterable[ProblemFacts] = PROBLEMS,
) -> StabilityAudit:
    return audit_stability(problems, runs, models, settings or Settings(), changes or Changes(), 0, now=NOW)


def only(audit: StabilityAudit) -> Group:
    (group,) = audit.groups
    return group


def texts(audit: StabilityAudit) -> str:
    sheet = stability_sheet(audit)
    json.loads(sheet_to_json(sheet))
    return "\n".join([*sheet.conditions, *(note for one in sheet.tables for note in one.notes), *sheet.notes])


def test_ranks_over_all_changes() -> None:
    workload = Workload(platform={"leetcode": 9, "atcoder": 1})
    group = only(audited([solver(place) for place in range(6)], changes=Changes(workload)))
    assert (group.n_problems, group.n_contests) == (120, 24)
    assert group.models == tuple(f"m{place}" for place in range(6))
    specialist = group.panel.models[5]
    assert specialist.rank == 2  # (9 + 2) / 2 = 5.5 of 10, between m4 with 6 and m3 with 5
    assert (specialist.overall.best, specialist.overall.worst) == (1, 2)
    assert specialist.largest is not None
    assert group.said(specialist.largest) == "your weights"
    kinds = {one.kind: one for one in group.panel.kinds}
    assert set(kinds) == set(Perturbation) - {Perturbation.PROMPT}
    assert kinds[Perturbation.CONTEST].n == 24
    assert kinds[Perturbation.WEIGHTS].n == 3
    assert kinds[Perturbation.SAMPLES].n == 200


def test_what_moves_whom_is_said_and_what_was_not_run() -> None:
    audit = audited([solver(place) for place in range(6)], changes=Changes(Workload(platform={"leetcode": 1})))
    said = texts(audit)
    assert "most is moved: m4 by +1 (your weights); m5 by -1 (your weights)" not in said  # the first of a kind is named
    assert "your weights): -1" not in said
    assert "(your weights); minus is towards the first rank" in said
    assert "not run: a window that begins a month earlier: m0 may have seen its problems" in said
    assert "not run: share of tests passed: not known of all models" in said
    assert "not run: another wording of the prompt: no condition is named that tells it (--variant)" in said
    rows = {row[0]: row for row in stability_sheet(audit).tables[0].rows}
    assert rows["m5"][-1] == "your weights: -1"
    assert rows["m0"][-1] == "nothing"


def test_windows_a_month_either_way() -> None:
    window = Window(None, utc("2024-03-31"), utc("2024-06-30"))
    found = {name: (one.since, one.until) for name, one in months_either_way(window, [])}
    assert found["begins a month earlier"] == (utc("2024-02-29"), utc("2024-06-30"))
    assert found["ends a month later"] == (utc("2024-03-31"), utc("2024-07-30"))
    assert found["a month earlier"] == (utc("2024-02-29"), utc("2024-05-30"))
    short = months_either_way(Window(None, utc("2024-03-01"), utc("2024-03-20")), [])
    assert {name for name, _ in short} == {
        "begins a month earlier", "ends a month later", "a month earlier", "a month later"
    }  # fmt: skip


def test_an_explicit_window_moves_both_ways_and_takes_in_what_lies_beside_it() -> None:
    settings = Settings(after_cutoff=False, since=utc("2024-04-01"), until=utc("2024-10-01"))
    group = only(audited([solver(place) for place in range(6)], settings))
    assert group.n_problems == 60
    names = {name for (kind, _), name in group.names.items() if kind is Perturbation.WINDOW}
    assert names == {
        "begins a month earlier (70 problems)",
        "begins a month later (50 problems)",
        "ends a month earlier (50 problems)",
        "ends a month later (70 problems)",
        "a month earlier (60 problems)",
        "a month later (60 problems)",
    }


def test_only_common_problems_count() -> None:
    runs = [solver(place) for place in range(5)]
    short = run("m5", [(number, 10, 10) for number in range(40)])
    audit = audited([*runs, short])
    group = only(audit)
    assert group.n_problems == 40
    assert group.scores[5] == 1.0
    assert "m5: 80 problems of the window have no result; without this run there may be more" in texts(audit)
    refused = audited([*runs, run("m5", [(number, 10, 10) for number in range(20)])])
    assert only(refused).panel.refusal is not None
    assert "no ranks: needs at least 5 models and 30 problems that all of them have, there are 6 and 20" in texts(
        refused
    )
    assert "no ranks: there is no run" in texts(audited([]))


def test_several_runs_of_one_model_are_one_model() -> None:
    runs = [replace(solver(place), model="m", label=f"t{place}") for place in range(6)]
    audit = audited(runs, models=registry(model("m")))
    assert only(audit).panel.refusal == (
        "needs at least 5 models and 30 problems that all of them have, there are 1 and 120"
    )
    assert stability_sheet(audit).tables[0].title.startswith("6 runs of 1 model on 120 problems")


def test_nobody_is_ranked_on_what_some_may_have_seen() -> None:
    runs = [solver(place) for place in range(6)]
    late = registry(*(model(f"m{place}") for place in range(5)), model("m5", "2024-03"))
    audit = audited(runs, ANY_TIME, models=late)
    assert (
        only(audit).panel.refusal == "1 of 6 models may have seen problems (m5 may have seen 30): leave out --any-time"
    )
    document = json.loads(sheet_to_json(stability_sheet(audit)))
    assert document["groups"][0]["models"] == []
    undated = registry(*(model(f"m{place}") for place in range(5)), model("m5", None))
    assert "m5 is not known to have a cut-off" in (only(audited(runs, ANY_TIME, models=undated)).panel.refusal or "")


def test_a_window_of_ones_own_is_not_shifted_to_where_problems_may_have_been_seen() -> None:
    runs = [solver(place) for place in range(6)]
    late = registry(*(model(f"m{place}") for place in range(5)), model("m5", "2024-03"))
    settings = Settings(after_cutoff=False, since=utc("2024-04-10"), until=utc("2024-10-01"))
    audit = audited(runs, settings, models=late)
    group = only(audit)
    names = {name for (kind, _), name in group.names.items() if kind is Perturbation.WINDOW}
    assert names == {
        "begins a month later (50 problems)",
        "ends a month earlier (50 problems)",
        "ends a month later (70 problems)",
        "a month later (60 problems)",
    }
    assert "not run: a window that begins a month earlier: m5 may have seen its problems" in texts(audit)


def test_what_a_run_lacks_is_measured_by_the_window() -> None:
    """Each lacks 6 others of 120 problems, 5 % of them: 30 lack in all, but none lacks many."""
    runs = [
        replace(one, outcomes=tuple(two for two in one.outcomes if two.problem_id // 6 != place))
        for place, one in enumerate(map(solver, range(6)))
    ]
    audit = audited(runs)
    assert (only(audit).n_problems, only(audit).n_window) == (84, 120)
    assert "have no result; without this run" not in texts(audit)
    less = [replace(runs[0], outcomes=runs[0].outcomes[:-1]), *runs[1:]]
    assert "m0: 7 problems of the window have no result" in texts(audited(less))


def test_weak_cut_offs_old_and_easy_problems_are_said_once() -> None:
    models = registry(
        *(model(f"m{place}") for place in range(4)),
        model("m4", None, release=parse_cutoff("2023-11-05"), release_source="https://example.org"),
        model("m5", "2023"),
    )
    easy = [
        replace(one, outcomes=tuple(replace(two, n_correct=10) for two in one.outcomes))
        for one in map(solver, range(6))
    ]
    said = texts(audited(easy, models=models)).splitlines()
    for line in (
        "m4: cut-off unknown: release date used (2023-11-05)",
        'm5: cut-off known only as "2023": its last day counts',
        "published more than 12 months ago, so clean for this snapshot only: 120 of the problems",
        "over 90 % solved, so that these problems hardly tell them apart: m0, m1, m2, m3, m4, m5",
    ):
        assert said.count(line) == 1


def test_the_document_says_what_was_measured() -> None:
    document = json.loads(sheet_to_json(stability_sheet(audited([solver(place) for place in range(6)]))))
    assert (document["window_from"], document["window_to"], document["seed"]) == ("2023-11-01T12:00:00Z", None, 0)
    assert document["n_problems"] == document["groups"][0]["n_window"] == 120
    assert document["problem_set_digest"] == document["groups"][0]["problem_set_digest"]
    assert document["settings"]["after_cutoff"]
    assert {one["model"] for one in document["runs"]} == {f"m{place}" for place in range(6)}


def test_shares_of_tests_need_every_problem_of_a_run() -> None:
    runs = [solver(place, run_id=place) for place in range(6)]
    asked = []

    def shares(run_ids: Iterable[int], problem_ids: Iterable[int]) -> dict[int, dict[int, float]]:
        asked.append((list(run_ids), len(list(problem_ids))))
        whole = {place: dict.fromkeys(range(120), 0.9 - place / 10) for place in range(5)}
        return {**whole, 5: {0: 1.0}}

    audit = audited(runs, changes=Changes(shares=shares))
    assert asked == [([0, 1, 2, 3, 4, 5], 120)]
    group = only(audit)
    assert group.names[Perturbation.METRIC, 1] == "share of tests passed"
    assert (group.panel.models[0].by_kind[Perturbation.METRIC].best) == 2  # last of five by samples, first by tests
    assert "share of tests passed: not known of m5: judging ended at the first failed test" in texts(audit)


def test_imported_results_and_judged_ones_are_ranked_apart() -> None:
    runs = [solver(place) for place in range(5)] + [solver(place, imported=True, origin="a site") for place in range(5)]
    audit = audited(runs)
    assert [group.settings for group in audit.groups] == ["results judged here", "results imported (a site)"]
    assert "runs under different settings are ranked apart" in texts(audit)
    assert "share of tests passed: imported results tell no tests" in texts(audit)


def test_one_sample_one_platform_one_contest() -> None:
    problems = [problem(number, "2024-06-15", contest="c") for number in range(40)]
    runs = [run(f"m{place}", [(number, 1, int(number < 30 - place)) for number in range(40)]) for place in range(6)]
    said = texts(audited(runs, problems=problems))
    assert "not run: a contest left out: all problems are of one" in said
    assert "not run: samples drawn anew: there is one for each problem; another run shows what a seed does" in said
    assert "not run: platforms weigh the same: all problems are atcoder" in said
    assert "not run: your weights: no problem is leetcode" in texts(
        audited(runs, problems=problems, changes=Changes(Workload(platform={"leetcode": 1})))
    )


def wording(place: int, prompt: str, gain: int = 0, n: int = 120) -> RunOutcomes:
    results = [(number, 10, min(10, place + gain)) for number in range(n)]
    return run(f"m{place}", results, conditions={"prompt": prompt, "temperature": 0.2})


def test_wordings_are_other_runs_that_differ_in_nothing_else() -> None:
    runs = [wording(place, "plain") for place in range(6)] + [wording(2, "brief", 3), wording(3, "brief")]
    changes = Changes(variant="prompt")
    group = only(audited(runs, changes=changes))
    assert len(group.models) == 6
    move = group.panel.models[2].largest
    assert move is not None
    assert (move.kind, move.shift) == (Perturbation.PROMPT, -1)
    assert group.said(move) == "wording brief (2 models, 120 of 120 problems)"
    assert group.panel.models[5].by_kind[Perturbation.PROMPT].best == 1  # not run so, not moved


def test_two_models_are_enough_to_see_whether_the_wording_changes_their_order() -> None:
    runs = [wording(2, "plain"), wording(3, "plain"), wording(2, "brief", 3), wording(3, "brief")]
    audit = audited(runs, changes=Changes(variant="prompt"))
    assert [one.kind for one in only(audit).panel.kinds] == [Perturbation.PROMPT]
    assert only(audit).panel.kinds[0].tau_lowest == -1.0
    few = audited(
        [*runs[:2], wording(2, "brief", 3, 20), wording(3, "brief", 0, 20)], changes=Changes(variant="prompt")
    )
    assert "wording brief: 2 models were run so, on 20 common problems; needs 2 and 30" in texts(few)


def test_wordings_that_cannot_be_compared_are_said() -> None:
    runs = [wording(place, "plain") for place in range(5)]
    said = texts(audited([*runs, wording(5, "brief")], changes=Changes(variant="prompt")))
    assert "not run: m5 was not run with wording plain: left out" in said
    assert "not run: wording brief: 0 models were run so" in said
    alone = texts(audited(runs, changes=Changes(variant="prompt")))
    assert "not run: another wording of the prompt: all runs have prompt plain" in alone
    nobody = texts(audited(runs, changes=Changes(variant="system")))
    assert "all runs have system none" in nobody


@pytest.mark.shared
def test_recorded_wordings_change_the_order(shared_data: Path) -> None:
    """prompt_variants_test6.csv.gz: Gemma-2-9b and Llama-3.1-8b change places under the first two wordings."""
    problems: dict[str, ProblemFacts] = {}
    results: dict[tuple[str, str], list[tuple[int, int, int]]] = defaultdict(list)
    with gzip.open(shared_data / "leaderboards" / "prompt_variants_test6.csv.gz", "rt", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            new = problem(len(problems), row["contest_date"], platform=row["platform"], contest=row["contest_date"])
            place = problems.setdefault(row["question_id"], new).problem_id
            results[row["model"], row["variant"]].append((place, int(row["n_samples"]), int(row["n_correct"])))
    runs = [run(name, found, conditions={"prompt": variant}) for (name, variant), found in results.items()]
    models = registry(*(model(name) for name, _ in results if _ == "original"))
    audit = audited(runs, ANY_TIME, Changes(variant="prompt"), models, problems.values())
    group = only(audit)
    assert (len(group.models), group.n_problems) == (6, 175)
    kinds = {one.kind: one for one in group.panel.kinds}
    assert kinds[Perturbation.PROMPT].n == 3
    assert kinds[Perturbation.PROMPT].tau_lowest == pytest.approx(4 / 6)
    moved = {group.models[place]: group.panel.models[place].by_kind[Perturbation.PROMPT] for place in range(6)}
    assert {name for name, one in moved.items() if one.best != one.worst} == {"Gemma-2-9b-Ins", "LLama3.1-8b-Ins"}


@pytest.mark.shared
def test_the_recorded_board_moves_under_weights_most(shared_data: Path) -> None:
    problems, runs = matrix(shared_data, "lcb_v1_2024-04-17")
    models = registry(*(model(one.model, "2023-07") for one in runs))
    settings = Settings(after_cutoff=False, since=parse_since("2023-09-01"))
    group = only(audited(runs, settings, None, models, problems))
    assert (len(group.models), group.n_problems) == (45, 233)  # 238, less the five that carry two dates
    kinds = {one.kind: one for one in group.panel.kinds}
    shifts = {kind: abs(one.largest.shift) for kind, one in kinds.items() if one.largest}
    assert max(shifts, key=lambda kind: shifts[kind]) is Perturbation.WEIGHTS
    ranks = {name: one for name, one in zip(group.models, group.panel.models, strict=True)}
    assert (ranks["GPT-4-Turbo-2024-04-09"].rank, ranks["GPT-4-Turbo-1106"].rank) == (1, 2)
    # DeepSeek's instruct model does better on LeetCode than on AtCoder, which has fewer problems in this window.
    assert ranks["DSCoder-6.7b-Ins"].by_kind[Perturbation.WEIGHTS].best < ranks["DSCoder-6.7b-Ins"].rank


def test_the_label_of_a_run_can_tell_the_wording() -> None:
    plain = [run(f"m{place}", [(number, 10, place) for number in range(120)], label="plain") for place in (2, 3)]
    brief = [run(f"m{place}", [(number, 10, 9 - place) for number in range(120)], label="brief") for place in (2, 3)]
    group = only(audited([*plain, *brief], changes=Changes(variant="label")))
    assert group.models == ("m2", "m3")
    assert group.panel.kinds[0].tau_lowest == -1.0
