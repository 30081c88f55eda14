"""A keyed split of problems and the gaps between its parts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from eval.audits.selection import Selection, select
from eval.audits.split import KeyedSplit, audit_split, listed, split_sheet, written_id
from eval.board import EPOCH
from eval.evaluation import RunOutcomes
from eval.problem_sets import ProblemSet
from eval.settings import Settings
from eval.sheets import sheet_to_json
from eval.statistics.splits import split_gaps
from tests.eval.facts import NOW, model, problem, registry, run, utc

SPLIT = KeyedSplit(b"0123456789abcdef", 0.3)
PROBLEMS = [
    problem(number, contest=f"c{number // 4}", difficulty=("easy", "hard")[number % 2]) for number in range(200)
]
PRIVATE = SPLIT.private(PROBLEMS)


def selection(runs: list[RunOutcomes]) -> Selection:
    models = registry(*(model(one.model) for one in runs))
    return select(PROBLEMS, runs, models, Settings(after_cutoff=False, since=EPOCH), now=NOW)


def solver(name: str, seed: int, public: float = 0.5) -> RunOutcomes:
    rng = np.random.default_rng(seed)
    chance = np.where(PRIVATE, 0.5, public)
    return run(name, [(number, 4, int(rng.binomial(4, chance[number]))) for number in range(200)])


def test_the_split_is_the_keys_alone() -> None:
    ids = listed(PROBLEMS, ProblemSet(""), SPLIT, private=True)
    assert ids == sorted(written_id(one) for one, secret in zip(PROBLEMS, PRIVATE, strict=True) if secret)
    assert 40 <= len(ids) <= 80  # 60 expected of 200
    both = {*ids, *listed(PROBLEMS, ProblemSet(""), SPLIT, private=False)}
    assert len(both) == 200
    assert listed(PROBLEMS[:50], ProblemSet(""), SPLIT, private=True) == [one for one in ids if int(one[9:]) < 50]
    more = listed(PROBLEMS, ProblemSet(""), KeyedSplit(SPLIT.key, 0.5), private=True)
    assert set(ids) < set(more)
    other = KeyedSplit(b"fedcba9876543210", 0.3)
    assert listed(PROBLEMS, ProblemSet(""), other, private=True) != ids
    assert SPLIT.fingerprint != other.fingerprint
    assert "0123456789abcdef" not in repr(SPLIT) + SPLIT.fingerprint


def test_a_list_can_be_bounded() -> None:
    rows = [problem(1, "2024-01-05"), problem(2, None), problem(3, "2024-03-05", withdrawn=True)]
    whole = KeyedSplit(SPLIT.key, 1.0)
    assert len(listed(rows, ProblemSet(""), whole, private=True)) == 3
    later = ProblemSet("", since=utc("2024-02-01"))
    assert listed(rows, later, whole, private=True) == ["atcoder:p3"]


def test_a_ceiling_on_the_problems_is_said() -> None:
    sheet = split_sheet(audit_split(selection([run("m", [(number, 1, 1) for number in range(200)])]), SPLIT))
    assert "over 90 % solved, so that these problems hardly tell them apart: m" in sheet.tables[0].notes
    assert "one sample per problem" in sheet.tables[0].notes


def test_who_knows_the_public_part_stands_out() -> None:
    runs = [solver("honest", 1), solver("other", 2), solver("knows", 3, public=0.95)]
    audit = audit_split(selection(runs), SPLIT)
    strata = np.array([number % 2 for number in range(200)])
    expected = split_gaps(audit.selection.board.scores, audit.selection.board.clusters, strata, PRIVATE)
    assert audit.found == expected
    assert audit.p_holm[2] is not None
    assert audit.p_holm[2] < 0.001
    assert min(p for p in audit.p_holm[:2] if p is not None) > 0.05
    sheet = split_sheet(audit)
    assert "knows does better on the public part than chance explains" in sheet.tables[0].notes
    pairs = {(one.first, one.second): one for one in audit.pairs}
    assert (pairs["honest", "knows"].found.gap or 0) == pytest.approx((expected[0].gap or 0) - (expected[2].gap or 0))
    document = json.loads(sheet_to_json(sheet))
    assert document["fingerprint"] == SPLIT.fingerprint
    assert (document["n_private"], document["n_public"]) == (int(PRIVATE.sum()), 200 - int(PRIVATE.sum()))
    assert [row["p_holm"] for row in document["rows"]] == list(audit.p_holm)
    assert "0123456789abcdef" not in json.dumps(document)


def test_too_little_is_refused_by_name() -> None:
    few = [run("a", [(number, 1, 1) for number in range(20)]), run("b", [(number, 1, 1) for number in range(20)])]
    audit = audit_split(selection(few), SPLIT)
    (line, *_) = split_sheet(audit).tables[0].notes
    assert line.startswith("a, b: no gap: needs at least 15 problems on each side")
    nothing = audit_split(selection([]), SPLIT)
    assert "no gap: there is no result" in split_sheet(nothing).tables[0].notes


def test_problems_that_do_not_count_are_explained_by_number() -> None:
    rare = [problem(number, contest=f"c{number // 4}", platform="codeforces") for number in range(200, 203)]
    secret = SPLIT.private(rare)
    rare = [one for one, hidden in zip(rare, secret, strict=True) if hidden == secret[0]]
    everything = [*PROBLEMS, *rare]
    runs = [
        run("all", [(one.problem_id, 1, one.problem_id % 2) for one in everything]),
        run("some", [(one.problem_id, 1, one.problem_id % 2) for one in PROBLEMS[:190]]),
    ]
    models = registry(model("all"), model("some"))
    audit = audit_split(select(everything, runs, models, Settings(after_cutoff=False, since=EPOCH), now=NOW), SPLIT)
    total, kind = len(everything), "their kinds are on one side alone (codeforces easy)"
    said = split_sheet(audit).tables[0].notes
    assert f"all: {len(rare)} of the {total} problems do not count: {kind}" in said
    assert f"some: {total - 190} of the {total} problems have no result" in said
    for row, found in zip(audit.selection.board.seen, audit.found, strict=True):
        assert found.n_public + found.n_private + found.n_unmatched + int((~row).sum()) == total


def test_only_the_runs_to_be_shown_take_part() -> None:
    runs = [solver("a", 1), solver("b", 2), run("c", [(number, 4, 2) for number in range(100)])]
    models = registry(*(model(one.model) for one in runs))
    settings = Settings(after_cutoff=False, since=EPOCH)
    audit = audit_split(select(PROBLEMS, runs, models, settings, now=NOW).showing(["C"]), SPLIT)
    assert audit.selection.board.names == ("c",)
    assert len(audit.selection.board.problems) == 100
    assert audit.pairs == ()
