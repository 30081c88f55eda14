"""``live generate``: ask a model for what a run of it lacks."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qsl, urlsplit

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
from live.errors import ExitCode, UsageError
from live.progress import asking_bar
from live.session import Session, one_line, print_json, session_of

if TYPE_CHECKING:
    from db.completions import RunRecord
    from db.engine import Store
    from db.records import Place
    from eval.generate.account import Account
    from eval.generate.closing import Closing
    from eval.generate.endpoint import EndpointSettings
    from eval.generate.prices import PriceTable

_KEY_VARIABLE = "OPENAI_API_KEY"
_SECRET_NAMES = ("key", "token", "secret", "password", "signature", "sig", "auth")


@dataclass(frozen=True)
class _Limits:
    """How the requests go out, and how far. ``endpoint`` is None where nothing is sent."""

    endpoint: EndpointSettings | None
    prices: PriceTable | None
    max_requests: int | None
    max_cost: float | None
    keep_going: bool


@dataclass(frozen=True)
class _Plan:
    """A run with what it lacks. ``run_id`` is None for one that the store does not have yet."""

    run: RunRecord
    run_id: int | None
    places: list[Place]


BaseUrl = Annotated[
    str | None, typer.Option("--base-url", envvar="LIVE_BASE_URL", metavar="URL", help="The endpoint: https://host/v1.")
]
KeyVariable = Annotated[
    str | None,
    typer.Option(
        "--key-variable",
        metavar="NAME",
        help=f"The variable with the key. Without it {_KEY_VARIABLE} is taken, for OpenAI and this machine alone.",
    ),
]
KeyHeader = Annotated[
    str, typer.Option("--key-header", metavar="NAME", help="The header for the key, where it is another: api-key.")
]
Concurrency = Annotated[int, typer.Option(min=1, max=1000, help="So many requests at once.")]
Timeout = Annotated[float, typer.Option(min=1, help="Seconds for one answer, from the connection to its last byte.")]
Streaming = Annotated[
    bool | None, typer.Option("--stream/--no-stream", help="By default only where the endpoint wants it.")
]
MaxRequests = Annotated[
    int | None, typer.Option("--max-requests", min=1, help="Stop after so many requests, attempts included.")
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        min=0,
        help="Stop before this command costs more, in the currency of --prices; about so much without --max-tokens.",
    ),
]
Prices = Annotated[Path | None, typer.Option("--prices", metavar="FILE", help="Prices for a million tokens, in TOML.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be asked; send nothing.")]
KeepGoing = Annotated[bool, typer.Option("--keep-going", help="Ask on although nearly all replies are of no use.")]
AsJson = Annotated[bool, typer.Option("--json", help="The report as one JSON document.")]


def generate(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    model: AskedModel,
    base_url: BaseUrl = None,
    asked_as: AskedAs = None,
    key_variable: KeyVariable = None,
    key_header: KeyHeader = "Authorization",
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
    temperature: Temperature = None,
    top_p: TopP = None,
    max_tokens: MaxTokens = None,
    max_tokens_field: MaxTokensField = "max_tokens",
    seed: SamplingSeed = None,
    effort: Effort = None,
    stop: Stop = None,
    extra_body: ExtraBody = None,
    reasoning_is_answer: ReasoningIsAnswer = False,
    concurrency: Concurrency = 8,
    timeout: Timeout = 600.0,
    stream: Streaming = None,
    max_requests: MaxRequests = None,
    max_cost: MaxCost = None,
    prices: Prices = None,
    dry_run: DryRun = False,
    keep_going: KeepGoing = False,
    as_json: AsJson = False,
) -> None:
    """Ask an OpenAI-compatible endpoint for answers of a model, and keep what it says for `live eval`.

    The problems are those that `live eval` will score the model on. A window is required: --after-cutoff, or --since
    and --until. Every answer is stored before the next one is asked for: the same command goes on where it stopped,
    asks for nothing twice, and for failed requests again. A failed request is no answer and is never scored; an answer
    without a program is one, and counts as not solved. The key is read from the environment alone, and stored nowhere.

    Exit codes: 0 done, or a limit of requests or cost is reached; 1 requests failed, or the run is unhealthy (over 5 %
    cut off or failed, or half of the answers something else than what was asked for); 3 nothing to ask; 4 the endpoint
    cannot be used; 130 interrupted, with all that was finished kept.
    """
    session, options = session_of(context), context.params
    wanted = read_wanted(options)
    limits = _read_limits(session, options, wanted.asked_as)
    _require_no_key(wanted, limits)
    with session.open_store(reading=dry_run and not wanted.stores_questions, must_exist=True) as store:
        (name,) = session.canonical_names([model], store)
        wanted = settle(store, name, wanted)
        plan = _plan(session, store, name, wanted)
        if dry_run:
            _say_estimate(session, store, plan, wanted, limits, as_json)
            return
        closing = _ask(session, store, plan, wanted, limits)
    _end(session, closing, plan, options, _shared_options(context, store))


def _read_limits(session: Session, options: Mapping[str, Any], asked_as: str) -> _Limits:
    """How to ask, by the options. Raises ``UsageError``, ``BadEndpoint`` and ``PricesError``."""
    from eval.generate.prices import load_prices

    table = None if options["prices"] is None else load_prices(options["prices"])
    if table is not None and asked_as not in table.models:
        named = ", ".join(sorted(table.models))
        raise UsageError(
            f'{options["prices"]} has no price for "{asked_as}"', f"it has prices for {named}; add this one"
        )
    if options["max_cost"] is not None and table is None:
        raise UsageError("--max-cost needs to know what tokens cost", "give --prices FILE")
    endpoint = None if options["dry_run"] else read_endpoint(session, options)
    return _Limits(endpoint, table, options["max_requests"], options["max_cost"], options["keep_going"])


def _require_no_key(wanted: Wanted, limits: _Limits) -> None:
    """Refuse a key among what is stored with the run. Raises ``UsageError``."""
    from eval.generate.sampling import held_secret, secret_in

    where = None if limits.endpoint is None else secret_in(wanted.sampling.extra_body, limits.endpoint.key)
    if where is not None:
        raise UsageError(*held_secret(where))


def read_endpoint(session: Session, options: Mapping[str, Any]) -> EndpointSettings:
    """The endpoint that options name, with the key from the environment. Raises ``UsageError``."""
    from eval.generate.addresses import is_loopback, is_meant_for_openai_key, read_address
    from eval.generate.endpoint import EndpointSettings

    base_url = options["base_url"] or session.config.generate_base_url
    if not base_url:
        raise UsageError("which endpoint?", "give --base-url, LIVE_BASE_URL or base_url below [generate] in live.toml")
    place = read_address(base_url).place
    parts = urlsplit(base_url)
    named = [name for name, _ in parse_qsl(parts.query) if any(word in name.lower() for word in _SECRET_NAMES)]
    if named:
        raise UsageError(
            f"the base URL holds a secret ({named[0]}=…)", "leave it out: name the variable with it by --key-variable"
        )
    variable = options["key_variable"] or _KEY_VARIABLE
    key = os.environ.get(variable)
    if options["key_variable"] and not key:
        raise UsageError(f"the variable {variable} holds no key", f"set {variable}, or leave --key-variable out")
    if key and not options["key_variable"] and not is_meant_for_openai_key(base_url):
        raise UsageError(
            f"name the variable that holds {parts.hostname}'s key with --key-variable",
            f"{_KEY_VARIABLE} goes to OpenAI and to this machine alone, unless it is named so; unset it to send no key",
        )
    if key and parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        session.messages.print(
            one_line(f"note: the key of {variable} goes to {place} unencrypted (http)"), markup=False
        )
    return EndpointSettings(
        base_url,
        key=key,
        timeout_s=options["timeout"],
        stream=options["stream"],
        concurrency=options["concurrency"],
        key_variable=variable,
        key_header=options["key_header"],
    )


def _plan(session: Session, store: Store, model: str, wanted: Wanted) -> _Plan:
    """What the run lacks, in the order in which it is asked for."""
    from db.completions import RunRecord
    from eval.generate.account import counted
    from eval.generate.plan import in_rounds

    choice = choose(session, store, model, wanted)
    run = RunRecord(model, wanted.label, wanted.asking.conditions(wanted.asked_as, wanted.sampling))
    with store.read() as reading:
        run_id = find_run(reading, run)
    missing, n_places = lacking(store, choice, wanted, run_id)
    if not missing:
        there = f"{counted(n_places, 'answer')} to {counted(len(choice.problem_ids), 'problem')}"
        session.messages.print(f"nothing is missing: the store has {there}")
    elif len(missing) < n_places:
        session.messages.print(f"answers: {n_places - len(missing)} there, {len(missing)} missing")
    return _Plan(run, run_id, in_rounds(missing))


def _say_estimate(session: Session, store: Store, plan: _Plan, wanted: Wanted, limits: _Limits, as_json: bool) -> None:
    from db.usage import usage_of_runs
    from eval.generate.estimate import estimate

    with store.read() as reading:
        known = [] if plan.run_id is None else [plan.run_id]
        found = estimate(
            reading,
            wanted.asking,
            plan.places[: limits.max_requests],
            usage=usage_of_runs(reading, known).get(plan.run_id or 0),
            max_tokens=wanted.sampling.max_tokens,
            price=None if limits.prices is None else limits.prices.models[wanted.asked_as],
            currency=None if limits.prices is None else limits.prices.currency,
        )
    if as_json:
        print_json({"model": plan.run.model, "conditions": plan.run.conditions, **found.as_dict()})
        return
    for line in found.lines():
        session.messages.print(line, markup=False)


def _ask(session: Session, store: Store, plan: _Plan, wanted: Wanted, limits: _Limits) -> Closing:
    from eval.generate.account import Account
    from eval.generate.asking import Task, ask_all
    from eval.generate.closing import close
    from eval.generate.plan import Budget

    account = Account(len(plan.places), None if limits.prices is None else limits.prices.currency)
    ended = None
    if plan.places:
        assert limits.endpoint is not None
        task = Task(
            plan.run,
            wanted.asking,
            wanted.asked_as,
            wanted.sampling,
            prices=limits.prices,
            concurrency=limits.endpoint.concurrency,
            keep_going=limits.keep_going,
        )
        budget = Budget(limits.max_requests, limits.max_cost)
        try:
            with asking_bar(session.messages, len(plan.places)) as on_done:
                ended = ask_all(
                    store,
                    limits.endpoint,
                    task,
                    plan.places,
                    account,
                    run_id=plan.run_id,
                    budget=budget,
                    on_done=on_done,
                )
        except KeyboardInterrupt:
            _say_interrupted(session, account)
            raise
    with store.read() as reading:
        return close(reading, find_run(reading, plan.run), account, ended)


def _say_interrupted(session: Session, account: Account) -> None:
    session.messages.print(f"{account.n_answered} of {account.n_wanted} missing answers came", markup=False)


def _say_closing(session: Session, closing: Closing, following: str | None) -> None:
    for line in closing.lines():
        session.messages.print(one_line(line), markup=False)
    if closing.stop is not None:
        typer.echo(one_line(f"stopped: {closing.stop.message}"), err=True)
        if closing.stop.hint:
            typer.echo(one_line(f"  what to do: {closing.stop.hint}"), err=True)
    if following is not None and closing.usage.n_responses:
        session.messages.print(f"next: {following}", markup=False)


def _shared_options(context: typer.Context, store: Store) -> list[str]:
    """``--db`` (without a password) and ``--models`` where they were written: those of the environment hold for the
    next command as well."""
    parent = context.parent
    assert parent is not None
    words: list[str] = []
    for name, option in (("db", "--db"), ("models_path", "--models")):
        source = parent.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE":
            continue
        value = parent.params[name]
        values = [store.shown] if name == "db" else map(str, value or ())
        words += [word for one in values for word in (option, one)]
    return words


def _next_command(model: str, options: Mapping[str, Any], shared: Sequence[str]) -> str:
    """The command that judges and scores what was asked for, in the same window."""
    words = ["live", *shared, "eval", model, *(["--after-cutoff"] if options["after_cutoff"] else [])]
    for name in ("since", "until"):
        words += [f"--{name}", options[name]] if options[name] else []
    for name, default in (("margin", "0d"), ("scenario", "code_generation")):
        words += [f"--{name}", options[name]] if options[name] != default else []
    for name in ("platform", "difficulty"):
        words += [word for value in options[name] or () for word in (f"--{name}", value)]
    return shlex.join([*words, *(["--include-flagged"] if options["include_flagged"] else [])])


def _end(session: Session, closing: Closing, plan: _Plan, options: Mapping[str, Any], shared: Sequence[str]) -> None:
    """Say what came of it, and end with its exit code."""
    from eval.generate.asking import Why

    model, following = plan.run.model, _next_command(plan.run.model, options, shared)
    _say_closing(session, closing, None if options["as_json"] else following)
    if options["as_json"]:
        print_json({"model": model, "conditions": plan.run.conditions, **closing.as_dict(), "next": following})
    if closing.stop is not None and closing.stop.why is Why.FATAL:
        raise typer.Exit(ExitCode.UNAVAILABLE)
    if not closing.is_complete:
        raise typer.Exit(ExitCode.SOMETHING_FAILED)
