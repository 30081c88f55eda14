"""The exact verdict on two problems: when they are the same, and what keeps them apart however alike they read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.duplicates import Candidate, DuplicateVerdict
from db.records import ProblemKey
from ingest.likeness import Compared, Pair, judge
from tests.ingest.reading import DATA

STATEMENTS = DATA / "duplicates"
SAME, RELATED, DIFFERENT = DuplicateVerdict.SAME, DuplicateVerdict.RELATED, DuplicateVerdict.DIFFERENT
START = datetime(2026, 3, 5, 14, 35, tzinfo=UTC)
SAMPLES = frozenset({(b"3 1\n1 900000 5\n", b"CALM 2\n"), (b"1 0\n4\n", b"CALM 1\n")})
OTHER_SAMPLES = frozenset({(b"2 0\n1 2\n", b"CALM 2\n")})
# A hundred words with no two alike have 96 sequences of five; one changed in the middle leaves 91 of then 101, which is
# 90.1 %, two far apart leave 86 of 106, which is 81.1 %.
HUNDRED = [f"word{number}" for number in range(100)]


def candidate(problem_id: int, text: str, **facts: Any) -> Candidate:
    facts = {"title": f"Title {chr(96 + problem_id)}"} | facts
    return Candidate(problem_id, 10 * problem_id, ProblemKey("judge", f"p{problem_id}"), text=text, **facts)


def compare(first: Candidate, second: Candidate) -> Pair:
    return judge(Compared(first), Compared(second))


def statement(name: str) -> str:
    return (STATEMENTS / name).read_text(encoding="utf-8")


def changed(*places: int) -> str:
    return " ".join("changed" if place in places else word for place, word in enumerate(HUNDRED))


def test_a_statement_that_differs_in_white_space_alone_is_the_same() -> None:
    pair = compare(candidate(1, statement("orchard.md")), candidate(2, statement("orchard-wrapped.md")))
    assert (pair.first_id, pair.second_id, pair.verdict, pair.similarity) == (1, 2, SAME, 1.0)
    assert pair.reason == "The statements are the same word for word (64 words), and neither has samples."


@pytest.mark.parametrize("samples", [frozenset(), SAMPLES])
@pytest.mark.parametrize("other", ["orchard-least.md", "orchard-ring.md"])
def test_another_task_in_nearly_the_same_words_is_related(other: str, samples: frozenset[tuple[bytes, bytes]]) -> None:
    pair = compare(
        candidate(1, statement("orchard.md"), samples=samples), candidate(2, statement(other), samples=samples)
    )
    assert pair.verdict is RELATED
    assert 0.8 < pair.similarity < 1


@pytest.mark.parametrize("form", ["html", "tex", "txt"])
def test_the_form_of_a_statement_does_not_matter(form: str) -> None:
    assert compare(candidate(1, statement("lanterns.md")), candidate(2, statement(f"lanterns.{form}"))).verdict is SAME


def test_a_translation_is_not_found() -> None:
    pair = compare(
        candidate(1, statement("ferry.ja.md"), samples=SAMPLES), candidate(2, statement("ferry.en.md"), samples=SAMPLES)
    )
    assert pair.verdict is DIFFERENT


def test_japanese_is_compared_by_its_characters() -> None:
    text = statement("ferry.ja.md")
    assert compare(candidate(1, text), candidate(2, text.replace("\n", "\n\n"))).verdict is SAME
    assert compare(candidate(1, text), candidate(2, text.replace("小さい", "大きい"))).verdict is RELATED


@pytest.mark.parametrize(
    ("text", "facts", "other_facts", "verdict", "reason"),
    [
        (changed(50), {"samples": SAMPLES}, {"samples": SAMPLES}, SAME, "90% of the sequences of 5 words are shared"),
        (changed(20, 80), {"samples": SAMPLES}, {"samples": SAMPLES}, RELATED, "only 81.1% of the sequences of 5"),
        (changed(50), {}, {}, RELATED, "no samples that confirm it"),
        (changed(50), {"samples": SAMPLES}, {}, RELATED, "no samples that confirm it"),
        (changed(50), {"samples": SAMPLES}, {"samples": OTHER_SAMPLES}, RELATED, "their samples differ"),
        (changed(50), {"samples": SAMPLES}, {"samples": SAMPLES | OTHER_SAMPLES}, RELATED, "their samples differ"),
        (changed(), {"samples": SAMPLES}, {}, SAME, "only one of them has samples"),
        (changed(), {"samples": SAMPLES}, {"samples": OTHER_SAMPLES}, SAME, "do not contradict each other"),
        (changed(), {"samples": SAMPLES}, {"samples": SAMPLES}, SAME, "their samples are equal"),
    ],
)
def test_rewording_needs_equal_samples(
    text: str, facts: Mapping[str, Any], other_facts: Mapping[str, Any], verdict: DuplicateVerdict, reason: str
) -> None:
    pair = compare(candidate(1, changed(), **facts), candidate(2, text, **other_facts))
    assert pair.verdict is verdict
    assert reason in pair.reason


@pytest.mark.parametrize(
    ("written", "shown"),
    [("10^5", "(10^9 against 10^5)"), ("10^9 10^9", "(none against 10^9)"), ("n", "against none)")],
)
def test_rewording_needs_equal_numbers(written: str, shown: str) -> None:
    bound = [*HUNDRED[:50], "10^9", *HUNDRED[50:]]
    one = candidate(1, " ".join(bound), samples=SAMPLES)
    other = candidate(2, " ".join(bound).replace("10^9", written), samples=SAMPLES)
    pair = compare(one, other)
    assert pair.verdict is RELATED
    assert shown in pair.reason


@pytest.mark.parametrize(
    ("facts", "other_facts", "reason"),
    [
        ({"contests": {4, 5}}, {"contests": {5}}, "both belong to one contest"),
        ({"starts": {START}}, {"starts": {START}}, "start at the same instant and their titles differ"),
        (
            {"samples": {(b"1\n", b"YES\n")}},
            {"samples": {(b"1 \n", b"NO\n"), (b"2\n", b"NO\n")}},
            "different outputs for one sample input",
        ),
    ],
)
@pytest.mark.parametrize("text", [changed(), changed(50)])
def test_what_keeps_problems_apart_that_read_alike(
    text: str, facts: dict[str, Any], other_facts: dict[str, Any], reason: str
) -> None:
    facts = {"samples": SAMPLES} | facts
    other_facts = {"samples": SAMPLES} | other_facts
    pair = compare(
        candidate(1, changed(), **{name: _frozen(value) for name, value in facts.items()}),
        candidate(2, text, **{name: _frozen(value) for name, value in other_facts.items()}),
    )
    assert pair.verdict is RELATED
    assert reason in pair.reason


def _frozen(value: Any) -> Any:
    return frozenset(value) if isinstance(value, set) else value


@pytest.mark.parametrize(
    ("title", "other_title"),
    [
        ("Lanterns (easy version)", "Lanterns (hard version)"),
        ("D1. Lanterns (Easy)", "F. Lanterns (Hard)"),
        ("Lanterns", "Lanterns (Hard)"),
        ("lanterns-i", "lanterns-ii"),
        ("Lanterns", "Lanterns 2"),
    ],
)
def test_two_versions_of_a_problem_are_not_the_same_unless_their_words_are(title: str, other_title: str) -> None:
    one = candidate(1, changed(), title=title, samples=SAMPLES)
    pair = compare(one, candidate(2, changed(50), title=other_title, samples=SAMPLES))
    assert pair.verdict is RELATED
    assert "two versions of one problem" in pair.reason
    assert compare(one, candidate(2, changed(), title=other_title, samples=SAMPLES)).verdict is SAME


@pytest.mark.parametrize(
    ("title", "other_title"),
    [("A. The Keeper", "C. the keeper"), ("D1. The Keeper", "The  Keeper"), ("灯台", "灯台"), ("???", "???")],
)
def test_a_twin_in_the_other_division_is_the_same(title: str, other_title: str) -> None:
    start = frozenset({START})
    one = candidate(1, changed(), title=title, contests=frozenset({1}), starts=start)
    other = candidate(2, changed(), title=other_title, contests=frozenset({2}), starts=start)
    assert compare(one, other).verdict is SAME
    later = replace(other, title="Another name", starts=frozenset({START + timedelta(days=400)}))
    assert compare(one, later).verdict is SAME


def test_samples_may_differ_in_white_space_at_the_ends_of_lines() -> None:
    one = candidate(1, changed(), samples=frozenset({(b"1 2\n3\n", b"4\n")}))
    other = candidate(2, changed(50), samples=frozenset({(b"1 2 \r\n3", b"4 \n\n")}))
    assert compare(one, other).verdict is SAME


def test_short_statements_are_not_compared() -> None:
    short = " ".join(HUNDRED[:29])
    pair = compare(candidate(1, short, samples=SAMPLES), candidate(2, short, samples=SAMPLES))
    assert pair.verdict is DIFFERENT
    assert pair.reason == "A statement of fewer than 30 words is not compared."
    assert compare(candidate(1, ""), candidate(2, "")).verdict is DIFFERENT
    long = " ".join(HUNDRED[:30])
    assert compare(candidate(1, long), candidate(2, long)).verdict is SAME


def test_below_the_threshold_problems_are_different() -> None:
    pair = compare(candidate(1, changed()), candidate(2, changed(*range(0, 100, 4))))
    assert pair.verdict is DIFFERENT
    assert pair.reason == f"{int(pair.similarity * 1000) / 10:g}% of the text is shared, less than 80%."


_texts = st.lists(st.sampled_from([*HUNDRED[:40], "10^5", "2"]), min_size=25, max_size=60).map(" ".join)
_facts = st.fixed_dictionaries(
    {
        "title": st.sampled_from(["Lanterns", "Lanterns (easy version)", "Lanterns II", "Ferry"]),
        "samples": st.sampled_from([frozenset(), SAMPLES, OTHER_SAMPLES, frozenset({(b"1 0\n4", b"CALM 0")})]),
        "contests": st.frozensets(st.integers(1, 4), max_size=2),
        "starts": st.frozensets(st.sampled_from([START, START + timedelta(days=1)]), max_size=1),
    }
)


@given(_texts, st.data(), _facts, _facts)
def test_the_order_of_two_problems_does_not_matter(
    text: str, data: st.DataObject, facts: dict[str, Any], other_facts: dict[str, Any]
) -> None:
    words = text.split()
    words[data.draw(st.integers(0, len(words) - 1))] = data.draw(st.sampled_from([words[0], "changed", "3"]))
    other_text = " ".join(words)
    forward = compare(candidate(1, text, **facts), candidate(2, other_text, **other_facts))
    assert compare(candidate(2, other_text, **other_facts), candidate(1, text, **facts)) == forward
    exchanged = compare(candidate(1, other_text, **other_facts), candidate(2, text, **facts))
    assert (exchanged.verdict, exchanged.similarity) == (forward.verdict, forward.similarity)


@given(_texts, st.data(), _facts)
def test_a_statement_with_other_white_space_is_the_same(text: str, data: st.DataObject, facts: dict[str, Any]) -> None:
    gaps = st.sampled_from([" ", "\n", "  ", "\t", "\n\n", "\r\n"])
    rewrapped = "".join(word + data.draw(gaps) for word in text.split())
    apart = facts | {"contests": frozenset({9})}
    pair = compare(candidate(1, text, **facts), candidate(2, rewrapped, **apart))
    assert pair.verdict is (SAME if len(text.split()) >= 30 else DIFFERENT)
