"""``live tests``: building, listing and showing made tests, and what is said where there are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from db.engine import open_store
from db.identity import problem_ids
from db.made_suites import list_made_suites
from db.problems import list_problems
from db.records import ProblemKey, ProgramRole, ReferenceRecord
from db.references import save_references
from live.commands.judge import JudgingOptions
from live.errors import KEPT
from live.session import Session
from sandbox import Verdict
from tests.eval.made_tests.fake_runner import Answer, Exit
from tests.eval.made_tests.sums import FUNCTIONS, SAMPLES, STATEMENT, FakeMachine, row
from tests.ingest.reading import write_rows
from tests.live.command import Ended, Live

HIDDEN = {"input": "2\n4 5\n", "expected": "9\n", "origin": "official"}
UNTOLD = STATEMENT.replace("- All values", "- $A$ is beautiful.\n- All values")
MODELS = {"oak-1": "Oak", "oak-2": "Oak", "elm": "Elm", "ash": "Ash"}


def valid(text: bytes) -> Answer:
    return Exit(42)


def invalid(text: bytes) -> Answer:
    return Exit(43, "N must be even")


def generator(text: bytes) -> Answer:
    seed, number, _ = map(int, text.split())
    return b"%d\n%s\n" % (number + 2, b" ".join([b"%d" % (seed + number)] * (number + 2)))


def never_ends(text: bytes) -> Answer:
    return Verdict.TIME_LIMIT


def writes_on(text: bytes) -> Answer:
    return Verdict.OUTPUT_LIMIT


PROGRAMS: dict[str, Callable[[bytes], Answer]] = FUNCTIONS | {
    "valid": valid,
    "invalid": invalid,
    "generator": generator,
    "never ends": never_ends,
    "writes on": writes_on,
}


def entry(model: str, provider: str) -> str:
    """A model as a file of models has it."""
    return f"""\
[[model]]
name = "{model}"
provider = "{provider}"

[[model.claim]]
kind = "training_data"
cutoff = "2025-06"
by = "{provider}"
source = "https://example.org/{model}"
looked_up = 2026-01-15
"""


@pytest.fixture
def machine() -> FakeMachine:
    """What programs run on in place of a sandbox."""
    return FakeMachine(PROGRAMS)


@pytest.fixture
def testing(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: FakeMachine) -> Live:
    """The command with four models of three families, and programs that are functions of this process."""

    def open_judge(options: JudgingOptions, session: Session) -> AbstractContextManager[FakeMachine]:
        return nullcontext(machine)

    monkeypatch.setattr(JudgingOptions, "open_judge", open_judge)
    entries = [entry(model, provider) for model, provider in MODELS.items()]
    (tmp_path / "models.toml").write_text("\n".join(entries), encoding="utf-8")
    monkeypatch.setenv("LIVE_MODELS", str(tmp_path / "models.toml"))
    return live


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A function after which opening a sandbox is an error."""

    def refuse(options: JudgingOptions, session: Session) -> None:
        raise AssertionError("a sandbox was to be opened")

    return lambda: monkeypatch.setattr(JudgingOptions, "open_judge", refuse)


def give(live: Live, folder: Path, *rows: dict[str, Any]) -> None:
    assert live("import", "problems", write_rows(folder / "rows.jsonl", list(rows)), "--format", "jsonl").code == 0


def answer(live: Live, folder: Path, model: str, code: str, *problems: str) -> None:
    path = folder / f"{model}.jsonl"
    path.write_text("".join(json.dumps({"id": name, "code": code}) + "\n" for name in problems), encoding="utf-8")
    assert live("import", "solutions", path, "--format", "jsonl", "--model", model).code == 0


def refer(folder: Path, native_id: str, *, language: str = "cpp17", **roles: str) -> None:
    """Give a problem programs by their role; a program of one line is called by its text."""
    key = ProblemKey("nova", native_id)
    records = [
        ReferenceRecord(role if "\n" in code else code, language, code, ProgramRole(role))
        for role, code in roles.items()
    ]
    with open_store(str(folder / "store.db")) as store, store.write() as session:
        save_references(session, problem_ids(session, [key])[key], records, source="user")


def state(folder: Path) -> list[tuple[int | None, int, tuple[tuple[str, str], ...]]]:
    """The current suite of each problem, how many suites were made for all, and the flags."""
    with open_store(str(folder / "store.db"), reading=True) as store, store.read() as session:
        n_made = len(list_made_suites(session))
        return [(one.suite_id, n_made, one.flags) for one in list_problems(session)]


def build(live: Live, *words: str) -> Ended:
    return live("tests", "build", *words, "--inputs", "24")


def test_a_store_without_made_tests_says_so(testing: Live, tmp_path: Path) -> None:
    give(testing, tmp_path, row())
    listed = testing("tests", "list")
    assert (listed.code, listed.out) == (0, "")
    assert "live tests build" in listed.err


def test_a_problem_is_built_listed_and_shown(testing: Live, tmp_path: Path) -> None:
    give(testing, tmp_path, row())
    refer(tmp_path, "sum", accepted="right", wrong="in 32 bits")
    answer(testing, tmp_path, "elm", "first hundred", "sum")
    done = build(testing, "sum")
    assert done.code == 0
    line = done.err.splitlines()[0]
    assert line.startswith(
        "nova:sum: 24 made tests, decided by 1 reference; they fail 1 of 1 wrong programs; time limit 1 s; "
    )
    assert done.err.splitlines()[-1] == "1 answer of 1 run waits for judgement: live judge"
    (listed,) = testing("tests", "list", "--json").document
    assert (listed["problem"], listed["n_made"], listed["n_tests"]) == ("nova:sum", 24, 26)
    assert (listed["decided_by"], listed["is_current"], listed["is_older"]) == ("1 reference", True, False)
    # 1 of 1 killed: by Wilson 1 / (1 + 1.96^2)
    assert listed["kill_rate_low"] == pytest.approx(1 / (1 + 1.959964**2), rel=1e-5)
    table = testing("tests", "list").out
    assert "1/1 (21–100 %)" in table
    assert table.splitlines()[1].endswith("current")
    shown = testing("tests", "show", "sum").out.splitlines()
    assert shown[0].startswith("nova:sum: 24 made tests after 2 samples, made on ")
    assert "inputs: 24 from the statement's constraints and input format" in shown
    assert "  right (given): agreed 24 times, at most 0.010 s" in shown
    assert "wrong programs that fail: 1/1 (21–100 %)" in shown
    assert "right programs that fail: 0 of 1" in shown
    assert any(one.startswith("time limit 1 s: 5 x ") and "python-loop-1: 0.100 s" in one for one in shown)
    assert any(one.startswith("made through fake, environment ") for one in shown)
    whole = testing("tests", "show", "sum", "--json").document
    assert len(whole["details"]["tests"]) == 24
    assert whole["suite"]["suite_digest"] == listed["suite_digest"]
    (problem,) = testing("problems", "list", "--json").document
    assert (problem["hidden_origins"], problem["samples_only"]) == (["generated"], False)
    assert "26 (made)" in testing("problems", "list").out
    assert "hidden_origins: generated" in testing("problems", "show", "sum").out.splitlines()


def test_twice_changes_nothing(testing: Live, tmp_path: Path, no_sandbox: Callable[[], None]) -> None:
    give(testing, tmp_path, row(), row("other"))
    for name in ("sum", "other"):
        refer(tmp_path, name, accepted="right")
    assert len(build(testing, "--json").document["made"]) == 2
    before = state(tmp_path)
    no_sandbox()
    named, unnamed = build(testing, "sum", "other"), build(testing)
    assert (named.code, unnamed.code) == (0, 0)
    assert named.err.splitlines()[:2] == ["nova:sum: unchanged", "nova:other: unchanged"]
    assert unnamed.err.splitlines() == [unnamed.err.splitlines()[0]]
    assert unnamed.err.endswith("2 unchanged, 0 got none\n")
    assert state(tmp_path) == before


def test_models_decide_where_no_reference_is(testing: Live, tmp_path: Path) -> None:
    give(testing, tmp_path, row())
    for model, code in {"oak-1": "right", "oak-2": "right too", "elm": "right again"}.items():
        answer(testing, tmp_path, model, code, "sum")
    document = build(testing, "sum", "--json").document
    (made,) = document["made"]
    assert made["decided_by"] == "3 models of 2 families"
    assert (document["n_answers_waiting"], document["n_runs_waiting"]) == (3, 3)


BAD: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "contradictory constraints": (
        row(statement=STATEMENT.replace("N \\leq 1000", "N \\leq 0")),
        {"accepted": "right"},
        "the inferred shape refuses sample 1: N <= 0 does not hold: 3 <= 0 is wrong",
    ),
    "a validator that refuses the samples": (
        row(),
        {"accepted": "right", "validator": "invalid"},
        "validator invalid refuses sample 1: N must be even",
    ),
    "references that all fail": (
        row(),
        {"accepted": "no negatives"},
        "no reference passes the samples: no negatives gets token 1: expected '-5', got '5'",
    ),
    "a generator that never ends": (
        row(statement=UNTOLD),
        {"accepted": "right", "validator": "valid", "generator": "never ends"},
        "generator never ends does not end within 10 s",
    ),
    "a generator that writes on and on": (
        row(statement=UNTOLD),
        {"accepted": "right", "validator": "valid", "generator": "writes on"},
        "generator writes on writes more than 8,388,608 bytes",
    ),
    "a sentence that is not understood": (
        row(statement=UNTOLD),
        {"accepted": "right"},
        "the statement's input was not understood: $A$ is beautiful.",
    ),
    "nobody who knows": (
        row(),
        {},
        "nobody can say what is right: no reference and no completion is known",
    ),
    "no sample": (row(tests=[HIDDEN]), {"accepted": "right"}, "no sample is in the store"),
    "no test at all": (row(tests=[]), {"accepted": "right"}, "no sample is in the store"),
    "no statement": (row(statement=""), {"accepted": "right"}, "no statement is in the store"),
    "an interactive problem": (
        row(flags=[{"name": "interactive", "reason": "talks to a judge"}]),
        {"accepted": "right"},
        "it is flagged interactive: talks to a judge",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_the_problem_stays_as_it_was(testing: Live, tmp_path: Path, case: str) -> None:
    problem, roles, message = BAD[case]
    give(testing, tmp_path, problem)
    refer(tmp_path, "sum", **roles)
    before = state(tmp_path)
    ended = build(testing, "sum")
    assert ended.code == 1
    first, hint, last = ended.err.splitlines()
    assert first.startswith(f"nova:sum: {message}")
    assert hint.startswith("  what to do: ")
    assert last.startswith("made tests for 0 problems in ")
    assert ended.out == ""
    assert state(tmp_path) == before
    (refused,) = build(testing, "sum", "--json").document["refused"]
    assert first == f"nova:sum: {refused['reason']}"


def test_a_shape_that_explodes_is_kept_small_and_that_is_said(testing: Live, tmp_path: Path) -> None:
    """N up to 10^18 numbers: no input has more than programs can be asked to read."""
    give(testing, tmp_path, row(statement=STATEMENT.replace("1000", "10^{18}")))
    refer(tmp_path, "sum", accepted="right")
    assert build(testing, "sum").code == 0
    shown = testing("tests", "show", "sum")
    assert "  the statement allows larger inputs than were drawn" in shown.out.splitlines()
    whole = testing("tests", "show", "sum", "--json").document
    assert sum(one["input_bytes"] for one in whole["details"]["tests"]) < 40_000_000


def test_a_generator_stands_in_for_a_statement(testing: Live, tmp_path: Path) -> None:
    give(testing, tmp_path, row(statement=UNTOLD))
    refer(tmp_path, "sum", accepted="right", validator="valid", generator="generator")
    assert build(testing, "sum").code == 0
    shown = testing("tests", "show", "sum").out.splitlines()
    assert "inputs: 24 from the generator generator, checked by valid" in shown


def test_refusals_are_counted_where_no_problem_is_named(testing: Live, tmp_path: Path) -> None:
    give(testing, tmp_path, row(), row("untold", statement=UNTOLD), row("alone"), row("forlorn"))
    refer(tmp_path, "sum", accepted="right")
    ended = build(testing)
    assert ended.code == 0  # tests were made for one
    lines = ended.err.splitlines()
    assert "2 problems without tests: nobody can say what is right" in lines
    assert "1 problem without tests: the statement's input was not understood" in lines
    assert sum(one.startswith("  what to do: ") for one in lines) == 2  # each hint once
    assert not any(one.startswith("nova:alone") for one in lines)
    listed = build(testing, "-v").err.splitlines()
    assert any(one.startswith("nova:alone: nobody can say what is right") for one in listed)
    assert "nova:sum: unchanged" in listed
    quiet = testing("-q", "tests", "build", "untold")
    assert (quiet.code, quiet.err.splitlines()[0].partition(":")[0]) == (1, "nova")


def test_where_none_gets_tests_the_exit_code_says_so(testing: Live, tmp_path: Path) -> None:
    give(testing, tmp_path, row("untold", statement=UNTOLD))
    assert build(testing).code == 1
    assert testing("tests", "build", "--platform", "nova", "--until", "2026-01").code == 0  # nothing to do


def test_which_problems_are_meant(testing: Live, tmp_path: Path) -> None:
    give(testing, tmp_path, row(), row("whole", tests=[*SAMPLES, HIDDEN]), row("late", released="2026-03-01"))
    for name in ("sum", "whole", "late"):
        refer(tmp_path, name, accepted="right")
    made = build(testing, "--json").document["made"]
    assert [one["problem"] for one in made] == ["nova:late", "nova:sum"]
    whole = build(testing, "whole")
    assert whole.code == 0
    assert whole.err.splitlines()[0].endswith("; tests from elsewhere stay what it is judged by")
    assert [one["is_current"] for one in testing("tests", "list", "--json").document] == [True, True, False]
    assert "tests from elsewhere count" in testing("tests", "list").out
    assert [one["problem"] for one in build(testing, "--since", "2026-03", "--json").document["unchanged"]] == [
        "nova:late"
    ]
    assert len(build(testing, "--all", "--json").document["unchanged"]) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nobody"], "no problem nobody in the store"),
        (["sum", "--platform", "nova"], "named problems are made tests for whatever their platform and date"),
        (["--platform", "nowa"], 'no problem is of the platform "nowa"; there is nova'),
        (["--since", "soon"], "--since: "),
        (["--since", "2026-03", "--until", "2026-01"], "the window would end at 2026-02-01T00:00:00+00:00, not after"),
    ],
)
def test_bad_options_are_named(testing: Live, tmp_path: Path, words: list[str], message: str) -> None:
    give(testing, tmp_path, row())
    ended = testing("tests", "build", *words)
    assert ended.code == 2
    assert message in ended.err


def test_a_dry_run_says_what_is_understood_and_runs_nothing(
    testing: Live, tmp_path: Path, no_sandbox: Callable[[], None]
) -> None:
    no_sandbox()
    give(testing, tmp_path, row(), row("untold", statement=UNTOLD))
    refer(tmp_path, "sum", accepted="right")
    before = state(tmp_path)
    ended = testing("tests", "build", "--dry-run")
    assert ended.code == 0
    heading, counts, refused = ended.out.splitlines()
    assert heading.split()[:2] == ["platform", "problems"]
    assert counts.split() == ["nova", "2", "1", "(50.0", "%)", "0", "1"]
    assert refused == "1 without: the statement's input was not understood"
    named = testing("tests", "build", "sum", "untold", "--dry-run")
    assert named.code == 1
    assert named.out.splitlines()[:2] == [
        "nova:sum: inputs from the statement's constraints and input format; 1 reference can decide",
        "nova:untold: the statement's input was not understood: $A$ is beautiful.",
    ]
    listed = testing("tests", "build", "--dry-run", "-v")
    assert listed.code == 0
    assert listed.out.splitlines()[:2] == named.out.splitlines()[:2]
    document = testing("tests", "build", "--dry-run", "--json").document
    assert document["platforms"] == {"nova": {"n": 2, "n_grammar": 1, "n_generator": 0, "n_decided": 1}}
    assert [one["has_grammar"] for one in document["problems"]] == [True, False]
    assert state(tmp_path) == before


def test_show_says_why_there_is_none(testing: Live, tmp_path: Path, no_sandbox: Callable[[], None]) -> None:
    no_sandbox()
    give(testing, tmp_path, row(), row("untold", statement=UNTOLD))
    untold = testing("tests", "show", "untold")
    assert untold.code == 0
    assert untold.out.splitlines()[0] == "nova:untold: the statement's input was not understood: $A$ is beautiful."
    assert testing("tests", "show", "untold", "--json").document["why_none"].endswith("$A$ is beautiful.")
    assert "too few to decide" in testing("tests", "show", "sum").out
    refer(tmp_path, "sum", accepted="right")
    assert testing("tests", "show", "sum").out.splitlines()[-1] == "  what to do: live tests build nova:sum"


def test_references_that_differ_are_flagged_and_in_the_audit(testing: Live, tmp_path: Path) -> None:
    give(testing, tmp_path, row(), row("other"))
    refer(tmp_path, "sum", accepted="right", brute_force="in 32 bits")
    refer(tmp_path, "other", accepted="right")
    answer(testing, tmp_path, "oak-1", "right", "sum", "other")
    done = build(testing, "sum", "other")
    assert "; flagged references_disagree: the brute force in 32 bits gives another answer" in done.err
    assert "flag references_disagree: " in testing("tests", "show", "sum").out
    (scored,) = testing("eval", "--since", "2026-01", "--no-judge", "--json").document["rows"]
    assert scored["left_out"]["references disagree"] == 1
    found = testing("audit", "problems", "--json").document["findings"]
    assert [(one["problem"], one["signal"], one["command"]) for one in found] == [
        ("nova:sum", "references disagree", None)
    ]
    assert testing("problems", "unflag", "sum", "references_disagree").code == 0
    assert testing("audit", "problems", "--json").document["findings"] == []


def test_an_interruption_keeps_what_is_done(testing: Live, tmp_path: Path, machine: FakeMachine) -> None:
    give(testing, tmp_path, row(), row("late", released="2026-03-01"))
    refer(tmp_path, "late", accepted="right")
    refer(tmp_path, "sum", accepted="right too")
    machine.interrupted_by = "right too"
    ended = build(testing)
    assert ended.code == 130
    assert ended.err.splitlines()[-1] == KEPT
    assert [one["problem"] for one in testing("tests", "list", "--json").document] == ["nova:late"]
    machine.interrupted_by = None
    document = build(testing, "--json").document
    assert ([one["problem"] for one in document["made"]], len(document["unchanged"])) == (["nova:sum"], 1)
