"""The public problems of an edition: ids, links, dates with their evidence, and digests, as CSV and JSON. Pure.

The columns are those of ``data/problems.schema.json``. Ids are text, also "001"; readers of CSV are told so::

    pandas.read_csv("problems.csv", dtype={"native_id": "string", "contest": "string", "difficulty": "string"},
                    dtype_backend="numpy_nullable", keep_default_na=False, na_values=[""],
                    parse_dates=["exposed_at", "exposed_before", "released_at"], date_format="ISO8601")
    polars.read_csv("problems.csv", try_parse_dates=True, infer_schema_length=None,
                    schema_overrides=dict.fromkeys(["native_id", "contest", "difficulty"], polars.String))
    duckdb.sql("from read_csv('problems.csv', "
               "types={'native_id': 'VARCHAR', 'contest': 'VARCHAR', 'difficulty': 'VARCHAR'})")

Statements and private problems are published nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from db.records import MadeStrength
from eval.editions.document import EditionProblem
from eval.exports._columns import columns_of, csv_bytes, json_bytes, schema_bytes
from eval.exports._editions import edition_values
from eval.publishing.publication import File, Published
from eval.sheets import plain
from eval.statistics.intervals import wilson

NAME = "problems"
DESCRIPTION = "The public problems with ids, links, dates and their evidence, and digests: CSV, JSON, and their schema"
FORMAT = "livecut-problems-2"


def files(published: Published) -> Iterator[File]:
    """data/problems.csv, data/problems.json and data/problems.schema.json."""
    rows = problem_rows(published)
    document = {"format": FORMAT, "edition": edition_values(published), "rows": list(rows)}
    yield File("data/problems.csv", csv_bytes(columns_of(NAME), rows))
    yield File("data/problems.json", json_bytes(document))
    yield File("data/problems.schema.json", schema_bytes(NAME))


def public_problems(published: Published) -> tuple[EditionProblem, ...]:
    """The public problems in the order of platform, then of the platform's id."""
    kept = (one for one in published.edition.problems if not one.facts.is_private)
    return tuple(sorted(kept, key=lambda one: (one.facts.platform, one.facts.native_id)))


def problem_rows(published: Published) -> tuple[dict[str, Any], ...]:
    """A row for each public problem, by the columns of ``problems``."""
    recorded = not published.edition.counts_samples
    return tuple(_row(one, published.build_id, recorded) for one in public_problems(published))


def _row(one: EditionProblem, build_id: str, recorded: bool) -> dict[str, Any]:
    facts = one.facts
    values = {
        "problem": one.written_id,
        "platform": facts.platform,
        "native_id": facts.native_id,
        "title": one.title,
        "url": one.url,
        "status": one.status,
        "contest": facts.contest,
        "difficulty": facts.difficulty,
        "exposed_at": facts.exposed_at,
        "exposed_precision": facts.exposed_precision,
        "exposed_before": facts.exposed_before,
        "released_at": one.released_at,
        "released_precision": one.released_precision,
        "evidence": [
            {
                "as_written": claim.as_written,
                "earliest": claim.earliest,
                "precision": claim.precision,
                "source": claim.source,
                "contest": claim.contest,
            }
            for claim in one.evidence
        ],
        "revision": one.revision,
        "suite_digest": facts.suite_digest,
        "n_tests": facts.n_tests,
        "samples_only": facts.samples_only,
        "test_origins": sorted(facts.hidden_origins) if recorded else None,
        "made_strength": None if facts.strength is None else _strength(facts.strength),
        "has_checker": facts.has_checker,
        "flags": [{"name": name, "reason": reason} for name, reason in facts.flags],
        "withdrawn": facts.withdrawn,
        "build_id": build_id,
    }
    return {column.name: plain(values[column.name]) for column in columns_of(NAME)}


def _strength(strength: MadeStrength) -> dict[str, Any]:
    n, killed = strength.n_wrong, strength.n_wrong_killed
    rate = (killed / n, *wilson(killed / n, n)) if n else (None, None, None)
    return {**asdict(strength), **dict(zip(("kill_rate", "kill_rate_low", "kill_rate_high"), rate, strict=True))}
