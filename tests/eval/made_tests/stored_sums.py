"""Stores with the problem of ``sums``, programs for it and verdicts on them, and what tests are made of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from db.completions import RunRecord, save_completions, save_run
from db.engine import Store
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from db.made_suites import MadeSuiteRow, list_made_suites
from db.problems import list_problems, problem_ids
from db.records import CompletionRecord, ProblemKey, ProgramRole, ReferenceRecord
from db.references import save_references
from db.summaries import ProblemSummary
from eval.made_tests.building import BuildSettings
from eval.made_tests.gathering import Gatherer
from eval.made_tests.making import Built, Machine, Making, Refused, Result
from eval.models import ModelEntry, Registry, build_registry
from ingest.importing import import_problems
from tests.eval.made_tests.sums import FakeMachine

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FEW = BuildSettings(wanted=24)
REGISTRY = build_registry(
    [
        ModelEntry("oak-1", "Oak"),
        ModelEntry("oak-2", "Oak"),
        ModelEntry("elm", "Elm"),
        ModelEntry("graft", "Garden", base_models=("elm",)),
    ]
)
HIDDEN = {"input": "2\n4 5\n", "expected": "9\n", "origin": "official"}


def give(store: Store, *rows: dict[str, Any], days: int = 0) -> None:
    """Import these problems."""
    path = Path(store.url.removeprefix("sqlite:///")).with_name("rows.jsonl")
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    report = import_problems(store, path, "jsonl", now=NOW + timedelta(days=days))
    assert not report.refused


def id_of(store: Store, native_id: str = "sum") -> int:
    """The id of a problem."""
    key = ProblemKey("nova", native_id)
    with store.read() as session:
        return problem_ids(session, [key])[key]


def refer(store: Store, *given: tuple[str, ProgramRole], native_id: str = "sum", source: str = "package") -> None:
    """Make these sources the problem's programs, each under its own text as its name."""
    records = [ReferenceRecord(code, "cpp17", code, role) for code, role in given]
    with store.write() as session:
        save_references(session, id_of(store, native_id), records, source=source)


def answer(store: Store, model: str, *codes: str, native_id: str = "sum") -> None:
    """Save these programs as the samples of a model."""
    with store.write() as session:
        run = save_run(session, RunRecord(model), now=NOW)
        key = ProblemKey("nova", native_id)
        save_completions(session, run, [CompletionRecord(key, place, code) for place, code in enumerate(codes)])


def judge(store: Store, verdicts: dict[str, str]) -> None:
    """Give what waits on the current suites these verdicts, by code."""
    with store.write() as session:
        environment_id = save_environment(session, EnvironmentRecord("sha", "docker", {}), now=NOW)
        records = [
            JudgementRecord(one.completion_id, one.suite_id, verdicts[one.code], [], NOW)
            for one in iter_pending(session, environment_id)
        ]
        save_judgements(session, environment_id, records)


def no_machine() -> Machine:
    """What refuses to run anything."""
    raise AssertionError("a program was to be run")


def make(
    store: Store,
    native_id: str = "sum",
    *,
    settings: BuildSettings = FEW,
    machine: Callable[[], Machine] = FakeMachine,
    again: bool = False,
    registry: Registry = REGISTRY,
) -> Result:
    """What becomes of one problem."""
    with store.read() as session:
        gatherer = Gatherer.of(session, registry)
    making = Making(store, gatherer, settings, machine, lambda: NOW, again)
    (result,) = making.make([id_of(store, native_id)])
    return result


def built(result: Result) -> Built:
    """The result, which has to be a suite that was made."""
    assert isinstance(result, Built), result
    return result


def refused(result: Result) -> Refused:
    """The result, which has to be a refusal."""
    assert isinstance(result, Refused), result
    return result


def summary(store: Store, native_id: str = "sum") -> ProblemSummary:
    """What the store says of a problem."""
    with store.read() as session:
        return next(one for one in list_problems(session) if one.key.native_id == native_id)


def suites(store: Store) -> list[MadeSuiteRow]:
    """All suites that were made."""
    with store.read() as session:
        return list_made_suites(session)


def vote(store: Store, *codes: str) -> None:
    """One completion of each of three models of two families, and of more under evaluation where there are more."""
    names = ("oak-1", "oak-2", "elm", "ash", "yew")
    for model, code in zip(names, codes, strict=False):
        answer(store, model, code)
