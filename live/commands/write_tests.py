"""``live tests write``: have a model write the programs that tests of a problem are made by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.commands.asking import (
    AnswerLanguage,
    Effort,
    ExtraBody,
    MaxTokens,
    MaxTokensField,
    ReasoningIsAnswer,
    Temperature,
    TopP,
    find_keys,
    read_asking,
    read_sampling,
)
from live.commands.generate import BaseUrl, KeyHeader, KeyVariable, Streaming, Timeout, read_endpoint
from live.commands.judge import Executor, Image, JudgingOptions
from live.errors import ExitCode, UsageError
from live.session import Session, one_line, print_json, session_of

if TYPE_CHECKING:
    from sqlalchemy.orm import Session as DbSession

    from db.asked import AskableProblem
    from db.engine import Store
    from eval.made_tests.writing import Ask, Author, CannotWrite, Written
    from sandbox import Judge

Problems = Annotated[list[str], typer.Argument(metavar="PROBLEM...", help="PLATFORM:ID, or the id where it is unique.")]
AnswerSeed = Annotated[int | None, typer.Option("--seed", help="Of the model's answers, for endpoints that take one.")]


def write(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    problems: Problems,
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Who writes, as the endpoint calls it.")],
    base_url: BaseUrl = None,
    key_variable: KeyVariable = None,
    key_header: KeyHeader = "Authorization",
    language: AnswerLanguage = "python3",
    temperature: Temperature = None,
    top_p: TopP = None,
    max_tokens: MaxTokens = None,
    max_tokens_field: MaxTokensField = "max_tokens",
    seed: AnswerSeed = None,
    effort: Effort = None,
    extra_body: ExtraBody = None,
    reasoning_is_answer: ReasoningIsAnswer = False,
    timeout: Timeout = 600.0,
    stream: Streaming = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also where the store has programs of this model; new ones replace them.")
    ] = False,
    executor: Executor = None,
    image: Image = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as one JSON document.")] = False,
) -> None:
    """Ask an OpenAI-compatible endpoint for an input validator and a generator of test inputs, for each problem.

    Both are run in the sandbox before they are kept: the validator must accept all samples and refuse an empty input,
    the generator must write inputs that the validator accepts, the same each time. Where one does not hold the model is
    told why and asked once more. `live tests build` uses what is kept where the statement alone gives no inputs.

    Each problem is kept as soon as it is done. The key is read from the environment alone, and stored nowhere.

    Exit codes: 0 done; 1 a problem got no programs; 4 the endpoint or the sandbox cannot be used; 130 interrupted.
    """
    session, options = session_of(context), context.params
    author = _author(options)
    sampling = read_sampling({**options, "stop": None})
    endpoint = read_endpoint(session, {**options, "concurrency": 1})
    account = _Account(author)
    with session.open_store(must_exist=True) as store:
        wanted = _wanted(store, problems, author, account, again=again)
        if wanted:
            from eval.made_tests.writing import asking

            with (
                JudgingOptions(executor, image=image).open_judge(session) as judge,
                asking(endpoint, author.model, sampling) as ask,
            ):
                _require_language(judge, author.language)
                _write_all(session, store, wanted, account, ask, judge)
    for key in account.there:
        session.messages.print(one_line(f"{key}: has programs by {author.model} (--again asks anew)"), markup=False)
    if as_json:
        print_json(account.document())
    account.end()


@dataclass
class _Account:
    """What came of each problem, by its key. ``stopped`` is why no more was asked."""

    author: Author
    written: dict[str, Written] = field(default_factory=dict)
    refused: dict[str, CannotWrite] = field(default_factory=dict)
    there: list[str] = field(default_factory=list)
    stopped: CannotWrite | None = None

    def document(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "model": self.author.model,
            "source": self.author.source,
            "language": self.author.language,
            "written": [
                {"problem": key, "programs": [one.name for one in found.references], "n_answers": found.n_answers}
                for key, found in self.written.items()
            ],
            "refused": [
                {"problem": key, "reason": error.message, "hint": error.hint} for key, error in self.refused.items()
            ],
            "there": self.there,
            "stopped": None if self.stopped is None else self.stopped.message,
        }

    def end(self) -> None:
        """End the command with the exit code that says how it went."""
        if self.stopped is not None:
            typer.echo(one_line(f"stopped: {self.stopped.message}"), err=True)
            if self.stopped.hint:
                typer.echo(one_line(f"  what to do: {self.stopped.hint}"), err=True)
            raise typer.Exit(ExitCode.UNAVAILABLE)
        if self.refused:
            raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _author(options: Mapping[str, Any]) -> Author:
    from eval.made_tests.writing import Author

    asked = read_asking({**options, "scenario": "code_generation", "prompt": "plain", "repairs": None, "n": 1})
    try:
        return Author(options["model"], asked.language, asked.reasoning_is_answer)
    except ValueError as error:
        raise UsageError(f"--model: {error}", "give the name by which the endpoint knows the model") from error


def _wanted(
    store: Store, names: Sequence[str], author: Author, account: _Account, *, again: bool
) -> list[AskableProblem]:
    """The problems that are to be asked for, in the order of their keys; those that have programs are noted down.

    Raises ``UsageError`` for a problem that is not there.
    """
    from db.asked import load_askable
    from db.identity import problem_ids

    with store.read() as reading:
        ids = problem_ids(reading, find_keys(reading, names))
        problems = load_askable(reading, [ids[key] for key in sorted(ids, key=str)])
        wanted = []
        for problem in problems:
            if not again and _has_both(reading, problem.problem_id, author):
                account.there.append(str(problem.key))
            else:
                wanted.append(problem)
    return wanted


def _has_both(reading: DbSession, problem_id: int, author: Author) -> bool:
    from db.records import ProgramRole
    from db.references import list_references

    names = {one.name for one in list_references(reading, problem_id) if one.source == author.source}
    return {author.name(ProgramRole.VALIDATOR), author.name(ProgramRole.GENERATOR)} <= names


def _require_language(judge: Judge, language: str) -> None:
    if language not in judge.languages:
        raise UsageError(f"--language {language}: the sandbox has none of it", f"it has {', '.join(judge.languages)}")


def _write_all(
    session: Session, store: Store, problems: Iterable[AskableProblem], account: _Account, ask: Ask, judge: Judge
) -> None:
    """Have programs written for one problem after the other, and keep each pair at once."""
    from db.references import save_references
    from eval.made_tests.writing import CannotWrite, EndpointRefuses, write

    for problem in problems:
        key = str(problem.key)
        try:
            written = write(problem, account.author, ask, judge)
        except EndpointRefuses as error:
            account.stopped = error
            return
        except CannotWrite as error:
            account.refused[key] = error
            typer.echo(one_line(f"refused: {key}: {error.message} ({error.hint})"), err=True)
            continue
        with store.write() as writing:
            save_references(writing, problem.problem_id, written.references, source=account.author.source)
        account.written[key] = written
        names = " and ".join(one.name for one in written.references)
        session.messages.print(one_line(f"{key}: {names} are kept"), markup=False)
