"""Two graders on the same solutions: both judge, neither's verdicts are taken for the other's."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.live.command import Live
from tests.live.test_commands import MODEL, PROBLEM, write_lines

EXECUTORS = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]
ADD = "print(sum(map(int, input().split())))\n"

# A thread that is still at work when the last statement is done: Python waits for it, LiveCodeBench's grader does not.
THREAD = """\
import threading, time
def work():
    time.sleep(0.5)
    print(sum(map(int, input().split())))
threading.Thread(target=work).start()
"""
OTHER_THREAD = THREAD.replace("work", "go_on")

# An exit code after the right output: a failed program, but not to LiveCodeBench's grader.
EXIT = ADD + "raise SystemExit(1)\n"

SOLUTIONS = [ADD, THREAD, OTHER_THREAD, EXIT, "print(4)\n"]
IN_NO_LANGUAGE = {"id": "n1", "sample": len(SOLUTIONS), "code": "main = 1", "language": "haskell"}

OURS = ["accepted", "accepted", "accepted", "runtime_error", "wrong_answer"]
THEIRS = ["accepted", "wrong_answer", "wrong_answer", "accepted", "wrong_answer"]
RUN = "nova-1 (import)"


@pytest.fixture
def nova(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Live:
    """The command with one problem and the solutions of one model."""
    monkeypatch.setenv("LIVE_MODELS", str(write_lines(tmp_path / "models.toml", MODEL)))
    assert live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM), "-f", "jsonl").code == 0
    rows = [{"id": "n1", "sample": index, "code": code} for index, code in enumerate(SOLUTIONS)]
    path = write_lines(tmp_path / "s.jsonl", *rows, IN_NO_LANGUAGE)
    assert live("import", "solutions", path, "-f", "jsonl", "--model", "nova-1").code == 0
    return live


def judgements(store: Path) -> list[tuple[Any, ...]]:
    """Every verdict that a store has, with where and when it was reached."""
    connection = sqlite3.connect(store)
    query = "SELECT completion_id, environment_id, verdict, judged_at FROM judgement ORDER BY 2, 1"
    rows = connection.execute(query).fetchall()
    connection.close()
    return rows


@pytest.mark.parametrize("executor", EXECUTORS)
def test_where_two_graders_disagree(nova: Live, tmp_path: Path, executor: str) -> None:
    ended = nova("judge", "--compare-graders", "--executor", executor)
    assert ended.code == 0
    assert [verdict for _, _, verdict, _ in judgements(tmp_path / "store.db")] == OURS + THEIRS
    *_, heading, row, first, second, third = ended.out.splitlines()
    assert heading.split() == ["model", "compared", "here", "LiveCodeBench", "here", "there", "compared"]
    # Of five, three are accepted here and two there; one more is in a language that nothing here has.
    assert row.removeprefix(RUN).split() == ["5", "60.0%", "40.0%", "2", "1", "1"]
    assert first.startswith(f"{RUN} nova:n1 #1: here accepted, there wrong_answer (")
    assert second.startswith(f"{RUN} nova:n1 #2: here accepted, there wrong_answer (")
    assert third.startswith(f"{RUN} nova:n1 #3: here runtime_error, there accepted (")
    assert "exit code 1" in third
    assert f"through {executor} by the rules of livecodebench" in ended.err
    assert "left alone: 1 solution that needs haskell" in ended.err


@pytest.mark.bubblewrap
def test_the_same_as_one_document_and_nothing_is_judged_twice(nova: Live, tmp_path: Path) -> None:
    words = ("judge", "--compare-graders", "--executor", "bubblewrap", "--json")
    first = nova(*words)
    assert (first.code, first.err) == (0, "")
    assert [report["n_judged"] for report in first.document["judged"]] == [5, 5]
    assert [report["grader"] for report in first.document["judged"]] == ["live", "livecodebench"]
    assert [report["missing"] for report in first.document["judged"]] == [{"haskell": 1}] * 2
    assert first.document["runs"] == [
        {
            "model": "nova-1",
            "label": "import",
            "n_solutions": 5,
            "n_both": 1,
            "n_only_ours": 2,
            "n_only_theirs": 1,
            "n_not_compared": 1,
            "our_share": 0.6,
            "their_share": 0.4,
        }
    ]
    found = {one["sample_index"]: (one["ours"], one["theirs"]) for one in first.document["disagreements"]}
    assert found == {1: ("accepted", "wrong_answer"), 2: ("accepted", "wrong_answer"), 3: ("runtime_error", "accepted")}
    before = judgements(tmp_path / "store.db")

    again = nova(*words)
    assert again.code == 0
    assert [report["n_judged"] for report in again.document["judged"]] == [0, 0]
    assert (again.document["runs"], again.document["disagreements"]) == (
        first.document["runs"],
        first.document["disagreements"],
    )
    assert judgements(tmp_path / "store.db") == before


@pytest.mark.bubblewrap
def test_the_other_graders_verdicts_are_never_taken_for_ours(nova: Live) -> None:
    assert nova("judge", "--grader", "livecodebench", "--executor", "bubblewrap").code == 0
    nothing = nova("eval", "--after-cutoff", "--no-judge", "--json")
    assert nothing.code == 3
    (row,) = nothing.document["rows"]
    assert (row["pass_at_1"], row["left_out"], nothing.document["environment_digest"]) == (
        None,
        {"not judged": 1},
        None,
    )

    assert nova("judge", "--executor", "bubblewrap").code == 0
    # Last of all the other grader judges one more: what is newest is still not what counts.
    more = write_lines(Path("more.jsonl"), {"id": "n1", "sample": 6, "code": "print(5)\n"})
    assert nova("import", "solutions", more, "-f", "jsonl", "--model", "nova-1").code == 0
    assert nova("judge", "--grader", "livecodebench", "--executor", "bubblewrap").code == 0
    ours = nova("eval", "--after-cutoff", "--no-judge", "--json").document
    theirs = nova("eval", "--after-cutoff", "--no-judge", "--grader", "livecodebench", "--json").document
    assert (ours["rows"][0]["pass_at_1"], ours["rows"][0]["n_samples"]) == (3 / 5, 5)
    assert theirs["rows"][0]["pass_at_1"] == pytest.approx(2 / 6)
    assert theirs["rows"][0]["n_samples"] == 6
    assert ours["environment_digest"] != theirs["environment_digest"]
    note = "judged by the rules of another grader: livecodebench"
    assert (note in ours["notes"], note in theirs["notes"]) == (False, True)
    assert note in nova("eval", "--after-cutoff", "--no-judge", "--grader", "livecodebench").out


@pytest.mark.bubblewrap
@pytest.mark.parametrize(("grader", "share"), [("live", 0.6), ("livecodebench", 0.4)])
def test_eval_judges_by_the_grader_that_it_is_told(nova: Live, grader: str, share: float) -> None:
    ended = nova("eval", "--after-cutoff", "--grader", grader, "--executor", "bubblewrap", "--json")
    assert (ended.code, ended.document["rows"][0]["pass_at_1"]) == (0, share)
    again = nova("eval", "--after-cutoff", "--grader", grader, "--executor", "bubblewrap", "--json")
    assert again.document["rows"][0]["environment_digest"] == ended.document["rows"][0]["environment_digest"]
    assert "nothing left to judge" in again.err


@pytest.mark.bubblewrap
def test_every_test_is_run_where_that_is_asked_for(nova: Live, tmp_path: Path) -> None:
    tests = [{"input": "2 1\n", "expected": "3\n"}, {"input": "1 1\n", "expected": "2\n"}]
    path = write_lines(tmp_path / "p.jsonl", {**PROBLEM, "tests": [*tests, *PROBLEM["tests"]]})
    assert nova("import", "problems", path, "-f", "jsonl").code == 0
    words = ("judge", "--executor", "bubblewrap", "--json")
    report = nova(*words, "--all-tests").document
    assert (report["n_judged"], report["n_tests"]) == (5, 5 * 3)
    assert report["verdicts"] == {"accepted": 3, "runtime_error": 1, "wrong_answer": 1}
    # Without it, the two that fail end at their first test; the verdicts that stand are not reached again.
    assert nova(*words).document["n_judged"] == 0
    path = write_lines(tmp_path / "p.jsonl", {**PROBLEM, "tests": tests})
    assert nova("import", "problems", path, "-f", "jsonl").code == 0
    report = nova(*words).document
    assert (report["n_judged"], report["n_tests"]) == (5, 3 * 2 + 2 * 1)


def test_the_other_grader_cannot_run_every_test(nova: Live) -> None:
    ended = nova("judge", "--grader", "livecodebench", "--all-tests")
    assert ended.code == 2
    assert "LiveCodeBench's grader ends at the first test that fails" in ended.err
    assert "leave out --all-tests" in ended.err


@pytest.mark.bubblewrap
def test_only_our_own_rules_say_that_a_problem_is_broken(nova: Live, tmp_path: Path) -> None:
    failing = {"name": "jury.py", "language": "python3", "code": "print(4)\n"}
    path = write_lines(tmp_path / "p.jsonl", {**PROBLEM, "references": [failing]})
    assert nova("import", "problems", path, "-f", "jsonl").code == 0
    by_others = nova("judge", "--grader", "livecodebench", "--executor", "bubblewrap")
    assert by_others.code == 0
    assert "reference" not in nova("problems", "show", "n1").out
    assert "is flagged" not in by_others.err

    ended = nova("eval", "--after-cutoff", "--executor", "bubblewrap", "--json")
    assert "nova:n1 is flagged and not scored: its solution jury.py gets wrong_answer (" in ended.err
    assert ended.code == 3
    (row,) = ended.document["rows"]
    assert (row["pass_at_1"], row["left_out"]) == (None, {"flagged: reference_fails": 1})
    assert "flag reference_fails, where it was judged last: its solution jury.py" in nova("problems", "show", "n1").out
    # What is taken out of scores is not judged first.
    assert len(judgements(tmp_path / "store.db")) == len(SOLUTIONS)


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS)
def test_interrupted_at_any_moment_it_goes_on_where_it_stopped(nova: Live, tmp_path: Path, executor: str) -> None:
    copies = 30
    reference = {"name": "jury.py", "language": "python3", "code": ADD}
    path = write_lines(tmp_path / "p.jsonl", {**PROBLEM, "references": [reference]})
    assert nova("import", "problems", path, "-f", "jsonl").code == 0
    rows = [
        {"id": "n1", "sample": 10 + 5 * copy + index, "code": f"{code}# copy {copy}\n"}
        for copy in range(copies)
        for index, code in enumerate(SOLUTIONS)
    ]
    path = write_lines(tmp_path / "more.jsonl", *rows)
    assert nova("import", "solutions", path, "-f", "jsonl", "--model", "nova-1").code == 0
    store = tmp_path / "store.db"
    command = [sys.executable, "-m", "live", "--db", str(store), "--quiet"]
    command += ["judge", "--compare-graders", "--executor", executor]
    seen: list[tuple[Any, ...]] = []
    n_interrupted = 0
    for wait_s in (1.5, 3.0, 6.0, 9.0):
        process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(wait_s)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate()
        if process.returncode == 130:
            n_interrupted += 1
            assert b"Traceback" not in said
        now = judgements(store)
        assert set(seen) <= set(now)  # nothing that was reached is lost, or reached again
        seen = now
    assert n_interrupted > 0
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wanted = (OURS + copies * OURS) + (THEIRS + copies * THEIRS)
    done = judgements(store)
    assert set(seen) <= set(done)
    assert [verdict for _, _, verdict, _ in done] == wanted
