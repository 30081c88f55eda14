"""Asking for what a run lacks: workers around an endpoint, each answer in the store before its worker asks again.

So an answer that was paid for is lost only while it is on its way: a kill loses at most one for each worker, Ctrl-C the
same. What is stored is never asked for again, also where another process stores it meanwhile; two processes on one run
at once save each place once, but both may pay for what they ask at the same time. A request that failed is kept as
failed and asked once more at the end, where that may help, and by the next command otherwise.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from db.completions import CompletionConflict, RunRecord
from db.places import answered_among
from db.records import Place, SaveOutcome
from db.responses import FailureRecord, ResponseRecord
from eval.generate.account import Account
from eval.generate.answers import Exchange
from eval.generate.conditions import Asking
from eval.generate.failures import Failure, FailureKind
from eval.generate.health import Watch
from eval.generate.places import questions_at
from eval.generate.plan import Budget, Turn
from eval.generate.prices import PriceTable
from eval.generate.prompts import Message
from eval.generate.questions import Question
from eval.generate.sampling import Sampling
from eval.generate.saving import Saved, Saver
from eval.scenarios import task_form

if TYPE_CHECKING:
    from db.engine import Store
    from eval.generate.endpoint import Answered, Clock, EndpointSettings

AT_ONCE: Final = 100
"""So many questions are held at a time."""
GRACE_S: Final = 30.0
"""How long answers that are on their way are waited for once the endpoint cannot be used any more."""
_LASTING = frozenset(
    {
        FailureKind.TOO_LONG,
        FailureKind.BAD_REQUEST,
        FailureKind.TOO_LARGE,
        FailureKind.TIMED_OUT,
        FailureKind.BROKEN_OFF,
        FailureKind.EMPTY_CONTENT,
        FailureKind.ERROR_TEXT,
    }
)
"""Failures that likely come again, and may be billed each time: they are left to the next command, as is any other that
came late enough to be billed. Nothing of the request would differ if it were asked again at once."""


class Speaker(Protocol):
    """What is asked: `eval.generate.endpoint.Endpoint`. ``place`` is host and path of its address."""

    place: str

    def ask(
        self, model: str, messages: Sequence[Message], body: Mapping[str, Any], *, may_send: Callable[[bool], bool]
    ) -> Awaitable[Answered | Failure]:
        """An answer or a failure; nothing is raised. ``may_send`` is asked before each further attempt, and told
        whether the last one may be billed."""
        ...


@dataclass(frozen=True)
class Task:
    """A run and how it is asked for. ``grace_s`` as `GRACE_S` has it."""

    run: RunRecord
    asking: Asking
    asked_as: str
    sampling: Sampling
    prices: PriceTable | None = None
    concurrency: int = 8
    keep_going: bool = False
    grace_s: float = GRACE_S

    @property
    def scenario(self) -> str:
        """What is asked for."""
        return self.asking.prompt.scenario


class Why(Enum):
    """Why a command stopped before all was asked."""

    FATAL = auto()  # the endpoint cannot be used
    USELESS = auto()  # nearly all replies are of no use
    BUDGET = auto()


@dataclass(frozen=True)
class Stop:
    """Why no more was asked: a line that says what, and one that says what to do."""

    why: Why
    message: str
    hint: str = ""


def ask_all(
    store: Store,
    settings: EndpointSettings,
    task: Task,
    places: Sequence[Place],
    account: Account,
    *,
    run_id: int | None,
    budget: Budget | None = None,
    on_done: Callable[[Account], None] | None = None,
) -> Stop | None:
    """Ask an endpoint for these places, in their order; None when all were asked.

    What comes of it is added to ``account``, also when this ends by an exception (``KeyboardInterrupt``): all that
    stands there is in the store. After Ctrl-C the process ignores further ones. ``run_id`` is None for a run that is
    not in the store yet; it is made with its first record. Raises ``BadEndpoint`` and ``StoreError``.
    """
    from eval.generate.endpoint import Endpoint, SystemClock

    clock, interruption = SystemClock(), _Interruption()

    async def asking() -> Stop | None:
        interruption.cancels(asyncio.current_task())
        async with Endpoint(settings, clock=clock) as endpoint:
            asker = Asker(store, endpoint, task, account, run_id=run_id, budget=budget, clock=clock, on_done=on_done)
            return await asker.ask(places)

    try:
        return asyncio.run(asking())
    except asyncio.CancelledError:
        if interruption.came:
            raise KeyboardInterrupt from None
        raise


class _Interruption:
    """Ctrl-C, of which only the first one counts: it cancels a task, and from then on the process ignores it.

    What is finished is saved then and the process ends, which another one would only disturb.
    """

    def __init__(self) -> None:
        self.came = False

    def cancels(self, task: asyncio.Task[Any] | None) -> None:
        """Have it cancel the task that runs now, where this process listens to it and this is its main thread."""
        listens = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
        if task is None or not listens or threading.current_thread() is not threading.main_thread():
            return
        loop = asyncio.get_running_loop()

        def interrupt() -> None:
            self.came = True
            loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            task.cancel()

        loop.add_signal_handler(signal.SIGINT, interrupt)


class _Wanted(NamedTuple):
    place: Place
    question: Question
    messages: tuple[Message, ...]


class Asker:
    """Asks for places of one run; see ``ask_all``."""

    def __init__(
        self,
        store: Store,
        endpoint: Speaker,
        task: Task,
        account: Account,
        *,
        run_id: int | None,
        clock: Clock,
        budget: Budget | None = None,
        on_done: Callable[[Account], None] | None = None,
    ) -> None:
        self._store = store
        self._endpoint = endpoint
        self._task = task
        self._record = task_form(task.scenario).record
        self._account = account
        self._saver = Saver(store, task.run, run_id=run_id, now=clock.now, on_saved=self._count)
        self._clock = clock
        self._budget = budget or Budget()
        self._on_done = on_done or (lambda _: None)
        self._watch = Watch()
        self._billed: set[Place] = set()
        self._stop: Stop | None = None
        self._began = clock.monotonic()
        # Set at each end of a question, for those that wait for their turn.
        self._ended = asyncio.Event()
        self._halted = asyncio.Event()

    async def ask(self, places: Sequence[Place]) -> Stop | None:
        """Ask for all of them, and once more for those of which that may make something; why it stopped before."""
        await asyncio.to_thread(self._require_writable)
        await self._ask_round(places)
        failed = self._account.failed.items()
        again = [place for place, one in failed if one.reason not in _LASTING and place not in self._billed]
        if self._stop is None and again:
            await self._ask_round(again)
        return self._stop

    def _require_writable(self) -> None:
        """Notice a store that cannot be written before an answer is paid for."""
        with self._store.write():
            pass

    async def _ask_round(self, places: Sequence[Place]) -> None:
        feed = _Feed(places, self._load, self._account.add_standing)
        workers = [asyncio.create_task(self._work(feed)) for _ in range(min(self._task.concurrency, len(places)))]
        try:
            await self._until_done(workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await self._saver.drain()

    async def _until_done(self, workers: Sequence[asyncio.Task[None]]) -> None:
        """Come back when the workers have ended, or had some time to end since there was a reason to stop."""
        halted = asyncio.create_task(self._halted.wait())
        running: set[asyncio.Task[Any]] = set(workers)
        try:
            while running and not halted.done():
                done, _ = await asyncio.wait({*running, halted}, return_when=asyncio.FIRST_COMPLETED)
                _raise_first(done)
                running -= done
            if running:
                is_fatal = self._stop is not None and self._stop.why is Why.FATAL
                # Otherwise what is on its way is likely an answer that is paid for: the limit of its request holds.
                limit_s = self._task.grace_s if is_fatal else None
                _raise_first((await asyncio.wait(running, timeout=limit_s, return_when=asyncio.FIRST_EXCEPTION))[0])
        finally:
            halted.cancel()

    async def _work(self, feed: _Feed) -> None:
        while self._stop is None:
            wanted = await feed.next()
            at_most = None if wanted is None else self._at_most(wanted)
            if wanted is None or not await self._begins(at_most):
                return
            record = await self._put(wanted, at_most)
            self._ended.set()
            if record is not None:
                # From here on the saver has the record: whoever is cancelled now has not lost it.
                await self._saver.save(record)

    def _at_most(self, wanted: _Wanted) -> float | None:
        """What an answer can cost at most; None where no price or no limit of length is given."""
        task = self._task
        price = None if task.prices is None else task.prices.models.get(task.asked_as)
        if price is None or task.sampling.max_tokens is None:
            return None
        return price.at_most(sum(len(one.content.encode()) for one in wanted.messages), task.sampling.max_tokens)

    async def _begins(self, at_most: float | None) -> bool:
        """Whether one more question goes out; waits until that can be told."""
        while self._stop is None:
            turn = self._budget.turn(at_most)
            if turn is Turn.ASK:
                self._budget.begin(at_most)
                return True
            if turn is Turn.STOP:
                self._stop = Stop(Why.BUDGET, self._budget.reason)
                self._ended.set()
            else:
                self._ended.clear()
                await self._ended.wait()
        return False

    async def _put(self, wanted: _Wanted, at_most: float | None) -> ResponseRecord | FailureRecord | None:
        """Put one question; what came of it, None where the run has to stop for it."""
        task, place = self._task, wanted.place

        def may_send(may_be_billed: bool) -> bool:
            return not self._halted.is_set() and self._budget.may_send(may_be_billed, at_most)

        body = task.sampling.body(place.sample_index)
        said = await self._endpoint.ask(task.asked_as, wanted.messages, body, may_send=may_send)
        self._account.n_requests += said.attempts
        self._account.seconds = self._clock.monotonic() - self._began
        if isinstance(said, Failure):
            self._budget.end(at_most, is_answered=False, may_be_billed=said.may_be_billed)
            if said.may_be_billed:
                self._billed.add(place)
            if said.is_fatal:
                self._halt(Stop(Why.FATAL, said.message, said.hint))
                return None
            return FailureRecord(place, said.at, said.kind, said.message, said.attempts)
        cost = task.prices.cost(task.asked_as, said.reply) if task.prices is not None else None
        self._budget.end(at_most, is_answered=True, cost=cost)
        self._account.add_reply(said.reply, cost)
        return self._read(wanted, said, cost)

    def _read(self, wanted: _Wanted, said: Answered, cost: float | None) -> ResponseRecord | FailureRecord:
        task, place, now = self._task, wanted.place, self._clock.now()
        exchange = Exchange(
            received_at=now,
            requested_at=said.requested_at,
            latency_s=said.latency_s,
            attempts=said.attempts,
            endpoint=self._endpoint.place,
            cost=cost,
            currency=None if cost is None or task.prices is None else task.prices.currency,
        )
        try:
            return self._record(task.asking, wanted.question, place.sample_index, wanted.messages, said.reply, exchange)
        except ValueError as error:
            return FailureRecord(place, now, FailureKind.ODD_FORM, f"the store cannot hold it: {error}", said.attempts)

    def _count(self, record: ResponseRecord | FailureRecord, saved: Saved) -> None:
        """Add up what was committed."""
        account = self._account
        if isinstance(record, FailureRecord):
            account.add_failure(record)
            self._watch.add(record.reason)
        else:
            self._watch.add(record.status)
            if saved is SaveOutcome.CREATED:
                account.add_answer(record)
            elif isinstance(saved, CompletionConflict):
                told = f"{record.key}, sample {saved.sample_index}: the run holds another {saved.field} already"
                account.conflicts.append(told)
            else:
                account.add_standing(record.place)
        alarm = None if self._task.keep_going else self._watch.alarm()
        if alarm is not None:
            said = f"; the last: {record.message}" if isinstance(record, FailureRecord) else ""
            self._halt(Stop(Why.USELESS, f"{alarm.message}{said}", alarm.hint))
        self._on_done(account)

    def _halt(self, stop: Stop) -> None:
        """No question begins any more; the first reason stands."""
        self._stop = self._stop or stop
        self._halted.set()
        self._ended.set()

    def _load(self, places: Sequence[Place]) -> tuple[list[_Wanted], set[Place]]:
        """What is asked at these places, and which of them have an answer by now. Runs in a thread."""
        with self._store.read() as session:
            run_id = self._saver.run_id
            answered = set() if run_id is None else answered_among(session, run_id, places) & set(places)
            left = [place for place in places if place not in answered]
            questions = questions_at(session, self._task.scenario, left)
        messages = {target: self._task.asking.messages(question) for target, question in questions.items()}
        targets = [(place.problem_id, place.question_id) for place in left]
        wanted = [_Wanted(place, questions[one], messages[one]) for place, one in zip(left, targets, strict=True)]
        return wanted, answered


class _Feed:
    """Gives the places one by one with what they ask, loaded some at a time."""

    def __init__(
        self,
        places: Sequence[Place],
        load: Callable[[Sequence[Place]], tuple[list[_Wanted], set[Place]]],
        on_answered: Callable[[Place], None],
    ) -> None:
        self._left = deque(places)
        self._load = load
        self._on_answered = on_answered
        self._ready: deque[_Wanted] = deque()
        self._lock = asyncio.Lock()

    async def next(self) -> _Wanted | None:
        """The next one; None at the end."""
        if self._ready:
            return self._ready.popleft()
        async with self._lock:
            while not self._ready and self._left:
                some = [self._left.popleft() for _ in range(min(AT_ONCE, len(self._left)))]
                wanted, answered = await asyncio.to_thread(self._load, some)
                self._ready.extend(wanted)
                for place in answered:
                    self._on_answered(place)
            return self._ready.popleft() if self._ready else None


def _raise_first(done: set[asyncio.Task[Any]]) -> None:
    for task in done:
        task.result()
