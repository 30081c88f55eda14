"""The feed against the rules of RFC 4287, read by another XML library than wrote it.

Sections: 4.1.1 (feed), 4.1.2 (entry), 4.2.6 (id), 4.2.7 (link), 3.3 (instants of RFC 3339).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

from db.records import Precision
from eval.editions.difference import difference
from eval.editions.difference_sheet import difference_sheet
from eval.editions.document import EditionProblem
from eval.exports import atom
from eval.publishing.publication import OtherEdition, Published
from eval.sheets import Sheet
from tests.eval.editions.built import HOSTILE, edition_problem, freeze_built, published
from tests.eval.exports.small_editions import SITE, duel, empty, odd, odd_on_a_site
from tests.eval.facts import registry

ATOM = "{http://www.w3.org/2005/Atom}"
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
AT = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)


def _feed(edition: Published) -> ElementTree.Element:
    (file,) = atom.files(edition)
    assert file.path == "feed.xml"
    return ElementTree.fromstring(file.body)


def _texts(element: ElementTree.Element, name: str) -> list[str]:
    return [one.text or "" for one in element.findall(ATOM + name)]


def _links(element: ElementTree.Element) -> dict[str, str]:
    return {one.attrib["rel"]: one.attrib["href"] for one in element.findall(ATOM + "link")}


def _entries(edition: Published, term: str = "") -> list[ElementTree.Element]:
    entries = _feed(edition).findall(ATOM + "entry")
    return [one for one in entries if not term or one.find(f"{ATOM}category[@term='{term}']") is not None]


def _problems(edition: Published) -> list[str]:
    return [_texts(entry, "title")[0] for entry in _entries(edition, "problem")]


def _of(problems: list[EditionProblem], **changes: object) -> Published:
    return published(freeze_built(problems, [], registry()), **changes)


@pytest.mark.parametrize("edition", [odd, odd_on_a_site, lambda: published(empty()), lambda: published(duel())])
def test_the_feed_keeps_to_the_rules_of_the_rfc(edition: object) -> None:
    assert callable(edition)
    feed = _feed(edition())
    assert feed.tag == ATOM + "feed"
    assert [len(_texts(feed, name)) for name in ("id", "title", "updated")] == [1, 1, 1]
    assert feed.findall(f"{ATOM}author/{ATOM}name")[0].text
    entries = feed.findall(ATOM + "entry")
    for entry in entries:
        assert [len(_texts(entry, name)) for name in ("id", "title", "updated")] == [1, 1, 1]
        assert len(_texts(entry, "summary")) == 1
        assert not entry.findall(ATOM + "content")
        rels = Counter(one.attrib["rel"] for one in entry.findall(ATOM + "link"))
        assert rels["alternate"] == 1  # an entry without content must have one
        for name in ("updated", "published"):
            assert all(INSTANT.fullmatch(text) for text in _texts(entry, name))
    ids = [_texts(one, "id")[0] for one in (feed, *entries)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", one) for one in ids)
    updated = [_texts(entry, "updated")[0] for entry in entries]
    assert updated == sorted(updated, reverse=True)
    assert _texts(feed, "updated") == [max(updated)]


def test_the_feed_names_itself_where_it_stands() -> None:
    assert _links(_feed(odd_on_a_site())) == {"self": SITE + "feed.xml", "alternate": SITE + "index.html"}
    assert _links(_feed(odd())) == {"alternate": "index.html"}


def test_ids_are_the_same_wherever_the_site_stands() -> None:
    here, there = _feed(odd()), _feed(odd_on_a_site())
    assert _texts(here, "id") == _texts(there, "id")
    assert [_texts(one, "id") for one in here.findall(ATOM + "entry")] == [
        _texts(one, "id") for one in there.findall(ATOM + "entry")
    ]


def test_ids_stay_when_an_edition_follows() -> None:
    first = _of([edition_problem(0)])
    before = OtherEdition(first.name, first.frozen_at, first.digest, 1, 0, "")
    second = replace(
        _of([edition_problem(0), edition_problem(1)]),
        name="2025-06",
        frozen_at=first.frozen_at + timedelta(days=30),
        others=(before,),
    )
    assert _texts(_feed(first), "id") == _texts(_feed(second), "id")
    old = {_texts(entry, "title")[0]: _texts(entry, "id") for entry in _entries(first)}
    new = {_texts(entry, "title")[0]: _texts(entry, "id") for entry in _entries(second)}
    assert {title: new[title] for title in old} == old
    assert _texts(_entries(second)[0], "title") == ["Edition 2025-06"]


def test_an_edition_says_what_it_holds() -> None:
    (entry,) = _entries(odd_on_a_site(), "edition")
    assert _texts(entry, "title") == ["Edition 2025-05"]
    assert _texts(entry, "updated") == ["2025-05-03T09:00:30Z"]
    (summary,) = _texts(entry, "summary")
    assert summary.startswith("58 problems, 7 runs; frozen 2025-05-03T09:00:30Z; digest sha256:")
    assert summary.endswith("A note of <em>the</em> maintainer")
    assert _links(entry) == {"alternate": SITE + "index.html"}


def test_a_problem_leads_to_its_platform_and_to_its_page() -> None:
    entry = next(one for one in _entries(odd_on_a_site(), "problem") if _texts(one, "title") == ["Problem 59"])
    assert _links(entry) == {
        "alternate": "https://atcoder.example/tasks/p59",
        "related": SITE + "problems/atcoder-p59.html",
    }
    assert _texts(entry, "updated") == _texts(entry, "published") == ["2025-03-22T12:00:00Z"]
    assert _texts(entry, "summary") == ["atcoder:p59; hard; contest contest 29; published 2025-03-22T12:00:00Z"]


@pytest.mark.parametrize(
    "url", [None, "javascript:alert(1)", "https://a.example/\x01", "http://a b", "ftp://a.example/"]
)
def test_a_problem_without_an_address_of_the_web_leads_to_its_page(url: str | None) -> None:
    (entry,) = _entries(_of([edition_problem(0, url=url)], base_url=SITE), "problem")
    assert _links(entry) == {"alternate": SITE + "problems/atcoder-p0.html"}


def test_without_a_date_an_entry_has_the_instant_of_freezing_and_says_so() -> None:
    (entry,) = _entries(_of([edition_problem(0, exposed_at=None)]), "problem")
    assert _texts(entry, "updated") == ["2025-05-03T09:00:30Z"]
    assert _texts(entry, "published") == []
    assert "publication date unknown" in _texts(entry, "summary")[0]


def test_a_coarse_date_says_how_coarse() -> None:
    (entry,) = _entries(
        _of([edition_problem(0, exposed_at="2024-06-01", exposed_precision=Precision.MONTH)]), "problem"
    )
    assert "published 2024-06-01T00:00:00Z (known to the month)" in _texts(entry, "summary")[0]


def test_the_newest_problems_come_first_and_not_more_than_fifty() -> None:
    days = [
        edition_problem(place, exposed_at=f"2024-{1 + place // 28:02d}-{1 + place % 28:02d}") for place in range(60)
    ]
    assert _problems(_of(days)) == [f"Problem {place}" for place in range(59, 9, -1)]


def test_where_the_edition_before_is_known_only_what_came_is_new() -> None:
    problems = [edition_problem(place, exposed_at=f"2024-06-{1 + place:02d}") for place in range(4)]
    before = freeze_built([problems[0], edition_problem(2), edition_problem(9)], [], registry(), name="2025-04")
    after = freeze_built(problems, [], registry())
    moved = difference_sheet(difference(before, after))
    assert _problems(published(after, changes=moved)) == ["Problem 3", "Problem 1"]
    unmoved = difference_sheet(difference(after, after))
    assert _problems(published(after, changes=unmoved)) == []
    silent = Sheet("changes that do not say it", (), ())
    assert len(_problems(published(after, changes=silent))) == 4


def test_withdrawn_problems_are_no_news() -> None:
    assert _problems(_of([edition_problem(0, withdrawn=True), edition_problem(1)])) == ["Problem 1"]


def test_hostile_text_stays_text() -> None:
    titles = [HOSTILE, "]]><x/>", "\x00\x0b", "a\ud7ff\ufffe\nb", "&amp;<b>"]
    problems = [edition_problem(place, title=title) for place, title in enumerate(titles)]
    found = {
        _texts(one, "summary")[0].split(";")[0]: _texts(one, "title")[0] for one in _entries(_of(problems), "problem")
    }
    assert found["atcoder:p0"] == 'A | B "C" <script>alert(1)</script> end'
    assert found["atcoder:p1"] == "]]><x/>"
    assert found["atcoder:p2"] == "atcoder:p2"  # nothing of the title can be shown
    assert found["atcoder:p3"] == "a b"
    assert found["atcoder:p4"] == "&amp;<b>"
    note = OtherEdition("<i>\x02old</i>", AT, "d" * 64, 1, 1, "<script>\x03")
    entry = _entries(_of([], others=(note,), title="<b>\x04"), "edition")[1]
    assert _texts(entry, "title") == ["Edition <i> old</i>"]
