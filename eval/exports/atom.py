"""A feed of editions and new problems, in Atom.

Format: RFC 4287; instants as RFC 3339 writes them. Ids are URNs that never change, wherever the site stands. The entry
of a problem leads to its platform and never holds its statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lxml import etree  # type: ignore[import-untyped]
from lxml.builder import ElementMaker  # type: ignore[import-untyped]

from eval.editions.document import EditionProblem
from eval.exports._naming import SOFTWARE, address, edition_urn, one_line, problem_urn, site_urn
from eval.publishing.publication import File, OtherEdition, Published
from eval.report import utc_text

NAME = "atom"
DESCRIPTION = "feed.xml: editions and new problems as an Atom feed"
PATH = "feed.xml"
MAX_PROBLEMS = 50

_ATOM = "http://www.w3.org/2005/Atom"
_WEB = re.compile(r"https?://[^\s<>\"{}|\\^`]+")


@dataclass(frozen=True)
class Entry:
    """One entry. ``link`` is where its title leads, ``related`` a page of the site that has more."""

    id: str
    title: str
    updated: datetime
    summary: str
    link: str
    related: str | None = None
    published: datetime | None = None
    category: str = ""


def files(published: Published) -> Iterator[File]:
    """The feed."""
    entries = [*_editions(published), *_problems(published)]
    yield File(PATH, _feed(published, sorted(entries, key=lambda one: one.updated, reverse=True)))


def _editions(published: Published) -> Iterator[Entry]:
    edition = published.edition
    this = OtherEdition(
        name=published.name,
        frozen_at=published.frozen_at,
        digest=published.digest,
        n_problems=len(edition.problems),
        n_runs=len(edition.runs),
        note=edition.note,
    )
    for one in (this, *published.others):
        page = "index.html" if one is this else "editions.html"
        counts = f"{_count(one.n_problems, 'problem')}, {_count(one.n_runs, 'run')}; frozen {utc_text(one.frozen_at)}"
        note = f"; {one_line(one.note)}" if one.note else ""
        yield Entry(
            id=edition_urn(one.name, one.digest),
            title=f"Edition {one_line(one.name)}",
            updated=one.frozen_at,
            published=one.frozen_at,
            summary=f"{counts}; digest sha256:{one.digest}{note}",
            link=address(published, page),
            category="edition",
        )


def _problems(published: Published) -> Iterator[Entry]:
    for one in new_problems(published):
        page = address(published, f"problems/{published.problem_slugs[one.written_id]}.html")
        on_platform = one.url if one.url is not None and _is_web_address(one.url) else None
        at = one.released_at
        yield Entry(
            id=problem_urn(one.written_id),
            title=one_line(one.title) or one.written_id,
            updated=at or published.frozen_at,
            published=at,
            summary=_about(one),
            link=on_platform or page,
            related=page if on_platform else None,
            category="problem",
        )


def new_problems(published: Published) -> list[EditionProblem]:
    """The problems that the edition before did not have, where it is known; the newest first, and not too many."""
    sound = [one for one in published.edition.problems if not one.facts.withdrawn]
    came = _came(published.changes.data if published.changes is not None else {})
    chosen = sound if came is None else [one for one in sound if one.written_id in came]
    return sorted(chosen, key=_newest_first)[:MAX_PROBLEMS]


def _came(changes: Mapping[str, Any]) -> frozenset[str] | None:
    """The written ids of the problems that are new; None where the changes do not say it."""
    problems = changes.get("problems")
    came = problems.get("came") if isinstance(problems, Mapping) else None
    return None if came is None else frozenset(str(one) for one in came)


def _newest_first(one: EditionProblem) -> tuple[bool, float, str]:
    at = one.released_at
    return at is None, 0.0 if at is None else -at.timestamp(), one.written_id


def _about(one: EditionProblem) -> str:
    at, precision = utc_text(one.released_at), one.released_precision
    coarse = f" (known to the {precision.value})" if precision is not None and precision.value != "instant" else ""
    facts = [
        one.written_id,
        one.facts.difficulty or "difficulty unknown",
        f"contest {one.facts.contest}" if one.facts.contest else "no contest",
        f"published {at}{coarse}" if at else "publication date unknown",
    ]
    return one_line("; ".join(facts))


def _is_web_address(text: str) -> bool:
    return text.isprintable() and _WEB.fullmatch(text) is not None


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _feed(published: Published, entries: list[Entry]) -> bytes:
    make = ElementMaker(namespace=_ATOM, nsmap={None: _ATOM})
    here = [make.link(rel="self", type="application/atom+xml", href=address(published, PATH))]
    newest = max(one.updated for one in entries)
    feed = make.feed(
        make.id(site_urn(published)),
        make.title(one_line(published.title) or SOFTWARE),
        make.subtitle("editions and new problems"),
        make.updated(_instant(newest)),
        make.author(make.name(one_line(published.title) or SOFTWARE)),
        make.generator(SOFTWARE),
        make.link(rel="alternate", type="text/html", href=address(published, "index.html")),
        *(here if published.base_url is not None else []),
        *(_entry(make, one) for one in entries),
    )
    return bytes(etree.tostring(feed, xml_declaration=True, encoding="utf-8", pretty_print=True))


def _entry(make: Any, one: Entry) -> Any:
    published = [] if one.published is None else [make.published(_instant(one.published))]
    related = [] if one.related is None else [make.link(rel="related", type="text/html", href=one.related)]
    return make.entry(
        make.id(one.id),
        make.title(one.title),
        make.updated(_instant(one.updated)),
        *published,
        make.category(term=one.category),
        make.link(rel="alternate", href=one.link),
        *related,
        make.summary(one.summary),
    )


def _instant(at: datetime) -> str:
    return str(utc_text(at))
