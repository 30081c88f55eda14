"""What a problem said: edits, languages, copies of other sources, and answers that belong to an older text."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from db.completions import RunRecord, save_completions, save_run
from db.engine import Store
from db.judgements import EnvironmentRecord, load_verdicts, save_environment
from db.problems import list_problems, list_revisions, save_problem
from db.records import CompletionRecord, ProblemKey, ProblemRecord, SaveOutcome
from tests.db.builders import LATER, NOW, claim, suite_of

KEY = ProblemKey("atcoder", "abc400_a")
ENGLISH = ProblemRecord(KEY, "Two Towers", (claim(),), "atcoder", statement="Print a + b.", language="en")
JAPANESE = replace(ENGLISH, statement="和を出力せよ。", language="ja")


def said(session: Session, problem_id: int) -> list[tuple[str | None, str, bool]]:
    return [(one.language, one.statement, one.is_current) for one in list_revisions(session, problem_id)]


def test_white_space_makes_no_revision_and_an_edit_does(store: Store) -> None:
    texts = ["Read n <= 10.\n\nPrint it.", "Read n <= 100.\n\nPrint it.", "Read n <= 100.\n\n\n  Print\nit. \n"]
    with store.write() as session:
        outcomes = [save_problem(session, replace(ENGLISH, statement=text), now=NOW) for text in texts]
        problem_id = outcomes[0].problem_id
        assert outcomes[2].outcome is SaveOutcome.UNCHANGED
        assert said(session, problem_id) == [("en", texts[0], False), ("en", texts[1], True)]


def test_another_language_is_kept_beside_the_english_text(store: Store) -> None:
    russian = replace(ENGLISH, title="", statement="Выведите a + b.", language="ru")
    with store.write() as session:
        problem_id = save_problem(session, ENGLISH, now=NOW).problem_id
        for _ in range(2):
            save_problem(session, russian, now=LATER)
        assert said(session, problem_id) == [("en", "Print a + b.", True), ("ru", "Выведите a + b.", False)]
        assert list_problems(session)[0].title == "Two Towers"


def test_a_translation_that_comes_later_takes_over_and_the_problem_stays_one(store: Store) -> None:
    both = replace(ENGLISH, translations=(("ja", JAPANESE.statement),))
    with store.write() as session:
        first = save_problem(session, JAPANESE, now=NOW)
        released = list_problems(session)[0].released_at
        assert said(session, first.problem_id) == [("ja", JAPANESE.statement, True)]
        second = save_problem(session, both, now=LATER)
        assert second.problem_id == first.problem_id
        assert said(session, first.problem_id) == [
            ("ja", JAPANESE.statement, False),
            ("en", ENGLISH.statement, True),
        ]
        assert list_problems(session)[0].released_at == released
        assert save_problem(session, both, now=LATER).outcome is SaveOutcome.UNCHANGED


def test_a_copy_does_not_take_the_place_of_the_platforms_own_text(store: Store) -> None:
    copy = replace(ENGLISH, source="livecodebench", statement="Print the sum.", language=None)
    with store.write() as session:
        problem_id = save_problem(session, copy, now=NOW).problem_id
        save_problem(session, ENGLISH, now=LATER)
        for _ in range(2):
            save_problem(session, copy, now=LATER)
            assert [(one.source, one.is_current) for one in list_revisions(session, problem_id)] == [
                ("livecodebench", False),
                ("atcoder", True),
            ]


def test_a_text_that_comes_later_makes_a_locked_problem_usable(store: Store) -> None:
    locked = replace(ENGLISH, statement="", language=None, flags=(("statement_unavailable", "paid"),))
    with store.write() as session:
        first = save_problem(session, locked, now=NOW)
        (listed,) = list_problems(session)
        assert listed.flags == (("statement_unavailable", "paid"),)
        assert list_revisions(session, first.problem_id) == []
        save_problem(session, replace(ENGLISH, suite=suite_of()), now=LATER)
        (opened,) = list_problems(session)
        assert (opened.flags, opened.released_at) == ((), listed.released_at)


def test_a_text_without_starter_code_keeps_the_code_that_is_there(store: Store) -> None:
    with store.write() as session:
        first = save_problem(session, replace(ENGLISH, starter_code="class Solution: ..."), now=NOW)
        again = save_problem(session, ENGLISH, now=LATER)
        assert again.outcome is SaveOutcome.UNCHANGED
        save_problem(session, replace(ENGLISH, statement="Print a - b."), now=LATER)
        codes = [(one.starter_code, one.is_current) for one in list_revisions(session, first.problem_id)]
    assert codes == [("class Solution: ...", False), ("class Solution: ...", True)]


def test_a_source_takes_back_its_own_flags_alone(store: Store) -> None:
    with store.write() as session:
        save_problem(session, replace(ENGLISH, flags=(("interactive", "a"), ("has_image", "b"))), now=NOW)
        save_problem(session, replace(ENGLISH, source="list", flags=(("bad_tests", "c"),)), now=NOW)
        save_problem(session, replace(ENGLISH, flags=(("has_image", "b"),)), now=LATER)
        assert list_problems(session)[0].flags == (("has_image", "b"), ("bad_tests", "c"))
        save_problem(session, replace(ENGLISH, flags=(("interactive", "a"),)), now=LATER)
        assert list_problems(session)[0].flags == (("interactive", "a"), ("bad_tests", "c"))


def test_an_answer_belongs_to_the_text_that_it_was_given_to(store: Store) -> None:
    copy = replace(ENGLISH, source="livecodebench", statement="Print the sum.", language=None)
    with store.write() as session:
        environment = save_environment(session, EnvironmentRecord("e" * 64, "docker"), now=NOW)
        run = save_run(session, RunRecord("m"), now=NOW)

        def is_older() -> list[bool]:
            return [row.is_older for row in load_verdicts(session, environment, [run])]

        save_problem(session, copy, now=NOW)
        save_completions(session, run, [CompletionRecord(KEY, 0, "print(1)")])
        save_problem(session, ENGLISH, now=NOW)  # the same problem as its platform writes it: no other question
        save_completions(session, run, [CompletionRecord(KEY, 1, "print(2)")])
        assert is_older() == [False, False]
        save_problem(session, replace(ENGLISH, statement="Print a - b."), now=LATER)
        save_completions(session, run, [CompletionRecord(KEY, 2, "print(3)"), CompletionRecord(KEY, 1, "print(2)")])
        assert is_older() == [False, True, False]


def test_another_reading_of_the_same_page_is_no_other_question(store: Store) -> None:
    page = replace(ENGLISH, page_sha256="a" * 64)
    with store.write() as session:
        environment = save_environment(session, EnvironmentRecord("e" * 64, "docker"), now=NOW)
        run = save_run(session, RunRecord("m"), now=NOW)
        problem_id = save_problem(session, page, now=NOW).problem_id
        save_completions(session, run, [CompletionRecord(KEY, 0, "print(1)")])
        better = replace(page, statement="Print $a + b$.")
        for _ in range(2):
            save_problem(session, better, now=LATER)
        assert said(session, problem_id) == [("en", "Print $a + b$.", True)]
        assert [row.is_older for row in load_verdicts(session, environment, [run])] == [False]
        # Another page is another text.
        save_problem(session, replace(better, statement="Print a - b.", page_sha256="b" * 64), now=LATER)
        assert [current for _, _, current in said(session, problem_id)] == [False, True]
        assert [row.is_older for row in load_verdicts(session, environment, [run])] == [True]
