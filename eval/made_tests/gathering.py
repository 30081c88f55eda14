"""From the store to the material that tests are made from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from db.asked import AskableProblem, load_askable
from db.known_programs import CompletionProgram, completions_of
from db.made_suites import base_suite_id
from db.records import GIVEN_BY_USER, WRITTEN_BY_MODEL, IoKind, ProgramRole, SuiteRecord
from db.references import StoredReference, list_references
from db.revisions import current_content_hashes
from db.standings import Standing, load_standings
from db.suites import load_suite
from eval.made_tests.gate import CannotBuild
from eval.made_tests.material import KnownProgram, Material
from eval.made_tests.reading.starter_code import design_signature_of, parameters_of
from eval.models import ModelAmbiguous, Registry
from eval.window import flag_reason
from sandbox import Program, Verdict

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

_REFUSED_FLAGS: Final = ("interactive", "multiple_answers")
_VERDICTS: Final = frozenset(str(one) for one in Verdict)


@dataclass(frozen=True)
class Gathered:
    """A problem of the store with all that its tests can be made from.

    ``base_suite_id`` is the suite that samples and rules come from, ``revision_id`` the statement's; None: there is
    none. ``flags`` are the (name, reason) that hold.
    """

    problem_id: int
    material: Material
    base_suite_id: int | None
    revision_id: int | None
    flags: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """PLATFORM:ID."""
        return self.material.key

    def require_one_answer(self) -> None:
        """CannotBuild for a problem that is flagged for having no expected outputs, or several."""
        for name, reason in self.flags:
            why = flag_reason(name, has_checker=self.material.suite.checker is not None)
            if name in _REFUSED_FLAGS and why is not None:
                raise CannotBuild(
                    f"it is flagged {name}: {' '.join(reason.split())}",
                    "its tests have to come from its platform or its package; live problems unflag takes a flag off",
                )


@dataclass(frozen=True)
class Gatherer:
    """What is the same for all problems of a store: who made which model, and how strong each is."""

    registry: Registry
    standings: Mapping[str, Standing]
    revisions: Mapping[int, str]

    @classmethod
    def of(cls, session: Session, registry: Registry) -> Gatherer:
        """As the store stands now."""
        return cls(registry, load_standings(session), current_content_hashes(session))

    def gather(self, session: Session, problem_id: int) -> Gathered:
        """The material of one problem. ``UnknownRow`` for one that the store does not have."""
        (problem,) = load_askable(session, [problem_id])
        base = base_suite_id(session, problem_id)
        suite = SuiteRecord(()) if base is None else load_suite(session, base)
        programs = (
            *_references(list_references(session, problem_id)),
            *self._completions(completions_of(session, problem_id)),
        )
        return Gathered(
            problem_id,
            Material(
                key=str(problem.key),
                statement=problem.statement,
                suite=suite,
                programs=_named_apart(programs),
                **_called(problem, suite),
                revision=self.revisions.get(problem_id, ""),
            ),
            base,
            problem.revision_id,
            problem.flags,
        )

    def _completions(self, completions: Iterable[CompletionProgram]) -> Iterable[KnownProgram]:
        """The completions, in an order that depends on what they are and not on when they came."""
        ordered = sorted(
            completions,
            key=lambda one: (one.model, one.label, json.dumps(one.conditions, sort_keys=True), one.sample_index),
        )
        for one in ordered:
            standing = self.standings.get(one.model)
            yield KnownProgram(
                name=f"{one.model}{' ' if one.label else ''}{one.label} #{one.sample_index}",
                program=Program(one.code, one.language),
                model=one.model,
                family=family_of(self.registry, one.model),
                is_under_evaluation=True,
                standing=0.0 if standing is None else standing.share,
                known=Verdict(one.verdict) if one.verdict in _VERDICTS else None,
            )


def family_of(registry: Registry, model: str) -> str | None:
    """Who made a model, or the one that it was made from in the end; None where the registry does not say."""
    try:
        entry = registry.resolve(model)
    except ModelAmbiguous:
        return None
    known = () if entry is None else (entry, *registry.ancestors(entry))
    return next((one.provider.casefold() for one in reversed(known) if one.provider), None)


def is_given_by_user(source: str) -> bool:
    """Whether a program of this source came from a user, and not with the problem."""
    return source.partition(":")[0] == GIVEN_BY_USER


def _references(references: Iterable[StoredReference]) -> Iterable[KnownProgram]:
    for one in references:
        is_official = not is_given_by_user(one.source) and not one.source.startswith(WRITTEN_BY_MODEL)
        yield KnownProgram(
            one.name, Program(one.code, one.language), one.role, is_official=is_official, source=one.source
        )


def _named_apart(programs: Iterable[KnownProgram]) -> tuple[KnownProgram, ...]:
    """The programs with a name of its own for each: with its source, then with a number."""
    found: dict[str, KnownProgram] = {}
    for one in programs:
        name, number = one.name, 1
        if name in found and one.source:
            name = f"{one.name} ({one.source})"
        while name in found:
            number += 1
            name = f"{one.name} ({number})"
        found[name] = replace(one, name=name)
    return tuple(found.values())


def _called(problem: AskableProblem, suite: SuiteRecord) -> dict[str, Any]:
    """What `Material` says of what is called: nothing for programs that read standard input."""
    if suite.entry_point is None:
        return {}
    if suite.io_kind is IoKind.FUNCTION:
        return {"parameters": parameters_of(problem.starter_code, suite.entry_point)}
    if suite.io_kind is IoKind.DESIGN:
        found = design_signature_of(problem.starter_code, suite.entry_point)
        return {} if found is None else {"parameters": found.constructor, "methods": tuple(found.methods.items())}
    return {}


def references_of(material: Material) -> frozenset[str]:
    """The names of the programs that came with a problem or were given for it as right ones."""
    roles = (ProgramRole.ACCEPTED, ProgramRole.BRUTE_FORCE)
    return frozenset(one.name for one in material.programs if one.role in roles)
