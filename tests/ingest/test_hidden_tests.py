"""Hidden tests that are the samples again: the problem is flagged, whatever it comes from, and not scored."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from db.engine import open_store
from db.problems import list_problems
from db.records import ProblemKey, ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from eval.window import Reason, flag_reason
from ingest.hidden_tests import WEAK_TESTS, weak_tests, with_weak_tests_flagged
from ingest.importing import import_problems
from tests.ingest.package_folders import package
from tests.ingest.reading import write_rows

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SAMPLE, OFFICIAL, GENERATED = TestOrigin.SAMPLE, TestOrigin.OFFICIAL, TestOrigin.GENERATED


def cases_of(*given: tuple[TestOrigin, bytes, bytes | None]) -> tuple[TestCaseRecord, ...]:
    return tuple(TestCaseRecord(str(n), data, answer, origin) for n, (origin, data, answer) in enumerate(given))


@pytest.mark.parametrize(
    ("tests", "is_weak"),
    [
        ((), False),
        (((SAMPLE, b"1", b"2"),), False),  # it says so itself
        (((OFFICIAL, b"1", b"2"),), False),
        (((SAMPLE, b"1", b"2"), (OFFICIAL, b"1", b"2")), True),
        (((SAMPLE, b"1", b"2"), (SAMPLE, b"3", b"4"), (GENERATED, b"3", b"4"), (OFFICIAL, b"1", b"2")), True),
        (((SAMPLE, b"1", b"2"), (OFFICIAL, b"1", b"3")), False),
        (((SAMPLE, b"1", b"2"), (OFFICIAL, b"1", b"2"), (OFFICIAL, b"5", b"6")), False),
    ],
)
def test_weak_are_hidden_tests_of_which_each_is_a_sample(
    tests: tuple[tuple[TestOrigin, bytes, bytes | None], ...], is_weak: bool
) -> None:
    given = cases_of(*tests)
    assert bool(weak_tests(given)) is is_weak
    record = ProblemRecord(ProblemKey("nova", "n"), "N", (), "test", suite=SuiteRecord(given), flags=(("other", ""),))
    flagged = with_weak_tests_flagged(record)
    assert [name for name, _ in flagged.flags] == (["other", WEAK_TESTS] if is_weak else ["other"])
    assert with_weak_tests_flagged(flagged) == flagged


def test_it_is_a_reason_not_to_score() -> None:
    assert flag_reason(WEAK_TESTS) is Reason.WEAK_TESTS


def test_a_package_whose_secret_data_are_its_sample_is_flagged(tmp_path: Path) -> None:
    package(tmp_path, **{"data__sample__1.in": "1\n", "data__sample__1.ans": "2\n"})
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as store:
        import_problems(store, tmp_path, "kattis", now=NOW)
        with store.read() as session:
            (problem,) = list_problems(session)
    assert [name for name, _ in problem.flags] == [WEAK_TESTS]


def test_the_flag_goes_when_better_tests_come(tmp_path: Path) -> None:
    row = {"platform": "nova", "id": "n", "title": "N"}
    sample = {"input": "1\n", "expected": "2\n", "origin": "sample"}
    found = []
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as store:
        for hidden in ("1\n", "7\n"):
            tests = [sample, {"input": hidden, "expected": "2\n"}]
            import_problems(store, write_rows(tmp_path / "rows.jsonl", [row | {"tests": tests}]), "jsonl", now=NOW)
            with store.read() as session:
                (problem,) = list_problems(session)
            found.append(([name for name, _ in problem.flags], problem.samples_only))
    assert found == [([WEAK_TESTS], True), ([], False)]


def test_tests_for_known_problems_only(tmp_path: Path) -> None:
    def row(name: str, *tests: dict[str, str], platform: str = "nova") -> dict[str, object]:
        return {"platform": platform, "id": name, "title": name, "tests": list(tests)}

    test = {"input": "1\n", "expected": "2\n"}
    listed = [row("a"), row("b"), row("c", test), row("d", platform="other")]
    archives = [row("a", test), row("x", test), row("a", platform="other")]
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as store:
        import_problems(store, write_rows(tmp_path / "list.jsonl", listed), "jsonl", now=NOW)
        report = import_problems(
            store, write_rows(tmp_path / "tests.jsonl", archives), "jsonl", now=NOW, known_only=True
        )
        with store.read() as session:
            problems = {str(one.key): one.n_tests for one in list_problems(session)}
    assert (report.created, report.updated, report.n_refused) == (0, 1, 2)
    assert [(refusal.where, refusal.reason) for refusal in report.refused] == [
        ("nova:x", "is not in the store"),
        ("other:a", "is not in the store"),
    ]
    assert report.notes == ("nova:b: has no tests", "other:d: has no tests")
    assert problems == {"nova:a": 1, "nova:b": 0, "nova:c": 1, "other:d": 0}
