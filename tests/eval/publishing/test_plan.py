"""Which editions are on a site, where each stands, and which cannot be there."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from eval.editions.document import Edition, FrozenEdition, digest_of, to_bytes
from eval.editions.removals import SilentRemoval, silent_removals
from eval.publishing.plan import EditionRefused, plan_site, published_edition
from tests.eval.editions.built import FROZEN_AT, edition_problem, edition_run, freeze_built, invented
from tests.eval.facts import model, registry

PRIVATE = (("private", "held back"),)


def frozen_of(edition: Edition, name: str, days: int) -> FrozenEdition:
    """An edition under a name, frozen so many days later than the invented one."""
    return FrozenEdition(name, FROZEN_AT + timedelta(days=days), digest_of(to_bytes(edition)), edition)


def with_flags(edition: Edition, place: int, flags: tuple[tuple[str, str], ...]) -> Edition:
    """The edition with other flags on one problem."""
    problems = list(edition.problems)
    problems[place] = replace(problems[place], facts=replace(problems[place].facts, flags=flags))
    return replace(edition, problems=tuple(problems))


@cache
def editions() -> dict[str, FrozenEdition]:
    """Three editions with the same problems, the oldest first."""
    first = invented().edition
    second = replace(first, note="the second")
    third = replace(first, note="the third")
    named = {"2025-05": first, "2025-06": second, "2025-07": third}
    return {name: frozen_of(edition, name, 30 * place) for place, (name, edition) in enumerate(named.items())}


def load(name: str) -> FrozenEdition:
    """One of these."""
    return editions()[name]


def test_the_newest_is_at_the_root_and_the_others_stand_under_their_names() -> None:
    plan = plan_site(list(editions()), load, base_url="https://example.org/board/", title="Board")
    assert (plan.root, plan.others, plan.left_out) == ("2025-07", ("2025-06", "2025-05"), {})
    assert plan.folders == {"2025-07": "", "2025-06": "editions/2025-06/", "2025-05": "editions/2025-05/"}
    assert plan.builds == {one.digest[:12]: name for name, one in editions().items()}
    root, last = (published_edition(plan, name, load) for name in ("2025-07", "2025-05"))
    assert [one.name for one in root.others] == ["2025-06", "2025-05"]
    assert root.others[0].note == "the second"
    assert root.others[1].note.startswith("A note of <em>the</em> maintainer")
    assert "hush-hush-17" not in root.others[1].note.casefold()
    assert {(one.n_problems, one.n_runs) for one in root.others} == {(58, 7)}
    assert [one.name for one in last.others] == ["2025-07", "2025-06"]
    assert (root.base_url, last.base_url) == (
        "https://example.org/board/",
        "https://example.org/board/editions/2025-05/",
    )
    assert root.title == "Board"
    assert root.changes is not None
    assert "2025-06" in root.changes.title + " ".join(root.changes.conditions)
    assert last.changes is None
    assert not any(one.facts.is_private for one in root.edition.problems)


def test_another_edition_can_be_at_the_root() -> None:
    plan = plan_site(list(editions()), load, root="2025-06")
    assert (plan.root, plan.others) == ("2025-06", ("2025-07", "2025-05"))
    assert plan.folders["2025-06"] == ""


def test_an_edition_that_shows_what_became_private_is_on_no_site() -> None:
    newest = with_flags(editions()["2025-07"].edition, 30, PRIVATE)
    known = editions() | {"2025-07": frozen_of(newest, "2025-07", 60)}
    plan = plan_site(list(known), known.__getitem__)
    assert set(plan.left_out.values()) == {"it shows 1 problem that has become private"}
    assert plan.left_out.keys() == {"2025-05", "2025-06"}
    assert [one.name for one in plan.editions] == ["2025-07"]
    assert published_edition(plan, "2025-07", known.__getitem__).changes is None
    with pytest.raises(EditionRefused) as refused:
        plan_site(list(known), known.__getitem__, root="2025-05")
    assert refused.value.message == 'the edition "2025-05" is not published: it shows 1 problem that has become private'
    assert "live edition freeze" in refused.value.hint


def test_what_the_store_calls_private_by_now_is_shown_by_no_edition() -> None:
    with pytest.raises(EditionRefused, match="shows 2 problems that have become private"):
        plan_site(["2025-05"], load, private={"atcoder:p31", "codeforces:p30", "atcoder:hush-hush-17", "x:y"})


def test_a_model_that_is_gone_without_a_word_stops_publishing(shared_data: Path) -> None:
    """Report G05: b lacks the new items, c was withdrawn with a reason; without the reason nothing is published."""
    case = shared_data.parent / "reports" / "cases" / "G05"
    first, second, expected = (
        json.loads((case / f"{name}.json").read_text(encoding="utf-8")) for name in ("table1", "table2", "expected")
    )
    problems = [
        edition_problem(place, exposed_at=f"2024-0{1 + place // 10}-0{1 + place % 9}T12:00") for place in range(40)
    ]
    results = {name: [(place, 2, place % 2) for place in range(40)] for name in first}
    runs = [edition_run(name, results[name]) for name in first]
    models = registry(*(model(name, "2023-06") for name in first))
    before = freeze_built(problems, runs, models, name="table1")
    kept = [edition_run(name, results[name]) for name in second["ranked"]]
    kept += [edition_run(name, results[name][:20]) for name in second["incomplete"]]
    late = FROZEN_AT + timedelta(days=30)
    named = freeze_built(problems, kept, models, name="table2", withdrawn=second["withdrawn"], frozen_at=late)
    silent = freeze_built(problems, kept, models, name="table2", frozen_at=late)
    assert expected == {"silent_removals": []}
    for after in (named, silent):
        known = {"table1": before, "table2": after}
        if after is named:
            plan = plan_site(list(known), known.__getitem__)
            published = published_edition(plan, "table2", known.__getitem__)
            assert published.changes is not None
            assert dict(published.edition.withdrawn) == {"c": "asked by provider"}
        else:
            with pytest.raises(SilentRemoval) as refused:
                plan_site(list(known), known.__getitem__)
            assert refused.value.message == 'c: in the edition "table1", and in "table2" without a word no more'
            assert '--withdrawn "c=REASON"' in refused.value.hint


def three(**withdrawn: dict[str, str]) -> dict[str, FrozenEdition]:
    """Editions a, b, c of the models x and y, without those that are said to be withdrawn or ``gone`` from each."""
    problems = [
        edition_problem(place, exposed_at=f"2024-0{1 + place // 10}-0{1 + place % 9}T12:00") for place in range(20)
    ]
    runs = [edition_run(name, [(place, 2, place % 2) for place in range(20)]) for name in ("x", "y")]
    found = {}
    for days, name in enumerate("abc"):
        told = withdrawn.get(name, {})
        kept = [run for run in runs if run.name not in told]
        models = registry(*(model(run.name, "2023-06") for run in kept))
        said = {who: why for who, why in told.items() if why}
        at = FROZEN_AT + timedelta(days=days)
        found[name] = freeze_built(problems, kept, models, name=name, withdrawn=said, frozen_at=at)
    return found


def test_an_edition_that_lost_a_model_is_left_out_and_blocks_no_later_one() -> None:
    known = three(b={"x": ""}, c={"x": "asked by its provider"})
    plan = plan_site(list(known), known.__getitem__)
    assert [one.name for one in plan.editions] == ["c", "a"]
    assert plan.left_out == {"b": 'x: in the edition "a", and in "b" without a word no more'}
    changes = published_edition(plan, "c", known.__getitem__).changes
    assert changes is not None
    assert "asked by its provider" in json.dumps(changes.data, default=str)
    with pytest.raises(SilentRemoval):
        plan_site(list(known), known.__getitem__, root="b")


def test_the_edition_at_the_root_is_held_against_the_last_one_that_is_published() -> None:
    """Nothing is gone since b, but b is not published; since a there is."""
    known = three(b={"x": ""}, c={"x": ""})
    with pytest.raises(SilentRemoval) as refused:
        plan_site(list(known), known.__getitem__)
    assert refused.value.message == 'x: in the edition "a", and in "c" without a word no more'


def test_who_was_withdrawn_is_in_the_next_table_or_withdrawn_still() -> None:
    lost = three(a={"x": "asked by its provider"}, b={"x": ""})
    assert silent_removals(lost["a"].edition, lost["b"].edition) == ("x",)
    assert silent_removals(lost["a"].edition, lost["c"].edition) == ()
    still = three(a={"x": "asked by its provider"}, b={"x": "asked by its provider"})
    assert silent_removals(still["a"].edition, still["b"].edition) == ()


def test_what_was_private_in_an_older_edition_alone_may_be_published() -> None:
    first = with_flags(editions()["2025-05"].edition, 30, PRIVATE)
    known = editions() | {"2025-05": frozen_of(first, "2025-05", 0)}
    plan = plan_site(list(known), known.__getitem__)
    assert plan.left_out == {}
    oldest = published_edition(plan, "2025-05", known.__getitem__)
    assert "codeforces:p30" not in {one.written_id for one in oldest.edition.problems}
    newest = published_edition(plan, "2025-07", known.__getitem__)
    assert "codeforces:p30" in {one.written_id for one in newest.edition.problems}
    assert newest.changes is not None


def test_no_text_names_what_the_store_says_is_private() -> None:
    """A problem that is in no edition, named in the notes of two: in theirs, in the list of others, in what moved."""
    notes = {"x": "as in atcoder:hidden_one", "y": "not as in atcoder:hidden_one"}
    known = {
        name: frozen_of(replace(editions()["2025-05"].edition, note=note), name, days)
        for days, (name, note) in enumerate(notes.items())
    }
    plan = plan_site(list(known), known.__getitem__, private={"atcoder:hidden_one"})
    shown = published_edition(plan, "y", known.__getitem__)
    assert shown.edition.note.startswith("not as in ")
    assert shown.others[0].note.startswith("as in ")
    assert shown.changes is not None
    assert "not as in " in repr(shown.changes)
    assert "hidden_one" not in repr((shown.edition, shown.others, shown.changes))
