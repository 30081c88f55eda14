"""What the tests of a problem are, for readers: how many, where they come from, how strong made ones are. Pure."""

from __future__ import annotations

from db.records import TestOrigin
from eval.test_basis import strength_text
from eval.window import ProblemFacts

NONE, SAMPLES_ONLY, NOT_RECORDED = "no tests", "sample tests only", "tests of origin not recorded"
_ORIGINS = {TestOrigin.OFFICIAL: "official", TestOrigin.GENERATED: "made here", TestOrigin.RECOVERED: "recovered"}
_KINDS = {**_ORIGINS, TestOrigin.GENERATED: "made"}


def kind_of_tests(facts: ProblemFacts) -> str:
    """What programs are judged by, in a few words that many problems share: "made tests"."""
    if not facts.n_tests:
        return NONE
    if facts.samples_only:
        return SAMPLES_ONLY
    if not facts.hidden_origins:
        return NOT_RECORDED
    return f"{' and '.join(words for origin, words in _KINDS.items() if origin in facts.hidden_origins)} tests"


def origins_text(facts: ProblemFacts) -> str:
    """Where the tests beyond the samples come from: "official and made here"; "" where it is not recorded."""
    return " and ".join(words for origin, words in _ORIGINS.items() if origin in facts.hidden_origins)


def suite_text(facts: ProblemFacts) -> str:
    """How many tests there are and of what kind, with what made ones do to programs."""
    if not facts.n_tests:
        return NONE
    noun = "test" if facts.n_tests == 1 else "tests"
    checker = ", with a checker of its own" if facts.has_checker else ""
    if facts.samples_only:
        return f"{facts.n_tests} sample {noun} only{checker}"
    origins = origins_text(facts) or "of an origin that is not recorded"
    strength = "" if facts.strength is None else f"; made ones fail {strength_text(facts.strength)}"
    return f"{facts.n_tests} {noun}, {origins} beyond the samples{checker}{strength}"
