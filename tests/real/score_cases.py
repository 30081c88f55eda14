"""What the report cases about scores are played with: a case's folder, and the command on a store with its problems."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from db.engine import Store
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from tests.ingest.reading import write_rows
from tests.live.command import Ended, Live

NOW = datetime(2026, 3, 10, tzinfo=UTC)
MODEL = '[[model]]\nname = "{}"\n'
CLAIM = '[[model.claim]]\nkind = "training_data"\ncutoff = "{}"\nsource = "https://example.org/"\n'
TESTS = [{"input": "1\n", "expected": "2\n"}]


class Case:
    """The folder of a case, and the command on a store of its own with the case's problems in it."""

    def __init__(self, folder: Path, live: Live, work: Path) -> None:
        self.folder, self.live, self.work = folder, live, work
        self.expected = self.load("expected.json")

    def load(self, name: str) -> Any:
        """A file of the case; JSON lines as a list."""
        text = (self.folder / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else json.loads(text)

    def problems(self, released: Mapping[str, str]) -> None:
        """Bring problems with these ids and dates into the store, each in a contest of its own."""
        rows = [
            {
                "platform": "atcoder",
                "id": one,
                "title": one,
                "released": at,
                "statement": f"Solve {one}.",
                "tests": TESTS,
            }
            for one, at in released.items()
        ]
        assert self.live("import", "problems", write_rows(self.work / "problems.jsonl", rows), "-f", "jsonl").code == 0

    def problems_of(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """The problems that rows of results name, one a day in 2025."""
        ids = dict.fromkeys(row["problem"] for row in rows)
        self.problems({one: f"2025-01-{day:02}T12:00:00Z" for day, one in enumerate(ids, start=1)})

    def results(self, rows: Iterable[Mapping[str, Any]]) -> Ended:
        """Bring results in: the samples of each model and problem counted together."""
        counts: dict[tuple[str, str], Counter[bool]] = {}
        for row in rows:
            counts.setdefault((row["model"], row["problem"]), Counter())[row["verdict"] == "AC"] += 1
        tallies = [
            {"id": problem, "model": model, "n_samples": count.total(), "n_correct": count[True]}
            for (model, problem), count in counts.items()
        ]
        return self.live("import", "results", write_rows(self.work / "results.jsonl", tallies), "-f", "jsonl")

    def models(self, *entries: str) -> None:
        """The registry of the case."""
        (self.work / "models.toml").write_text("\n".join(entries), encoding="utf-8")

    def run(self, *words: str) -> Ended:
        """A command with that registry."""
        return self.live("--models", self.work / "models.toml", *words)

    def rows(self, *options: str) -> dict[str, dict[str, Any]]:
        """The rows of ``live eval``, by model and label."""
        ended = self.run("eval", *(options or ("--after-cutoff",)), "--no-judge", "--json")
        return {" ".join(filter(None, (row["model"], row["label"]))): row for row in ended.document["rows"]}


def judge(store: Store) -> None:
    """Give every program that says AC the verdict that it says, and the others a wrong answer."""
    with store.write() as session:
        environment = save_environment(session, EnvironmentRecord("e" * 64, "docker"), now=NOW)
        verdicts = [
            JudgementRecord(
                one.completion_id, one.suite_id, "accepted" if one.code == "AC" else "wrong_answer", [], NOW
            )
            for one in iter_pending(session, environment)
        ]
        save_judgements(session, environment, verdicts)
