"""The programs whose verdicts are known: they get them in every real jail, and a jail that errs is found out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sandbox import JailFault, Judge, Outcome, Program, SandboxUnavailable, Suite, Test, Verdict, canaries
from sandbox import judge as judging
from sandbox.canaries import Canary
from tests.sandbox.fake_jails import Answer, FakeLauncher

RIGHT, WRONG, CONFINED = canaries.QUICK


def known(program: Program, suite: Suite) -> Outcome:
    """What a judge without a fault says of a canary."""
    (canary,) = [one for one in canaries.THOROUGH if one.source == program.source]
    return Outcome(canary.verdict, ())


@pytest.mark.parametrize("canary", canaries.THOROUGH, ids=lambda canary: canary.name)
def test_each_gets_its_verdict(judge: Judge, canary: Canary) -> None:
    suite = Suite((Test(canary.name, b"1 2\n", b"3\n"),), limits=canary.limits)
    outcome = judge.judge(Program(canary.source), suite)
    assert (outcome.verdict, len(outcome.tests)) == (canary.verdict, 1), outcome.detail


def test_there_is_one_for_each_verdict_on_a_program() -> None:
    assert {canary.verdict for canary in canaries.THOROUGH} == set(Verdict) - {Verdict.INTERNAL_ERROR}
    assert {canary.verdict for canary in canaries.QUICK} == {Verdict.ACCEPTED, Verdict.WRONG_ANSWER}
    assert len({canary.name for canary in canaries.THOROUGH}) == len(canaries.THOROUGH)


def test_a_judge_without_a_fault_passes() -> None:
    asked: list[tuple[str, bytes, bytes]] = []

    def judge(program: Program, suite: Suite) -> Outcome:
        asked.extend((test.name, test.input, test.expected) for test in suite.tests)
        return known(program, suite)

    canaries.check(judge, canaries.THOROUGH)
    assert asked == [(canary.name, b"1 2\n", b"3\n") for canary in canaries.THOROUGH]


@pytest.mark.parametrize("wrong", canaries.THOROUGH, ids=lambda canary: canary.name)
@pytest.mark.parametrize("verdict", [Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.INTERNAL_ERROR])
def test_one_wrong_verdict_is_a_fault(wrong: Canary, verdict: Verdict) -> None:
    asked: list[str] = []

    def judge(program: Program, suite: Suite) -> Outcome:
        asked.append(suite.tests[0].name)
        return Outcome(verdict, (), "so it was") if program.source == wrong.source else known(program, suite)

    if verdict is wrong.verdict:
        canaries.check(judge, canaries.THOROUGH)
        return
    with pytest.raises(JailFault) as caught:
        canaries.check(judge, canaries.THOROUGH)
    assert caught.value.message == f"{wrong.name} was judged {verdict} instead of {wrong.verdict}: so it was"
    assert asked[-1] == wrong.name  # nothing more is run in such a jail


# --- a jail that judges wrongly ----------------------------------------------------------------------------------

Start = Callable[[Answer], FakeLauncher]


@pytest.fixture
def launcher(monkeypatch: pytest.MonkeyPatch) -> Start:
    """Make a launcher whose jails answer so, and put it in the place of all others."""

    def start(answer: Answer) -> FakeLauncher:
        made = FakeLauncher(answer)
        monkeypatch.setattr(judging, "find_launcher", lambda executor, image: made)
        return made

    return start


def honest(source: str) -> bytes:
    """What the quick canaries print where they run as they should."""
    return b"4\n" if source == WRONG.source else b"3\n"


def test_a_jail_that_answers_rightly_may_judge(launcher: Start) -> None:
    made = launcher(honest)
    with Judge("fake", jobs=1) as judge:
        assert judge.languages == ("python3",)
        outcome = judge.judge(Program("print(3)"), Suite((Test("1", b"", b"3\n"),)))
        assert outcome.verdict is Verdict.ACCEPTED
        assert judge.counters.faults == {}
    assert (made.launched, made.closed, made.is_closed) == (1, 1, True)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (lambda source: b"3\n", "a wrong program was judged accepted instead of wrong_answer: "),
        (lambda source: b"", "a right program was judged wrong_answer instead of accepted: "),
        # One of the six attempts to get out was not refused.
        (
            lambda source: b"2\n" if source == CONFINED.source else honest(source),
            "a program that tries to get out was judged wrong_answer instead of accepted: ",
        ),
    ],
    ids=["accepts everything", "says nothing", "lets one out"],
)
def test_jails_that_answer_wrongly_judge_nothing(launcher: Start, answer: Answer, complaint: str) -> None:
    made = launcher(answer)
    with pytest.raises(SandboxUnavailable) as caught:
        Judge("fake", jobs=1)
    assert caught.value.message.startswith(f"the sandbox judges its own test programs wrongly: {complaint}")
    assert caught.value.hint == "see what live doctor says"
    assert (made.launched, made.closed, made.is_closed) == (3, 3, True)  # it is tried again, and nothing stays behind


def test_one_jail_that_answers_wrongly_is_replaced(launcher: Start) -> None:
    silent = iter([True])

    def answer(source: str) -> bytes:
        return b"" if next(silent, False) else honest(source)

    made = launcher(answer)
    with Judge("fake", jobs=1) as judge:
        assert judge.counters.faults == {"canary": 1}
        assert (judge.counters.jails_started, judge.counters.jails_replaced) == (2, 1)
        assert made.closed == 1
    assert made.closed == 2
