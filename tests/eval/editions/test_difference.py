"""What moved between two editions: problems, what the tables were made with, and nothing where nothing did."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from db.records import Precision
from eval.editions.difference import Difference, difference
from eval.editions.document import (
    EditionEnvironment,
    EditionProblem,
    EditionSettings,
    FrozenEdition,
    RareOutcome,
    from_bytes,
    to_bytes,
)
from eval.editions.problem_changes import ChangedFlag, FlagChange, PrivateCounts
from tests.eval.editions.built import AS_OF, edition_problem, invented
from tests.eval.editions.moved import alice, changed, edited, problems_of, small, taken, with_facts
from tests.eval.facts import utc

PROBLEMS = problems_of(12)
ALL_SOLVED = [1] * 12
FIRST = small(PROBLEMS, [alice(ALL_SOLVED)], name="first")


def moved(**changes: Any) -> Difference:
    """From twelve sound problems to the same with some of them changed, by their native ids."""
    return difference(FIRST, changed(FIRST, problems=edited(PROBLEMS, **changes)))


def test_an_edition_differs_in_nothing_from_itself() -> None:
    first = invented("one")
    found = difference(first, replace(first, name="another"))
    assert found.is_same
    assert found.is_empty
    assert found.problems.is_empty
    assert found.runs.is_empty
    assert all(one.found.change.value == 0 and not one.moves for one in found.scores)
    assert (found.made_with, found.cutoffs, found.results, found.silent_removals) == ((), (), (), ())


def test_an_edition_that_was_stored_differs_in_nothing_from_itself() -> None:
    first = invented()
    stored = replace(first, edition=from_bytes(to_bytes(first.edition)))
    assert difference(stored, first).is_empty


def test_the_order_of_problems_and_runs_does_not_matter() -> None:
    first = invented("one")
    second = changed(first, problems=edited(first.edition.problems, p30=with_facts(withdrawn=True)))
    order = np.random.default_rng(2).permutation(60).tolist()
    problems, runs = taken(second.edition.problems, second.edition.runs, order)
    shuffled = changed(second, problems=problems, runs=tuple(reversed(runs)))
    there, here = difference(first, second), difference(first, shuffled)
    assert there.problems.withdrawn == ("codeforces:p30",)
    assert here == replace(there, after=here.after)
    assert difference(second, replace(shuffled, digest=second.digest)).is_empty


def test_problems_that_came_and_went() -> None:
    fewer, runs = taken(PROBLEMS, FIRST.edition.runs, [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    more = [*fewer, edition_problem(11, native_id="p99"), edition_problem(12, native_id="p98")]
    found = difference(FIRST, changed(FIRST, problems=tuple(more), runs=runs))
    assert found.problems.came == ("atcoder:p98", "atcoder:p99")
    assert found.problems.gone == ("atcoder:p2",)
    assert (found.problems.n_before, found.problems.n_after) == (12, 13)


def test_withdrawn_and_brought_back() -> None:
    found = moved(p4=with_facts(withdrawn=True))
    assert (found.problems.withdrawn, found.problems.reinstated) == (("atcoder:p4",), ())
    back = difference(changed(FIRST, problems=edited(PROBLEMS, p4=with_facts(withdrawn=True))), FIRST)
    assert (back.problems.withdrawn, back.problems.reinstated) == ((), ("atcoder:p4",))


@pytest.mark.parametrize(
    ("flag", "has_checker", "include_flagged", "keeps_out"),
    [
        ("bad_tests", False, False, True),
        ("interactive", False, False, True),
        ("has_image", False, False, False),
        ("multiple_answers", False, False, True),
        ("multiple_answers", True, False, False),  # a checker makes it harmless
        ("a_new_kind", False, False, True),
        ("bad_tests", False, True, False),  # flagged problems are scored in this edition
    ],
)
def test_a_flag_says_whether_it_keeps_the_problem_out(
    flag: str, has_checker: bool, include_flagged: bool, keeps_out: bool
) -> None:
    settings = EditionSettings(include_flagged=include_flagged)
    plain = edited(PROBLEMS, p5=with_facts(has_checker=has_checker))
    flagged = edited(PROBLEMS, p5=with_facts(has_checker=has_checker, flags=((flag, "as reported"),)))
    first = changed(FIRST, problems=plain, settings=settings)
    second = changed(FIRST, problems=flagged, settings=settings)
    assert difference(first, second).problems.flags == (
        ChangedFlag("atcoder:p5", flag, FlagChange.SET, keeps_out, "as reported"),
    )
    assert difference(second, first).problems.flags == (
        ChangedFlag("atcoder:p5", flag, FlagChange.TAKEN_OFF, keeps_out, "as reported"),
    )


def test_a_flag_with_another_reason_is_told_with_the_new_one() -> None:
    first = changed(FIRST, problems=edited(PROBLEMS, p5=with_facts(flags=(("bad_tests", "test 3"),))))
    both = (("bad_tests", "test 9"), ("bad_tests", "test 3"))
    second = changed(FIRST, problems=edited(PROBLEMS, p5=with_facts(flags=both)))
    assert difference(first, second).problems.flags == (
        ChangedFlag("atcoder:p5", "bad_tests", FlagChange.REWORDED, True, "test 3; test 9"),
    )
    assert difference(second, changed(second, problems=edited(PROBLEMS, p5=with_facts(flags=both[::-1])))).is_empty


def test_tests_statements_dates_and_labels() -> None:
    later = utc("2024-07-01T12:00")
    found = moved(
        p1=with_facts(suite_digest="another", n_tests=7),
        p2=lambda one: replace(one, revision="f" * 64),
        p3=with_facts(exposed_at=later),
        p4=with_facts(exposed_precision=Precision.DAY),
        p5=with_facts(exposed_at=None),
        p6=with_facts(difficulty="hard"),
        p7=with_facts(difficulty=None),
        p8=lambda one: replace(one, title="Another", url=None),
        p9=with_facts(has_checker=True),
    ).problems
    was = utc("2024-06-01T12:00")
    assert [(one.problem, one.kind) for one in found.tests] == [
        ("atcoder:p1", "other tests of origin not recorded"),
        ("atcoder:p9", "the same tests with a checker"),
    ]
    assert found.statements == ("atcoder:p2",)
    assert [(one.problem, one.before, one.after, one.after_precision) for one in found.dates] == [
        ("atcoder:p3", was, later, Precision.INSTANT),
        ("atcoder:p4", was, was, Precision.DAY),
        ("atcoder:p5", was, None, Precision.INSTANT),
    ]
    assert [(one.problem, one.before, one.after) for one in found.difficulties] == [
        ("atcoder:p6", "easy", "hard"),
        ("atcoder:p7", "easy", None),
    ]
    assert [(one.problem, one.fields) for one in found.details] == [("atcoder:p8", ("title", "link"))]
    assert (found.came, found.gone, found.flags) == ((), (), ())


def hidden(one: EditionProblem) -> EditionProblem:
    return replace(one, facts=replace(one.facts, flags=(("private", "held back"),)))


def test_private_problems_are_counted_whatever_becomes_of_them() -> None:
    first = changed(FIRST, problems=edited(PROBLEMS, p1=hidden, p2=hidden, p3=hidden))
    # p1 stays private and is withdrawn, p2 is made public, p3 is gone, p4 is made private; one of two that came is.
    problems = edited(
        PROBLEMS, p1=lambda one: replace(hidden(one), facts=replace(hidden(one).facts, withdrawn=True)), p4=hidden
    )
    kept, runs = taken(problems, FIRST.edition.runs, [0, 1, 2, *range(4, 12)])
    new = (edition_problem(11, native_id="p99"), hidden(edition_problem(12, native_id="p98")))
    found = difference(first, changed(FIRST, problems=(*kept, *new), runs=runs)).problems
    assert found.private == PrivateCounts(came=1, gone=1, made_private=1, made_public=1, changed=1)
    assert (found.came, found.gone, found.withdrawn) == (("atcoder:p99",), (), ())
    assert (found.n_before, found.n_after) == (9, 10)


def environment(digest: str, **details: Any) -> EditionEnvironment:
    return EditionEnvironment(digest * 64, "docker", details)


def test_settings_software_environment_and_note() -> None:
    first = small(
        PROBLEMS,
        [alice(ALL_SOLVED)],
        environment=environment("a", python="3.11.2", languages={"cpp": {"version": "13"}, "rust": {"version": "1"}}),
        note="with the first contests",
    )
    second = small(
        PROBLEMS,
        [alice(ALL_SOLVED)],
        settings=EditionSettings(margin_hours=48, platforms=("atcoder",)),
        software="livecut 0.2.0",
        environment=environment("b", python="3.11.2", languages={"cpp": {"version": "14"}, "go": {"version": "2"}}),
    )
    assert [(one.part, one.name, one.before, one.after) for one in difference(first, second).made_with] == [
        ("settings", "margin_hours", "0.0", "48"),
        ("settings", "platforms", "[]", '["atcoder"]'),
        ("software", "software", "livecut 0.1.0", "livecut 0.2.0"),
        ("environment", "details.languages.cpp.version", "13", "14"),
        ("environment", "details.languages.go.version", None, "2"),
        ("environment", "details.languages.rust.version", "1", None),
        ("environment", "digest", "a" * 64, "b" * 64),
        ("note", "note", "with the first contests", None),
    ]


def test_an_edition_without_an_environment_beside_one_with() -> None:
    second = changed(FIRST, environment=environment("a", python="3.11.2"))
    assert {(one.name, one.before, one.after) for one in difference(FIRST, second).made_with} == {
        ("digest", None, "a" * 64),
        ("executor", None, "docker"),
        ("details.python", None, "3.11.2"),
    }


def other_numbers(first: FrozenEdition) -> FrozenEdition:
    numbers = replace(first.edition.numbers, broken_months={"alice": ("2024-06",)})
    return replace(first, digest="0" * 64, edition=replace(first.edition, numbers=numbers))


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (changed(FIRST, withdrawn={"zoe": "asked by its provider"}), "the models that are said to be withdrawn"),
        (other_numbers(FIRST), "the numbers, although all that they are computed from is the same"),
        (changed(FIRST, failures=invented().edition.failures), "the failures that were counted and drawn"),
    ],
)
def test_what_has_no_list_is_told_all_the_same(second: FrozenEdition, words: str) -> None:
    found = difference(FIRST, second)
    assert found.elsewhere == (words,)
    assert not found.is_empty


def test_samples_without_a_verdict_are_counted() -> None:
    waiting = alice(ALL_SOLVED, rare=(RareOutcome(3, n_waiting=2), RareOutcome(4, n_failed=1)))
    (results,) = difference(FIRST, changed(FIRST, runs=(waiting,))).results
    assert (results.n_unjudged, results.same_tests, results.n_common) == (2, (), 12)


def test_later_data_alone_move_nothing() -> None:
    found = difference(FIRST, changed(FIRST, as_of=AS_OF + timedelta(days=1)))
    assert not found.is_same
    assert found.is_empty
