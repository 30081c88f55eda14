"""The order in which a run is asked for, and what a budget lets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records import Place
from eval.generate.plan import Budget, Turn, in_rounds

PROBLEMS = st.lists(st.integers(1, 10**6), unique=True, max_size=60)


@given(PROBLEMS, st.integers(1, 6), st.data())
def test_each_missing_place_comes_once(problems: list[int], n_samples: int, data: st.DataObject) -> None:
    places = [Place(problem, 0, sample) for problem in problems for sample in range(n_samples)]
    answered = data.draw(st.sets(st.sampled_from(places))) if places else set()
    missing = [place for place in places if place not in answered]
    planned = in_rounds(missing)
    assert len(planned) == len(set(planned))
    assert {*planned} == {*places} - answered
    rounds = [place.sample_index for place in planned]
    assert rounds == sorted(rounds)
    assert planned == in_rounds(missing)


def test_rounds_are_spread_by_reversed_bits() -> None:
    # Van der Corput in base 2: 0, 1/2, 1/4, 3/4, 1/8, 5/8, 3/8, 7/8.
    planned = in_rounds(Place(problem, 0, sample) for problem in range(8) for sample in (0, 1))
    assert [place.problem_id for place in planned] == [0, 4, 2, 6, 1, 5, 3, 7] * 2
    assert [place.sample_index for place in planned] == [0] * 8 + [1] * 8


@given(st.integers(2, 300), st.data())
def test_every_beginning_of_a_round_is_spread_over_the_window(n: int, data: st.DataObject) -> None:
    taken = data.draw(st.integers(1, n))
    positions = [place.problem_id for place in in_rounds(map(Place, range(n)))][:taken]
    # No half of the window has more than its share by a few problems, as a run from old to new would have.
    in_first_half = sum(position < n / 2 for position in positions)
    assert abs(in_first_half - taken / 2) <= n.bit_length() / 2 + 1


def test_no_budget_always_asks() -> None:
    budget = Budget()
    for _ in range(100):
        assert budget.turn() is Turn.ASK
        budget.begin()


def test_every_request_counts_as_it_is_sent() -> None:
    budget = Budget(max_requests=4)
    budget.begin()
    budget.begin()
    assert budget.may_send(False)
    assert budget.turn() is Turn.ASK
    budget.begin()
    assert budget.turn() is Turn.STOP
    assert not budget.may_send(False)
    budget.end(is_answered=True)  # what has ended was sent all the same
    assert budget.turn() is Turn.STOP
    assert budget.reason == "--max-requests 4 is reached"


@given(st.integers(1, 30), st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 8))
def test_attempts_never_pass_the_limit_of_requests(limit: int, retries: list[int], workers: int) -> None:
    budget, n_sent = Budget(max_requests=limit), 0
    under_way: list[int] = []
    for wanted in retries:
        while len(under_way) < workers and budget.turn() is Turn.ASK:
            budget.begin()
            n_sent += 1
            under_way.append(wanted)
        if not under_way:
            break
        for _ in range(under_way.pop(0)):
            n_sent += budget.may_send(False)
        budget.end(is_answered=False)
    assert n_sent <= limit


def test_without_a_limit_of_length_the_dearest_answer_is_foreseen() -> None:
    budget = Budget(max_cost=1.0)
    assert budget.turn() is Turn.ASK
    budget.begin()
    assert budget.turn() is Turn.WAIT  # nobody knows yet what one costs
    budget.end(is_answered=True, cost=0.3)
    budget.begin()
    # 0.3 spent, one under way and one more at 0.3 each: 0.9.
    assert budget.turn() is Turn.ASK
    budget.begin()
    # 1.2
    assert budget.turn() is Turn.WAIT
    budget.end(is_answered=True, cost=0.1)
    # 0.4 spent, one under way and one more at 0.3 each: 1.0.
    assert budget.turn() is Turn.ASK
    budget.begin()
    budget.end(is_answered=True, cost=0.1)
    budget.end(is_answered=True, cost=0.3)
    # 0.8 spent; one more could cost 0.3, and nothing is under way that could turn out cheaper.
    assert budget.turn() is Turn.STOP
    assert budget.reason == "--max-cost 1 would be passed by one more request"


def test_questions_under_way_double_at_most_with_each_answer() -> None:
    budget = Budget(max_cost=10.0)
    budget.begin()
    for most in (2, 4, 8):
        budget.end(is_answered=True, cost=0.001)
        n_under_way = most // 2 - 1
        while budget.turn() is Turn.ASK:
            budget.begin()
            n_under_way += 1
        assert n_under_way == most
        assert budget.turn() is Turn.WAIT


def test_a_cheap_first_answer_lets_no_flood_through() -> None:
    # The limit was passed fifty times over: one answer at 0.001, then 64 at 0.08.
    budget, spent, n_sent = Budget(max_cost=0.10), 0.001, 1
    budget.begin()
    budget.end(is_answered=True, cost=0.001)
    while True:
        n_under_way = 0
        while n_under_way < 64 and budget.turn() is Turn.ASK:
            budget.begin()
            n_under_way += 1
        if not n_under_way:
            break
        for _ in range(n_under_way):
            budget.end(is_answered=True, cost=0.08)
            spent, n_sent = spent + 0.08, n_sent + 1
    assert spent == pytest.approx(0.161)


def test_a_failure_that_may_be_billed_counts_as_an_answer_does() -> None:
    budget = Budget(max_cost=0.5)
    for _ in range(2):
        budget.begin(0.2)
        budget.end(0.2, is_answered=False, may_be_billed=True)
    assert budget.turn(0.2) is Turn.STOP
    assert budget.turn(0.1) is Turn.ASK
    budget.begin(0.05)
    assert budget.may_send(False, 0.05)
    assert budget.may_send(True, 0.05)
    assert not budget.may_send(True, 0.05)


def test_failures_of_which_nobody_knows_the_price_end_it() -> None:
    budget = Budget(max_cost=0.5)
    for _ in range(3):
        assert budget.turn() is Turn.ASK
        budget.begin()
        budget.end(is_answered=False, may_be_billed=True)
    assert budget.turn() is Turn.STOP
    assert budget.reason == (
        "3 requests that may be billed failed before any price was known, so that --max-cost cannot be kept"
    )
    known = Budget(max_cost=0.5)
    known.begin()
    known.end(is_answered=False, may_be_billed=True)
    known.begin()
    known.end(is_answered=True, cost=0.2)  # and so was the one before
    assert known.turn() is Turn.STOP


def test_failures_that_are_not_billed_have_no_price() -> None:
    budget = Budget(max_cost=1.0)
    for _ in range(100):
        budget.begin()
        assert budget.may_send(False)
        budget.end(is_answered=False)
    assert budget.turn() is Turn.ASK


def test_a_cost_that_nobody_tells_cannot_be_limited() -> None:
    budget = Budget(max_cost=1.0)
    budget.begin()
    budget.end(is_answered=True)
    assert budget.turn() is Turn.STOP
    assert "how many tokens" in budget.reason


def test_an_endpoint_that_passes_over_the_limit_of_length_is_not_believed_again() -> None:
    budget = Budget(max_cost=1.0)
    budget.begin(0.1)
    budget.end(0.1, is_answered=True, cost=0.6)
    assert budget.turn(0.1) is Turn.STOP


QUESTIONS = st.lists(
    st.tuples(st.floats(0.01, 1), st.floats(0, 1), st.lists(st.booleans(), max_size=3), st.booleans()), max_size=100
)


@given(st.floats(0.01, 10), QUESTIONS, st.integers(1, 16))
def test_a_limit_of_length_keeps_the_cost_below_its_limit(
    limit: float, questions: list[tuple[float, float, list[bool], bool]], workers: int
) -> None:
    """Each question has a most cost, the part of it that its answer takes, attempts that fail before (whether they are
    billed) and whether the last one is answered; every billed failure costs the most."""
    budget, spent = Budget(max_cost=limit), 0.0
    under_way: list[tuple[float, float, list[bool], bool]] = []

    def finish() -> float:
        at_most, share, failures, is_answered = under_way.pop(0)
        paid = 0.0
        for billed in failures:
            if not budget.may_send(billed, at_most):
                budget.end(at_most, is_answered=False, may_be_billed=billed)
                return paid + billed * at_most
            paid += billed * at_most
        cost = share * at_most
        budget.end(at_most, is_answered=is_answered, cost=cost if is_answered else None, may_be_billed=True)
        return paid + (cost if is_answered else at_most)

    for question in questions:
        while under_way and (len(under_way) >= workers or budget.turn(question[0]) is Turn.WAIT):
            spent += finish()
        if budget.turn(question[0]) is Turn.STOP:
            continue
        budget.begin(question[0])
        under_way.append(question)
    while under_way:
        spent += finish()
    assert spent <= limit + 1e-9


@pytest.mark.parametrize("n", [0, 1])
def test_small_plans(n: int) -> None:
    assert len(in_rounds(map(Place, range(n)))) == n
