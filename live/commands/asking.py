"""What a model is asked and how it is made to answer, read from the options of a command."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.commands.problems import find_key
from live.commands.results import check_filters
from live.commands.windows import read_settings
from live.errors import ExitCode, UsageError
from live.session import Session, one_line, utc_now

if TYPE_CHECKING:
    from sqlalchemy.orm import Session as DbSession

    from db.completions import RunRecord
    from db.engine import Store
    from db.records import Place, ProblemKey
    from eval.generate.choosing import Choice
    from eval.generate.conditions import Asking
    from eval.generate.sampling import Sampling
    from eval.settings import Settings

AskedModel = Annotated[str, typer.Argument(metavar="MODEL", help="The model, by a name that a registry knows.")]
AskedAs = Annotated[
    str | None, typer.Option("--as", metavar="NAME", help="What the endpoint calls the model; by default MODEL.")
]
ScenarioName = Annotated[
    str,
    typer.Option("--scenario", help="code_generation, self_repair, output_prediction or code_execution."),
]
RepairsLabel = Annotated[
    str | None,
    typer.Option("--repairs", metavar="LABEL", help="self_repair: the judged run to repair; by default the only one."),
]
PromptName = Annotated[str, typer.Option("--prompt", help="plain, worked (step by step first) or bare.")]
AnswerLanguage = Annotated[str, typer.Option("--language", help="What programs are asked for in.")]
NSamples = Annotated[int, typer.Option("--n", min=1, max=10_000, help="So many answers to each problem.")]
RunLabel = Annotated[str, typer.Option("--run", help="A name for this run, to keep several of one model apart.")]
OnlyProblems = Annotated[
    list[str] | None, typer.Option("--problem", metavar="ID", help="Only this problem of the window (repeatable).")
]
IncludeUntested = Annotated[
    bool, typer.Option("--include-untested", help="Ask for problems without tests, too; they cannot be judged yet.")
]
ProblemLimit = Annotated[
    int | None,
    typer.Option("--limit", min=1, help="At most so many problems: the same ones each time, from the whole window."),
]
Temperature = Annotated[float | None, typer.Option(help="Sent only where it is given, as all of these are.")]
TopP = Annotated[float | None, typer.Option("--top-p", help="Nucleus sampling: above 0, at most 1.")]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", min=1, help="The longest answer, thinking included.")]
MaxTokensField = Annotated[
    str, typer.Option("--max-tokens-field", help="What the endpoint calls it: max_tokens or max_completion_tokens.")
]
SamplingSeed = Annotated[
    int | None, typer.Option("--seed", help="The first sample's seed; each next one has one more.")
]
Effort = Annotated[str | None, typer.Option(help="The effort of reasoning, as the endpoint names it: low, high.")]
Stop = Annotated[list[str] | None, typer.Option(help="A text that ends an answer (repeatable).")]
ExtraBody = Annotated[
    str | None, typer.Option("--extra-body", metavar="JSON|@FILE", help="Further fields of each request.")
]
ReasoningIsAnswer = Annotated[
    bool,
    typer.Option("--reasoning-is-answer", help="Look for the program in the reasoning where an answer has no text."),
]


def read_asking(options: Mapping[str, Any]) -> Asking:
    """How a model is asked, by the parameters ``scenario``, ``repairs``, ``prompt``, ``language``, ``n`` and
    ``reasoning_is_answer`` of a command.

    Raises ``UnknownScenario``, ``UnknownPrompt`` and ``UsageError``.
    """
    from eval.generate.conditions import Asking
    from eval.generate.prompts import load_prompt, written_languages
    from eval.generate.questions import CALLED_LANGUAGE
    from eval.scenarios import task_form
    from sandbox import languages

    form = task_form(options["scenario"])
    if options["repairs"] is not None and not form.repairs:
        raise UsageError(f"--repairs goes with a scenario that repairs, not with {form.name}", "leave it out")
    if form.once and options["n"] != 1:
        raise UsageError(f"--n {options['n']}: {form.name} asks once for each failing sample", "leave --n out")
    known, language = written_languages(), options["language"]
    name = language if language in known else languages.canonical(language)
    if name is None or name not in known:
        raise UsageError(f'prompts have no words for the language "{language}"', f"there are: {', '.join(known)}")
    if not form.is_judged and name != CALLED_LANGUAGE:
        raise UsageError(f"--language {language}: {form.name} asks for no program", "leave it out")
    prompt = load_prompt(options["prompt"], form.name)
    return Asking(prompt, name, options["reasoning_is_answer"])


def read_sampling(options: Mapping[str, Any]) -> Sampling:
    """How the model is made to answer, by the parameters of a command that are called as the options above.

    Raises ``BadSampling`` and ``UsageError``.
    """
    from eval.generate.sampling import Sampling

    return Sampling(
        temperature=options["temperature"],
        top_p=options["top_p"],
        max_tokens=options["max_tokens"],
        seed=options["seed"],
        effort=options["effort"],
        stop=tuple(options["stop"] or ()),
        extra_body=_read_extra_body(options["extra_body"]),
        max_tokens_field=options["max_tokens_field"],
    )


def _read_extra_body(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        read = json.loads(Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text)
    except OSError as error:
        raise UsageError(f"--extra-body: {text[1:]} cannot be read: {error.strerror}", "check the path") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--extra-body is not JSON: {error}", """write it as '{"top_k": 20}', or @FILE""") from error
    if not isinstance(read, dict):
        raise UsageError("--extra-body is no JSON object", """write it as '{"top_k": 20}', or @FILE""")
    return read


def find_keys(reading: DbSession, problem_ids: Iterable[str] | None) -> set[ProblemKey]:
    """The problems that ``--problem`` names. Raises ``UsageError`` for one that is not there, or ambiguous."""
    return {find_key(reading, problem_id) for problem_id in problem_ids or ()}


@dataclass(frozen=True)
class Wanted:
    """What the options of the command say."""

    settings: Settings
    asking: Asking
    sampling: Sampling
    asked_as: str
    label: str
    n_samples: int
    only: list[str] | None
    include_untested: bool
    limit: int | None
    repairs: str | None = None

    @property
    def stores_questions(self) -> bool:
        """Whether what is asked has to be written into the store first."""
        from db.records import CODE_GENERATION

        return self.asking.prompt.scenario != CODE_GENERATION


def read_wanted(options: Mapping[str, Any]) -> Wanted:
    """What the parameters of a command say that has all options above. Raises ``UsageError`` and what they raise."""
    after_cutoff, since, until, margin, platform, difficulty, include_flagged = (
        options[name]
        for name in ("after_cutoff", "since", "until", "margin", "platform", "difficulty", "include_flagged")
    )
    return Wanted(
        read_settings(after_cutoff, since, until, margin, platform, difficulty, "1", include_flagged),
        read_asking(options),
        read_sampling(options),
        options["asked_as"] or options["model"],
        options["run"],
        options["n"],
        options["problem"],
        options["include_untested"],
        options["limit"],
        options["repairs"],
    )


def settle(store: Store, model: str, wanted: Wanted) -> Wanted:
    """With what only the store can say of how this model is asked: which run it repairs. Raises ``BaseUnknown``."""
    from eval.scenarios import task_form

    find = task_form(wanted.asking.prompt.scenario).repairs
    if find is None:
        return wanted
    with store.read() as reading:
        digits = find(reading, model, wanted.repairs)
    return replace(wanted, asking=replace(wanted.asking, repairs=digits))


def lacking(store: Store, choice: Choice, wanted: Wanted, run_id: int | None) -> tuple[list[Place], int]:
    """The places of a run (None: the store does not have it yet) that lack an answer, and how many places it has.

    Questions beyond the problems themselves are written into the store, so that they have ids.
    """
    from db.responses import places_answered
    from eval.generate.places import places_of, unanswered

    with store.write() if wanted.stores_questions else store.read() as session:
        places = places_of(session, choice.asked, wanted.n_samples, now=utc_now())
        answered = set() if run_id is None else places_answered(session, run_id)
    return unanswered(places, answered, wanted.asking.prompt.scenario), len(places)


def choose(session: Session, store: Store, model: str, wanted: Wanted) -> Choice:
    """The problems to ask, with what is left out said; ends the command where there are none."""
    from eval.generate.choosing import choose_problems
    from eval.outcomes import load_problem_facts

    with store.read() as reading:
        if wanted.settings.platforms or wanted.settings.difficulties:
            check_filters(load_problem_facts(reading), wanted.settings)
        choice = choose_problems(
            reading,
            model,
            session.registry,
            wanted.settings,
            wanted.asking,
            now=utc_now(),
            only=find_keys(reading, wanted.only),
            include_untested=wanted.include_untested,
            limit=wanted.limit,
        )
    n_left_out = sum(choice.left_out.values())
    say_choice(session, choice)
    if not choice.problem_ids:
        why = choice.not_scored or (f"none of {n_left_out} problems is left" if n_left_out else "there is no problem")
        typer.echo(one_line(f"{model} is not asked: {why}"), err=True)
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)
    return choice


def say_choice(session: Session, choice: Choice) -> None:
    """What was left out and why, and what has to be known of the model's window."""
    for reason, count in choice.left_out.items():
        session.messages.print(one_line(f"left out: {reason}: {count}"), markup=False)
    for caution in choice.cautions:
        session.messages.print(one_line(f"note: {caution}"), markup=False)


def find_run(reading: DbSession, record: RunRecord) -> int | None:
    """The id of the run with this identity; None for one that the store does not have."""
    from db.completions import list_runs

    identity = (record.label, record.conditions)
    runs = list_runs(reading, [record.model])
    return next((run.run_id for run in runs if (run.label, run.conditions) == identity), None)
