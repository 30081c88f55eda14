"""What the report cases are played with: a made-up source that shows what a case says, and answers to its problems."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from db.completions import RunRecord, save_completions, save_run
from db.engine import Store, open_store
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from db.problems import list_problems
from db.records import (
    CompletionRecord,
    ContestRecord,
    DateClaim,
    Precision,
    ProblemKey,
    ProblemRecord,
    SightingRecord,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from ingest.collecting import collect
from ingest.pages import Fetch
from ingest.runs import RunResult
from ingest.sources import Host, Listing, ProblemList, ProblemRef, ReadProblem, Source, Wanted
from tests.ingest.judge_source import no_fetch
from tests.live.command import Live

SUITE = SuiteRecord(
    (
        TestCaseRecord("sample 1", b"1\n", b"2\n", TestOrigin.SAMPLE),
        TestCaseRecord("hidden 1", b"3\n", b"2\n", TestOrigin.OFFICIAL),
    ),
    time_limit_s=2.0,
)
MODEL = (
    '[[model]]\nname = "{}"\n[[model.claim]]\nkind = "training_data"\ncutoff = "{}"\nsource = "https://example.org/"\n'
)
FOREVER = timedelta(days=100_000)


def instant(text: str) -> datetime:
    """An ISO text as UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


@dataclass
class CaseSite:
    """A site as a case describes it: contests, their tasks, and what is on the tasks' pages beside a plain text.

    ``changes`` are fields of ``ProblemRecord`` by task, ``faults`` are raised when the task is asked for. Without
    ``hosts`` it is a folder of this machine. ``known`` are ids of contests that are there and not listed.
    """

    contests: list[ContestRecord] = field(default_factory=list)
    tasks: dict[str, list[ProblemRef]] = field(default_factory=dict)
    changes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    faults: dict[str, Exception] = field(default_factory=dict)
    sightings: tuple[SightingRecord, ...] = ()
    known: frozenset[str] = frozenset()
    hosts: tuple[Host, ...] = (Host("judge.example", 1.0),)
    name: str = "judge"
    asked: list[str] = field(default_factory=list)

    def add(self, native_id: str, starts_at: datetime | None, *tasks: ProblemRef) -> None:
        """Add a contest of two hours with its tasks."""
        ends_at = None if starts_at is None else starts_at + timedelta(hours=2)
        self.contests.append(ContestRecord(self.name, native_id, native_id, starts_at, ends_at))
        self.tasks[native_id] = list(tasks)

    def source(self) -> Source:
        """The site as a source."""
        return Source(self.name, "a case", self.hosts, self.discover, self.list_problems, self.read_problem)

    def discover(self, fetch: Fetch, wanted: Wanted) -> Listing:
        """All contests."""
        return Listing(tuple(self.contests), known=self.known, sightings=self.sightings)

    def list_problems(self, fetch: Fetch, contest: ContestRecord, wanted: Wanted) -> ProblemList:
        """The tasks of a contest."""
        self.asked.append(contest.native_id)
        return ProblemList(contest, tuple(self.tasks[contest.native_id]))

    def read_problem(self, fetch: Fetch, listed: ProblemList, ref: ProblemRef, wanted: Wanted) -> ReadProblem:
        """One task with its contest's start for a date."""
        self.asked.append(ref.native_id)
        if ref.native_id in self.faults:
            raise self.faults[ref.native_id]
        contest, start = listed.contest, listed.contest.starts_at
        claims = (DateClaim(str(start), start, Precision.INSTANT, self.name, contest.native_id),) if start else ()
        plain = ProblemRecord(
            key=ProblemKey(self.name, ref.native_id),
            title=ref.title,
            dates=claims,
            source=self.name,
            contest=contest,
            contest_index=ref.index,
            statement=f"The text of {ref.title}.",
            language="en",
            suite=SUITE,
        )
        return ReadProblem(replace(plain, **self.changes.get(ref.native_id, {})))

    def crawl(self, store: Store, now: datetime, *, fetch: Fetch = no_fetch) -> RunResult:
        """One run at an instant, over all time, which reads every contest that has ended."""
        self.asked.clear()
        window = Wanted(now - FOREVER / 10, now + FOREVER / 10, now)
        return collect(store, self.source(), fetch, window, check=lambda: None, recheck=FOREVER)


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, source: Source | None) -> None:
    """Put a source in the place of the one of this name; None makes that one raise when it is imported."""
    module: types.ModuleType | None = None
    if source is not None:
        module = types.ModuleType(f"ingest.sources.{name}")
        module.__dict__["SOURCE"] = source
    monkeypatch.setitem(sys.modules, f"ingest.sources.{name}", module)


def answer(store: Store, model: str, *, now: datetime, label: str = "", natives: Iterable[str] | None = None) -> None:
    """Let a model answer all problems of the store as they are now (or these), each once and right."""
    with store.write() as session:
        keys = [one.key for one in list_problems(session) if natives is None or one.key.native_id in set(natives)]
        run = save_run(session, RunRecord(model, label), now=now)
        save_completions(session, run, [CompletionRecord(key, 0, "print(2)") for key in keys])
        environment = save_environment(session, EnvironmentRecord("e" * 64, "docker"), now=now)
        pending = iter_pending(session, environment, run_ids=[run])
        verdicts = [JudgementRecord(one.completion_id, one.suite_id, "accepted", [], now) for one in pending]
        save_judgements(session, environment, verdicts)


def scores(live: Live, folder: Path, cutoffs: Mapping[str, str], *options: str) -> dict[str, dict[str, Any]]:
    """The rows of ``live eval`` by model and label, with these cut-offs; by default each model after its own."""
    models = folder / "models.toml"
    models.write_text("".join(MODEL.format(name, cutoff) for name, cutoff in cutoffs.items()), encoding="utf-8")
    words = options or ("--after-cutoff",)
    rows = live("--models", models, "eval", *words, "--no-judge", "--json").document["rows"]
    return {f"{row['model']} {row['label']}".strip(): row for row in rows}


def open_case_store(folder: Path) -> Store:
    """The store that the command of the same folder uses."""
    return open_store(str(folder / "store.db"))
