"""The results of each run, problem by problem: enough to compute its score, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from db.records import Precision
from eval.editions.document import EditionSettings
from eval.publishing.publication import Published
from eval.site.runs import RunsOf
from eval.site.standing import Standings
from tests.eval.editions.built import HOSTILE, edition_problem, edition_run, freeze_built, published
from tests.eval.exports.reading import bodies, csv_rows, small, strict_json
from tests.eval.facts import model, registry

MAX_BYTES = 20_000_000


def table(of: Published, run: str) -> dict[str, dict[str, str]]:
    body = bodies(of, "outcomes")[f"data/outcomes/{of.run_slugs[run]}.csv"]
    return {row["problem"]: row for row in csv_rows(body)}


def counted(rows: dict[str, dict[str, str]]) -> list[tuple[int, int]]:
    """Samples and right ones of the problems that the score rests on."""
    kept = [row for row in rows.values() if row["judged"] == "true"]
    return [(int(row["n_samples"]), int(row["n_correct"])) for row in kept]


def test_a_row_says_what_became_of_a_problem_and_whether_it_counts() -> None:
    rows = table(small(), "steady")
    cells = {
        name: (row["n_samples"], row["n_correct"], row["after_cutoff"], row["eligible"]) for name, row in rows.items()
    }
    assert cells["atcoder:p31"] == ("3", "2", "true", "true")
    assert cells["codeforces:p24"] == ("3", "0", "true", "true"), "published in the very instant the cut-off is over"
    assert cells["atcoder:p23"] == ("3", "1", "false", "false")
    assert cells["atcoder:p25"] == ("0", "0", "true", "true"), "eligible, and without a result"
    assert cells["atcoder:p11"] == ("3", "1", "", "false"), "nobody can tell when it was published"
    assert len(rows) == 58
    judged = {name for name, row in rows.items() if row["judged"] == "true"}
    assert judged == {name for name, row in rows.items() if row["eligible"] == "true"} - {"atcoder:p25"}


def test_what_was_judged_on_tests_that_are_gone_does_not_count() -> None:
    row = table(small(), HOSTILE)["atcoder:p23"]
    assert (row["n_samples"], row["eligible"], row["judged"]) == ("3", "true", "false")


def test_what_is_flagged_or_withdrawn_does_not_count_after_the_cutoff_either() -> None:
    problems = [
        edition_problem(0),
        edition_problem(1, flags=(("bad_tests", "wrong"),)),
        edition_problem(2, withdrawn=True),
        edition_problem(3, flags=(("has_image", "a picture"),)),
        edition_problem(4, platform="codeforces"),
    ]
    runs = [edition_run("steady", [(place, 2, 1) for place in range(5)])]
    frozen = freeze_built(problems, runs, registry(model("steady")))
    settings = replace(frozen.edition.settings, platforms=("atcoder",))
    frozen = freeze_built(problems, runs, registry(model("steady")), settings=settings)
    rows = table(published(frozen), "steady")
    assert {row["after_cutoff"] for row in rows.values()} == {"true"}
    assert [name for name, row in rows.items() if row["eligible"] == "true"] == ["atcoder:p0", "atcoder:p3"]


def test_a_coarse_date_around_the_cutoff_is_on_neither_side() -> None:
    problems = [edition_problem(0, exposed_at="2023-11-01", exposed_precision=Precision.DAY), edition_problem(1)]
    runs = [edition_run("steady", [(0, 1, 1), (1, 1, 0)])]
    rows = table(published(freeze_built(problems, runs, registry(model("steady", "2023-10")))), "steady")
    assert (rows["atcoder:p0"]["after_cutoff"], rows["atcoder:p0"]["eligible"]) == ("", "false")


def test_a_margin_moves_the_start_and_not_the_side_of_the_cutoff() -> None:
    """Cut-off in October 2023, over on 1 November at 12:00 UTC; with 48 hours the window begins on the 3rd."""
    days = ["2023-10-31T12:00", "2023-11-02T12:00", "2023-11-03T12:00", None]
    problems = [edition_problem(place, exposed_at=day) for place, day in enumerate(days)]
    problems.append(edition_problem(4, exposed_at="2023-11-03", exposed_precision=Precision.DAY))
    runs = [edition_run("steady", [(place, 1, 1) for place in range(5)])]
    settings = EditionSettings(margin_hours=48.0)
    of = published(freeze_built(problems, runs, registry(model("steady", "2023-10")), settings=settings))
    rows = table(of, "steady")
    names = ("after_cutoff", "after_margin", "eligible")
    assert {name: tuple(row[column] for column in names) for name, row in rows.items()} == {
        "atcoder:p0": ("false", "false", "false"),
        "atcoder:p1": ("true", "false", "false"),
        "atcoder:p2": ("true", "true", "true"),
        "atcoder:p3": ("", "", "false"),
        "atcoder:p4": ("true", "", "false"),
    }
    _check(of, "steady")


def test_the_side_of_the_cutoff_is_that_of_the_pages() -> None:
    settings = EditionSettings(margin_hours=24.0 * 45)
    of = replace(small(), edition=replace(small().edition, settings=settings))
    standings = Standings(RunsOf(of))
    problems = {one.written_id: one for one in of.edition.problems}
    for run in of.edition.runs:
        for name, row in table(of, run.name).items():
            assert (row["after_cutoff"] == "true") is standings.of(problems[name], run.name).is_clean, (run.name, name)


def test_a_run_without_a_cutoff_has_results_and_nothing_that_counts() -> None:
    rows = table(small(), "nameless").values()
    assert len(rows) == 57
    assert {(row["after_cutoff"], row["after_margin"], row["eligible"]) for row in rows} == {("", "", "false")}


@pytest.mark.parametrize("run", ["steady", "memoriser", "frugal", "failing", "late", HOSTILE])
def test_scores_and_counts_of_the_table_follow_from_the_file(run: str) -> None:
    _check(small(), run)


@pytest.mark.shared
@pytest.mark.slow
def test_scores_of_the_recorded_board_follow_from_the_files(recorded_edition: Published) -> None:
    for run in recorded_edition.edition.runs:
        _check(recorded_edition, run.name)


def _check(of: Published, run: str) -> None:
    (row,) = (row for row in of.edition.numbers.own.rows if row.run == run)
    rows = table(of, run)
    found = counted(rows)
    assert sum(one["eligible"] == "true" for one in rows.values()) == row.n_eligible
    assert len(found) == row.n_judged
    assert sum(n for n, _ in found) == row.n_samples
    if found:
        assert float(np.mean([c / n for n, c in found])) == pytest.approx(row.pass_at_1.value, abs=1e-12)


def test_rows_fit_the_schema() -> None:
    found = bodies(small(), "outcomes")
    described = strict_json(found["data/outcomes.schema.json"])
    validator = Draft202012Validator(described)
    truth = {"true": True, "false": False, "": None}
    for row in csv_rows(found["data/outcomes/failing.csv"]):
        values = {
            **row,
            "n_samples": int(row["n_samples"]),
            "n_correct": int(row["n_correct"]),
            "after_cutoff": truth[row["after_cutoff"]],
            "after_margin": truth[row["after_margin"]],
            "eligible": truth[row["eligible"]],
            "judged": truth[row["judged"]],
        }
        assert [error.message for error in validator.iter_errors(values)] == []
        assert list(row) == [name for name in described["$defs"]["row"]["properties"] if name != "run"]


def test_names_that_would_be_one_file_are_two() -> None:
    names = ["A b", "a-B", "a/b", "../../etc/passwd"]
    runs = [edition_run(name, [(0, 1, place % 2)]) for place, name in enumerate(names)]
    of = published(freeze_built([edition_problem(0)], runs, registry(*(model(name) for name in names))))
    paths = [path for path in bodies(of, "outcomes") if path.endswith(".csv")]
    assert len({path.casefold() for path in paths}) == 4
    assert not any(".." in path for path in paths)


def test_files_of_5000_problems_are_far_below_the_limit() -> None:
    problems = [edition_problem(place, native_id=f"abc{place // 7:04d}_{place % 7}") for place in range(5000)]
    runs = [edition_run("steady", [(place, 10, place % 11) for place in range(5000)])]
    of = published(freeze_built(problems, [], registry()))
    of = replace(of, edition=replace(of.edition, runs=tuple(runs)))
    body = bodies(of, "outcomes")["data/outcomes/steady.csv"]
    assert body.count(b"\n") == 5001
    assert len(body) < MAX_BYTES / 50
