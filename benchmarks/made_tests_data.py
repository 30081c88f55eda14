"""LiveCodeBench's problems and completions of the shared data as made tests take them."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from db.records import IoKind, SuiteRecord, TestCaseRecord, TestOrigin
from eval.made_tests.material import KnownProgram, Material
from sandbox import Program

Row = dict[str, Any]
PLATFORMS = ("atcoder", "leetcode")
SCENARIO = "codegeneration"
PUBLIC = "failed_on_a_public_test_by_its_grader"
"""Of a program that passes all public tests here: the grader lost its output (that of ``from sys import stdout``)."""


@dataclass(frozen=True)
class Published:
    """A completion with the grade that was published for it. ``suspect`` are reasons to doubt the grade."""

    name: str
    model: str
    code: str
    is_right: bool
    verdict: str
    suspect: tuple[str, ...]


@dataclass(frozen=True)
class LiveCodeBench:
    """Problems by question id, in the order of the file, and the completions of each, samples of a model in turn."""

    problems: Mapping[str, Row]
    completions: Mapping[str, Sequence[Published]]

    @classmethod
    def read(cls, folder: Path) -> LiveCodeBench:
        """From ``problems.jsonl.gz`` and ``solutions.jsonl.gz``; self-repair is left out, as are empty answers."""
        problems = {row["question_id"]: row for row in lines_of(folder / "problems.jsonl.gz")}
        completions: dict[str, list[Published]] = defaultdict(list)
        for row in lines_of(folder / "solutions.jsonl.gz"):
            if row["scenario"] == SCENARIO and (row["code"] or "").strip():
                completions[row["question_id"]].append(_published(row))
        return cls(problems, completions)

    @cached_property
    def standing(self) -> Mapping[str, float]:
        """By model the share of its completions that were published as right: what a store says of a model."""
        right, asked = Counter[str](), Counter[str]()
        for each in self.completions.values():
            right.update(one.model for one in each if one.is_right)
            asked.update(one.model for one in each)
        return {model: right[model] / n for model, n in asked.items()}

    def with_right_models(self, least: int) -> tuple[str, ...]:
        """The problems with programs published as right by at least so many models."""
        return tuple(
            problem
            for problem in self.problems
            if len({one.model for one in self.completions.get(problem, ()) if one.is_right}) >= least
        )

    def material(self, problem: str) -> Material:
        """What was there on the problem's first day: statement, public tests and completions, without any grade."""
        row = self.problems[problem]
        function = row["func_name"] or None
        programs = tuple(
            KnownProgram(
                one.name,
                Program(one.code),
                model=one.model,
                family=family_of(one.model),
                standing=self.standing[one.model],
            )
            for one in self.completions.get(problem, ())
        )
        return Material(
            f"{row['platform']}:{problem}",
            row["statement"],
            samples_of(row),
            programs,
            tuple((name, type_name) for name, type_name in row["args"] or ()) if function else (),
        )


def samples_of(row: Row) -> SuiteRecord:
    """The public tests of a problem as its samples."""
    tests = tuple(
        TestCaseRecord(f"sample {number}", each["input"].encode(), each["output"].encode(), TestOrigin.SAMPLE)
        for number, each in enumerate(row["public_tests"], 1)
    )
    return SuiteRecord(tests, IoKind.FUNCTION if row["func_name"] else IoKind.STDIN, row["func_name"] or None)


def family_of(model: str) -> str:
    """The first letters of a model's name; OpenAI's o-models are one family."""
    match = re.match(r"[a-z]+", model)
    name = match[0] if match else model
    return "openai" if name == "o" else name


def lines_of(file: Path) -> Iterator[Row]:
    """The rows of a compressed file of JSON lines."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _published(row: Row) -> Published:
    return Published(
        name=f"{row['model']} #{row['sample']}",
        model=row["model"],
        code=row["code"],
        is_right=bool(row["published_grade"]),
        verdict=str(row["published_verdict"]),
        suspect=(*row["suspect"], *((PUBLIC,) if row["failing_test"] == "public" else ())),
    )
