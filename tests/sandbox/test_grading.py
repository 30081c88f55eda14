"""Which tests are run and what their results come to, in groups and without."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import Verdict
from sandbox.grading import Grade, Grading, full_score
from sandbox.plain import read_groups
from sandbox.programs import Group, Groups, OnReject, ScoreRule, VerdictRule
from tests.sandbox.case_files import CASES

Result = tuple[Verdict, float | None, float | None]
ACCEPTED: Result = (Verdict.ACCEPTED, None, None)


@dataclass(frozen=True)
class Case:
    """Tests in their order, their groups, what each test came to, and what is right."""

    tests: tuple[str, ...]
    groups: Groups | None
    results: dict[str, Result]
    asked: tuple[str, ...]
    verdict: Verdict
    aggregate: Verdict
    score: float | None
    full_score: float | None
    decided_by: str | None
    group_results: list[tuple[str, Verdict, float | None, bool]] | None


def cases() -> Iterator[Any]:
    file = tomllib.loads((CASES / "grading.toml").read_text(encoding="utf-8"))
    named = file["rules"]
    for table in file["case"]:
        name = table.pop("name")
        case = _case(table, named)
        if table:
            raise ValueError(f"{name}: unknown keys {sorted(table)}")
        yield pytest.param(case, id=name)


def _case(table: dict[str, Any], named: dict[str, Any]) -> Case:
    rules = table.pop("rules", None)
    verdict = Verdict(table.pop("verdict"))
    tests = tuple(table.pop("tests"))
    results = {name: _result(given) for name, given in table.pop("results", {}).items()}
    assert set(results) <= set(tests)
    groups = table.pop("groups", None)
    return Case(
        tests=tests,
        groups=None if rules is None else read_groups(_with_none(named[rules] if isinstance(rules, str) else rules)),
        results=results,
        asked=tuple(table.pop("asked", tests)),
        verdict=verdict,
        aggregate=Verdict(table.pop("aggregate", verdict)),
        score=table.pop("score", None),
        full_score=table.pop("full_score", None),
        decided_by=table.pop("decided_by", None),
        group_results=None if groups is None else [_group_result(name, *given) for name, given in groups.items()],
    )


def _with_none(plain: dict[str, Any]) -> dict[str, Any]:
    """TOML has no null: it is written as "none" there."""
    return {
        name: _with_none(value) if isinstance(value, dict) else None if value == "none" else value
        for name, value in plain.items()
    }


def _result(given: Any) -> Result:
    if isinstance(given, str):
        return Verdict(given), None, None
    verdict, score = given
    return (Verdict(verdict), None, score["multiplier"]) if isinstance(score, dict) else (Verdict(verdict), score, None)


def _group_result(
    name: str, verdict: str, score: float | None = None, run: str = ""
) -> tuple[str, Verdict, float | None, bool]:
    return name, Verdict(verdict), score, run != "not run"


def graded(tests: Sequence[str], groups: Groups | None, results: Mapping[str, Result]) -> tuple[Grade, list[str]]:
    """The grade, and the tests that were asked for in their order."""
    grading = Grading(tests, groups)
    asked: list[str] = []
    while grading.next_test is not None:
        name = tests[grading.next_test]
        asked.append(name)
        grading.record(*results.get(name, ACCEPTED))
    return grading.grade, asked


@pytest.mark.parametrize("case", list(cases()))
def test_grades(case: Case) -> None:
    grade, asked = graded(case.tests, case.groups, case.results)
    assert tuple(asked) == case.asked
    assert (grade.verdict, grade.aggregate) == (case.verdict, case.aggregate)
    assert grade.is_partial is (case.verdict != case.aggregate)
    assert grade.score == (None if case.score is None else pytest.approx(case.score, abs=1e-9))
    assert grade.full_score == (None if case.full_score is None else pytest.approx(case.full_score, abs=1e-9))
    assert (None if grade.decided_by is None else case.tests[grade.decided_by]) == case.decided_by
    if case.group_results is not None:
        shown = [(group.name, group.verdict, group.score, group.was_run) for group in grade.groups]
        assert shown == case.group_results


def test_a_grade_is_there_when_all_is_judged_and_not_before() -> None:
    grading = Grading(["1", "2"])
    with pytest.raises(ValueError, match="test 1 is not judged yet"):
        _ = grading.grade
    grading.record(Verdict.WRONG_ANSWER)
    assert grading.grade.verdict is Verdict.WRONG_ANSWER
    with pytest.raises(ValueError, match="no test is left"):
        grading.record(Verdict.ACCEPTED)


VERDICTS = st.sampled_from([verdict for verdict in Verdict if verdict is not Verdict.ACCEPTED])
RULES = st.builds(
    Group,
    on_reject=st.sampled_from(OnReject),
    verdict=st.sampled_from(VerdictRule),
    score=st.sampled_from(ScoreRule),
    accept_if_any_accepted=st.booleans(),
    ignore_sample=st.booleans(),
    accept_score=st.integers(0, 100).map(float),
    reject_score=st.just(0.0),
    require_pass=st.lists(st.sampled_from(["sample", "secret/1", "secret/1/1"]), max_size=2).map(tuple),
)
FOLDERS = ("", "sample", "secret", "secret/1", "secret/2")
GROUPS = st.builds(
    Groups,
    rules=st.lists(st.tuples(st.sampled_from(FOLDERS), RULES), unique_by=lambda rule: rule[0]).map(tuple),
    scoring=st.booleans(),
)
TESTS = st.lists(
    st.tuples(st.sampled_from(FOLDERS), st.integers(1, 3)).map(lambda parts: f"{parts[0]}/{parts[1]}".lstrip("/")),
    min_size=1,
    max_size=12,
    unique=True,
)


@given(TESTS, GROUPS)
def test_all_accepted_is_solved(tests: list[str], groups: Groups) -> None:
    grade, asked = graded(tests, groups, {})
    assert sorted(asked) == sorted(tests)
    assert grade.verdict is Verdict.ACCEPTED
    assert grade.score == grade.full_score == (full_score(tests, groups) if groups.scoring else None)


@given(st.data(), TESTS, GROUPS)
def test_nothing_is_run_twice_and_a_verdict_is_that_of_a_test(
    data: st.DataObject, tests: list[str], groups: Groups
) -> None:
    failed = data.draw(st.dictionaries(st.sampled_from(tests), VERDICTS.map(lambda verdict: (verdict, None, None))))
    grade, asked = graded(tests, groups, failed)
    assert len(set(asked)) == len(asked)
    for verdict in (grade.verdict, grade.aggregate):
        assert verdict is Verdict.ACCEPTED or verdict in {failed[name][0] for name in asked if name in failed}
    if grade.decided_by is not None:
        assert failed[tests[grade.decided_by]][0] is grade.verdict
    if not groups.scoring:
        assert (grade.score, grade.aggregate) == (None, grade.verdict)


@given(st.lists(st.sampled_from(Verdict), min_size=1, max_size=8))
def test_without_groups_the_first_failure_decides(verdicts: list[Verdict]) -> None:
    tests = [str(index) for index in range(len(verdicts))]
    grade, asked = graded(
        tests, None, {name: (verdict, None, None) for name, verdict in zip(tests, verdicts, strict=True)}
    )
    first = next((index for index, verdict in enumerate(verdicts) if verdict is not Verdict.ACCEPTED), None)
    assert asked == tests[: len(tests) if first is None else first + 1]
    assert grade.decided_by == first
    assert grade.verdict is (Verdict.ACCEPTED if first is None else verdicts[first])
