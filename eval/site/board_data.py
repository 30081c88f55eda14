"""The data from which the start page counts again for another window: the file `data/board.js`. Pure.

It is one script that sets ``window.LIVE_BOARD`` (a page opened from a folder may run a script, and read no file). Its
value, all of it ASCII; every instant is in ms since 1970 (UTC), a place is one in ``problems``, counted from 0:

``format``     2
``build``      the build's id, which the page's form has too: another one's data are not shown
``commands``   how `live eval` is asked: ``own``, ``common`` (after the cut-offs), ``explicit`` (a window that is
               given); ``tail`` follows each, then ``common_tail`` for common tables, and ``models`` end it;
               ``platform`` and ``difficulty`` stand where a view chooses none; ``basis`` says where they give the same
``counts_samples``  whether results of runs judged here on sample tests alone count, by the rules of the edition's time
``few``        by the number of problems: why it is too small for a rate. The first is of problems that runs share
``limits``     from where on there are ranks: ``models``, ``common`` problems, and at most this share ``failed``
``platforms``  names, one for each that differs by more than its case; ``difficulties`` likewise
``reasons``    why a problem has no result: the texts of `COMMON_REASONS` in that order, then those of problems
``origins``    where tests come from: the words of `ORIGINS`
``t``          by degrees of freedom: the 97.5 % quantiles of Student's t (nothing for 0)
``times``      the different dates of publication, each by its first instant; ``ends``: [place in times, end of what a
               coarse date names]. One instant may stand there twice, exact and coarse
``alphabet``   88 characters, the digits of numbers to the base of 88. A column is written as a text in which each
               number has the same count of them
``problems``   columns of ``n_problems`` numbers: ``time`` is 1 more than a place in ``times`` (0: no date is known),
               ``platform`` and ``difficulty`` are places in these lists, ``contest`` numbers contests, ``tests`` is 1
               more than a place in ``origins`` (0: none); ``untested`` lists problems without tests, ``samples_only``
               those on which results of runs judged here do not count, ``made`` what made tests did to known-wrong
               programs, as [problem, how many there are, how many they fail], ``kept_out`` problems that no run is
               scored on, as [problem, reason]
``codes``      the pairs of samples and correct ones that occur, most frequent first
``runs``       in the edition's order: ``slug``, ``name``, ``model`` (a number, the same for runs of one model),
               ``group`` (runs under equal settings), ``imported``; ``after``: the first instant after its cut-off,
               ``start``: that with the margin (null: no cut-off is known); ``refused``, ``doubted``, ``ambiguous``:
               why it has no score after its cut-off, is not compared after it, is never compared (null: it is);
               ``results``: a column, for each problem 0 (no outcome) or 1 more than the place of its pair in ``codes``,
               also on problems on which it does not count;
               ``rare``: [problem, [waiting, internal, older, failed]], samples without a verdict by why, and failed
               requests, where there are such
``ranked``     windows whose ranks were computed: [since, until (null: no bound), a column with five numbers for each
               run in the order of ``runs``]: low, high, both again for all runs at once, and the tier; 0 where the run
               has no rank

Problems that the edition's filters leave out are not among them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from shlex import quote
from typing import Any

from eval.basis import basis_of
from eval.board import EPOCH
from eval.cautions import differing_fields
from eval.common_window import by_settings
from eval.editions.document import Edition, EditionRun, RankedWindow
from eval.eligibility import NotScored
from eval.evaluation import RunOutcomes
from eval.generate.health import MAX_SHARE
from eval.labels import LEVELS
from eval.publishing.publication import Published
from eval.ranking import NOTHING_COMMON
from eval.render import left_out_text
from eval.report import TOO_FEW_PROBLEMS, Row, too_few
from eval.scoring import UNKNOWN
from eval.site.tests_told import ORIGINS, origin_word
from eval.statistics.intervals import t_quantile
from eval.statistics.ranks import MIN_COMMON, MIN_MODELS
from eval.window import ProblemFacts, Reason, quality_reason

FORMAT = 2
SCRIPTS = ("intervals.js", "tables.js", "board.js")
"""The scripts of the start page, in the order in which it loads them."""

COMMON_REASONS = (
    Reason.DATE_UNKNOWN,
    Reason.BEFORE_CUTOFF,
    Reason.TOO_NEAR,
    Reason.OUTSIDE_WINDOW,
    Reason.NO_TESTS,
    Reason.SAMPLES_ONLY,
    Reason.NO_COMPLETION,
    Reason.NO_RESULT,
    Reason.NOT_JUDGED,
    Reason.INTERNAL_ERROR,
    Reason.OLDER_STATEMENT,
)
"""The reasons that depend on the window or the run, in the order that `tables.js` counts on."""

ALPHABET = "".join(mark for mark in map(chr, range(0x21, 0x7F)) if mark not in "\"'&<>\\")
"""Printable ASCII that stands for itself in JSON, in a script and in HTML."""

MAX_NAMED_MODELS = 12
"""Commands name the models of an edition where there are no more."""

_MS = timedelta(milliseconds=1)
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


@dataclass(frozen=True)
class FilterValues:
    """What a view can be narrowed to, in the order in which it is shown."""

    platforms: tuple[str, ...]
    difficulties: tuple[str, ...]


@dataclass(frozen=True)
class SettingsGroup:
    """Runs (by name, in the edition's order) under equal settings; ``label`` says in what the groups differ."""

    label: str
    runs: tuple[str, ...]


def board_script(published: Published) -> bytes:
    """The file `data/board.js`."""
    text = json.dumps(_document(published), ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return f"window.LIVE_BOARD={text.translate(_ESCAPES)};\n".encode("ascii")


def filter_values(edition: Edition) -> FilterValues:
    """The platforms and difficulties of the edition's problems. Of names that differ by case alone the first counts."""
    problems = _admitted(edition)
    platforms = _by_case(one.platform for one in problems)
    difficulties = _by_case(one.difficulty or UNKNOWN for one in problems)
    return FilterValues(tuple(sorted(platforms.values())), tuple(sorted(difficulties.values(), key=_level_order)))


def settings_groups(edition: Edition) -> tuple[SettingsGroup, ...]:
    """The runs of an edition by their settings, as the common table ranks them."""
    groups = by_settings([_without_results(run) for run in edition.runs], edition.settings.across)
    fields = [line.split(":")[0] for line in differing_fields([dict(key) for key in groups])]
    return tuple(
        SettingsGroup(
            ", ".join(f"{name} {dict(key).get(name)}" for name in fields),
            tuple(edition.runs[place].name for place in places),
        )
        for key, places in groups.items()
    )


def own_note(row: Row) -> str:
    """Why a run has no number or no rate in its own window; empty for one that has."""
    reason = row.pass_at_1.reason or ""
    if row.n_judged:
        return reason
    return f"{reason}; {left_out_text(row)}"


def _document(published: Published) -> dict[str, Any]:
    edition = published.edition
    problems = _admitted(edition)
    tallies = [_tallies(run, problems) for run in edition.runs]
    codes = _codes(chain.from_iterable(tallies))
    places = {pair: place + 1 for place, pair in enumerate(codes)}
    places_of = {one.problem_id: place for place, one in enumerate(problems)}
    return {
        "format": FORMAT,
        "build": published.build_id,
        "counts_samples": edition.counts_samples,
        "commands": _commands(edition),
        "few": [NOTHING_COMMON, *map(too_few, range(1, TOO_FEW_PROBLEMS))],
        "limits": {"models": MIN_MODELS, "common": MIN_COMMON, "failed": MAX_SHARE},
        **_problem_lists(edition, problems),
        "t": [None, *(t_quantile(degrees) for degrees in range(1, len({one.cluster for one in problems})))],
        "alphabet": ALPHABET,
        "codes": codes,
        "runs": [
            {
                "slug": published.run_slugs[run.name],
                **standing,
                "results": _column([0 if pair is None else places[pair] for pair in found], len(codes)),
                "rare": list(_rare(run, places_of)),
            }
            for run, standing, found in zip(edition.runs, _standing(edition), tallies, strict=True)
        ],
        "ranked": [_ranked(window, edition.runs) for window in edition.numbers.ranked_windows],
    }


def _admitted(edition: Edition) -> list[ProblemFacts]:
    settings = edition.settings.after_cutoff()
    return [one.facts for one in edition.problems if settings.admits(one.facts)]


def _by_case(names: Iterable[str]) -> dict[str, str]:
    """The first spelling of each name by its form without case."""
    return {name.casefold(): name for name in sorted(set(names), reverse=True)}


def _level_order(name: str) -> tuple[int, int, str]:
    """Easy before hard, ratings by size, other words, and "unknown" last."""
    if name.casefold() in LEVELS:
        return 0, LEVELS.index(name.casefold()), name
    if name.isdecimal():
        return 1, int(name), name
    return 3 if name.casefold() == UNKNOWN else 2, 0, name


def _commands(edition: Edition) -> dict[str, Any]:
    settings = edition.settings
    hours = settings.margin_hours
    margin = f" --margin {hours / 24:g}d" if hours % 24 == 0 else f" --margin {hours:g}h"
    after_cutoff = f"--after-cutoff{margin if hours else ''}"
    flagged = " --include-flagged" if settings.include_flagged else ""
    models = _models(edition)
    is_named, counts_samples = len(models) <= MAX_NAMED_MODELS, edition.counts_samples
    # A name that begins with a hyphen is no option.
    ended = " --" if any(name.startswith("-") for name in models) else ""
    return {
        "own": f"live eval {after_cutoff}",
        "common": f"live eval --table common {after_cutoff}",
        "explicit": "live eval --table common",
        "tail": f"{flagged} --split {settings.after_cutoff().split}",
        "common_tail": "".join(f" --across {quote(name)}" for name in settings.across)
        + (f" --seed {settings.seed}" if settings.seed else ""),
        "models": ended + "".join(f" {quote(name)}" for name in models) if is_named else "",
        "basis": "on the store as it was frozen"
        + ("" if is_named else ", for the models of this edition alone")
        + (f", with {edition.software}, by which results on sample tests alone count" if counts_samples else ""),
        "platform": list(settings.platforms),
        "difficulty": list(settings.difficulties),
    }


def _models(edition: Edition) -> tuple[str, ...]:
    """The models of the runs by the names that a command takes, in order."""
    return tuple(sorted({run.entry or run.model for run in edition.runs}))


def _problem_lists(edition: Edition, problems: Sequence[ProblemFacts]) -> dict[str, Any]:
    """The columns of problems and the lists that they point into."""
    values = filter_values(edition)
    platforms = {name.casefold(): place for place, name in enumerate(values.platforms)}
    difficulties = {name.casefold(): place for place, name in enumerate(values.difficulties)}
    spans = [_span(one) for one in problems]
    times = sorted({span for span in spans if span is not None})
    places = {span: place + 1 for place, span in enumerate(times)}
    include_flagged = edition.settings.include_flagged
    found = [quality_reason(one, include_flagged=include_flagged) for one in problems]
    reasons = [*map(str, COMMON_REASONS), *sorted({str(reason) for reason in found if reason is not None})]
    contests = _numbers(one.cluster for one in problems)
    counts_samples = edition.counts_samples
    origins = [origin_word(one, counts_samples=counts_samples) for one in problems]
    columns = {
        "time": (len(times), [0 if span is None else places[span] for span in spans]),
        "platform": (len(platforms), [platforms[one.platform.casefold()] for one in problems]),
        "difficulty": (len(difficulties), [difficulties[(one.difficulty or UNKNOWN).casefold()] for one in problems]),
        "contest": (max(contests, default=0), contests),
        "tests": (len(ORIGINS), [0 if word is None else ORIGINS.index(word) + 1 for word in origins]),
    }
    return {
        "n_problems": len(problems),
        "platforms": values.platforms,
        "difficulties": values.difficulties,
        "reasons": reasons,
        "origins": ORIGINS,
        "times": [start for start, _ in times],
        "ends": [[place, end] for place, (start, end) in enumerate(times) if start != end],
        "problems": {
            **{name: _column(numbers, largest) for name, (largest, numbers) in columns.items()},
            "untested": [place for place, one in enumerate(problems) if one.n_tests == 0],
            "samples_only": [place for place, one in enumerate(problems) if one.samples_only and not counts_samples],
            "made": [
                [place, one.strength.n_wrong, one.strength.n_wrong_killed]
                for place, one in enumerate(problems)
                if one.strength is not None and one.strength.n_wrong
            ],
            "kept_out": [[place, reasons.index(str(why))] for place, why in enumerate(found) if why is not None],
        },
    }


def _span(problem: ProblemFacts) -> tuple[float, float] | None:
    if problem.exposed_at is None or problem.exposed_before is None:
        return None
    return _ms(problem.exposed_at), _ms(problem.exposed_before)


def _ms(instant: datetime) -> float:
    """An instant in ms since 1970: a whole number where it is one."""
    ms, rest = divmod(instant - EPOCH, _MS)
    return ms + rest / _MS if rest else ms


def _numbers(keys: Iterable[Hashable]) -> list[int]:
    """The same number, counted from 0 in order of appearance, for the same key."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _standing(edition: Edition) -> Iterator[dict[str, Any]]:
    """Each run with its cut-off, and with why it is not scored or compared."""
    registry, settings = edition.registry, edition.settings.after_cutoff()
    explicit = replace(settings, after_cutoff=False, margin=timedelta(0), since=EPOCH)
    group_of = {name: number for number, group in enumerate(settings_groups(edition)) for name in group.runs}
    outcomes = [_without_results(run) for run in edition.runs]
    bases = [basis_of(run, registry, explicit, edition.as_of) for run in outcomes]
    models = _numbers(
        (run.model if isinstance(basis, NotScored) or basis.entry is None else basis.entry.name).casefold()
        for run, basis in zip(outcomes, bases, strict=True)
    )
    for run, outcome, model, basis in zip(edition.runs, outcomes, models, bases, strict=True):
        own = basis_of(outcome, registry, settings, edition.as_of)
        known = None if isinstance(basis, NotScored) else basis.known
        yield {
            "name": run.name,
            "model": model,
            "group": group_of[run.name],
            "imported": run.imported,
            "after": known and _ms(known.cutoff.after),
            "start": known and _ms(known.cutoff.after + settings.margin),
            "refused": own.reason if isinstance(own, NotScored) else None,
            "doubted": None if isinstance(own, NotScored) else own.doubt,
            "ambiguous": basis.reason if isinstance(basis, NotScored) else None,
        }


def _without_results(run: EditionRun) -> RunOutcomes:
    """What a run is, for which its results do not matter."""
    return replace(run, problems=(), n_samples=(), n_correct=(), rare=()).as_outcomes()


def _tallies(run: EditionRun, problems: Sequence[ProblemFacts]) -> list[tuple[int, int] | None]:
    """The samples and correct ones of a run on each problem; None where it has no outcome."""
    pairs = zip(run.n_samples, run.n_correct, strict=True)
    found = dict(zip(run.problems, pairs, strict=True))
    return [found.get(problem.problem_id) for problem in problems]


def _rare(run: EditionRun, places: Mapping[int, int]) -> Iterator[tuple[int, tuple[int, int, int, int]]]:
    """What few outcomes of a run have, by the problem's place."""
    answered = set(run.problems)
    for one in run.rare:
        counts = (one.n_waiting, one.n_internal, one.n_older, one.n_failed)
        if any(counts) and one.problem in places and one.problem in answered:
            yield places[one.problem], counts


def _codes(tallies: Iterable[tuple[int, int] | None]) -> list[tuple[int, int]]:
    counts = Counter(pair for pair in tallies if pair is not None)
    return sorted(counts, key=lambda pair: (-counts[pair], pair))


def _column(numbers: Iterable[int], largest: int) -> str:
    """Numbers up to the largest, each with as many digits as that one needs."""
    width = 1
    while len(ALPHABET) ** width <= largest:
        width += 1
    written = {number: _digits(number, width) for number in range(largest + 1)}
    return "".join(written[number] for number in numbers)


def _digits(number: int, width: int) -> str:
    digits = []
    for _ in range(width):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))


def _ranked(window: RankedWindow, runs: Sequence[EditionRun]) -> list[Any]:
    ranges = {one.run: one for one in window.ranks}
    numbers: list[int] = []
    for run in runs:
        one = ranges.get(run.name)
        numbers += (
            (0,) * 5 if one is None else (one.low, one.high, one.simultaneous_low, one.simultaneous_high, one.tier)
        )
    until = None if window.until is None else _ms(window.until)
    return [_ms(window.since), until, _column(numbers, len(runs))]
