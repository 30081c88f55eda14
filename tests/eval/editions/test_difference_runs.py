"""What became of runs between two editions: which is which, what is gone without a word, cut-offs and results."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.editions.difference import Difference, difference
from eval.editions.document import EditionRun, EditionSettings, FrozenEdition
from eval.editions.run_changes import Came, ChangedCondition, Gone, Renamed, Scoring
from eval.eligibility import NotScored
from eval.models import ModelEntry, Registry
from tests.eval.editions.built import edition_problem, edition_run
from tests.eval.editions.moved import ALICE, alice, changed, edited, problems_of, rows_of, small, with_facts
from tests.eval.facts import claim, model, registry

PROBLEMS = problems_of(12)
SCORES = [1, 0] * 6
FIRST = small(PROBLEMS, [alice(SCORES)], name="first")


def of_runs(*runs: EditionRun, models: Registry = ALICE, **fields: Any) -> FrozenEdition:
    return small(PROBLEMS, runs, models, **fields)


def named_run(name: str, **changes: Any) -> EditionRun:
    return edition_run(name, rows_of(SCORES), **changes)


@pytest.mark.shared
def test_rows_that_disappear(shared_data: Path) -> None:
    folder = shared_data.parent / "reports" / "cases" / "G05"
    first, second, expected = (
        json.loads((folder / name).read_text(encoding="utf-8"))
        for name in ("table1.json", "table2.json", "expected.json")
    )
    models = registry(*(model(name) for name in first))
    runs = {name: named_run(name) for name in first}
    before = of_runs(*runs.values(), models=models)
    # Who has no result on an eligible problem any more still has a row, which says so.
    empty = [named_run(name, problems=(), n_samples=(), n_correct=()) for name in second["incomplete"]]
    kept = [runs[name] for name in second["ranked"]] + empty
    after = of_runs(*kept, models=models, withdrawn=second["withdrawn"])
    found = difference(before, after)
    assert list(found.silent_removals) == expected["silent_removals"]
    assert found.runs.gone == tuple(Gone(name, why) for name, why in second["withdrawn"].items())
    silent = difference(before, of_runs(*kept, models=models))
    assert silent.silent_removals == tuple(second["withdrawn"])
    assert difference(before, of_runs(models=models)).silent_removals == tuple(first)


@pytest.mark.parametrize("said_of", ["Snapshot-1", "snapshot-1 (high)", "SNAP"])
def test_a_run_may_be_withdrawn_under_any_of_its_names(said_of: str) -> None:
    models = registry(model("Snapshot-1"))
    run = named_run("Snapshot-1 (high)", model="snap", entry="Snapshot-1", label="high")
    found = difference(of_runs(run, models=models), of_runs(models=models, withdrawn={said_of: "two right owners"}))
    assert found.runs.gone == (Gone("Snapshot-1 (high)", "two right owners"),)
    assert found.silent_removals == ()


def test_a_model_without_a_number_may_not_disappear_either() -> None:
    models = registry(model("alice", "2023-10"), ModelEntry("nameless"))
    before = of_runs(alice(SCORES), named_run("nameless"), models=models)
    found = difference(before, of_runs(alice(SCORES), models=models))
    assert found.silent_removals == ("nameless",)
    back = difference(of_runs(alice(SCORES), models=models), before)
    assert back.runs.came == (Came("nameless", "no cut-off and no release date is known"),)


def test_a_model_that_was_asked_for_in_vain_may_not_disappear_either() -> None:
    own = FIRST.edition.numbers.own
    asked = replace(own, not_scored=(NotScored("zoe", "no run and no imported result"),))
    before = replace(FIRST, edition=replace(FIRST.edition, numbers=replace(FIRST.edition.numbers, own=asked)))
    assert difference(before, FIRST).silent_removals == ("zoe",)
    assert difference(FIRST, before).runs.came == (Came("zoe", "no run and no imported result"),)


def test_a_run_without_a_place_in_the_table_is_gone_from_it() -> None:
    own = replace(FIRST.edition.numbers.own, rows=())
    without = replace(FIRST, edition=replace(FIRST.edition, numbers=replace(FIRST.edition.numbers, own=own)))
    assert difference(FIRST, without).silent_removals == ("alice",)
    assert difference(without, FIRST).runs.came == (Came("alice"),)


def test_a_model_that_comes_back_is_told_with_why_it_was_gone() -> None:
    models = registry(model("alice", "2023-10"), model("zoe"))
    before = of_runs(alice(SCORES), models=models, withdrawn={"zoe": "asked by its provider"})
    found = difference(before, of_runs(alice(SCORES), named_run("zoe"), models=models))
    assert found.runs.came == (Came("zoe", None, "asked by its provider"),)


def test_a_row_that_is_lost_and_got_again() -> None:
    before = of_runs(alice(SCORES))
    after = of_runs(alice(SCORES), models=registry(ModelEntry("alice", web_access=True)))
    why = "has live web access: no cut-off bounds what it can have seen"
    found, back = difference(before, after), difference(after, before)
    assert found.runs.scoring == (Scoring("alice", is_scored=False, reason=why),)
    assert back.runs.scoring == (Scoring("alice", is_scored=True, reason=why),)
    assert (found.silent_removals, found.cutoffs, found.scores, found.unexplained) == ((), (), (), ())


C1, C2 = {"temperature": 0.2, "prompt": "plain"}, {"temperature": 1.0, "prompt": "plain"}


def test_a_second_run_gives_the_first_a_label_and_takes_its_name() -> None:
    # A model's only run is called like the model. With a second one, an import from a site, the site's has the name.
    first = named_run("alice", label="judged here", conditions=C1)
    relabelled = replace(first, name="alice (judged here)")
    imported = named_run("alice", imported=True, origin="a site", conditions={})
    found = difference(of_runs(first), of_runs(relabelled, imported))
    assert found.runs.renamed == (Renamed("alice", "alice (judged here)"),)
    assert found.runs.came == (Came("alice"),)
    assert (found.runs.gone, found.runs.conditions, found.results) == ((), (), ())


@pytest.mark.parametrize(("label", "numbered"), [("", "run #{}"), ("high", "high #{}")])
def test_runs_that_share_a_label_are_told_apart_by_their_conditions(label: str, numbered: str) -> None:
    first = named_run("alice", label=label, conditions=C1)
    one = replace(first, name="alice (1)", label=numbered.format(1))
    two = replace(first, name="alice (2)", label=numbered.format(2), conditions=C2)
    found = difference(of_runs(first), of_runs(two, one))
    assert found.runs.renamed == (Renamed("alice", "alice (1)"),)
    assert found.runs.came == (Came("alice (2)"),)
    assert found.silent_removals == ()
    back = difference(of_runs(two, one), of_runs(replace(first, conditions=C2)))
    assert back.runs.renamed == (Renamed("alice (2)", "alice"),)
    assert back.silent_removals == ("alice (1)",)


def test_a_model_that_gets_an_entry_under_another_name_is_the_same_run() -> None:
    before = of_runs(named_run("alias", entry=None), models=registry(ModelEntry("alias")))
    after = of_runs(
        named_run("Snapshot-1", model="alias", entry="Snapshot-1"),
        models=registry(model("Snapshot-1", aliases=())),
    )
    found = difference(before, after)
    assert found.runs.renamed == (Renamed("alias", "Snapshot-1"),)
    assert found.silent_removals == ()


def test_conditions_that_changed() -> None:
    after = alice(SCORES, conditions={"temperature": 0.7, "effort": {"level": "high"}}, label="again")
    found = difference(FIRST, changed(FIRST, runs=(after,)))
    assert found.runs.conditions == (
        ChangedCondition("alice", "effort", None, '{"level": "high"}'),
        ChangedCondition("alice", "label", "", "again"),
        ChangedCondition("alice", "prompt", "plain", None),
        ChangedCondition("alice", "temperature", "0.2", "0.7"),
    )


def dated(*months: str) -> list[Any]:
    """A problem in the middle of each month."""
    return [edition_problem(place, exposed_at=f"{month}-15T12:00") for place, month in enumerate(months)]


MONTHS = [f"2024-{month:02d}" for month in range(1, 13)]


def revised(before: Registry, after: Registry, **settings: Any) -> Difference:
    chosen = EditionSettings(**settings)
    pair = [small(dated(*MONTHS), [alice(SCORES)], models, settings=chosen) for models in (before, after)]
    return difference(*pair)


@pytest.mark.parametrize(
    ("before", "after", "moved", "n_more", "n_fewer"),
    [
        ("2024-03", "2024-08", "5 months later", 0, 5),  # April to August
        ("2024-08", "2024-03", "5 months earlier", 5, 0),
        ("2024-03", "2024-Q1", "", 0, 0),
        ("2024-03-10", "2024-03-20", "10 days later", 0, 1),
        ("2024-12", "2024-11", "1 month earlier", 1, 0),
    ],
)
def test_a_revised_cutoff_moves_the_problems_between_its_two_ends(
    before: str, after: str, moved: str, n_more: int, n_fewer: int
) -> None:
    found = revised(registry(model("alice", before)), registry(model("alice", after)))
    (one,) = found.cutoffs
    assert (one.model, one.runs) == ("alice", ("alice",))
    assert (one.before.cutoff.as_written, one.after.cutoff.as_written) == (before, after)
    assert (one.moved, one.n_more, one.n_fewer) == (moved, n_more, n_fewer)
    assert found.other_models == ()


def test_the_margin_of_the_second_edition_counts_for_both_cutoffs() -> None:
    # After the end of October lie the problems of November and December, with 31 days more that of December alone.
    found = revised(registry(model("alice", "2024-10")), registry(model("alice", "2024-12")), margin_hours=31 * 24)
    assert (found.cutoffs[0].n_more, found.cutoffs[0].n_fewer) == (0, 1)


def test_what_a_cutoff_rests_on_is_part_of_it() -> None:
    released = ModelEntry("alice", release=claim("2024-03").cutoff, release_source="https://example.org/alice")
    (one,) = revised(registry(released), registry(model("alice", "2024-03"))).cutoffs
    assert (one.before.status.value, one.after.status.value) == ("assumed", "stated")
    assert (one.moved, one.n_more, one.n_fewer) == ("", 0, 0)


def test_a_claim_that_does_not_count_is_no_revision() -> None:
    more = model("alice", "2024-03", claims=(claim("2024-03"), claim("2023-01", by="somebody")))
    found = revised(registry(model("alice", "2024-03")), registry(more))
    assert found.cutoffs == ()
    assert found.other_models == ("alice",)


def test_runs_of_one_model_share_one_revision() -> None:
    pair = [
        of_runs(
            *(named_run(f"alice ({label})", model="alice", entry="alice", label=label) for label in ("low", "high")),
            models=registry(model("alice", cutoff)),
        )
        for cutoff in ("2024-01", "2024-02")
    ]
    (one,) = difference(*pair).cutoffs
    assert one.runs == ("alice (high)", "alice (low)")


def test_results_by_what_changed_beside_them() -> None:
    problems = edited(
        PROBLEMS,
        p1=with_facts(suite_digest="another"),
        p2=lambda one: replace(one, revision="f" * 64),
        p3=lambda one: replace(one, revision="f" * 64, facts=replace(one.facts, suite_digest="another")),
        p4=with_facts(suite_digest="another"),  # same result all the same
    )
    before: list[int | None] = [0, 0, 0, 0, 0, 0, 0, None, 0, 0, 0, 0]
    after: list[int | None] = [1, 1, 1, 1, 0, 1, 0, 0, None, 0, 0, 0]
    first = small(PROBLEMS, [alice(before)])
    (one,) = difference(first, small(problems, [alice(after)])).results
    assert one.same_tests == ("atcoder:p0", "atcoder:p5")
    assert one.other_tests == ("atcoder:p1",)
    assert one.other_statement == ("atcoder:p2", "atcoder:p3")
    assert (one.came, one.gone) == (("atcoder:p7",), ("atcoder:p8",))
    assert (one.n_common, one.n_on_same_tests, one.n_private) == (10, 6, 0)


def test_imported_results_know_no_tests() -> None:
    problems = edited(PROBLEMS, p1=with_facts(suite_digest="another"))
    imported: dict[str, Any] = {"imported": True, "origin": "a site"}
    first = small(PROBLEMS, [alice([0] * 12, **imported)])
    (one,) = difference(first, small(problems, [alice([0, 1] + [0] * 10, **imported)])).results
    assert (one.same_tests, one.other_tests) == (("atcoder:p1",), ())


def test_more_samples_are_another_result() -> None:
    runs = [edition_run("alice", rows_of([n] * 12, n)) for n in (1, 2)]
    (one,) = difference(small(PROBLEMS, runs[:1]), small(PROBLEMS, runs[1:])).results
    assert len(one.same_tests) == 12


def test_results_of_private_problems_are_counted_alone() -> None:
    problems = edited(PROBLEMS, p1=with_facts(flags=(("private", "held back"),)))
    first = small(problems, [alice([0] * 12)])
    (one,) = difference(first, small(problems, [alice([0, 1] + [0] * 10)])).results
    assert (one.n_private, one.same_tests, one.n_common) == (1, (), 11)
