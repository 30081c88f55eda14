"""``live audit problems`` at a terminal, and the command that it hands to a maintainer."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime
from pathlib import Path

from db.engine import open_store
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from tests.live.command import Live

NOW = datetime(2026, 3, 10, tzinfo=UTC)
STATEMENTS = {
    "any": "Find two numbers. If there are multiple solutions, you may print any of them.",
    "plain": "Print the sum of two numbers.",
    "exact": "Print the root. Your answer is right if its absolute or relative error is at most 1e-6.",
}


def add_problems(live: Live, folder: Path) -> None:
    rows = [
        {
            "platform": "atcoder",
            "id": name,
            "title": name,
            "released": "2025-01-04",
            "difficulty": "easy",
            "statement": text,
            "tests": [{"input": "1\n", "expected": "2\n"}],
        }
        for name, text in STATEMENTS.items()
    ]
    path = folder / "problems.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert live("import", "problems", path, "-f", "jsonl").code == 0


def test_a_finding_comes_with_the_command_that_ends_it(live: Live, tmp_path: Path) -> None:
    add_problems(live, tmp_path)
    document = live("audit", "problems", "--json").document
    found = {finding["problem"]: finding for finding in document["findings"]}
    assert {name: finding["signal"] for name, finding in found.items()} == {
        "atcoder:any": "statement allows several answers",
        "atcoder:exact": "statement allows what the comparison does not",
    }
    assert live("problems", "show", "any").out.count("flag ") == 0, "the audit itself flags nothing"
    words = shlex.split(found["atcoder:any"]["command"])
    assert live(*words[1:]).code == 0
    again = live("audit", "problems", "--json").document
    assert [finding["problem"] for finding in again["findings"]] == ["atcoder:exact"]
    assert again["n_problems"] == 2
    with_flagged = live("audit", "problems", "--include-flagged", "--json").document["findings"]
    assert [(one["problem"], one["command"] is None) for one in with_flagged] == [
        ("atcoder:any", True),
        ("atcoder:exact", False),
    ]


def test_it_reads_what_judgements_keep_of_each_test(live: Live, tmp_path: Path) -> None:
    add_problems(live, tmp_path)
    models = tmp_path / "models.toml"
    models.write_text("".join(f'[[model]]\nname = "m{n}"\n' for n in range(4)), encoding="utf-8")
    for n in range(4):
        path = tmp_path / "answers.jsonl"
        path.write_text(json.dumps({"id": "plain", "code": f"print({n})"}) + "\n", encoding="utf-8")
        assert live("--models", models, "import", "solutions", path, "-f", "jsonl", "--model", f"m{n}").code == 0
    with open_store(str(tmp_path / "store.db")) as store, store.write() as session:
        environment = save_environment(session, EnvironmentRecord("e" * 64, "docker"), now=NOW)
        for one in iter_pending(session, environment):
            fact = {"name": "1", "verdict": "wrong_answer", "detail": "token 1: expected '2', got '3'"}
            record = JudgementRecord(one.completion_id, one.suite_id, "wrong_answer", [fact], NOW)
            save_judgements(session, environment, [record])
    document = live("--models", models, "audit", "problems", "--platform", "AtCoder", "--json").document
    assert (document["n_solutions"], document["groups"], document["group_unit"]) == (4, 4, "models")
    shown = live("--models", models, "audit", "problems", "--all").out
    assert "4 judged programs of 4 models" in " ".join(shown.split())


def test_an_invented_board_without_statements_that_allow_much(board_live: Live) -> None:
    ended = board_live("audit", "problems")
    assert ended.code == 0
    assert "Nothing was found" in ended.out
    assert "a finding is a reason to look" in " ".join(ended.out.split())
    assert board_live("audit", "problems", "--since", "2024-13").code == 2


def test_a_store_without_problems_has_none_to_look_at(live: Live) -> None:
    assert live("import", "problems", "/dev/null", "--format", "jsonl").code == 0
    assert live("audit", "problems").code == 3
