"""Small editions whose scores are counted by hand, and strict readers, for tests of the formats of others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from functools import cache
from types import ModuleType
from typing import Any

from eval.editions.document import EditionProblem, EditionRun, EditionSettings, FrozenEdition
from eval.exports import atom, badges, citation, croissant, eval_results, every_eval_ever, lm_eval
from eval.publishing.publication import File, Published
from tests.eval.editions.built import edition_problem, edition_run, freeze_built, invented, published
from tests.eval.facts import model, registry

FORMATS: tuple[ModuleType, ...] = (atom, badges, citation, croissant, eval_results, every_eval_ever, lm_eval)
SITE = "https://example.org/board/"

CONDITIONS = {"temperature": 0.2, "top_p": 0.95, "max_tokens": 4096, "prompt": "plain", "stop": ["```"]}


@cache
def odd() -> Published:
    """The invented edition, whose runs are of all kinds; nobody said where it stands."""
    return published(invented())


@cache
def odd_on_a_site() -> Published:
    """The same with an address."""
    return published(invented(), base_url=SITE)


@cache
def duel(margin_hours: float = 0.0, contest: str | None = None) -> FrozenEdition:
    """Two models on 14 problems with one sample each: 2 published in March 2024, 12 in May.

    "acme/alpha" (cut-off February 2024) misses 3 of May, so it has 11 of 14 after its cut-off; "beta" (March 2024)
    solves 3 of May: 3 of 12. On the 12 problems of May, which are after both cut-offs, they have 9 and 3. With
    ``contest`` all are of that one, so that there is no interval.
    """
    problems = [_problem(place, contest) for place in range(14)]
    alpha = [(place, 1, int(place not in {2, 3, 4})) for place in range(14)]
    beta = [(place, 1, int(place in {5, 6, 7})) for place in range(14)]
    runs = [
        edition_run("acme/alpha", alpha, conditions=CONDITIONS, ran_on=date(2024, 7, 1), label="first"),
        edition_run("beta", beta, conditions=CONDITIONS),
    ]
    models = registry(model("acme/alpha", "2024-02", provider="Acme"), model("beta", "2024-03"))
    return freeze_built(problems, runs, models, settings=EditionSettings(margin_hours=margin_hours))


def _problem(place: int, contest: str | None) -> EditionProblem:
    exposed = f"2024-03-{15 + place:02d}" if place < 2 else f"2024-05-{place + 2:02d}"
    return edition_problem(place, exposed_at=exposed, contest=contest or f"round {place}")


def empty() -> FrozenEdition:
    """An edition without runs and problems."""
    return freeze_built([], [], registry())


def one_run(run: EditionRun, problems: list[EditionProblem]) -> FrozenEdition:
    """An edition of one run, whose model's cut-off is January 2024."""
    return freeze_built(problems, [run], registry(model(run.model, "2024-01")))


def by_path(files: Iterator[File]) -> dict[str, bytes]:
    """The files by path, of which none comes twice."""
    found: dict[str, bytes] = {}
    for file in files:
        assert file.path not in found
        found[file.path] = file.body
    return found


def strict_json(body: bytes) -> Any:
    """The document of RFC 8259: no NaN, no infinity, no key twice."""
    return json.loads(body.decode("utf-8"), parse_constant=_refused, object_pairs_hook=_once)


def _refused(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs)
    return dict(pairs)
