"""``live judge``: what it says of what was judged, and of what was not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from eval.judging import JudgingReport
from eval.references import ReferenceReport
from live.commands.judge import say_faults, say_judged, say_references
from live.session import Session
from sandbox import Counters, Grader, Judge
from tests.live.command import Live
from tests.live.test_commands import MODEL, PROBLEM, write_lines

ADD = "print(sum(map(int, input().split())))\n"
EXECUTORS = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]


def report(**changes: Any) -> JudgingReport:
    values: dict[str, Any] = {"verdicts": {}, "n_programs": 0, "n_tests": 0, "seconds": 2.0, "missing": {}}
    return JudgingReport(**(values | {"counters": Counters()} | changes))


def a_judge(grader: Grader = Grader.LIVE, counters: Counters | None = None) -> Judge:
    environment = SimpleNamespace(executor="docker")
    return cast("Judge", SimpleNamespace(grader=grader, environment=environment, counters=counters or Counters()))


@pytest.fixture
def session() -> Session:
    return Session(db=None, models=None, quiet=False)


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_what_was_judged(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    found = report(verdicts={"wrong_answer": 2, "accepted": 3, "internal_error": 1}, n_programs=4, n_tests=9)
    say_judged(session, found, a_judge())
    assert said(capsys) == [
        "judged 5 solutions (4 different programs, 9 tests) in 2.0 s through docker (2.5 solutions/s, 4 tests/s): "
        "accepted 3, internal_error 1, wrong_answer 2",
        "1 met an internal error of the judge; judge again to retry them",
    ]
    say_judged(session, report(verdicts={"accepted": 1}, n_programs=1, n_tests=1), a_judge(Grader.LIVECODEBENCH))
    assert said(capsys) == [
        "judged 1 solution (1 different program, 1 test) in 2.0 s through docker by the rules of livecodebench "
        "(0.5 solutions/s, 0 tests/s): accepted 1"
    ]
    say_judged(session, report(seconds=0.0), a_judge())
    assert said(capsys) == ["nothing left to judge through docker"]


def test_what_was_left_alone(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    say_judged(session, report(missing={"numpy": 3, "rust": 1, "[/cobol]\x1b[2J": 2}), a_judge())
    assert said(capsys) == [
        "nothing left to judge through docker",
        "left alone: 3 solutions that need numpy",
        "left alone: 1 solution that needs rust",
        "left alone: 2 solutions that need [/cobol] [2J",
        "live doctor shows what each executor has; make full-image builds the image that has it all",
    ]
    # No image has these.
    say_judged(session, report(missing={"haskell": 1, "what LiveCodeBench's grader does not have": 4}), a_judge())
    assert said(capsys)[1:] == [
        "left alone: 1 solution that needs haskell",
        "left alone: 4 solutions that need what LiveCodeBench's grader does not have",
    ]
    say_judged(session, report(missing={f"language {number}": 1 for number in range(50)}), a_judge())
    lines = said(capsys)
    assert (len(lines), lines[-1]) == (22, "… and 30 more")


def test_what_casts_doubt_on_verdicts(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    found = report(verdicts={"runtime_error": 4}, n_near_limit=2, missing_modules={"bar": 1, "foo": 3, "baz": 1})
    say_judged(session, found, a_judge())
    assert said(capsys)[1:] == [
        "2 programs came near to a limit of CPU time",
        "solutions that import a module that is not here: foo 3, bar 1, baz 1",
    ]


def test_rates() -> None:
    found = report(verdicts={"accepted": 3, "internal_error": 2}, n_tests=9, seconds=2.0)
    assert (found.solutions_per_s, found.tests_per_s) == (1.5, 4.5)
    assert (report(seconds=0.0).solutions_per_s, report(seconds=0.0).tests_per_s) == (0.0, 0.0)


def test_jails_that_broke(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    say_faults(session, a_judge())
    assert said(capsys) == []
    say_faults(session, a_judge(counters=Counters(jails_replaced=3, faults={"leftover": 1, "jail": 2})))
    say_faults(session, a_judge(counters=Counters(jails_replaced=1)))
    assert said(capsys) == ["3 jails replaced on the way (jail 2, leftover 1)", "1 jail replaced on the way"]


def test_what_reference_solutions_came_to(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    say_references(session, ReferenceReport(0, {}))
    assert said(capsys) == []
    say_references(session, ReferenceReport(3, {"nova:n1": "its solution [b] gets time_limit"}))
    assert said(capsys) == [
        "judged 3 reference solutions",
        "nova:n1 is flagged and not scored: its solution [b] gets time_limit",
    ]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_from_the_command_line(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str) -> None:
    monkeypatch.setenv("LIVE_MODELS", str(write_lines(tmp_path / "models.toml", MODEL)))
    references = [{"name": "jury.py", "language": "python3", "code": ADD}]
    broken = {**PROBLEM, "id": "n2", "tests": [{"input": "1 2\n", "expected": "4\n"}], "references": references}
    path = write_lines(tmp_path / "p.jsonl", {**PROBLEM, "references": references}, broken)
    assert live("import", "problems", path, "-f", "jsonl").code == 0
    rows = [{"id": "n1", "code": ADD}, {"id": "n1", "sample": 1, "code": "main = 1", "language": "[/haskell]"}]
    path = write_lines(tmp_path / "s.jsonl", *rows, {"id": "n2", "code": ADD})
    assert live("import", "solutions", path, "-f", "jsonl", "--model", "nova-1").code == 0

    ended = live("judge", "--executor", executor)
    assert (ended.code, ended.out) == (0, "")
    first, second, third, fourth = ended.err.splitlines()
    assert first == "judged 2 reference solutions"
    assert second.startswith("nova:n2 is flagged and not scored: its solution jury.py gets wrong_answer (")
    assert third.startswith("judged 2 solutions (2 different programs, 2 tests) in ")
    assert third.endswith(": accepted 1, wrong_answer 1")
    assert fourth == "left alone: 1 solution that needs [/haskell]"

    path = write_lines(tmp_path / "p.jsonl", {**broken, "tests": PROBLEM["tests"]})
    assert live("import", "problems", path, "-f", "jsonl").code == 0
    again = live("judge", "--executor", executor, "--json")
    assert (again.code, again.err) == (0, "")
    assert (again.document["n_judged"], again.document["missing"]) == (1, {"[/haskell]": 1})
    assert again.document["references"] == {"n_judged": 1, "flagged": {}}
    assert again.document["n_waiting"] == 1
    assert 0 < again.document["solutions_per_s"] == 1 / again.document["seconds"]
    assert again.document["tests_per_s"] == again.document["n_tests"] / again.document["seconds"]
    assert again.document["counters"]["jails_replaced"] == 0
    assert again.document["environment"]["executor"] == executor


@pytest.mark.docker
def test_what_another_image_can_judge_makes_it_incomplete(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIVE_MODELS", str(write_lines(tmp_path / "models.toml", MODEL)))
    assert live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM), "-f", "jsonl").code == 0
    rust = {"id": "n1", "code": "fn main() {}", "language": "rust"}
    path = write_lines(tmp_path / "s.jsonl", rust, {"id": "n1", "sample": 1, "code": ADD + "import nowhere\n"})
    assert live("import", "solutions", path, "-f", "jsonl", "--model", "nova-1").code == 0
    ended = live("judge", "--executor", "docker", "--image", "slim")
    assert ended.code == 1
    assert ended.err.splitlines()[1:] == [
        "solutions that import a module that is not here: nowhere 1",
        "left alone: 1 solution that needs rust",
        "live doctor shows what each executor has; make full-image builds the image that has it all",
    ]
    again = live("judge", "--executor", "docker", "--image", "slim", "--json")
    assert (again.code, again.document["n_judged"], again.document["missing"]) == (1, 0, {"rust": 1})
