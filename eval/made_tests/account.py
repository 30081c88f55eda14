"""How made tests came to be, as JSON values that are kept with them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from eval.made_tests.agreement import Agreement, Finding, Voter
from eval.made_tests.inputs import Input, Inputs, InputSource
from eval.made_tests.proving import Proof, name_of
from eval.made_tests.strength import KillRate
from eval.made_tests.time_limit import TimeLimit

FORMAT: Final = 1
_MOST_LISTED: Final = 50
"""Of what may be many, so many are listed; counts are of all."""


def account_of(
    source: InputSource,
    inputs: Inputs,
    agreement: Agreement,
    voters: Sequence[Voter],
    slowest: Mapping[str, float],
    proof: Proof,
    limit: TimeLimit | None,
    kept: Sequence[int],
) -> dict[str, Any]:
    """The whole account: inputs, who decided, what was set aside, the time limit, and what the tests are worth."""
    return {
        "format": FORMAT,
        "inputs": _inputs(source, inputs, [inputs.inputs[proof.tests[place].number] for place in kept]),
        "voters": [_voter(one, agreement, slowest) for one in voters],
        "decided_by": "references" if any(one.kind.is_reference for one in voters) else "completions",
        "set_aside": _set_aside((*agreement.all_findings, *proof.findings), inputs.refused),
        "time_limit": None if limit is None else _time_limit(limit),
        "strength": _strength(proof),
        "tests": [_test(proof, place) for place in kept],
    }


def _inputs(source: InputSource, inputs: Inputs, kept: Sequence[Input]) -> dict[str, Any]:
    return {
        "from": source.name,
        "digest": source.digest,
        "validator": None if source.validator is None else source.validator.name,
        "n": len(inputs.inputs),
        "n_refused": len(inputs.refused),
        "has_every_input": inputs.has_every_input,
        "is_capped": inputs.is_capped,
        "not_drawn": dict(sorted(inputs.not_drawn.items())),
        "extremes": [{"bound": one, "n_inputs": sum(one in each.reaches for each in kept)} for one in inputs.bounds],
    }


def _voter(one: Voter, agreement: Agreement, slowest: Mapping[str, float]) -> dict[str, Any]:
    return {
        "name": one.name,
        "kind": str(one.kind),
        "model": one.model,
        "family": one.family,
        "is_under_evaluation": one.is_under_evaluation,
        "passes_samples": one.passes_samples,
        "n_agreed": sum(one.name in each.voters for each in agreement.expected),
        "n_differed": sum(one.name in each.differing for each in agreement.expected),
        "n_failed": sum(one.name in each.failing for each in agreement.expected),
        "slowest_cpu_s": slowest.get(one.name),
    }


def _set_aside(findings: Sequence[Finding], refused: Sequence[str]) -> dict[str, Any]:
    counts = Counter(str(one.kind) for one in findings)
    return {
        "counts": dict(sorted(counts.items())) | ({"refused_by_validator": len(refused)} if refused else {}),
        "findings": [
            {"kind": str(one.kind), "sentence": one.sentence, "programs": list(one.voters), "input": one.input}
            for one in findings[:_MOST_LISTED]
        ],
        "refused": list(refused[:_MOST_LISTED]),
    }


def _time_limit(limit: TimeLimit) -> dict[str, Any]:
    return {
        "cpu_s": limit.cpu_s,
        "slowest": limit.slowest,
        "slowest_cpu_s": limit.slowest_cpu_s,
        "rule": f"{float(limit.rule.ac_to_time_limit):g} x the slowest, in steps of {limit.rule.resolution_s} s",
        "is_capped": limit.is_capped,
        "calibration": {"workload": limit.calibration.workload, "cpu_s": limit.calibration.cpu_s},
        "sentence": limit.sentence,
    }


def _strength(proof: Proof) -> dict[str, Any]:
    found = proof.strength
    return {
        "wrong": _rate(found.wrong),
        "slow": _rate(found.slow),
        "mutants": _rate(found.mutants),
        "n_right": found.n_right,
        "n_right_killed": proof.counts.n_right_killed,
        "n_wrong_failing_samples": proof.n_fail_samples,
        "survivors": list(found.survivors[:_MOST_LISTED]),
        "slow_survivors": list(found.slow_survivors[:_MOST_LISTED]),
        "maybe_equal": list(found.maybe_equal[:_MOST_LISTED]),
        "minimal": [name_of(proof.tests[place]) for place in proof.minimal],
    }


def _rate(rate: KillRate) -> dict[str, Any]:
    return {"n": rate.n, "n_killed": rate.n_killed, "low": rate.low, "high": rate.high}


def _test(proof: Proof, place: int) -> dict[str, Any]:
    one = proof.tests[place]
    return {
        "name": name_of(one),
        "strategy": one.strategy,
        "input_bytes": len(one.text),
        "n_voters": len(one.voters),
        "slowest_cpu_s": one.cpu_s,
        "kills_alone": list(proof.strength.alone[place]),
    }
