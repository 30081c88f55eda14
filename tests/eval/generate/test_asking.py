"""Asking for a run: what is stored, what is asked again and what is not, and when it stops."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from db.errors import StoreFull
from db.judgements import load_verdicts
from db.records import Place
from db.responses import usage_of_runs
from eval.generate.account import Account
from eval.generate.asking import Stop, Why
from eval.generate.closing import close
from eval.generate.plan import Budget
from tests.eval.generate.runs import ASKING, CHEAP_PROMPTS, PRICES, SEEDED, Generated, generated
from tests.eval.generate.server import PROGRAM
from tests.eval.stored import completions


def test_a_good_run_is_stored_with_all_that_was_said(tmp_path: Path) -> None:
    with generated(tmp_path, [""] * 3) as run:
        assert run.ask(2, prices=PRICES) is None
        assert len(run.server.asked()) == 6
        assert set(run.server.asked().values()) == {1}
        assert {one.code for one in completions(run.store)} == {f"{PROGRAM}\n"}
        assert run.answered == {Place(problem, 0, sample) for problem in run.ids for sample in (0, 1)}
        assert run.run_id is not None
        with run.store.read() as session:
            usage = usage_of_runs(session, [run.run_id])[run.run_id]
        assert (usage.n_responses, usage.tokens_in, usage.tokens_out, usage.tokens_reasoning) == (6, 720, 480, 300)
        assert usage.cost == {"USD": pytest.approx(6 * 0.2)}
        assert dict(usage.served_models) == {"good-0613": 6}
        assert dict(usage.endpoints) == {"endpoint.example/v1": 6}
        account = run.account
        assert (account.n_answered, account.n_done, account.n_requests) == (6, 6, 6)
        assert dict(account.statuses) == {"ok": 6}
        assert account.cost == pytest.approx(1.2)
        assert run.ask(2) is None  # nothing is missing any more
        assert len(run.server.arrivals) == 6


def test_more_samples_of_the_same_run_ask_only_for_those(tmp_path: Path) -> None:
    with generated(tmp_path, [""] * 2) as run:
        run.ask(1)
        run.server.forget()
        run.ask(3)
        assert sorted(one.seed for one in run.server.arrivals) == ["1", "1", "2", "2"]
        assert len(run.answered) == 6


@pytest.mark.parametrize(
    ("behave", "status"),
    [
        ("length", "truncated"),
        ("words", "no_code"),
        ("refusal", "refused"),
        ("filtered", "refused"),
        ("tagged", "ok"),
        ("parts", "ok"),
        ("stream", "ok"),
        ("only-streams", "ok"),
        ("ignores-stream", "ok"),
    ],
)
def test_answers_in_odd_forms_are_answers(tmp_path: Path, behave: str, status: str) -> None:
    with generated(tmp_path, [behave]) as run:
        assert run.ask() is None
        assert dict(run.account.statuses) == {status: 1}
        assert len(run.answered) == 1
        assert not run.failures
        with run.store.read() as session:
            (row,) = load_verdicts(session, 1, [run.run_id or 0])
        assert row.verdict == (None if status == "ok" else status)


@pytest.mark.parametrize(
    ("behave", "reason", "n_asked"),
    [
        # What likely comes again and is billed each time is left to the next command.
        ("null", "empty_content", 1),
        ("reasoning-only", "empty_content", 1),
        ("error-text", "error_text", 1),
        ("500", "server_error", 4),
        ("hang-up", "broken_off", 2),
        ("half:cut", "broken_off", 2),
        ("empty-choices", "no_choices", 2),
        ("error:context", "too_long", 1),
    ],
)
def test_failed_requests_are_no_answers_and_asked_once_more_where_that_may_help(
    tmp_path: Path, behave: str, reason: str, n_asked: int
) -> None:
    with generated(tmp_path, ["", behave]) as run:
        assert run.ask() is None
        assert dict(run.failures) == {reason: 1}
        assert len(run.answered) == 1
        assert len(completions(run.store)) == 1
        assert dict(run.account.failures) == {reason: 1}
        assert run.account.n_done == 2
        assert len(run.server.arrivals) == 1 + n_asked


def test_what_failed_is_asked_again_at_the_end_and_by_the_next_command(tmp_path: Path) -> None:
    # Each attempt is a request: two in the first round, two at the end, then it is left to the next command.
    with generated(tmp_path, ["", "500+500+500+500+good", "empty-choices+good"]) as run:
        run.ask()
        assert dict(run.failures) == {"server_error": 1}
        assert len(run.answered) == 2
        run.ask()
        assert not run.failures
        assert len(run.answered) == 3
        assert set(run.server.asked().values()) == {1, 2, 5}


def test_what_failed_requests_took_is_kept(tmp_path: Path) -> None:
    with generated(tmp_path, ["null+good"]) as run:
        for _ in range(2):
            run.ask(prices=PRICES)
        assert (len(run.answered), len(run.server.arrivals)) == (1, 2)
        run_id = run.run_id
        assert run_id is not None
        with run.store.read() as session:
            closing = close(session, run_id, run.account, None)
        # Two replies at 0.2, one of them empty.
        assert closing.cost == {"USD": pytest.approx(0.4)}
        assert closing.lost.cost == {"USD": pytest.approx(0.2)}
        document = closing.as_dict()
        assert document["cost"] == pytest.approx(0.2)
        assert document["run"]["cost"] == {"USD": pytest.approx(0.4)}
        assert document["run"]["failed_requests"]["tokens_out"] == 80
        said = "run so far: 1 answer; tokens: 240 in, 160 out; cost 0.4 USD, 0.2 USD of it for failed requests"
        assert said in list(closing.lines())


def test_a_rate_limit_is_waited_for(tmp_path: Path) -> None:
    with generated(tmp_path, ["429:1+good"] * 6) as run:
        assert run.ask() is None
        assert len(run.answered) == 6
        assert run.account.n_requests == 12


@pytest.mark.parametrize("behave", ["401", "404", "error:credit", "html", "redirect"])
def test_a_fatal_failure_stops_and_leaves_no_empty_run(tmp_path: Path, behave: str) -> None:
    with generated(tmp_path, [behave] * 8) as run:
        stop = run.ask()
        assert stop is not None
        assert stop.why is Why.FATAL
        assert "endpoint.example/v1" in stop.message
        assert stop.hint
        assert len(run.server.arrivals) <= 4
        assert run.run_id is None
        assert run.account.n_done == 0


def test_a_fatal_failure_in_the_middle_keeps_what_is_finished(tmp_path: Path) -> None:
    # In the order of the plan: 0, 4, 2, 6, 1, 5, 3; the slow one is on its way when the key is refused, and waited for.
    with generated(tmp_path, ["", "401", "", "", "", "", "slow:0.3"]) as run:
        stop = run.ask(concurrency=2)
        assert stop is not None
        assert stop.why is Why.FATAL
        kept = {Place(run.ids[number], 0, 0) for number in (0, 4, 2, 6)}
        assert run.answered == kept
        assert run.account.n_answered == 4
        assert not run.failures
        run.server.forget()
        assert run.ask(concurrency=1) is not None
        assert len(run.server.arrivals) == 1
        assert run.answered == kept


def test_answers_on_their_way_are_waited_for_when_a_run_is_of_no_use(tmp_path: Path) -> None:
    # In the order of the plan the last one is asked early.
    with generated(tmp_path, ["slow:1", *["length"] * 40]) as run:
        stop = run.ask(concurrency=2, grace_s=0.0)
        assert stop is not None
        assert stop.why is Why.USELESS
        assert Place(run.ids[0], 0, 0) in run.answered


def test_nothing_is_tried_again_once_the_run_has_to_stop(tmp_path: Path) -> None:
    with generated(tmp_path, ["slow:0.2+503+good", "401"]) as run:
        assert run.ask(concurrency=2) is not None
        assert len(run.server.arrivals) <= 3


def test_answers_on_their_way_are_not_waited_for_for_ever(tmp_path: Path) -> None:
    with generated(tmp_path, ["silent", "401"]) as run:
        stop = run.ask(concurrency=2, grace_s=0.2)
        assert stop is not None
        assert stop.why is Why.FATAL


@pytest.mark.parametrize(
    ("behave", "remedy"),
    [
        ("length", "--max-tokens"),
        ("null", "--reasoning-is-answer"),
        ("500", "asks again"),
        ("words", "live prompts MODEL --show"),
    ],
)
def test_a_run_of_no_use_stops_early(tmp_path: Path, behave: str, remedy: str) -> None:
    with generated(tmp_path, [behave] * 60) as run:
        stop = run.ask(concurrency=4)
        assert stop is not None
        assert stop.why is Why.USELESS
        assert remedy in stop.hint
        assert ("endpoint.example/v1 answered 500" in stop.message) == (behave == "500")
        n_done = run.account.n_done
        assert 20 <= n_done <= 23  # the last of the four workers' answers are kept as well
        assert len(run.answered) + run.failures.total() == n_done
        n_missing = len(run.missing(1))
        assert n_missing == 60 - len(run.answered)
        assert run.ask(keep_going=True) is None
        assert run.account.n_done == n_missing


def test_limits_of_requests(tmp_path: Path) -> None:
    with generated(tmp_path, [""] * 10) as run:
        stop = run.ask(2, budget=Budget(max_requests=7))
        assert stop == Stop(Why.BUDGET, "--max-requests 7 is reached")
        assert len(run.server.arrivals) == len(run.answered) == 7
        # In rounds: of the first sample seven problems have an answer, of the second none.
        assert {place.sample_index for place in run.answered} == {0}
        assert run.ask(2) is None
        assert len(run.server.arrivals) == len(run.answered) == 20


@pytest.mark.parametrize("behave", ["500", "half:cut", "500+good"])
def test_limits_of_requests_count_every_attempt(tmp_path: Path, behave: str) -> None:
    with generated(tmp_path, [behave] * 10) as run:
        stop = run.ask(budget=Budget(max_requests=7), keep_going=True)
        assert stop == Stop(Why.BUDGET, "--max-requests 7 is reached")
        assert len(run.server.arrivals) == 7
        assert run.account.n_requests == 7


def test_broken_streams_are_limited_by_cost(tmp_path: Path) -> None:
    with generated(tmp_path, ["half:cut"] * 20) as run:
        sampling = replace(SEEDED, max_tokens=100)  # with the prompt an answer costs 0.1 and some at most
        stop = run.ask(prices=CHEAP_PROMPTS, budget=Budget(max_cost=0.55), keep_going=True, sampling=sampling)
        assert stop == Stop(Why.BUDGET, "--max-cost 0.55 would be passed by one more request")
        assert len(run.server.arrivals) == 5
        assert run.account.cost is None  # nobody said what they cost


def test_answers_are_asked_for_up_to_the_limit_of_cost_where_their_length_is_limited(tmp_path: Path) -> None:
    with generated(tmp_path, [""] * 20) as run:
        sampling = replace(SEEDED, max_tokens=100)
        run.ask(prices=CHEAP_PROMPTS, budget=Budget(max_cost=0.55), sampling=sampling)
        # Each takes 80 of the 100 tokens: with five at 0.08, a sixth one may cost 0.1 and no seventh.
        assert len(run.server.arrivals) == 6
        assert run.account.cost == pytest.approx(0.48, rel=0.01)


def test_limits_of_cost(tmp_path: Path) -> None:
    with generated(tmp_path, [""] * 10) as run:
        stop = run.ask(2, prices=PRICES, budget=Budget(max_cost=1.1), concurrency=4)
        assert stop == Stop(Why.BUDGET, "--max-cost 1.1 would be passed by one more request")
        assert len(run.server.arrivals) == len(run.answered) == 5  # at 0.2 each
        assert run.account.cost == pytest.approx(1.0)


def test_what_another_process_has_answered_meanwhile_is_not_asked(tmp_path: Path) -> None:
    with generated(tmp_path, [""] * 5) as run:
        planned = run.missing(2)
        run.ask(1)
        run.server.forget()
        run.ask(places=planned)
        assert len(run.server.arrivals) == 5
        assert (run.account.n_answered, run.account.n_standing, run.account.n_done) == (5, 5, 10)


def test_two_at_once_on_one_run_save_each_place_once(tmp_path: Path) -> None:
    with generated(tmp_path, ["slow:0.05"] * 6) as run:
        planned = run.missing(3)
        accounts = [Account(len(planned)), Account(len(planned))]

        def ask(account: Account) -> None:
            asyncio.run(run.asking(account, planned))

        threads = [threading.Thread(target=ask, args=(account,)) for account in accounts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert run.answered == set(planned)
        assert len(completions(run.store)) == 18
        assert sum(account.n_answered for account in accounts) == 18
        assert all(account.n_done == 18 for account in accounts)
        assert not accounts[0].conflicts


class Interrupted:
    """Cancels a command, as Ctrl-C does, when so many questions have arrived."""

    def __init__(self, run: Generated, n_arrivals: int) -> None:
        self.account = Account(0)
        self._run, self._n = run, n_arrivals

    async def ask(self) -> None:
        task = asyncio.create_task(self._run.asking(self.account, self._run.missing(4)))
        while len(self._run.server.arrivals) < self._n:
            await asyncio.sleep(0.005)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("n_arrivals", [1, 5, 17, 30])
def test_an_interruption_loses_only_what_was_on_its_way(tmp_path: Path, n_arrivals: int) -> None:
    with generated(tmp_path, ["slow:0.01"] * 10) as run:
        interrupted = Interrupted(run, n_arrivals)
        asyncio.run(interrupted.ask())
        first = run.server.asked()
        n_kept = len(run.answered)
        assert interrupted.account.n_answered == n_kept
        assert len(first) - n_kept <= 4  # one for each worker
        assert run.ask(4) is None
        assert len(run.answered) == 40
        twice = [key for key, n in run.server.asked().items() if n > 1]
        assert len(twice) == len(first) - n_kept
        assert max(run.server.asked().values()) <= 2


def test_a_store_that_fails_ends_the_run_with_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StoreFull("the store could not be used: the disk is full", "free some space")

    with generated(tmp_path, [""] * 20) as run:
        run.ask(places=run.missing(1)[:6])
        monkeypatch.setattr("eval.generate.saving.save_responses", full)
        with pytest.raises(StoreFull):
            run.ask()
        monkeypatch.undo()
        assert len(run.server.arrivals) <= 6 + 4
        assert run.account.n_answered == 0
        assert run.ask() is None
        assert len(run.answered) == 20


def test_a_fault_of_ours_ends_the_run_and_does_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: object) -> None:
        raise RuntimeError("a fault")

    with generated(tmp_path, [""] * 20) as run:
        monkeypatch.setattr(Account, "add_answer", fault)
        with pytest.raises(RuntimeError, match="a fault"):
            run.ask()
        assert len(run.server.arrivals) <= 8
        assert run.answered


def test_a_fault_in_what_is_told_of_an_answer_ends_the_run(tmp_path: Path) -> None:
    def broken(_: Account) -> None:
        raise RuntimeError("the bar is gone")

    with generated(tmp_path, [""] * 9) as run, pytest.raises(RuntimeError, match="the bar is gone"):
        asyncio.run(asyncio.wait_for(run.asking(Account(9), run.missing(1), on_done=broken), 30))


def test_a_store_that_cannot_be_written_is_noticed_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with generated(tmp_path, [""]) as run:

        def read_only() -> None:
            raise StoreFull("it is read-only", "use a copy")

        missing = run.missing(1)
        monkeypatch.setattr(run.store, "write", read_only)
        with pytest.raises(StoreFull):
            run.ask(places=missing)
        assert run.server.arrivals == []


def test_conditions_of_the_run_hold_no_address_and_no_number_of_samples() -> None:
    assert set(ASKING.conditions("good", SEEDED)) == {
        "scenario", "prompt", "prompt_digest", "language", "extraction", "asked_as", "seed"
    }  # fmt: skip
