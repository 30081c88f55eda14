"""Interactive problems: a program and its validator, each in a jail, that talk with each other.

Who decides (mostly as problemtools' judge/execute.py does): a validator that does not judge properly is an internal
error, but not where it crashed only once it was told that a program had failed by itself: few validators bear the end
of what they read, and only right programs would be scored. One that rejects before it is told of the program's end
decides; then the program's own bad end; then the validator.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from dataclasses import dataclass, replace

from sandbox import judgements, memory_files, running
from sandbox.agent import wire
from sandbox.cells import Cell
from sandbox.checking import Call, Files, ReadyChecker
from sandbox.errors import JailFault
from sandbox.judgements import Judgement
from sandbox.loading import Loaded
from sandbox.programs import Allowance, Limits, Suite, Test
from sandbox.relay import Conversation, Relay
from sandbox.running import Attempt
from sandbox.verdicts import Facts, TestResult, Verdict, is_idle, needs_confirmation

# A validator that computed for more than this share of the time that its program could wait was not waiting itself: a
# busy machine may leave it no more than that.
_WORKING_SHARE = 0.05

# Two that have said nothing for this share of that time wait for each other.
_SILENT_SHARE = 0.5


@dataclass(frozen=True)
class Sides:
    """Where the two run, and what they are."""

    cell: Cell
    loaded: Loaded
    allowance: Allowance
    checker_cell: Cell
    ready: ReadyChecker


def talk(sides: Sides, suite: Suite, test: Test, input_fd: int, patience_s: float = 0.0) -> Attempt:
    """Let them talk about one test. Takes ``input_fd``; raises ``JailFault``.

    ``patience_s`` is added to the wall time that the program may wait.
    """
    limits = sides.allowance.applied(suite.limits)
    limits = replace(limits, wall_s=limits.wall_kill_s + patience_s)
    validator_limits = _validator_limits(sides.ready.limits, limits)
    with contextlib.ExitStack() as own:
        own.callback(os.close, input_fd)
        stderr_fd = memory_files.empty()
        own.callback(os.close, stderr_fd)
        relay = own.enter_context(contextlib.closing(Relay(limits.output_bytes, validator_limits.output_bytes)))
        files = Files(input_fd, *relay.validator_fds)
        call = own.enter_context(contextlib.closing(Call(sides.ready, validator_limits, suite, test, files)))
        request = sides.loaded.request(suite, limits)
        fds = sides.loaded.descriptors(*relay.program_fds, stderr_fd)
        validator, program, said = _converse(sides, (call.request, call.fds), (request, fds), relay)
        if not sides.loaded.finish(program.stage):
            raise JailFault("a program that compiled before did not come to run")
        written = running.Said(sides.loaded.out_of_memory, stderr_fd)
        facts = running.facts_of(program, limits, sides.allowance, said.program_bytes, written)
        judged = call.judgement(validator, said.validator_bytes)
        result = decide(test.name, running.failure(test.name, facts, stderr_fd), facts, judged, said)
        return _attempt(result, facts, judged.facts, said)


def decide(name: str, failed: TestResult | None, program: Facts, judged: Judgement, said: Conversation) -> TestResult:
    """The result of one test. ``failed`` is what the program's own end comes to, None when that was good. Pure."""
    if failed is not None and failed.verdict is Verdict.COMPILE_ERROR:
        return failed
    by_validator = replace(judgements.judged(name, program, judged), transcript=said.transcript)
    was_first = not said.was_told
    if judged.verdict is Verdict.INTERNAL_ERROR and (was_first or _is_own_fault(judged)):
        return by_validator
    if judged.verdict is Verdict.WRONG_ANSWER and was_first:
        return by_validator
    # With nobody left to write to, a program that the signal ends has not failed for that.
    if failed is None or (program.signal == signal.SIGPIPE and was_first):
        return by_validator
    return replace(failed, checker=judged.facts, transcript=said.transcript)


def _is_own_fault(judged: Judgement) -> bool:
    """Whether a validator that did not judge cannot have been led to it by the end of what it read: it did not come to
    run, or passed a limit of its own."""
    return judged.facts is None or judgements.passed_limit(judged.facts)


def _validator_limits(own: Limits, program: Limits) -> Limits:
    """A validator waits as long as its program may take, however busy the machine is."""
    return replace(own, wall_s=own.wall_kill_s + program.wall_kill_s * wire.WALL_STRETCH)


def _attempt(result: TestResult, program: Facts, validator: Facts | None, said: Conversation) -> Attempt:
    """Whether it must be tried again: not when both waited, but for longer when wall time ended a program while its
    validator was at work."""
    if result.verdict in (Verdict.ACCEPTED, Verdict.WRONG_ANSWER) or not needs_confirmation(program):
        return Attempt(result)
    if not is_idle(program):
        return Attempt(result, is_final=False)
    could_wait_s = program.limits.wall_kill_s
    worked_s = validator.cpu_s if validator is not None else 0.0
    if worked_s > _WORKING_SHARE * could_wait_s:
        return Attempt(result, is_final=False, patience_s=worked_s / _WORKING_SHARE)
    return Attempt(result, is_final=said.silent_s > _SILENT_SHARE * could_wait_s)


def _converse(
    sides: Sides, validator: tuple[wire.Request, list[int]], program: tuple[wire.Request, list[int]], relay: Relay
) -> tuple[wire.Reply, wire.Reply, Conversation]:
    """Start both, carry on what they say, and wait for both. Raises ``JailFault``; then neither runs any more."""
    wake_fd = os.eventfd(0, os.EFD_CLOEXEC)
    cells = (sides.checker_cell, sides.cell)
    ends: list[_End] = []
    try:
        for cell in cells:
            cell.start()  # before the clock of either runs
        for cell, (request, fds) in zip(cells, (validator, program), strict=True):
            cell.begin(request, fds)
            ends.append(_End(cell, request, wake_fd))
        relay.release()
        said = relay.carry(ends[1], ends[0], wake_fd)
        return ends[0].reply, ends[1].reply, said
    except BaseException:
        for cell in cells:
            cell.interrupt()
        for end in ends:
            end.join()
        for cell in cells:
            cell.discard()
        raise
    finally:
        for end in ends:
            end.join()
        os.close(wake_fd)


class _End(threading.Thread):
    """Waits for the end of one process, in a thread of its own, and counts ``wake_fd`` up when it has come."""

    def __init__(self, cell: Cell, request: wire.Request, wake_fd: int) -> None:
        super().__init__(daemon=True)
        self._cell = cell
        self._request = request
        self._wake_fd = wake_fd
        self._reply: wire.Reply | None = None
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Wait for it."""
        try:
            self._reply = self._cell.finish(self._request)
        except BaseException as error:  # handed to the thread that looks for the end, which raises it
            self._error = error
        finally:
            os.eventfd_write(self._wake_fd, 1)

    def has_come(self) -> bool:
        """Whether the process has ended. Raises the fault of its jail."""
        if self._error is not None:
            raise self._error
        return self._reply is not None

    def is_failure(self) -> bool:
        """Whether it came to run, ended by itself, and not well."""
        reply = self.reply
        by_itself = reply.killed_by in (wire.KILLED_BY_NOBODY, wire.KILLED_BY_KERNEL)
        return reply.stage == wire.LOADED and by_itself and reply.wait_status != 0

    @property
    def reply(self) -> wire.Reply:
        """What the agent says of the end, once that has come."""
        assert self._reply is not None
        return self._reply
