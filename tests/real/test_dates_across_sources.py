"""An instant from a platform takes the place of an imported day, and the disagreement is told (Codeforces 1873)."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from db.engine import open_store
from db.problems import find_problem, list_problems, save_problem
from db.records import ContestRecord, DateClaim, Precision, ProblemKey, ProblemRecord
from ingest.importing import import_problems

pytestmark = pytest.mark.shared
HELD = datetime(2023, 9, 21, 14, 35, tzinfo=UTC)
"""A participant's stored log of submissions shows that it was held on this day; the data set is a month off."""


def test_the_imported_day_of_codeforces_1873_gives_way(shared_data: Path, tmp_path: Path) -> None:
    own_form = tmp_path / "rows.jsonl"
    with gzip.open(shared_data / "livecodebench" / "problems.jsonl.gz", "rt") as lines:
        rows = [row for row in map(json.loads, lines) if row["platform"] == "codeforces"]
    with own_form.open("w") as file:
        for row in rows:
            file.write(json.dumps(row | {"question_title": row["title"], "question_content": row["statement"]}) + "\n")
    with open_store(str(tmp_path / "store.db")) as store:
        report = import_problems(store, own_form, "livecodebench", now=HELD)
        assert (report.created, report.n_refused) == (len(rows), 0)
        contest = ContestRecord("codeforces", "1873", starts_at=HELD)
        claim = DateClaim(str(int(HELD.timestamp())), HELD, Precision.INSTANT, "codeforces", "1873")
        live = ProblemRecord(
            ProblemKey("codeforces", "1873A"), "Short Sort", (claim,), "codeforces", contest=contest, contest_index="A"
        )
        with store.write() as session:
            assert find_problem(session, "1873_A") == live.key
            saved = save_problem(session, live, now=HELD)
            problems = {problem.key.native_id: problem for problem in list_problems(session)}
    assert problems["1873A"].released_at == problems["1873A"].exposed_at == HELD
    assert problems["1873B"].released_at == datetime(2023, 8, 21, tzinfo=UTC)
    note = saved.date_note or ""
    assert "livecodebench says '2023-08-21" in note
    assert "codeforces decides with 2023-09-21T14:35:00+00:00" in note
