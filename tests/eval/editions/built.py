"""Editions to test with: a small invented one with odd features, and the recorded board of 16 models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from db.records import DateClaim, MadeStrength, Precision, TestOrigin
from eval.claims import ClaimKind
from eval.editions.document import (
    Edition,
    EditionEnvironment,
    EditionProblem,
    EditionRun,
    EditionSettings,
    FrozenEdition,
    RareOutcome,
    RunFailures,
    SampledFailure,
    digest_of,
    to_bytes,
)
from eval.editions.formats import FORMAT
from eval.editions.numbers import Inputs, numbers_of
from eval.editions.parts import public_part
from eval.models import ModelEntry, Registry
from eval.publishing.publication import Published
from eval.registry_files import load_registry
from tests.eval.facts import claim, matrix_rows, model, problem, registry, utc

AS_OF = datetime(2025, 5, 2, 3, 17, tzinfo=UTC)
FROZEN_AT = datetime(2025, 5, 3, 9, 0, 30, tzinfo=UTC)
TODAY = date(2026, 11, 1)
"""The day of the registry, some of whose claims were superseded in 2026."""
HOSTILE = 'A | B "C" <script>alert(1)</script>\u2028 end'
PRIVATE_ID = "hush-hush-17"
SECRETS = (
    f"see\natcoder:{PRIVATE_ID}",
    f"see\tAtCoder:{PRIVATE_ID.upper()}",
    f"x.atcoder:{PRIVATE_ID}b",
    f"{PRIVATE_ID}_x and {PRIVATE_ID}-",
    f"https://atcoder.example/tasks/{PRIVATE_ID}?lang=en",
    'the "Secret Garden Paths" and secret  garden\nwalls',
)
"""Words of private problems, for texts that speak of others."""
BUILD_DELAY = timedelta(hours=24)
"""The site's dates are the contest's and 24 hours."""

ENTRIES = {
    "O4-Mini (High)": ("o4-mini-2025-04-16", "high"),
    "O4-Mini (Medium)": ("o4-mini-2025-04-16", "medium"),
    "O4-Mini (Low)": ("o4-mini-2025-04-16", "low"),
    "O3-Mini-2025-01-31 (High)": ("o3-mini-2025-01-31", "high"),
    "O3-Mini-2025-01-31 (Med)": ("o3-mini-2025-01-31", "medium"),
    "O3-Mini-2025-01-31 (Low)": ("o3-mini-2025-01-31", "low"),
    "Gemini-2.5-Pro": ("gemini-2.5-pro-exp-03-25", ""),
    "Gemini-2.5-Flash-Preview": ("gemini-2.5-flash-preview-04-17", ""),
    "Grok-3-Mini (High)": ("grok-3-mini-beta", "high"),
    "Claude-3.7-Sonnet (Thinking)": ("claude-3-7-sonnet-20250219", "thinking"),
    "Claude-3.5-Sonnet-20241022": ("claude-3-5-sonnet-20241022", ""),
    "Claude-3-Haiku": ("claude-3-haiku-20240307", ""),
    "GPT-4O-2024-08-06": ("gpt-4o-2024-08-06", ""),
    "GPT-4-Turbo-2024-04-09": ("gpt-4-turbo-2024-04-09", ""),
    "GPT-4O-mini-2024-07-18": ("gpt-4o-mini-2024-07-18", ""),
    "DeepSeek-V3": ("deepseek-v3-2024-12-26", ""),
}
"""The names of the recorded board, with the registry's and the run's label."""


def edition_problem(place: int, **changes: Any) -> EditionProblem:
    """A problem with evidence of its date; ``changes`` are of its facts, or of itself where it has the field."""
    own = {name: changes.pop(name) for name in ("title", "url", "status", "revision") if name in changes}
    facts = problem(place, changes.pop("exposed_at", "2024-06-01T12:00"), **changes)
    source = facts.platform
    evidence = (
        ()
        if facts.exposed_at is None
        else (DateClaim(facts.exposed_at.isoformat(), facts.exposed_at, facts.exposed_precision, source),)
    )
    fields: dict[str, Any] = {
        "title": f"Problem {place}",
        "url": f"https://{facts.platform}.example/tasks/{facts.native_id}",
        "status": "active",
        "released_at": facts.exposed_at,
        "released_precision": None if facts.exposed_at is None else facts.exposed_precision,
        "evidence": evidence,
        "revision": f"{place:064x}",
    }
    return EditionProblem(facts, **(fields | own))


def edition_run(name: str, results: Sequence[tuple[int, int, int]], **changes: Any) -> EditionRun:
    """A run with (place, samples, correct) for each of its problems; judged here unless ``imported``."""
    columns = tuple(zip(*sorted(results), strict=True)) if results else ((), (), ())
    fields: dict[str, Any] = {
        "name": name,
        "model": name,
        "entry": name,
        "label": "",
        "origin": "judged",
        "imported": False,
        "conditions": {"temperature": 0.2, "prompt": "plain"},
        "ran_on": None,
        "problems": tuple(columns[0]),
        "n_samples": tuple(columns[1]),
        "n_correct": tuple(columns[2]),
    }
    return EditionRun(**(fields | changes))


def freeze_built(
    problems: Sequence[EditionProblem],
    runs: Sequence[EditionRun],
    models: Registry,
    *,
    name: str = "2025-05",
    settings: EditionSettings | None = None,
    environment: EditionEnvironment | None = None,
    withdrawn: dict[str, str] | None = None,
    failures: tuple[RunFailures, ...] = (),
    as_of: datetime = AS_OF,
    frozen_at: datetime = FROZEN_AT,
    note: str = "",
) -> FrozenEdition:
    """An edition of these, with its numbers computed and its digest taken."""
    chosen = settings or EditionSettings()
    inputs = Inputs(
        tuple(problems), tuple(runs), models, chosen, as_of, None if environment is None else environment.digest
    )
    edition = Edition(
        format=FORMAT,
        software="livecut 0.1.0",
        as_of=as_of,
        settings=chosen,
        environment=environment,
        models=models.entries,
        problems=tuple(problems),
        runs=tuple(runs),
        withdrawn=withdrawn or {},
        note=note,
        numbers=numbers_of(inputs),
        failures=failures,
    )
    return FrozenEdition(name, frozen_at, digest_of(to_bytes(edition)), edition)


def invented(name: str = "2025-05") -> FrozenEdition:
    """Seven runs on 60 problems of two platforms, from January 2024 to April 2025, with what is rare in it.

    Hostile titles and names, a private problem, a flagged, a withdrawn, an undated and a day-precise one, a run of a
    model without a cut-off, one without results after its cut-off, a withdrawn model, failures with programs. AtCoder's
    tests are made here but for a few, Codeforces' official; one problem has sample tests alone.
    """
    problems = [_invented_problem(place) for place in range(60)]
    runs = [
        edition_run("steady", _solved(problems, 3, 2)),
        edition_run("memoriser", [(p, n, n if p < 40 else c) for p, n, c in _solved(problems, 2, 4)]),
        edition_run(
            "frugal",
            _solved(problems, 1, 3)[20:],
            imported=True,
            origin="site",
            conditions={f"without {PRIVATE_ID}": list(SECRETS)},
        ),
        edition_run("late", _solved(problems, 4, 2)[:50]),
        edition_run(
            "failing",
            _solved(problems, 2, 3)[:48],
            rare=tuple(RareOutcome(place, n_failed=1, statuses={"truncated": 1}) for place in range(44, 48)),
        ),
        edition_run(
            HOSTILE, _solved(problems, 3, 5), entry=HOSTILE, conditions={"temperature": 0.2, "prompt": "plain"}
        ),
        edition_run("nameless", _solved(problems, 2, 2), entry=None),
    ]
    models = registry(
        model("steady", "2024-06", provider="Acme", release=None),
        model("memoriser", "2024-12"),
        model("frugal", None, release=claim("2025-02-18").cutoff, release_source="https://example.org/frugal"),
        model("late", "2025-04"),
        model("failing", "2024-03", base_models=("steady",)),
        ModelEntry(
            HOSTILE,
            provider='<b onclick="x">',
            claims=(
                claim("2024-05-15", by="a <i>maker</i>", looked_up=date(2025, 1, 2)),
                claim("2024-02", ClaimKind.RELIABLE_KNOWLEDGE),
            ),
        ),
        ModelEntry("nameless", notes=" ".join(SECRETS)),
    )
    environment = EditionEnvironment("e" * 64, "docker", {"python": "3.11.2", "image": "sha256:abc"})
    return freeze_built(
        problems,
        runs,
        models,
        name=name,
        environment=environment,
        withdrawn={"ghost-1": "asked by its provider"},
        failures=(_failures("steady"), _failures(HOSTILE, "".join(f"print({one!r})\n" for one in SECRETS))),
        note="A note of <em>the</em> maintainer",
    )


def _invented_problem(place: int) -> EditionProblem:
    month = place // 4
    exposed = f"{2024 + month // 12}-{month % 12 + 1:02d}-{1 + 7 * (place % 4):02d}T12:00"
    fields: dict[str, Any] = {
        "exposed_at": exposed,
        "platform": "atcoder" if place % 2 else "codeforces",
        "difficulty": ("easy", "medium", "hard")[place % 3],
        "contest": f"contest {place // 2}",
        "hidden_origins": (TestOrigin.OFFICIAL,),
    }
    if place % 2:
        fields |= {"hidden_origins": (TestOrigin.GENERATED,), "strength": invented_strength(place)}
    odd: dict[int, dict[str, Any]] = {
        3: {"title": HOSTILE},
        7: {"flags": (("bad_tests", "two right programs fail <test 3>"),)},
        9: {"status": "withdrawn_upstream", "withdrawn": True},
        11: {"exposed_at": None},
        13: {"exposed_precision": Precision.DAY, "exposed_at": exposed[:10]},
        17: {"native_id": PRIVATE_ID, "title": "Secret Garden Paths", "flags": (("private", "held back"),)},
        45: {"native_id": PRIVATE_ID + "b", "title": "Secret Garden Walls", "flags": (("private", "held back"),)},
        15: {"flags": (("exposed_earlier", _copy_of(PRIVATE_ID, "Secret Garden Paths")),)},
        19: {"flags": (("has_image", f"the same picture as atcoder:{PRIVATE_ID}, has"),), **_SAMPLES_ALONE},
        27: {"flags": (("early_access", " ".join(SECRETS)),)},
        21: {"difficulty": None, "contest": None, "url": None},
        23: {"n_tests": 0, "suite_digest": None, "hidden_origins": (), "strength": None},
        29: {"hidden_origins": (TestOrigin.RECOVERED,), "strength": None},
        31: {"hidden_origins": (TestOrigin.GENERATED, TestOrigin.OFFICIAL), "strength": None},
        33: {"hidden_origins": (), "strength": None},
        35: {"strength": None},
    }
    return edition_problem(place, **(fields | odd.get(place, {})))


def invented_strength(place: int) -> MadeStrength:
    """What the made tests of a problem of the invented edition do: the fewer they fail, the later it came."""
    return MadeStrength(n_wrong=20, n_wrong_killed=20 - place // 6, n_mutants=9, n_mutants_killed=7, n_right=4)


_SAMPLES_ALONE: dict[str, Any] = {"samples_only": True, "hidden_origins": (), "strength": None}


def _copy_of(native: str, title: str) -> str:
    """What `db.exposure` says of a copy."""
    return f'the same as atcoder:{native}, public since 2023-12-01T00:00:00+00:00: "{title}" ({native}) word for word'


def _solved(problems: Sequence[EditionProblem], n: int, period: int) -> list[tuple[int, int, int]]:
    """Results in a pattern that can be counted by hand: every ``period``-th problem is solved by no sample."""
    places = [one.facts.problem_id for one in problems if one.facts.problem_id != 25]
    return [(place, n, 0 if place % period == 0 else n - place % n) for place in places]


def _failures(run: str, code: str = "while True:\n    pass\n") -> RunFailures:
    return RunFailures(
        run,
        {"accepted": 40, "wrong_answer": 12, "time_limit": 3},
        (
            SampledFailure("codeforces:p30", 1, "wrong_answer", "02", "python", "print('</pre><script>')\n", False),
            SampledFailure("atcoder:p31", 0, "time_limit", "11", "python", code, True),
        ),
    )


def recorded(shared: Path, name: str = "2025-04") -> FrozenEdition:
    """The recorded board of April 2025: 16 models on 1,055 problems, ten samples each, under the shipped registry.

    ``shared`` is the folder of recorded data (the fixture ``shared_data``).
    """
    problems: list[EditionProblem] = []
    places: dict[tuple[str, str], int] = {}
    results: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
    seen: dict[str, int] = {}
    for row in matrix_rows(shared, "lcb_v6_2025-04-22"):
        key = (row["question_id"], row["site_date"])
        if key not in places:
            copy = seen[row["question_id"]] = seen.get(row["question_id"], 0) + 1
            places[key] = len(problems)
            at = utc(row["site_date"]) - BUILD_DELAY
            problems.append(
                edition_problem(
                    len(problems),
                    exposed_at=at.isoformat(),
                    platform=row["platform"],
                    native_id=row["question_id"] + ("" if copy == 1 else f"#{copy}"),
                    difficulty=row["difficulty"],
                    contest=at.isoformat(),
                    title=row["question_id"],
                )
            )
        results[row["model"]].append((places[key], 10, round(float(row["pass@1"]) / 10)))
    known = load_registry((), today=TODAY)
    runs = []
    for shown, found in results.items():
        entry, label = ENTRIES[shown]
        extra = {"model": entry, "entry": entry, "label": label, "origin": "livecodebench.github.io", "imported": True}
        runs.append(edition_run(shown, found, conditions={}, **extra))
    return freeze_built(problems, runs, _of_these(known, {run.model for run in runs}), name=name)


def _of_these(known: Registry, names: set[str]) -> Registry:
    entries = {}
    for name in sorted(names):
        entry = known.resolve(name)
        assert entry is not None
        for one in (entry, *known.ancestors(entry)):
            entries[one.name] = replace(one, origins=())
    return registry(*entries.values())


def published(frozen: FrozenEdition, **changes: Any) -> Published:
    """What is published of an edition; ``changes`` are of its other fields."""
    return Published(frozen.name, frozen.frozen_at, frozen.digest, public_part(frozen.edition), **changes)
