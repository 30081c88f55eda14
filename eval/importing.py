"""Bringing models' programs and published grades into the store.

Rows are joined to problems by id, never by position, and written in batches, each in a transaction of its own: what was
written before a failure stays. The same file twice changes nothing the second time. Of results of one file that
contradict each other none is taken, and none of a run that differs too much from the stored one of its name
(`eval.import_ahead`). Notes say what a run leaves unanswered between its first and its last problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from db.answered import problems_of_runs, problems_of_tallies
from db.asked import load_askable
from db.batches import Progress, Result, Tally, save_in_batches
from db.completions import RunRecord, SaveResult, save_completions, save_run
from db.errors import UnknownProblem
from db.importing import ImportReport, Note, Refusal, UnknownFormat
from db.problems import problem_ids
from db.records import (
    CODE_GENERATION,
    AnswerStatus,
    CompletionRecord,
    ProblemKey,
    SaveOutcome,
    TallyRecord,
    require_utc,
)
from db.refused import keep_refused
from db.tallies import save_tallies
from eval.formats import Format, ResultRow, SolutionRow, result_formats, solution_formats
from eval.generate.extraction import EmptyContent, extract_program
from eval.generate.replies import Reply
from eval.import_ahead import LookAhead, Place, Revision, Run
from eval.import_joins import Problems, unanswered_notes
from eval.import_models import ModelResolver, Models, models_in
from eval.scenarios import NotPrograms, scenario_of, task_form
from sandbox import languages

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.engine import Store


def import_solutions(  # noqa: PLR0913 - everything the command line can say, by keyword
    store: Store,
    path: Path,
    format_name: str,
    *,
    model: str | None,
    known_models: ModelResolver,
    now: datetime,
    label: str = "import",
    conditions: Mapping[str, Any] | None = None,
    language: str = "python3",
    progress: Progress | None = None,
) -> ImportReport:
    """Import the programs of a file as completions of the run (model, ``label``, ``conditions``).

    ``model`` None takes the models that the rows name, each into a run of its own. ``language`` counts where a row
    names none. Raises ``ImportFailure`` before anything is written, ``StoreError`` when the store gives up on the way
    (finished batches stay). Refused row by row: unknown problems, other code for a sample that the run already holds.
    A condition ``scenario`` says what was asked for: ``UnknownScenario``, or ``NotPrograms`` for one without programs.
    """
    require_utc("now", now)
    scenario = scenario_of(conditions or {})
    if not task_form(scenario).is_judged:
        raise NotPrograms(scenario)
    reader = _reader(format_name, solution_formats(), "solutions")
    read = reader.read_solutions
    assert read is not None  # solution_formats has no others
    models = Models(known_models)
    if model is not None:
        models.require({(model, None)})
    else:
        models.require(models_in(reader, read(path), path))
    importer = _SolutionImporter(models, model, RunSettings(label, dict(conditions or {})), language, now)
    tally = Tally()
    save_in_batches(store, read(path), importer.save, tally, size=_size, progress=progress)
    with store.read() as session:
        notes = [*importer.problems.notes(), *unanswered_notes(session, importer.answered(session))]
    return keep_refused(store, path, tally.report(notes), now=now)


def import_results(  # noqa: PLR0913 - as above
    store: Store,
    path: Path,
    format_name: str,
    *,
    now: datetime,
    model: str | None = None,
    origin: str | None = None,
    known_models: ModelResolver | None = None,
    keep_unknown_models: bool = False,
    scenario: str = CODE_GENERATION,
    replace: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import the grades of a file as tallies.

    ``model`` names the model of a file that names none; of a file that names its models it takes that model's rows
    alone, and a note counts the others. ``origin`` replaces what the file or its format says of who graded.
    ``known_models`` None takes names as they stand; ``keep_unknown_models`` does so with those that it does not know,
    and a note names them. ``scenario`` is what the models were asked to do. Other results than the stored ones take
    their place, and notes count them; a run of which more than 5 % differ is refused, unless ``replace``. Raises as
    `import_solutions` does.
    """
    require_utc("now", now)
    task_form(scenario)
    reader = _reader(format_name, result_formats(), "results")
    read = reader.read_results
    assert read is not None  # result_formats has no others
    models = Models(known_models, keep_unknown=keep_unknown_models)
    if model is not None:
        models.require({(model, None)})
    else:
        models.require(models_in(reader, read(path), path))
    importer = _ResultImporter(models, model, origin, scenario, replace)
    with store.read() as session:
        importer.look_ahead(session, read(path))
    tally = Tally()
    items = chain((revision.refusal() for revision in importer.refused.values()), read(path))
    save_in_batches(store, items, importer.save, tally, size=_size, progress=progress)
    with store.read() as session:
        notes = [*importer.closing_notes(), *unanswered_notes(session, importer.answered(session))]
    return keep_refused(store, path, tally.report(notes), now=now)


def _reader(name: str, formats: Mapping[str, Format], kind: str) -> Format:
    if name not in formats:
        raise UnknownFormat(f"unknown format of {kind} {name!r}", f"the formats of {kind} are {', '.join(formats)}")
    return formats[name]


@dataclass(frozen=True)
class RunSettings:
    """What tells a run from another run of the same model."""

    label: str
    conditions: dict[str, Any]


def _language(written: str) -> str:
    """The sandbox's name of a language that is called so elsewhere; one that it does not know stays as written."""
    return languages.canonical(written) or written


class _SolutionImporter:
    """Saves batches of solution rows."""

    def __init__(self, models: Models, model: str | None, settings: RunSettings, language: str, now: datetime) -> None:
        self._models = models
        self._model = None if model is None else models.resolve(model)
        self._settings = settings
        self._language = language
        self._now = now
        self.problems = Problems()
        self._runs: dict[str, int] = {}
        self._asked: dict[ProblemKey, _Asked] = {}

    def save(self, session: Session, rows: Sequence[SolutionRow]) -> list[Result]:
        """What became of each row, in their order."""
        results: list[Result] = [None] * len(rows)
        by_model: dict[str, list[tuple[int, CompletionRecord]]] = {}
        for place, row in enumerate(rows):
            model = self._model_of(row)
            if isinstance(model, Refusal):
                results[place] = model
                continue
            record = self._record(session, row)
            if isinstance(record, Refusal):
                results[place] = record
                continue
            by_model.setdefault(model, []).append((place, record))
        for model, places in by_model.items():
            saved = save_completions(session, self._run_of(session, model), [record for _, record in places])
            for (place, record), outcome in zip(places, saved, strict=True):
                results[place] = self._told(rows[place], model, record, outcome)
        return results

    def _record(self, session: Session, row: SolutionRow) -> CompletionRecord | Refusal:
        key = self.problems.find(session, row)
        if isinstance(key, Refusal):
            return key
        found = self._program(session, key, row)
        if isinstance(found, Refusal):
            return found
        try:
            return CompletionRecord(
                key=key,
                sample_index=row.sample_index,
                code=found.code,
                language=self._language_of(row),
                finish_reason=row.finish_reason,
                raw_output=row.raw_output,
                status=found.status,
                rule=found.rule,
            )
        except ValueError as error:
            return Refusal(row.where, str(error), "mend the row")

    def _told(self, row: SolutionRow, model: str, record: CompletionRecord, outcome: SaveResult) -> Result:
        if isinstance(outcome, SaveOutcome):
            return outcome
        if isinstance(outcome, UnknownProblem):
            return Refusal(row.where, str(outcome), outcome.hint)
        held = f"run {self._settings.label!r} of {model} already holds sample {record.sample_index} of {record.key}"
        hint = "import it into a run of its own with another --run label"
        return Refusal(row.where, f"{held} with other {outcome.field}", hint)

    def answered(self, session: Session) -> dict[str, set[int]]:
        """For each run of this import, all problems that it has answered by now."""
        named = {run_id: f"{model}, run {self._settings.label!r}" for model, run_id in self._runs.items()}
        found = problems_of_runs(session, named)
        return {name: found.get(run_id, set()) for run_id, name in named.items()}

    def _model_of(self, row: SolutionRow) -> str | Refusal:
        if row.model is None:
            if self._model is None:
                return Refusal(row.where, "the row names no model", "name it in each row, or use --model")
            return self._model
        named = self._models.resolve(row.model)
        if named is None:
            return Refusal(row.where, f"unknown model {row.model!r}", "`live models list` shows the known ones")
        if self._model is not None and named != self._model:
            reason = f"the row is of model {named}, the import is for {self._model}"
            return Refusal(row.where, reason, "leave out --model to take each row's own model")
        return named

    def _run_of(self, session: Session, model: str) -> int:
        # Only when a row is about to be saved: a file of which nothing is taken leaves no empty run behind.
        if model not in self._runs:
            record = RunRecord(model, self._settings.label, self._settings.conditions)
            self._runs[model] = save_run(session, record, now=self._now)
        return self._runs[model]

    def _language_of(self, row: SolutionRow) -> str:
        return _language(row.language or self._language)

    def _program(self, session: Session, key: ProblemKey, row: SolutionRow) -> _Program | Refusal:
        """The program as the row gives it, or what is found of it in the row's whole answer."""
        if row.is_answer:
            return self._extracted(session, key, row)
        if not row.continues_starter:
            return _Program(row.code)
        starter = self._asked_of(session, key).starter_code
        if not starter:
            reason = f"the program goes on from a prompt, and problem {key} is stored without starter code"
            return Refusal(row.where, reason, "give whole programs ('solution'), or import the problem's prompt first")
        return _Program(starter + row.code)

    def _extracted(self, session: Session, key: ProblemKey, row: SolutionRow) -> _Program | Refusal:
        asked = self._asked_of(session, key)
        found = extract_program(
            Reply(row.raw_output or "", finish_reason=row.finish_reason),
            language=self._language_of(row),
            entry_point=asked.entry_point,
            starter_code=asked.starter_code,
        )
        if isinstance(found, EmptyContent):
            hint = "ask the model again: a request that failed is never scored"
            return Refusal(row.where, f"a failed request in place of an answer: {found.message}", hint)
        return _Program(found.code, found.status, found.rule)

    def _asked_of(self, session: Session, key: ProblemKey) -> _Asked:
        if key not in self._asked:
            (problem,) = load_askable(session, [problem_ids(session, [key])[key]])
            self._asked[key] = _Asked(problem.starter_code, problem.entry_point)
        return self._asked[key]


@dataclass(frozen=True)
class _Program:
    """A program, with what it was found by where it was searched for (None: it came as one)."""

    code: str
    status: AnswerStatus | None = None
    rule: str | None = None


@dataclass(frozen=True)
class _Asked:
    """What a model was given to start from ("" for nothing), and the name that is called (None: the program is run)."""

    starter_code: str
    entry_point: str | None


class _ResultImporter:
    """Saves batches of result rows."""

    def __init__(self, models: Models, model: str | None, origin: str | None, scenario: str, replaces: bool) -> None:
        self._models = models
        self._scenario = scenario
        self._replaces = replaces
        self._model = None if model is None else models.resolve(model)
        self._origin = origin
        self._problems = Problems()
        self._ahead = LookAhead()
        self._replaced: list[Revision] = []
        self.refused: dict[Run, Revision] = {}
        self._saved: set[tuple[str, str]] = set()
        self._left_aside = 0

    def look_ahead(self, session: Session, rows: Iterable[ResultRow | Refusal | Note]) -> None:
        """Find results that contradict each other or the stored ones: which hold is not for an import to say."""
        for row in rows:
            place = self._place(session, row) if isinstance(row, ResultRow) else None
            if place is not None:
                assert isinstance(row, ResultRow)  # nothing else has a place
                self._ahead.add(place, row)
        for run, revision in self._ahead.revisions(session, self._scenario).items():
            if revision.is_another and not self._replaces:
                self.refused[run] = revision
            else:
                self._replaced.append(revision)

    def _place(self, session: Session, row: ResultRow) -> Place | None:
        """What a row is the result of; None for a row that is not taken anyway."""
        model = self._model_of(row)
        if model is None or (self._model is not None and model != self._model):
            return None
        key = self._problems.find(session, row)
        return None if isinstance(key, Refusal) else (model, self._origin or row.origin, key)

    def save(self, session: Session, rows: Sequence[ResultRow]) -> list[Result]:
        """What became of each row, in their order; None for a row of a run that is not taken."""
        prepared = [self._record(session, row) for row in rows]
        records = [item for item in prepared if isinstance(item, TallyRecord)]
        saved = iter(save_tallies(session, records))
        results: list[Result] = []
        for row, item in zip(rows, prepared, strict=True):
            outcome = next(saved) if isinstance(item, TallyRecord) else item
            if isinstance(outcome, UnknownProblem):
                outcome = Refusal(row.where, str(outcome), outcome.hint)
            results.append(outcome)
        return results

    def _record(self, session: Session, row: ResultRow) -> TallyRecord | Refusal | None:
        model = self._model_of(row)
        if self._model is not None and model != self._model:
            self._left_aside += 1
            return None
        if model is None:
            return Refusal(row.where, "the row names no model", "name it in each row, or use --model")
        key = self._problems.find(session, row)
        if isinstance(key, Refusal):
            return key
        origin = self._origin or row.origin
        return None if (model, origin) in self.refused else self._tally(row, model, origin, key)

    def _tally(self, row: ResultRow, model: str, origin: str, key: ProblemKey) -> TallyRecord | Refusal:
        conflict = self._ahead.conflicts.get((model, origin, key))
        if conflict is not None:
            others = ", ".join(where for where in conflict if where != row.where)
            reason = f"contradicts another result of {model} for {key} ({others}); none of them was taken"
            return Refusal(row.where, reason, "judge it again, or keep the one that holds")
        self._saved.add((model, origin))
        try:
            return TallyRecord(key, model, row.n_samples, row.n_correct, origin, self._scenario)
        except ValueError as error:
            return Refusal(row.where, str(error), "mend the row")

    def _model_of(self, row: ResultRow) -> str | None:
        # Either of a row's names may be the one that was asked for.
        asked_for = self._model is not None and self._model in (row.model, row.model_id)
        if row.model is None or asked_for:
            return self._model
        return self._models.resolve(row.model, row.model_id)

    def answered(self, session: Session) -> dict[str, set[int]]:
        """For each model and origin of this import, all problems that have a result by now."""
        found = problems_of_tallies(session, {model for model, _ in self._saved}, scenario=self._scenario)
        return {f"{model} ({origin})": found.get((model, origin), set()) for model, origin in sorted(self._saved)}

    def closing_notes(self) -> list[str]:
        """What is known only when all rows were seen."""
        notes = [*self._problems.notes(), *self._ahead.notes(), *(one.note() for one in self._replaced)]
        if self._left_aside:
            notes.append(f"{self._left_aside:,} rows of other models than {self._model} were left aside")
        kept = self._models.kept if self._model is None else self._models.kept & {self._model}
        if kept:
            notes.append(f"in no registry, so not scored by cut-off: {', '.join(sorted(kept))}")
        return notes


def _size(row: SolutionRow | ResultRow) -> int:
    return len(row.code) + len(row.raw_output or "") if isinstance(row, SolutionRow) else 0
