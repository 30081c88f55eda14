"""Which runs are set against each other, and what a comparison shows and withholds."""

from __future__ import annotations

import json

import pytest

from eval.common_window import CommonWindow
from eval.comparison import compare_runs, comparison_sheet
from eval.layout import lay_out
from eval.sheets import sheet_to_csv, sheet_to_json
from tests.eval.facts import model, registry, run
from tests.eval.test_common_window import EXPLICIT, compared, one_a_month, texts


def results_of_o1(**origins: str) -> CommonWindow:
    """o1-mini twice (judged here, and imported) and o1-preview: 106 problems are solved by o1-mini alone, 31 by the
    other alone, of 613: 12.2 points, as LiveCodeBench's full tests have it; the sample tests here pass 72 more."""
    problems = one_a_month(613)
    by_origin = {"here": 447, "there": 375}
    runs = [
        run("o1-mini", [(n, 1, int(n < n_solved)) for n in range(613)], **origin)
        for n_solved, origin in (
            (by_origin["here"], {"label": "import"}),
            (by_origin["there"], {"imported": True, "origin": "published"}),
        )
    ]
    solved = {*range(269), *range(375, 406)}
    other = [(n, 1, int(n in solved)) for n in range(613)]
    runs.append(run("o1-preview", other, imported=True, origin=origins.get("preview", "published")))
    return compared(problems, runs, registry(model("o1-mini"), model("o1-preview")), EXPLICIT)


def test_runs_that_were_not_judged_alike_have_no_winner_and_no_p() -> None:
    common = results_of_o1()
    here, there = compare_runs(common)
    assert (here.first, here.second) == ("o1-mini (import)", "o1-preview")
    assert (here.found.n_common, here.found.difference, here.found.low, here.found.p, here.p_holm) == (613, *[None] * 4)
    assert there.found.difference == pytest.approx((106 - 31) / 613)
    assert there.p_holm == there.found.p  # one test, so nothing to adjust
    said = texts(comparison_sheet(common, (here, there)))
    assert "o1-mini (import) solves more" not in said
    assert "not judged alike (imported (published); judged here)" in said
    assert "where it is meant, say --across results" in said
    assert "o1-mini (published) solves more than o1-preview" in said
    assert "McNemar" in said
    assert "pairs were tested" not in said


def test_imports_of_two_origins_were_not_judged_alike() -> None:
    pairs = compare_runs(results_of_o1(preview="eval_all"))
    assert [pair.found.difference for pair in pairs] == [None, None]
    sheet = comparison_sheet(results_of_o1(preview="eval_all"), pairs)
    document = json.loads(sheet_to_json(sheet))
    assert all(pair["mcnemar"] is None and pair["p"] is None and pair["se"] is None for pair in document["pairs"])
    meant = compare_runs(results_of_o1(preview="eval_all"), across_results=True)
    assert meant[1].found.difference == pytest.approx((106 - 31) / 613)
    assert all(pair.p_holm is not None for pair in meant)


def test_runs_of_one_model_are_set_against_each_other_by_request() -> None:
    common = results_of_o1()
    assert all(pair.second == "o1-preview" for pair in compare_runs(common, across_results=True))
    said = texts(comparison_sheet(common, compare_runs(common)))
    assert "runs of one model are not set against each other (o1-mini); to do so, name the model twice" in said
    itself, *_ = compare_runs(common, across_results=True, within=["O1-mini"])
    assert (itself.first, itself.second) == ("o1-mini (import)", "o1-mini (published)")
    assert itself.found.difference == pytest.approx(72 / 613)
    assert "not set against each other" not in texts(comparison_sheet(common, (itself,)))


def test_both_names_stand_beside_every_part_of_a_wide_comparison() -> None:
    common = results_of_o1()
    (table,) = comparison_sheet(common, compare_runs(common, across_results=True)).tables
    parts = "\n".join(line.text for line in lay_out(table.shown(), 80, table.n_keys)).split("\n\n")
    assert len(parts) > 1
    for part in parts:
        assert [part.count(name) for name in ("o1-mini (import)", "o1-mini", "o1-preview")] == [1, 2, 2]


def test_csv_of_a_comparison_has_the_same_columns_for_one_pair_and_for_several() -> None:
    common = results_of_o1()
    one, several = (compare_runs(common, across_results=across) for across in (False, True))
    heads = [sheet_to_csv(comparison_sheet(common, pairs)).splitlines()[0] for pairs in (one[1:], one, several)]
    assert heads[0] == heads[1] == heads[2]
    assert ",p,p_holm,detectable," in heads[0]
