"""Private problems in free text: every way to name one is hidden, and public problems keep their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from db.exposure import EXPOSED_EARLIER, UNDATED_COPY
from eval.editions.difference import difference
from eval.editions.difference_sheet import difference_sheet
from eval.editions.document import (
    Edition,
    EditionProblem,
    EditionRun,
    EditionSettings,
    RunFailures,
    SampledFailure,
    from_bytes,
    to_bytes,
)
from eval.editions.parts import public_part
from eval.editions.private_names import COPY_REASONS, HIDDEN, PrivateNames
from eval.models import ModelEntry
from eval.sheets import sheet_to_json
from tests.eval.editions.built import edition_problem, edition_run
from tests.eval.editions.moved import small

HELD = {"flags": (("private", "held back"),)}
SECRET = edition_problem(
    0,
    platform="atcoder",
    native_id="secret9",
    title="Hidden Harbour",
    url="https://atcoder.example/tasks/secret9",
    revision="ab" * 32,
    **HELD,
)
TEXTS = [
    ("see\natcoder:secret9", f"see\n{HIDDEN}"),
    ("see\tatcoder:secret9", f"see\t{HIDDEN}"),
    ("see AtCoder:SECRET9.", f"see {HIDDEN}."),
    ("see secret9", f"see {HIDDEN}"),
    ("see secret9_x", f"see {HIDDEN}_x"),
    ("see secret9- or", f"see {HIDDEN}- or"),
    ("see x.atcoder:secret9", f"see x.{HIDDEN}"),
    ("see https://atcoder.example/tasks/secret9?a=1", f"see {HIDDEN}?a=1"),
    ("see 'hidden  harbour' and Hidden-Harbour", f"see '{HIDDEN}' and {HIDDEN}"),
    (f"see {'AB' * 32}", f"see {HIDDEN}"),
    (r"print('see\nsecret9\tatcoder:secret9%20secret9\x0asecret9')", None),
    ("secret9です", f"{HIDDEN}です"),
]


def named(written: str, title: str = "", **changes: object) -> EditionProblem:
    platform, _, native = written.partition(":")
    return edition_problem(0, platform=platform, native_id=native, title=title or native, **changes)


def edition_of(problems: Sequence[EditionProblem], **changes: object) -> Edition:
    placed = [replace(one, facts=replace(one.facts, problem_id=place)) for place, one in enumerate(problems)]
    runs = changes.pop("runs", [edition_run("alice", [(place, 1, 1) for place in range(len(placed))])])
    assert isinstance(runs, list)
    return replace(small(placed, runs).edition, **changes)  # type: ignore[arg-type] # any field


def hidden(text: str, *private: EditionProblem, public: Sequence[EditionProblem] = ()) -> str:
    return PrivateNames.of([edition_of([*private, *public])]).hidden_in(text)


@pytest.mark.parametrize(("text", "shown"), TEXTS)
def test_a_private_problem_is_hidden_wherever_a_text_names_it(text: str, shown: str | None) -> None:
    open_one = named("codeforces:open1", flags=(("has_image", text),))
    run = edition_run("alice", [(0, 1, 1), (1, 1, 0)], conditions={"why": [text], text: 1})
    failures = (
        RunFailures(
            "alice",
            {"wrong_answer": 1},
            (SampledFailure("codeforces:open1", 0, "wrong_answer", text, "python", text, False),),
        ),
    )
    edition = edition_of(
        [SECRET, open_one],
        runs=[run],
        note=text,
        withdrawn={"ghost": text},
        models=(ModelEntry("alice", notes=text),),
        failures=failures,
    )
    public = public_part(edition)
    said = [
        public.note,
        public.withdrawn["ghost"],
        public.models[0].notes,
        public.problems[0].facts.flags[0][1],
        public.runs[0].conditions["why"][0],
        next(name for name in public.runs[0].conditions if name != "why"),
        public.failures[0].sampled[0].code,
        public.failures[0].sampled[0].test,
    ]
    body = to_bytes(public)
    for name in ("secret9", "harbour", "ab" * 32):
        assert name not in body.decode().casefold()
    if shown is not None:
        assert said == [shown] * len(said)
    assert from_bytes(body) == public
    assert public_part(public) == public


@pytest.mark.parametrize("flag", [EXPOSED_EARLIER, UNDATED_COPY])
def test_what_says_that_a_problem_is_a_private_one_is_replaced_whole(flag: str) -> None:
    reason = (
        'the same as atcoder:secret9, public since 2023-12-01T12:00:00+00:00: "Hidden Harbour" (secret9) word for word'
    )
    other = "the same as leetcode:two-sum, public since 2023-12-01T12:00:00+00:00: word for word"
    copy = named("codeforces:open1", "Hidden Harbour", flags=((flag, reason), (flag, other)))
    public = public_part(edition_of([SECRET, copy]))
    assert public.problems[0].facts.flags == ((flag, COPY_REASONS[flag]), (flag, other))
    assert HIDDEN not in COPY_REASONS[flag]
    # What describes the public problem itself is left, though it is called the same.
    assert public.problems[0].title == "Hidden Harbour"

    plain = replace(copy, facts=replace(copy.facts, problem_id=1, flags=()))
    flagged = replace(copy, facts=replace(copy.facts, problem_id=1, flags=((flag, reason),)))
    run = edition_run("alice", [(1, 1, 1)])
    sheet = difference_sheet(difference(small([SECRET, plain], [run]), small([SECRET, flagged], [run])))
    assert COPY_REASONS[flag] in sheet_to_json(sheet)
    assert "the same as" not in sheet_to_json(sheet)


def test_public_problems_whose_names_hold_a_private_one_stay_as_they_are() -> None:
    short = named("atcoder:abc30", "Ferry Lines", **HELD)
    longer = [named("atcoder:abc301_a", "Ferry Lines II"), named("atcoder:abc30_b", "On Ferry Lines")]
    text = "abc301_a, atcoder:abc301_a, ABC30_B, atcoder:abc30_b, Ferry lines II and On Ferry Lines"
    assert hidden(text, short, public=longer) == text
    assert hidden("abc30, abc30_c, Ferry Lines", short, public=longer) == f"{HIDDEN}, {HIDDEN}_c, {HIDDEN}"
    public = public_part(edition_of([short, *longer], note=text))
    assert [one.written_id for one in public.problems] == ["atcoder:abc301_a", "atcoder:abc30_b"]
    assert public.note == text


def test_the_same_id_on_another_platform_is_hidden_in_free_text_alone() -> None:
    twin = named("codeforces:secret9", url="https://codeforces.example/secret9")
    failed = SampledFailure("codeforces:secret9", 0, "wrong_answer", "1", "python", "# secret9", False)
    edition = edition_of(
        [SECRET, twin],
        note="secret9 and codeforces:secret9",
        failures=(RunFailures("alice", {"wrong_answer": 1}, (failed,)),),
    )
    public = public_part(edition)
    (kept,) = public.problems
    assert (kept.written_id, kept.title, kept.url) == (twin.written_id, twin.title, twin.url)
    assert public.note == f"{HIDDEN} and codeforces:secret9"
    assert (public.failures[0].sampled[0].problem, public.failures[0].sampled[0].code) == (
        kept.written_id,
        f"# {HIDDEN}",
    )


def test_numbers_and_short_words_are_hidden_only_behind_their_platform() -> None:
    private = [named("atcoder:17", "Moo", **HELD), named("atcoder:9A", "A + B", **HELD)]
    said = 'atcoder:17, AtCoder/17 and atcoder 9a; "Moo" (17) word for word; see\\natcoder:17'
    shown = f'{HIDDEN}, {HIDDEN} and {HIDDEN}; "Moo" ({HIDDEN}) word for word; see\\n{HIDDEN}'
    assert hidden(said, *private) == shown
    plain = "fewer than 10 problems (17): 17 of atcoder 17, atcoder:170, moo, a + b and 9A-b"
    assert hidden(plain, *private) == plain


def test_words_that_an_edition_is_read_by_are_no_free_text() -> None:
    titles = ("Medium", "Python", "Wrong Answer", "AtCoder", "Alice", "Not Scored", "Has Image", "Judged")
    private = [named(f"made:zz{place}x", title, **HELD) for place, title in enumerate(titles)]
    open_one = named("atcoder:open1", difficulty="medium", flags=(("has_image", "a map"),))
    failed = SampledFailure("atcoder:open1", 0, "wrong_answer", "1", "python", "pass", False)
    run: EditionRun = edition_run("alice", [(0, 1, 1), (len(private), 1, 0)])
    edition = edition_of(
        [*private, open_one], runs=[run], failures=(RunFailures("alice", {"wrong_answer": 1}, (failed,)),)
    )
    public = public_part(edition)
    assert HIDDEN not in to_bytes(public).decode()
    assert public.n_private == len(titles)


def test_ids_that_are_private_elsewhere_are_hidden_and_public_ones_here_are_not() -> None:
    edition = edition_of([named("atcoder:open1")], note="atcoder:newer7, newer7 and open1")
    assert public_part(edition) == edition
    public = public_part(edition, also_private=["atcoder:newer7", "atcoder:open1"])
    assert public.note == f"{HIDDEN}, {HIDDEN} and open1"
    assert (public.n_private, len(public.problems)) == (0, 1)
    # One that the edition keeps without showing it is known by all its names.
    filtered = EditionSettings(platforms=("atcoder",))
    unshown = named("codeforces:later1", "Later Lake")
    edition = edition_of([named("atcoder:open1"), unshown], note="see later lake and later1", settings=filtered)
    assert public_part(edition).note == "see later lake and later1"
    assert public_part(edition, also_private=["codeforces:later1"]).note == f"see {HIDDEN} and {HIDDEN}"


def test_keys_that_differ_in_a_private_name_alone_stay_apart() -> None:
    run = edition_run("alice", [(0, 1, 1)], conditions={"secret9": 1, "Secret9": 2})
    (public,) = public_part(edition_of([SECRET], runs=[run])).runs
    assert public.conditions == {HIDDEN: 1, f"{HIDDEN} (2)": 2}
