"""Which editions are on a site, where each stands, and which cannot be there."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from eval.editions.document import Edition, FrozenEdition, digest_of, to_bytes
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
    assert [(one.name, one.note) for one in root.others] == [
        ("2025-06", "the second"),
        ("2025-05", "A note of <em>the</em> maintainer"),
    ]
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
    assert root.edition.n_private == 0


def test_another_edition_can_be_at_the_root() -> None:
    plan = plan_site(list(editions()), load, root="2025-06")
    assert (plan.root, plan.others) == ("2025-06", ("2025-07", "2025-05"))
    assert plan.folders["2025-06"] == ""


def test_an_edition_that_shows_what_became_private_is_on_no_site() -> None:
    newest = with_flags(editions()["2025-07"].edition, 30, PRIVATE)
    known = editions() | {"2025-07": frozen_of(newest, "2025-07", 60)}
    plan = plan_site(list(known), known.__getitem__)
    assert plan.left_out == {"2025-05": 1, "2025-06": 1}
    assert [one.name for one in plan.editions] == ["2025-07"]
    assert published_edition(plan, "2025-07", known.__getitem__).changes is None
    with pytest.raises(EditionRefused) as refused:
        plan_site(list(known), known.__getitem__, root="2025-05")
    assert refused.value.message == 'the edition "2025-05" shows 1 problem that has become private'
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
        plan = plan_site(list(known), known.__getitem__)
        if after is named:
            published = published_edition(plan, "table2", known.__getitem__)
            assert published.changes is not None
            assert dict(published.edition.withdrawn) == {"c": "asked by provider"}
        else:
            with pytest.raises(EditionRefused) as refused:
                published_edition(plan, "table2", known.__getitem__)
            assert refused.value.message == 'c: in the edition "table1", and in "table2" without a word no more'
            assert '--withdrawn "c=REASON"' in refused.value.hint
