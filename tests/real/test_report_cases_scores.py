"""Report cases of group E (scores), played through the commands: what counts, how rows are joined, what is said.

Where a case has verdicts alone they come in as published results; where settings of runs matter, as programs with a
verdict each. Which test shows which case stands in ``report_cases.py``.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from db.engine import Store
from tests.ingest.reading import write_rows
from tests.live.command import Live
from tests.real.score_cases import CLAIM, MODEL, Case, judge

pytestmark = pytest.mark.shared


@pytest.fixture
def case(request: pytest.FixtureRequest, cases: Path, live: Live, tmp_path: Path) -> Case:
    """The case that the test's name begins with."""
    found = Case(cases / request.node.name[5:8].upper(), live, tmp_path)
    found.models(*(MODEL.format(name) + CLAIM.format("2024-06") for name in ("a", "b", "c", "m", "m1")))
    return found


def in_words(text: str) -> str:
    """A text without its line ends."""
    return " ".join(text.split())


def test_e01_pass_at_5_of_one_sample_is_no_number(case: Case) -> None:
    rows = case.load("results.jsonl")
    case.problems_of(rows)
    case.results(rows)
    asked = ("eval", "m1", "--after-cutoff", "--k", "1,5")
    row = case.rows(*asked[1:])["m1"]
    assert row["pass_at_1"] == pytest.approx(case.expected["pass@1"])
    assert (row["pass_at_5"], row["scores"][1]["reason"]) == (case.expected["pass@5"], "n < k for 3 of 3 problems")
    assert "pass@5: no number: 3 problems have fewer than 5 samples" in case.run(*asked).out
    (cells,) = csv.DictReader(io.StringIO(case.run(*asked, "--csv").out))
    assert cells["pass_at_5"] == ""
    assert "n &lt; k for 3 of 3 problems" in case.run(*asked, "--md").out


def test_e03_a_run_that_lacks_problems_says_so_and_ranks_over_common_ones_alone(case: Case) -> None:
    rows = case.load("results.jsonl")
    case.problems_of(rows)
    case.results(rows)
    found = case.rows()
    a, b, c = found["a"], found["b"], found["c"]
    assert (a["pass_at_1"], f"{a['n_judged']}/{a['n_eligible']}") == tuple(case.expected["a"].values())
    assert f"{b['n_judged']}/{b['n_eligible']}" == case.expected["b"]["coverage"]
    assert (b["pass_at_1"], b["left_out"]) == (5 / 8, {"no imported result": 2})
    assert "only 8 of 10 eligible problems judged" in b["warnings"]
    assert c["pass_at_1"] == pytest.approx(case.expected["c"]["pass@1"])
    assert c["samples_per_problem"] == [3, 5]
    shown = in_words(case.run("eval", "--after-cutoff").out)
    assert "8/10" in shown
    assert "48 samples (3 to 5 of each)" in shown
    assert "do not rank them" in shown
    common = case.run("eval", "--after-cutoff", "--table", "common", "--json").document["groups"][0]
    assert (common["n_problems"], common["n_not_common"]) == (8, 2)
    assert {row["model"]: (row["score"], row["n_missing"], row["ranks"]) for row in common["rows"]}["b"] == (
        5 / 8,
        2,
        None,
    )


def test_e05_without_a_known_cut_off_there_is_no_window(case: Case, tmp_path: Path) -> None:
    case.problems({item["id"]: item["release_at"] for item in case.load("items.json")})
    registry = case.load("registry.json")
    # A public list says "unknown" in three ways; all three read alike, and none stops the import.
    listed = ["section,model,cutoff_as_written,reliable_cutoff_as_written,source"]
    listed += [f",{one['model']},{one.get('cutoff', '-') or ''},," for one in registry]
    (tmp_path / "list.csv").write_text("\n".join(listed), encoding="utf-8")
    imported = case.live("models", "import", tmp_path / "list.csv", "-f", "haooowang", "--into", tmp_path / "own.toml")
    assert imported.code == 0
    assert [f"{name}: no date is given" in imported.err for name in "abcd"] == [False, True, True, True]
    released = f'release_date = "{registry[3]["released"]}"\n'
    case.models(MODEL.format("a") + CLAIM.format("2024-06-30"), *map(MODEL.format, "bc"), MODEL.format("d") + released)
    everything = [{"model": name, "problem": f"i{n}", "verdict": "AC"} for name in "abcd" for n in range(1, 13)]
    case.results(everything)
    report = case.run("eval", "--after-cutoff", "--json").document
    a, d = report["rows"]
    assert [one["problem"].removeprefix("atcoder:") for one in a["problems"]] == case.expected["a"]
    unknown = {"reason": "no cut-off and no release date is known"}
    assert report["not_scored"] == [{"model": name} | unknown for name in "bc"]
    assert (d["model"], d["cutoff_status"], d["n_eligible"], d["pass_at_1"]) == ("d", "assumed", 0, None)
    assert "cut-off unknown: release date used (2025-03-01)" in d["warnings"]
    shown = case.run("eval", "--after-cutoff").out
    assert "Not scored:\n  b: no cut-off" in shown
    assert "0.0 %" not in shown


def test_e07_a_corrected_cut_off_and_a_new_name_leave_the_old_table(case: Case) -> None:
    case.problems({item["id"]: item["release_at"] for item in case.load("items.json")})
    (first,), (second,) = case.load("registry_v1.json"), case.load("registry_v2.json")
    # The case means a day; in a registry a bare first of a month stands for its month.
    before = CLAIM.format("1 August 2024")
    case.models(MODEL.format(first["name"]) + before)
    case.results({"model": "k-1", "problem": one, "verdict": "AC"} for one in ("x1", "x2"))
    published = case.rows()["k-1"]
    assert [one["problem"] for one in published["problems"]] == [f"atcoder:{one}" for one in case.expected["v1"]]
    after = CLAIM.format(second["cutoff"]) + f'by = "the provider"\nlooked_up = {second["changed"]}\n'
    renamed = MODEL.format(second["name"]) + 'aliases = [{name = "k-1"}]\n'
    case.models(renamed + before + f"superseded = {second['changed']}\n" + after)
    corrected = case.rows()["k-1x"]
    assert [one["problem"] for one in corrected["problems"]] == [f"atcoder:{one}" for one in case.expected["v2"]]
    assert corrected["warnings"][:2] == [
        'run under the name "k-1"',
        "the cut-off was changed: before, it was 1 August 2024 until 2025-02-25",
    ]
    assert (corrected["cutoff_by"], corrected["cutoff_looked_up"]) == ("the provider", second["changed"])
    assert corrected["cutoff_revision"] != published["cutoff_revision"], "the mark between two tables"
    again = case.rows("--after-cutoff", "--cutoffs-as-of", "2025-02-24")["k-1x"]
    same = ("problem_set_digest", "pass_at_1", "window_from", "n_eligible", "problems")
    assert [again[name] for name in same] == [published[name] for name in same]
    assert case.run("models", "show", "k-1", "--json").document["name"] == "k-1x"


def test_e09_a_window_with_nothing_in_it_says_what_became_of_all(case: Case) -> None:
    case.problems({item["id"]: item["release_at"] for item in case.load("items.json")})
    (late,) = case.load("registry.json")
    case.models(MODEL.format("late") + CLAIM.format(late["cutoff"]))
    case.results({"model": "late", "problem": f"i{n}", "verdict": "WA"} for n in range(1, 13))
    ended = case.run("eval", "--after-cutoff")
    assert ended.code == 3
    said = "no problems yet, 0 eligible: 12 published before the cut-off, 0 withdrawn, 0 publication date unknown"
    assert said in in_words(ended.out)
    assert "0.0 %" not in ended.out
    row = case.rows()["late"]
    assert (row["n_eligible"], row["left_out"]["published before the cut-off"]) == tuple(case.expected.values())
    assert [row["pass_at_1"], row["ci_low"], row["ci_high"], row["se"]] == [None] * 4
    assert row["reason"] == "no problem was judged"
    assert "nan" not in case.run("eval", "--after-cutoff", "--csv").out.lower()


def test_e11_the_last_day_of_a_window_is_in_it(case: Case) -> None:
    items = case.load("items.json")
    case.problems({item["id"]: item["release_at"] for item in items})
    case.results({"model": "m", "problem": item["id"], "verdict": "AC"} for item in items)
    window = ("--since", case.expected["start"], "--until", case.expected["end"])
    row = case.rows(*window)["m"]
    assert [one["problem"].removeprefix("atcoder:") for one in row["problems"]] == case.expected["ids"]
    assert "window [2025-01-01T00:00:00Z, 2025-02-01T00:00:00Z)" in case.run("eval", *window).out
    assert case.rows("--since", "2025-01-31", "--until", "2025-01-31")["m"]["n_eligible"] == 2
    ended = case.run("eval", "--since", "2025-02-01", "--until", "2025-01-31")
    assert (ended.code, ended.out) == (2, "")


def test_e13_two_models_meet_on_common_problems(case: Case) -> None:
    rows = case.load("results.jsonl")
    case.problems_of(rows)
    case.results(rows)
    (pair,) = case.run("compare", "a", "b", "--json").document["pairs"]
    assert (pair["n_common"], pair["difference"], pair["n_only_b"]) == (case.expected["common"], 0.0, 6)
    compared = in_words(case.run("compare", "a", "b").out)
    assert "left out since only one of them has a result there: 0 of the first, 6 of the second" in compared
    found = case.rows()
    a, b = found["a"], found["b"]
    assert [f"{round(a['pass_at_1'] * a['n_judged'])}/{a['n_judged']}", a["n_eligible"]] == [case.expected["a"], 16]
    assert f"{round(b['pass_at_1'] * b['n_judged'])}/{b['n_judged']}" == case.expected["b_all"]
    assert "only 10 of 16 eligible problems judged" in a["warnings"]
    shown = in_words(case.run("eval", "--after-cutoff").out)
    assert "do not rank them" in shown
    common = case.run("eval", "--after-cutoff", "--table", "common", "--json").document["groups"][0]
    assert [row["score"] for row in common["rows"]] == [0.6, 0.6], case.expected["b_common"]


def test_e14_a_run_of_another_window_is_found_by_its_own(case: Case) -> None:
    """A set is a window here, and every score carries the digest of its problems."""
    sets = case.load("sets.json")
    case.problems({one: f"{month}-{day:02}" for month, ids in sets.items() for day, one in enumerate(ids, start=3)})
    case.results(case.load("results.jsonl"))
    newest = ("--since", "2025-05", "--until", "2025-05")
    ended = case.run("eval", *newest)
    assert ended.code == 3
    said = "no result in this window; the run has results on 2 problems published from 2024-11-03 to 2024-11-04"
    assert said in in_words(ended.out)
    older, newer = case.rows("--since", "2024-11", "--until", "2024-11")["m"], case.rows(*newest)["m"]
    assert (older["pass_at_1"], newer["pass_at_1"]) == (case.expected["show_2024_11"], None)
    assert older["problem_set_digest"] != newer["problem_set_digest"]
    assert [older["window_from"], older["window_to"]] == ["2024-11-01T00:00:00Z", "2024-12-01T00:00:00Z"]


def test_e15_results_that_contradict_each_other_count_for_nothing(case: Case) -> None:
    rows = case.load("results.jsonl")
    case.problems_of(rows)
    single = [
        {"id": row["problem"], "model": "m", "n_samples": 1, "n_correct": int(row["verdict"] == "AC")} for row in rows
    ]
    path = write_rows(case.work / "rows.jsonl", single)
    ended = case.run("import", "results", str(path), "-f", "jsonl", "--json")
    assert ended.code == 1
    report = ended.document
    assert (report["created"], report["unchanged"], report["n_refused"]) == (2, case.expected["duplicates"], 2)
    named = ", ".join(f"atcoder:{one}" for one in case.expected["conflicts"])
    assert f"1 duplicate, 1 conflict ({named})" in report["notes"]
    row = case.rows()["m"]
    assert [row["n_eligible"], row["n_judged"], row["left_out"]] == [
        case.expected["problems"],
        2,
        {"no imported result": 1},
    ]
    assert [(one["problem"], one["n_samples"], one["n_correct"]) for one in row["problems"]] == [
        ("atcoder:p1", 1, 1),
        ("atcoder:p3", 1, 0),
    ]


def test_e15_a_sample_has_one_program_and_one_verdict(case: Case, store: Store) -> None:
    rows = case.load("results.jsonl")
    case.problems_of(rows)
    programs = [{"id": row["problem"], "sample": 0, "code": row["verdict"]} for row in rows]
    path = str(write_rows(case.work / "programs.jsonl", programs))
    report = case.run("import", "solutions", path, "-f", "jsonl", "--model", "m", "--json").document
    assert (report["created"], report["unchanged"], report["n_refused"]) == (3, 1, 1)
    assert "already holds sample 0 of atcoder:p2 with other code" in report["refused"][0]["reason"]
    judge(store)
    row = case.rows()["m import"]
    assert (row["n_judged"], row["n_samples"], row["pass_at_1"]) == (3, 3, pytest.approx(2 / 3))


def test_e17_answers_are_joined_by_id(case: Case, tmp_path: Path) -> None:
    ids = case.load("problems.json")
    case.problems({one: "2025-01-31T12:00:00Z" for one in ids})
    words = ("-f", "livecodebench-custom", "--model", "m", "--json")
    ended = case.run("import", "solutions", str(case.folder / "answers.json"), *words)
    report = ended.document
    assert (ended.code, report["created"]) == (1, len(case.expected["matched"]))
    (unknown,) = case.expected["unknown"]
    assert [one["reason"] for one in report["refused"]] == [f"no problem {unknown} in the store"]
    (missing,) = case.expected["missing"]
    said = "no answer to 1 of the 4 problems between the first and the last that it answers"
    assert report["notes"] == [f"m, run 'import': {said}: atcoder:{missing}"]
    (tmp_path / "plain.json").write_text(json.dumps(["a", "b", "c", "x"]), encoding="utf-8")
    plain = case.run("import", "solutions", str(tmp_path / "plain.json"), *words)
    assert (plain.code, plain.document["created"], plain.document["n_refused"]) == (1, 0, 4)


def test_e18_ids_are_text_from_end_to_end(case: Case) -> None:
    ids = case.expected["ids"]
    case.problems({one: f"2025-01-{day:02}" for day, one in enumerate(ids, start=1)})
    ended = case.run(
        "import", "solutions", str(case.folder / "answers.csv"), "-f", "csv", "--model", "m", "--run", "r", "--json"
    )
    assert (ended.code, ended.document["created"], ended.document["n_refused"]) == (0, len(ids), 0)
    assert ended.document["notes"] == ["blanks around ids were removed: ' abc301_a '"]
    stored = {one["problem"] for one in case.live("problems", "list", "--json").document}
    assert stored == {f"atcoder:{one}" for one in ids}


def test_e19_the_error_is_over_problems_and_not_over_samples(case: Case) -> None:
    rows = case.load("results.jsonl")
    case.problems_of(rows)
    case.results(rows)
    row = case.rows()["m"]
    assert (row["pass_at_1"], row["n_judged"], row["n_samples"]) == (
        case.expected["mean"],
        case.expected["problems"],
        case.expected["samples"],
    )
    assert row["se"] == pytest.approx(case.expected["se_by_problem"], abs=1e-9)
    assert row["se"] > 2 * case.expected["wrong_se_by_sample"]
    assert (row["interval_method"], row["reason"]) == (
        "item_wilson",
        "fewer than 10 problems (4): read it as a list, not as a rate",
    )
    shown = case.run("eval", "--after-cutoff").out
    assert "2 of 4" in shown
    assert "%" not in shown.replace("95 %", "")
    assert "4 problems in 4 contests, 20 samples (5 of each)" in in_words(shown)
    assert "atcoder:p0 5/5, atcoder:p1 4/5, atcoder:p2 1/5, atcoder:p3 0/5" in in_words(shown)


def test_e19_three_times_the_case_has_a_rate_with_its_method(case: Case) -> None:
    rows = [row | {"problem": f"{row['problem']}-{n}"} for n in range(3) for row in case.load("results.jsonl")]
    case.problems_of(rows)
    case.results(rows)
    shown = in_words(case.run("eval", "--after-cutoff").out)
    assert "12 problems in 12 contests, 60 samples (5 of each)" in shown
    assert "(contest_t, 12 contests)" in shown


def test_e21_two_versions_of_a_prompt_are_two_runs(case: Case, store: Store) -> None:
    rows = case.load("results.jsonl")
    case.problems_of(rows)
    together = write_rows(case.work / "pooled.jsonl", [{"id": "p1", "code": "AC", "prompt": "aaa"}])
    refused = case.run("import", "solutions", str(together), "-f", "jsonl", "--model", "m")
    assert (refused.code, "unknown key 'prompt'" in refused.err) == (1, True)
    for prompt in case.expected["runs"]:
        programs = [{"id": row["problem"], "code": row["verdict"]} for row in rows if row["prompt"] == prompt]
        path = str(write_rows(case.work / f"{prompt}.jsonl", programs))
        settings = ("--condition", f"prompt={prompt}", "--condition", "temperature=0.2")
        assert case.run("import", "solutions", path, "-f", "jsonl", "--model", "m", *settings).code == 0
    judge(store)
    found = case.rows()
    assert {row["conditions"]["prompt"]: f"{_right(row)}/{row['n_judged']}" for row in found.values()} == (
        case.expected["runs"]
    )
    assert [row["model"] for row in found.values()] == ["m", "m"], "two rows and no third one for both"
    shown = in_words(case.run("eval", "--after-cutoff", "--no-judge").out)
    assert "run with prompt aaa, temperature 0.2" in shown
    assert "rows differ in prompt: 'aaa', 'bbb'" in shown
    assert "environment eeeeeeeeeeee" in shown
    groups = case.run("eval", "--after-cutoff", "--no-judge", "--table", "common", "--json").document["groups"]
    assert [group["settings"] for group in groups] == ["prompt aaa", "prompt bbb"]


def _right(row: Mapping[str, Any]) -> int:
    right: int = round(row["pass_at_1"] * row["n_judged"])
    return right


def test_e22_ranks_are_given_among_runs_of_equal_settings_alone(case: Case, store: Store) -> None:
    runs = case.load("runs.json")
    names = [f"p{n}" for n in range(20)]
    case.problems({one: f"2025-01-{day:02}" for day, one in enumerate(names, start=1)})
    for run in runs:
        right = round(run["score"] * len(names))
        programs = [{"id": one, "code": "AC" if n < right else "WA"} for n, one in enumerate(names)]
        path = str(write_rows(case.work / "programs.jsonl", programs))
        fields = case.expected["warn_fields"]
        settings = [word for name in fields for word in ("--condition", f"{name}={run[name]}")]
        assert case.run("import", "solutions", path, "-f", "jsonl", "--model", run["model"], *settings).code == 0
    judge(store)
    report = case.run("eval", "--after-cutoff", "--no-judge", "--json").document
    assert {note.split(":")[0].removeprefix("rows differ in ") for note in report["notes"]} == {
        *case.expected["warn_fields"]
    }
    assert [row["conditions"] for row in report["rows"]] == [
        {name: run[name] for name in case.expected["warn_fields"]} for run in runs
    ]
    groups = case.run("eval", "--after-cutoff", "--no-judge", "--table", "common", "--json").document["groups"]
    assert [[row["model"] for row in group["rows"]] for group in groups] == case.expected["groups"]
    assert [row["ranks"] for group in groups for row in group["rows"]] == [None, None, None]


def test_e23_a_cut_off_that_cannot_be_or_need_not_be_is_not_ranked_by(case: Case) -> None:
    case.problems({f"p{n}": f"2026-01-{n:02}" for n in range(1, 13)})
    entries = []
    for one in case.load("registry.json"):
        claim = CLAIM.format(one["cutoff"])
        if not one["source"]:
            claim = claim.replace('source = "https://example.org/"\n', "")
        entries.append(MODEL.format(one["model"]) + f'release_date = "{one["released"]}"\n' + claim)
    case.models(*entries)
    case.results({"model": name, "problem": f"p{n}", "verdict": "AC"} for name in "abcd" for n in range(1, 13))
    report = case.run("eval", "--after-cutoff", "--json").document
    rows = {row["model"]: row for row in report["rows"]}
    verdicts = {
        name: "warn" if any("no source" in said for said in row["warnings"]) else "ok" for name, row in rows.items()
    }
    verdicts |= {one["model"]: "reject" for one in report["not_scored"]}
    assert verdicts == case.expected
    reasons = {one["model"]: one["reason"] for one in report["not_scored"]}
    assert reasons["c"] == "the cut-off 2025-01-31 is later than the release 2024-12-01"
    assert reasons["d"] == "the cut-off 2031-01-01 lies in the future"
    doubt = "the cut-off 2023-01-01 is 18 months before the release (2024-07-23) and has no source"
    assert f"{doubt}: not ranked until it is confirmed" in rows["a"]["warnings"]
    ranked = case.run("eval", "--after-cutoff", "--table", "common", "--json").document
    assert [row["model"] for row in ranked["groups"][0]["rows"]] == ["b"]
    assert any(line.startswith(f"not compared: a: {doubt}") for line in ranked["notes"])
    assert case.run("models", "check").code == 1

    unsourced = '[[model.claim]]\nkind = "training_data"\ncutoff = "2023-01-01"\n'
    case.models(*(MODEL.format(f"x{n}") + unsourced for n in range(5)))
    notes = case.run("eval", "--after-cutoff", "--json").document["notes"]
    assert "5 models share the cut-off 2023-01-01 without a source: it looks like a placeholder" in notes
