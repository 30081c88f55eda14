"""``live prompts``: what a model would be asked, as a file of requests for a batch API."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.asking import (
    AnswerLanguage,
    AskedAs,
    AskedModel,
    Effort,
    ExtraBody,
    IncludeUntested,
    MaxTokens,
    MaxTokensField,
    NSamples,
    OnlyProblems,
    ProblemLimit,
    PromptName,
    ReasoningIsAnswer,
    RepairsLabel,
    RunLabel,
    SamplingSeed,
    ScenarioName,
    Stop,
    Temperature,
    TopP,
    Wanted,
    choose,
    find_run,
    lacking,
    read_wanted,
    settle,
)
from live.commands.windows import (
    AfterCutoff,
    Difficulties,
    IncludeFlagged,
    Margin,
    Platforms,
    Since,
    Until,
)
from live.errors import UsageError
from live.session import Session, session_of, utc_now

if TYPE_CHECKING:
    from db.completions import RunRecord
    from db.engine import Store
    from eval.generate.choosing import Choice
    from eval.generate.conditions import Asking


def prompts(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    model: AskedModel,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE|-", help="Where the requests go; - is standard output.")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Print one prompt as text; write nothing.")] = False,
    after_cutoff: AfterCutoff = False,
    since: Since = None,
    until: Until = None,
    margin: Margin = "0d",
    platform: Platforms = None,
    difficulty: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    problem: OnlyProblems = None,
    include_untested: IncludeUntested = False,
    limit: ProblemLimit = None,
    n: NSamples = 1,
    scenario: ScenarioName = "code_generation",
    repairs: RepairsLabel = None,
    language: AnswerLanguage = "python3",
    prompt: PromptName = "plain",
    run: RunLabel = "generate",
    asked_as: AskedAs = None,
    temperature: Temperature = None,
    top_p: TopP = None,
    max_tokens: MaxTokens = None,
    max_tokens_field: MaxTokensField = "max_tokens",
    seed: SamplingSeed = None,
    effort: Effort = None,
    stop: Stop = None,
    extra_body: ExtraBody = None,
    reasoning_is_answer: ReasoningIsAnswer = False,
) -> None:
    """Write the requests that a run of a model still lacks, as JSON lines for OpenAI's batch API or vLLM's run-batch.

    The problems are those that `live eval` will score the model on. The same command twice writes the same bytes; once
    answers are imported, it writes what is missing. A window is required: --after-cutoff, or --since and --until.
    """
    if show == (out is not None):
        raise UsageError("where to?", "give --out FILE (or --out - for standard output), or --show to read one prompt")
    wanted = read_wanted(context.params)
    session = session_of(context)
    with session.open_store(reading=show, must_exist=True) as store:
        (name,) = session.canonical_names([model], store)
        wanted = settle(store, name, wanted)
        choice = choose(session, store, name, wanted)
        if out is None:
            _show_first(store, choice, wanted.asking)
        else:
            _write(session, store, name, choice, wanted, out)


def _show_first(store: Store, choice: Choice, asking: Asking) -> None:
    from eval.generate.places import question_of

    with store.read() as reading:
        question = question_of(reading, choice.asked[0], asking.prompt.scenario)
    for message in asking.messages(question):
        sys.stdout.write(message.content)


def _write(session: Session, store: Store, model: str, choice: Choice, wanted: Wanted, out: str) -> None:
    """Write what the run lacks, then register it: a file that cannot be written leaves no empty run behind."""
    from db.completions import RunRecord, save_run
    from eval.generate.batches import write_requests

    record = RunRecord(model, wanted.label, wanted.asking.conditions(wanted.asked_as, wanted.sampling))
    counted: list[int] = []
    lines = _requests(store, record, choice, wanted, counted)
    if out == "-":
        for line in lines:
            sys.stdout.write(line.decode())
        files = ["standard output"]
    else:
        files = [str(path) for path in write_requests(Path(out), lines, record.digest)]
    with store.write() as writing:
        save_run(writing, record, now=utc_now())
    say = session.messages.print
    n_problems = len(choice.problem_ids)
    if not counted:
        say(f"nothing is missing: {n_problems} problems with {wanted.n_samples} answers each", markup=False)
        return
    say(f"{len(counted)} requests for {n_problems} problems, written to {', '.join(files)}", markup=False)
    say("they hold the problems' statements: keep them out of what you publish", markup=False)
    say("read the answers with: live import solutions ANSWERS --format openai-batch", markup=False)


def _requests(store: Store, record: RunRecord, choice: Choice, wanted: Wanted, counted: list[int]) -> Iterator[bytes]:
    """The requests that the run lacks; the length of each goes into ``counted``."""
    from eval.generate.batches import request_lines

    with store.read() as reading:
        run_id = find_run(reading, record)
    places, _ = lacking(store, choice, wanted, run_id)
    with store.read() as reading:
        lines = request_lines(reading, record.digest, places, wanted.asking, wanted.asked_as, wanted.sampling)
        for line in lines:
            counted.append(len(line))
            yield line
