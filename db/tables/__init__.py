"""The tables. SQLModel appears in this package and nowhere else; the rest of the room speaks SQLAlchemy Core through
``t.NAME``.

Rules for every table: values and not names of enums are stored, as plain text, so that a new member needs no migration;
instants are ``UTCDateTime`` (SQLModel's own type for ``datetime`` from 0.0.45 on: aware, kept as UTC, naive refused);
a table class does not validate, so what comes in has been checked by the records.
"""

from __future__ import annotations

from sqlalchemy import Table

from db.tables import answers, editions, generation, ingestion, problems
from db.tables.base import Base

__all__ = ["Base", "answers", "editions", "generation", "ingestion", "problems"]


def _table(name: str) -> Table:
    return Base.metadata.tables[name]


contest = _table("contest")
problem = _table("problem")
contest_start = _table("contest_start")
contest_problem = _table("contest_problem")
problem_alias = _table("problem_alias")
date_claim = _table("date_claim")
sighting = _table("sighting")
duplicate = _table("duplicate")
revision = _table("revision")
fingerprint = _table("fingerprint")
test_suite = _table("test_suite")
made_suite = _table("made_suite")
test_case = _table("test_case")
blob = _table("blob")
run = _table("run")
completion = _table("completion")
environment = _table("environment")
judgement = _table("judgement")
tally = _table("tally")
question = _table("question")
response = _table("response")
failed_request = _table("failed_request")
reference = _table("reference")
reference_verdict = _table("reference_verdict")
flag = _table("flag")
snapshot = _table("snapshot")
host_gate = _table("host_gate")
lease = _table("lease")
ingest_run = _table("ingest_run")
ingest_failure = _table("ingest_failure")
refused_row = _table("refused_row")
edition = _table("edition")
