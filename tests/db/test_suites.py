"""What judges a suite beside a comparison: it comes back, it is in the digest, and older stores go on."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

from db.completions import RunRecord, save_completions, save_run
from db.digests import suite_digest
from db.engine import Store, open_store
from db.judgements import EnvironmentRecord, JudgementRecord, load_verdicts, save_environment, save_judgements
from db.migrate import MIGRATIONS
from db.problems import list_problems, load_suite, save_problem
from db.records import IoKind, SaveOutcome, SuiteRecord, TestCaseRecord, TestOrigin
from tests.db.builders import LATER, NOW, case, completion, problem, row_counts, suite_of

SIGNATURE = {"parameters": ["integer", "ListNode"], "returns": "void", "answer": 1, "methods": {}}
CHECKER = {"program": {"source": "é\x00\n", "language": "cpp17", "files": {"a.h": "\ud800"}}, "flags": ["x y", ""]}
GROUPS = {"rules": {"": {"accept_score": 0.1}, "secret/1": {"require_pass": ["sample"]}}, "scoring": True}
FULL = SuiteRecord(
    tests=(
        replace(case("secret/1/a", "1\n", "2\n"), checker_flags=("case_sensitive", "1e-6")),
        replace(case("secret/1/b", "1\n", ""), checker_flags=()),
        case("sample/1", "", "", TestOrigin.SAMPLE),
    ),
    io_kind=IoKind.INTERACTIVE,
    signature=SIGNATURE,
    checker=CHECKER,
    groups=GROUPS,
)
SAMPLE = case("s", "2 3\n", "5\n", TestOrigin.SAMPLE)
NUMBERS = itertools.count()


def stored(store: Store, suite: SuiteRecord, native_id: str = "p1") -> SuiteRecord:
    """The suite as it comes back from the store."""
    with store.write() as session:
        save_problem(session, problem(native_id, suite=suite), now=NOW)
    with store.read() as session:
        (listed,) = [one for one in list_problems(session) if one.key.native_id == native_id]
        assert listed.suite_id is not None
        assert listed.suite_digest == suite_digest(suite)
        assert listed.has_checker is (suite.checker is not None)
        return load_suite(session, listed.suite_id)


def test_rules_come_back(store: Store) -> None:
    assert stored(store, FULL) == FULL
    with store.write() as session:
        before = row_counts(session)
        again = save_problem(session, problem(suite=FULL), now=LATER)
        assert (again.outcome, row_counts(session)) == (SaveOutcome.UNCHANGED, before)


@pytest.mark.parametrize("kind", list(IoKind))
def test_every_way_to_meet_the_tests_comes_back(store: Store, kind: IoKind) -> None:
    assert stored(store, replace(suite_of(), io_kind=kind)).io_kind is kind


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
RULES = st.none() | st.dictionaries(st.text(max_size=6), JSON, max_size=3)
FLAGS = st.none() | st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=5), max_size=3)


@settings(max_examples=60, deadline=None)
@given(signature=RULES, checker=RULES, groups=RULES, flags=st.lists(FLAGS, min_size=1, max_size=3))
def test_any_rules_come_back(
    shared_store: Store, signature: Any, checker: Any, groups: Any, flags: list[list[str] | None]
) -> None:
    tests = tuple(
        replace(case(str(place), "1", "2"), checker_flags=None if given is None else tuple(given))
        for place, given in enumerate(flags)
    )
    suite = SuiteRecord(tests, signature=signature, checker=checker, groups=groups)
    assert stored(shared_store, suite, f"p{next(NUMBERS)}") == suite


def test_suites_without_rules_keep_their_digest() -> None:
    """The digests are those that revision 0002's code gave."""
    plain = SuiteRecord(
        (
            TestCaseRecord("1", b"2 3\n", b"5\n", TestOrigin.OFFICIAL),
            TestCaseRecord("2", b"", None, TestOrigin.SAMPLE, {"absolute_tolerance": 0.5}),
        ),
        comparison={"case_sensitive": False},
        time_limit_s=2,
        memory_limit_bytes=1024,
    )
    assert suite_digest(plain) == "6d319969732201246198e2b793deccf3fda9f4df9820ea507500e6505c31780b"
    called = SuiteRecord((TestCaseRecord("1", b"1\n", b"2\n", TestOrigin.OFFICIAL),), IoKind.FUNCTION, "f")
    assert suite_digest(called) == "bebe00b61bc88b64d68bc260bc6ac3e725f383949b435aec2b00cc22709967ce"


def test_each_rule_is_in_the_digest() -> None:
    plain = suite_of()
    (test,) = plain.tests
    variants = [
        plain,
        replace(plain, signature={}),
        replace(plain, checker={}),
        replace(plain, groups={}),
        replace(plain, groups={}, tests=(replace(test, name="other"),)),
        replace(plain, tests=(replace(test, checker_flags=()),)),
        replace(plain, tests=(replace(test, checker_flags=("a",)),)),
        replace(plain, io_kind=IoKind.DESIGN),
        replace(plain, io_kind=IoKind.INTERACTIVE),
    ]
    digests = [suite_digest(suite) for suite in variants]
    assert len(set(digests)) == len(variants)


@pytest.mark.parametrize(
    ("tests", "origins"),
    [
        ((), ()),
        ((SAMPLE,), ()),
        ((SAMPLE, case("1", "2 3\n", "5\n")), ()),
        ((SAMPLE, case("1", "9\n", None)), ()),
        ((case("1", "2 3\n", "5\n"),), ("official",)),
        ((SAMPLE, case("1", "2 3\n", "6\n", TestOrigin.RECOVERED)), ("recovered",)),
        (
            (
                case("1", "1\n", "1\n", TestOrigin.RECOVERED),
                case("2", "2\n", "2\n", TestOrigin.GENERATED),
                case("3", "2 3\n", "5\n", TestOrigin.GENERATED),
                case("4", "4\n", "4\n"),
                case("5", "5\n", "5\n"),
                SAMPLE,
            ),
            ("generated", "official", "recovered"),
        ),
    ],
)
def test_origins_of_the_tests_beyond_the_samples(
    store: Store, tests: tuple[TestCaseRecord, ...], origins: tuple[str, ...]
) -> None:
    with store.write() as session:
        save_problem(session, replace(problem(), suite=SuiteRecord(tests)), now=NOW)
    with store.read() as session:
        (listed,) = list_problems(session)
        assert listed.hidden_origins == origins
        assert listed.samples_only is (bool(listed.n_tests) and not origins)


def test_an_origin_that_this_version_does_not_know_is_the_platforms(store: Store) -> None:
    with store.write() as session:
        save_problem(session, problem(), now=NOW)
        session.execute(text("UPDATE test_suite SET hidden_origins = 'generated,leaked,official'"))
        (listed,) = list_problems(session)
    assert listed.hidden_origins == (TestOrigin.GENERATED, TestOrigin.OFFICIAL)


def test_the_order_of_names_is_not_in_the_digest() -> None:
    turned = {name: CHECKER[name] for name in reversed(CHECKER)}
    assert suite_digest(replace(FULL, checker=turned)) == suite_digest(FULL)


@pytest.mark.parametrize("flag", ["a\0b", "\ud800"])
def test_flags_that_no_database_holds_are_refused(flag: str) -> None:
    with pytest.raises(ValueError, match=r"TestCaseRecord\.checker_flags"):
        TestCaseRecord("1", b"", b"", TestOrigin.OFFICIAL, checker_flags=(flag,))


def migrated(url: str, revision: str) -> None:
    """Take the store at `url` to an older revision."""
    steps = Config()
    steps.set_main_option("script_location", str(MIGRATIONS))
    engine = create_engine(url)
    with engine.begin() as connection:
        steps.attributes["connection"] = connection
        command.downgrade(steps, revision)
    engine.dispose()


def test_a_store_of_before_keeps_its_suites_and_verdicts(store_url: str) -> None:
    with open_store(store_url) as store, store.write() as session:
        for native_id, suite in (("plain", suite_of()), ("ruled", FULL)):
            save_problem(session, problem(native_id, suite=suite), now=NOW)
        run = save_run(session, RunRecord("model"), now=NOW)
        save_completions(session, run, [completion("plain"), completion("ruled")])
        environment = save_environment(session, EnvironmentRecord("sha", "docker", {}), now=NOW)
        suites = {one.problem_id: one.suite_id for one in list_problems(session)}
        verdicts = [
            JudgementRecord(row.completion_id, suites[row.problem_id] or 0, "accepted", [], NOW)
            for row in load_verdicts(session, environment, [run])
        ]
        save_judgements(session, environment, verdicts)
    migrated(store_url, "0002")
    with open_store(store_url) as store:
        with store.read() as session:
            plain, ruled = list_problems(session)
            assert plain.suite_id is not None
            assert load_suite(session, plain.suite_id) == suite_of()
            assert plain.suite_digest == suite_digest(suite_of())
            assert (ruled.suite_id, ruled.n_tests, ruled.has_checker) == (None, 0, False)
            assert [row.verdict for row in load_verdicts(session, environment, [run])] == ["accepted", None]
        with store.write() as session:
            assert save_problem(session, problem("ruled", suite=FULL), now=LATER).outcome is SaveOutcome.UPDATED
            assert [one.has_checker for one in list_problems(session)] == [False, True]
