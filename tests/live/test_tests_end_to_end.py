"""Made tests through the sandbox: from samples alone to a score, to an edition that says so, and the same elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from live.commands.judge import ExecutorName
from tests.eval.made_tests.sums import row
from tests.live.command import Ended, Live, runner
from tests.live.test_tests_commands import UNTOLD, entry, give, refer, state

pytestmark = pytest.mark.bubblewrap

SUM = "input()\nprint(sum(map(int, input().split())))\n"
TABLE = 'import sys\nprint({"3\\n1 2 3": 6, "1\\n-5": -5}.get(sys.stdin.read().strip(), 0))\n'
FIRST_HUNDRED = "input()\nprint(sum(list(map(int, input().split()))[:100]))\n"
QUADRATIC = """\
n, values = int(input()), list(map(int, input().split()))
total = 0
for place in range(n):
    for other in range(60 * n):
        total += values[place] * (other == 0)
print(total)
"""
VALID = "import sys\nsys.exit(42)\n"
WRITES_ON = "import sys\nwhile True:\n    sys.stdout.write('1 ' * 500000)\n"
MODELS = {"oak-1": "Oak", "elm": "Elm"}
RELEASED = ("--since", "2026-01")


@pytest.fixture
def ready(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Live:
    """The command with one problem that has samples alone, a model that solves it and one that has learnt these."""
    monkeypatch.setenv("LIVE_MODELS", str(tmp_path / "models.toml"))
    prepare(live, tmp_path)
    return live


def prepare(live: Live, folder: Path) -> None:
    text = "\n".join(entry(model, provider) for model, provider in MODELS.items())
    (folder / "models.toml").write_text(text, encoding="utf-8")
    give(live, folder, row())
    programs = {"accepted": SUM, "wrong": FIRST_HUNDRED, "too_slow": QUADRATIC}
    refer(folder, "sum", language="python3", **programs)
    for model, code in {"oak-1": SUM, "elm": TABLE}.items():
        path = folder / f"{model}.jsonl"
        path.write_text(json.dumps({"id": "sum", "code": code}) + "\n", encoding="utf-8")
        assert live("import", "solutions", path, "--format", "jsonl", "--model", model).code == 0


def build(live: Live, *words: str) -> Ended:
    return live("tests", "build", *words, "--executor", ExecutorName.BUBBLEWRAP)


def judge(live: Live) -> None:
    assert live("judge", "--executor", ExecutorName.BUBBLEWRAP).code == 0


def rows(live: Live) -> dict[str, dict[str, Any]]:
    """The rows of the table, by model."""
    return {one["model"]: one for one in live("eval", *RELEASED, "--no-judge", "--json").document["rows"]}


def test_samples_alone_then_made_tests_then_an_edition_that_says_so(ready: Live, tmp_path: Path) -> None:
    judge(ready)
    before = {model: (one["n_judged"], one["pass_at_1"], one["n_samples_only"]) for model, one in rows(ready).items()}
    assert before == {"oak-1": (0, None, 1), "elm": (0, None, 1)}
    assert ready("edition", "freeze", "before").code == 0
    made = build(ready, "--json").document
    (found,) = made["made"]
    strength = found["strength"]
    assert (strength["n_wrong"], strength["n_wrong_killed"]) == (1, 1)
    assert (strength["n_slow"], strength["n_slow_killed"]) == (1, 1)
    assert (strength["n_right"], strength["n_right_killed"]) == (1, 0)
    assert found["time_limit_s"] == 1.0
    assert (made["n_answers_waiting"], made["n_runs_waiting"]) == (2, 2)
    judge(ready)
    after = {model: (one["n_judged"], one["pass_at_1"], one["tests"]["n_made"]) for model, one in rows(ready).items()}
    assert after == {"oak-1": (1, 1.0, 1), "elm": (1, 0.0, 1)}
    assert ready("edition", "freeze", "after").code == 0
    lines = ready("edition", "diff", "before", "after").out.splitlines()
    assert "other tests: sample tests only -> made tests         1  nova:sum" in lines
    assert "nova:sum               2                    1                 0" in lines  # judged again, other results
    stored = state(tmp_path)
    again = build(ready, "sum")
    assert again.err.splitlines()[0] == "nova:sum: unchanged"
    assert state(tmp_path) == stored


def test_the_same_seed_makes_the_same_suite_in_another_store(
    ready: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = build(ready, "--json").document["made"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = runner(monkeypatch, capsys, elsewhere)
    monkeypatch.setenv("LIVE_MODELS", str(elsewhere / "models.toml"))
    prepare(other, elsewhere)
    second = build(other, "--json").document["made"]
    assert (first[0]["suite_digest"], first[0]["recipe"]) == (second[0]["suite_digest"], second[0]["recipe"])


def test_a_generator_that_writes_a_gigabyte(live: Live, tmp_path: Path) -> None:
    give(live, tmp_path, row(statement=UNTOLD))
    refer(tmp_path, "sum", language="python3", accepted=SUM, validator=VALID, generator=WRITES_ON)
    before = state(tmp_path)
    ended = build(live, "sum")
    assert ended.code == 1
    assert ended.err.splitlines()[0].endswith(" writes more than 8,388,608 bytes")
    assert state(tmp_path) == before
