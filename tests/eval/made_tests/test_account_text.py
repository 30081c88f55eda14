"""The account of made tests in words: who decided, what was set aside, and what the tests are worth."""

from __future__ import annotations

from typing import Any

import pytest

from db.records import MadeStrength
from eval.made_tests.account_text import account_lines, decided_by, kills, rate, set_aside


def voter(name: str, kind: str, n_agreed: int, **more: Any) -> dict[str, Any]:
    """A voter as an account has it."""
    plain = {"model": None, "family": None, "is_under_evaluation": False, "passes_samples": True}
    counts = {"n_agreed": n_agreed, "n_differed": 0, "n_failed": 0, "slowest_cpu_s": 0.25}
    return {"name": name, "kind": kind} | plain | counts | more


COMPLETIONS = [
    voter("oak-1 #0", "completion", 40, model="oak-1", family="oak"),
    voter("oak-1 #3", "completion", 38, model="oak-1", family="oak", n_differed=2),
    voter("elm #0", "completion", 40, model="elm"),
    voter("ash #0", "completion", 0, model="ash", family="ash", n_failed=40, slowest_cpu_s=None),
    voter("slow.py", "brute force", 12),
]


def test_who_decided() -> None:
    """Those who agreed on nothing decided nothing, and a brute force only checks."""
    assert decided_by({"decided_by": "completions", "voters": COMPLETIONS}) == "2 models of 2 families"
    references = [voter("a.py", "official", 40), voter("b.py", "given", 0), COMPLETIONS[-1]]
    assert decided_by({"decided_by": "references", "voters": references}) == "1 reference"


@pytest.mark.parametrize(
    ("strength", "expected"),
    [
        (MadeStrength(), "no wrong program to measure them by"),
        (MadeStrength(3, 2, 1, 0, 16, 12), "they fail 2 of 3 wrong programs, 0 of 1 too slow ones, 12 of 16 mutants"),
        (
            MadeStrength(n_mutants=4, n_mutants_killed=4, n_right=5, n_right_killed=1),
            "they fail 4 of 4 mutants, and 1 of 5 right programs contradicted some",
        ),
    ],
)
def test_what_the_tests_do(strength: MadeStrength, expected: str) -> None:
    assert kills(strength) == expected


def test_a_rate_has_its_wilson_interval() -> None:
    """Newcombe (1998), table I: 15 of 148 gives 0.0624 to 0.1605; 0 of 20 gives 0 to 0.1611."""
    assert rate(15, 148) == "15/148 (6–16 %)"
    assert rate(0, 20) == "0/20 (0–16 %)"
    assert rate(0, 0) == "–"


def test_what_was_set_aside() -> None:
    assert set_aside({"set_aside": {"counts": {"no_quorum": 2, "several_answers": 1}}}) == (
        "3 set aside (2 no quorum, 1 several answers)"
    )
    assert set_aside({"set_aside": {"counts": {}}}) == ""


def test_the_whole_account() -> None:
    details = {
        "inputs": {
            "from": "the statement's constraints and input format",
            "validator": "check.py",
            "n": 41,
            "n_refused": 3,
            "has_every_input": False,
            "is_capped": True,
            "not_drawn": {"cliques": "edges without a cycle"},
            "extremes": [{"bound": "1 <= N", "n_inputs": 2}, {"bound": "N <= 10^5", "n_inputs": 0}],
        },
        "decided_by": "completions",
        "voters": COMPLETIONS,
        "set_aside": {
            "counts": {"no_quorum": 1},
            "findings": [{"kind": "no_quorum", "sentence": "only 2 models agree", "programs": [], "input": 6}],
            "refused": ["N must be even"],
        },
        "time_limit": {"sentence": "time limit 2 s: 5 x 0.250 s of oak-1 #0"},
        "strength": {
            "n_wrong_failing_samples": 4,
            "survivors": [f"p{number}" for number in range(12)],
            "slow_survivors": [],
            "maybe_equal": [],
            "minimal": ["made-001", "made-009"],
        },
        "environment": {"executor": "docker", "digest": "0123456789abcdef"},
        "not_run": [{"name": "a.ml", "needs": "ocaml"}],
        "tests": [
            {
                "name": "made-001-least",
                "input_bytes": 1,
                "n_voters": 2,
                "slowest_cpu_s": 0.01,
                "kills_alone": ["p13"],
            }
        ],
    }
    assert list(account_lines(details, MadeStrength(n_wrong=14, n_wrong_killed=2, n_right=3))) == [
        "inputs: 41 from the statement's constraints and input format, checked by check.py, 3 more were refused",
        "  the statement allows larger inputs than were drawn",
        "  extremes reached: 1 of 2",
        "    1 <= N: 2 inputs",
        "    not reached: N <= 10^5",
        "  not drawn: cliques: edges without a cycle",
        "expected outputs by 2 models of 2 families",
        "  oak-1 #0 (family oak): agreed 40 times, at most 0.250 s",
        "  oak-1 #3 (family oak): agreed 38 times, answered otherwise 2 times, at most 0.250 s",
        "  elm #0 (completion): agreed 40 times, at most 0.250 s",
        "  ash #0 (family ash): agreed 0 times, failed 40 times",
        "  slow.py (brute force): agreed 12 times, at most 0.250 s",
        "1 set aside (1 no quorum)",
        "  input 7: only 2 models agree",
        "  refused: N must be even",
        "time limit 2 s: 5 x 0.250 s of oak-1 #0",
        "wrong programs that fail: 2/14 (4–40 %)",
        "too slow programs that fail: there are none",
        "mutants of right programs that fail: there are none",
        "right programs that fail: 0 of 3",
        "not counted, since the samples alone fail them: 4",
        "wrong programs that pass: p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 and 2 more",
        "as strong are 2 tests: made-001, made-009",
        "made through docker, environment 0123456789ab",
        "not run: a.ml, which needs ocaml",
        "tests:",
        "  made-001-least: 1 byte, 2 voters, 0.010 s, alone fails p13",
    ]


def test_an_account_of_another_version_is_shown_as_far_as_it_goes() -> None:
    assert list(account_lines({}, MadeStrength())) == [
        "wrong programs that fail: there are none",
        "too slow programs that fail: there are none",
        "mutants of right programs that fail: there are none",
        "right programs that fail: 0 of 0",
    ]
