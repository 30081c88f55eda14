"""``live audit runs`` at a terminal, and what other audits do about a broken month."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.live.command import DEMO, Live

MONTHS, ROUNDS = ("2024-01", "2024-02", "2024-03", "2024-04"), 12


def test_a_whole_board_is_sound(board_live: Live) -> None:
    ended = board_live("audit", "runs")
    assert ended.code == 0
    assert "10 runs are imported results: their answers are not in the store" in ended.out
    document = board_live("audit", "runs", "m0", "m1", "--json").document
    assert {row["model"] for row in document["months"]} == {"m0", "m1"}
    assert not any(row["withheld"] for row in document["months"])


def test_nothing_in_the_window(board_live: Live) -> None:
    assert board_live("audit", "runs", "--since", "2030").code == 3
    assert board_live("audit", "runs", "gpt-4o-2024-05-13").code == 3


def test_answers_of_programs_are_counted(demo_live: Live) -> None:
    document = demo_live("audit", "runs", "--json").document
    assert all(row["counts"]["asked"] > 0 for row in document["answers"])
    assert all(row["failed"] == 0 for row in document["answers"])  # nothing has been judged yet


@pytest.fixture
def broken(live: Live, board_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Live:
    """Six models that solve most easy problems of four months, and m5 none of March's."""
    monkeypatch.setenv("LIVE_MODELS", str(board_folder / "models.toml"))
    problems, results = [], []
    for month in MONTHS:
        for number in range(ROUNDS):
            name, starts = f"{month}-{number}", f"{month}-{1 + 2 * number:02}T12:00:00+00:00"
            problems.append(
                {
                    "platform": ("atcoder", "leetcode")[number % 4 == 3],
                    "id": name,
                    "title": name,
                    "contest": {"id": name, "starts_at": starts},
                    "released": starts,
                    "difficulty": "easy",
                    "statement": f"Problem {name}.",
                }
            )
            results += [
                {
                    "platform": problems[-1]["platform"],
                    "id": name,
                    "model": f"m{place}",
                    "n_samples": 10,
                    "n_correct": 0 if (place, month) == (5, "2024-03") else 6 + (number + place) % 4,
                }
                for place in range(6)
            ]
    for name, rows in (("problems", problems), ("results", results)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        assert live("import", name, path, "--format", "jsonl").code == 0
    return live


def test_a_broken_month_is_an_error_and_says_what_to_do(broken: Live) -> None:
    ended = broken("audit", "runs")
    assert ended.code == 1
    said = " ".join(ended.out.split())
    assert "24 months of runs were judged; shown: the 1 with |z| > 3" in said
    assert "m5: results of 2024-03 should not be used: fewer easy problems solved" in said
    assert "ask whoever published them" in said
    assert "no month can be judged" not in said
    assert broken("audit", "runs", "m5").code == 1
    assert broken("audit", "runs", "m1").code == 0


def test_composition_and_difficulty_leave_a_broken_month_out_by_name(broken: Live) -> None:
    """On one platform alone too, where its month has too few easy problems to be judged."""
    asked = ["audit", "composition", "--before", "..2024-02", "--after", "2024-03..", "m5"]
    ended = broken(*asked)
    assert "left out: results of m5 in 2024-03 (broken run: z -" in ended.out
    (row,) = broken(*asked, "--json").document["rows"]
    assert (row["n_before"], row["n_after"]) == (24, 12)
    assert abs(row["total"]["value"]) < 0.1
    few = broken("audit", "runs", "m5", "--platform", "leetcode", "--json").document["months"]
    assert all(month["z"] is None for month in few)
    assert "left out: results of m5 in 2024-03" in broken(*asked, "--platform", "leetcode").out
    conditions = broken("audit", "difficulty", "--json").document["conditions"]
    assert any(line.startswith("left out: m5: results of 2024-03") for line in conditions)


def test_a_broken_month_is_named_where_a_table_rests_on_it_and_nowhere_else(broken: Live) -> None:
    said = "m5: results of 2024-03 look broken"
    march = broken("eval", "m5", "--since", "2024-02", "--json").document["notes"]
    assert any(note.startswith(said) for note in march)
    for window in (["--until", "2024-02"], ["--since", "2024-04"]):
        assert not any(said in note for note in broken("eval", "m5", *window, "--json").document["notes"])


def test_answers_are_counted_by_the_rule_that_found_a_program(demo_live: Live, tmp_path: Path) -> None:
    problem = json.loads((DEMO / "problems.jsonl").read_text(encoding="utf-8").splitlines()[0])
    outputs = ["```python\nprint(input())\n```\nTest:\n```python\nprint(3)\n```\n", "No."]
    rows = [{"platform": problem["platform"], "id": problem["id"], "output": output} for output in outputs]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    imported = demo_live("import", "solutions", path, "--format", "jsonl", "--model", "demo-steady", "--run", "asked")
    assert imported.code == 0, imported.err
    ended = demo_live("audit", "runs")
    assert "Answers by rule" in ended.out
    assert "reads input and writes output" in " ".join(ended.out.split())
    document = demo_live("audit", "runs", "--json").document
    assert [row["rules"] for row in document["answers"] if row["rules"]] == [
        [
            {"status": "no_code", "rule": "no_block", "answers": 1},
            {"status": "ok", "rule": "whole_block", "answers": 1},
        ]
    ]
