"""A store with invented problems for the scenarios, and runs with verdicts that no sandbox has to reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from db.completions import RunRecord, save_completions, save_run
from db.engine import Store, open_store
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from db.problems import problem_ids, save_problem
from db.questions import load_questions
from db.records import (
    AnswerStatus,
    CompletionRecord,
    ContestRecord,
    DateClaim,
    IoKind,
    Place,
    Precision,
    ProblemKey,
    ProblemRecord,
    ReferenceRecord,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from db.responses import ResponseRecord, save_responses
from eval.generate.choosing import Choice, choose_problems
from eval.generate.conditions import Asking
from eval.generate.places import places_of
from eval.generate.prompts import load_prompt
from eval.settings import Settings
from tests.eval.facts import NOW, model, registry

REGISTRY = registry(
    model("nova-1", "2024-10", provider="Nova"),
    model("nova-2", "2024-10", provider="nova"),
    model("lyra-1", "2024-10", provider="Lyra", base_models=("nova-2",)),
    model("orion-1", "2024-10", provider="Orion"),
)
WINDOW = Settings(after_cutoff=False, since=datetime(2025, 1, 1, tzinfo=UTC))


def case(name: str, given: str, expected: str, origin: TestOrigin = TestOrigin.OFFICIAL, **more: Any) -> TestCaseRecord:
    return TestCaseRecord(name, given.encode(), expected.encode(), origin, **more)


def sample(name: str, given: str, expected: str) -> TestCaseRecord:
    return case(name, given, expected, TestOrigin.SAMPLE)


def problem(native_id: str, *tests: TestCaseRecord, **changes: Any) -> ProblemRecord:
    """A problem of 2025; ``suite`` fields go by their names, others are those of a ``ProblemRecord``."""
    of_suite = {
        name: changes.pop(name)
        for name in ("io_kind", "entry_point", "comparison", "signature", "checker")
        if name in changes
    }
    starts = datetime(2025, 3, 1, tzinfo=UTC)
    fields: dict[str, Any] = {
        "dates": (DateClaim("2025-03-01", starts, Precision.INSTANT, "nova"),),
        "contest": ContestRecord("nova", f"round of {native_id}", starts_at=starts),
        "statement": f"Statement of {native_id}.",
        "suite": SuiteRecord(tests, **of_suite) if tests else None,
    }
    return ProblemRecord(ProblemKey("nova", native_id), f"Title {native_id}", source="nova", **(fields | changes))


SUM = problem(
    "sum",
    sample("s1", "1 2\n", "3\n"),
    case("1", "1   2\n", "3\n"),
    case("2", "10 20\n", "30\n"),
    case("3", "5 5\n", "10\n"),
    case("4", "x" * 401, "0\n"),
    case("5", "7 8\n", "15\n"),
    case("6", "9 9\n", "18\n"),
    references=(ReferenceRecord("sum.py", "python3", "print(sum(map(int, input().split())))\n"),),
)
CALLED = problem(
    "called",
    case("1", '[1,2]\n"a"\n', '[[1,2],"a"]'),
    case("2", "[]\nnull\n", "[[],null]"),
    io_kind=IoKind.FUNCTION,
    entry_point="pair",
    starter_code="class Solution:\n    def pair(self, xs: List[int], y: str):\n        ",
)
RECORDS: tuple[ProblemRecord, ...] = (
    SUM,
    CALLED,
    problem("samples", sample("s1", "1\n", "1\n"), case("1", "1\n", "1\n", TestOrigin.SAMPLE)),
    problem("long", sample("s1", "1\n", "1\n"), case("1", "2\n", "3" * 201)),
    problem(
        "checked",
        case("1", "1\n", "2\n"),
        checker={"program": {"source": "print()", "language": "python3"}},
    ),
    problem(
        "nodes",
        case("1", "[1,2]\n", "[2,1]"),
        io_kind=IoKind.FUNCTION,
        entry_point="flip",
        signature={"parameters": ["ListNode"], "returns": "ListNode"},
    ),
    problem("silent", sample("s1", "1\n", "1\n"), case("1", "2\n", "3\n"), statement=""),
    problem("own rules", case("1", "2\n", "3\n", comparison={"case_sensitive": False})),
)


@dataclass(frozen=True)
class Nova:
    """A store with these problems."""

    store: Store

    def ids(self) -> dict[str, int]:
        """The problems' ids by their native ones."""
        with self.store.read() as session:
            found = problem_ids(session, (record.key for record in RECORDS))
        return {key.native_id: number for key, number in found.items()}

    def native(self, problem_id: int) -> str:
        return next(name for name, number in self.ids().items() if number == problem_id)

    def add_run(
        self,
        name: str,
        programs: Mapping[str, Sequence[str]],
        label: str = "generate",
        conditions: Mapping[str, Any] | None = None,
    ) -> int:
        """A run with these programs of each problem."""
        with self.store.write() as session:
            run_id = save_run(session, RunRecord(name, label, dict(conditions or {})), now=NOW)
            save_completions(
                session,
                run_id,
                [
                    CompletionRecord(ProblemKey("nova", native_id), index, code)
                    for native_id, codes in programs.items()
                    for index, code in enumerate(codes)
                ],
            )
        return run_id

    def judge(self, verdicts: Mapping[str, tuple[str, Sequence[dict[str, Any]]]] | None = None) -> int:
        """Give what is not judged the verdict that stands for its program, accepted where none does."""
        with self.store.write() as session:
            environment_id = save_environment(session, EnvironmentRecord("e1", "docker", {}), now=NOW)
            save_judgements(
                session,
                environment_id,
                [
                    JudgementRecord(
                        one.completion_id, one.suite_id, *(verdicts or {}).get(one.code, ("accepted", ())), NOW
                    )
                    for one in iter_pending(session, environment_id)
                ],
            )
        return environment_id

    def choose(self, scenario: str, name: str = "nova-1", settings: Settings = WINDOW, **more: Any) -> Choice:
        """What a model is asked in a scenario."""
        with self.store.read() as session:
            return choose_problems(session, name, REGISTRY, settings, asking(scenario, **more), now=NOW)


def asking(scenario: str, **more: Any) -> Asking:
    return Asking(load_prompt("plain", scenario), "python3", **more)


def open_nova(folder: Path, records: Iterable[ProblemRecord] = RECORDS) -> AbstractContextManager[Store]:
    """A store in this folder, with these problems."""
    url = f"sqlite:///{folder / 'live.db'}"
    with open_store(url) as store, store.write() as session:
        for record in records:
            save_problem(session, record, now=NOW)
    return open_store(url)


def save_told(nova: Nova, run_id: int, scenario: str, told: Mapping[tuple[str, str, int], str | None]) -> None:
    """Answers of a run to questions, by problem, input and sample; None is an answer in which nothing was found."""
    choice = nova.choose(scenario)
    with nova.store.write() as session:
        places = places_of(session, choice.asked, 1, now=NOW)
        records = load_questions(session, {place.question_id for place in places})
        by_input = {
            (nova.native(place.problem_id), records[place.question_id].input): place.question_id for place in places
        }
        save_responses(
            session,
            run_id,
            [
                ResponseRecord(
                    Place(nova.ids()[name], by_input[name, given], index),
                    ProblemKey("nova", name),
                    AnswerStatus.NO_CODE if answer is None else AnswerStatus.OK,
                    answer=answer or "",
                )
                for (name, given, index), answer in told.items()
            ],
        )
