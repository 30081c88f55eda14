"""The account of made tests (`eval.made_tests.account`) in lines for a person. Pure.

Accounts come from the store, so that one of another version may lack a part: nothing is said of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from db.records import MadeStrength
from eval.made_tests.agreement import VoterKind
from eval.statistics.intervals import wilson

Account = Mapping[str, Any]
_SHOWN = 10


def decided_by(details: Account) -> str:
    """Who decided the expected outputs: "2 references", "5 models of 3 families"."""
    voters = [one for one in details.get("voters", ()) if one["n_agreed"] and one["kind"] != str(VoterKind.BRUTE_FORCE)]
    if details.get("decided_by") == "references":
        return counted(len(voters), "reference")
    families = {f"{one['family'] or one['model']}".casefold() for one in voters}
    models = {f"{one['model']}".casefold() for one in voters}
    return f"{counted(len(models), 'model')} of {counted(len(families), 'family', 'families')}"


def kills(strength: MadeStrength) -> str:
    """What the tests did to programs of each kind; kinds without a program are left out."""
    rates = {
        "wrong programs": (strength.n_wrong_killed, strength.n_wrong),
        "too slow ones": (strength.n_slow_killed, strength.n_slow),
        "mutants": (strength.n_mutants_killed, strength.n_mutants),
    }
    failed = [f"{n_killed} of {n} {what}" for what, (n_killed, n) in rates.items() if n]
    said = f"they fail {', '.join(failed)}" if failed else "no wrong program to measure them by"
    if strength.n_right_killed:
        said += f", and {strength.n_right_killed} of {counted(strength.n_right, 'right program')} contradicted some"
    return said


def rate(n_killed: int, n: int) -> str:
    """A kill rate as a table has it: "7/9 (45–94 %)", its 95 % Wilson interval in brackets; "–" without a program."""
    if not n:
        return "–"
    low, high = wilson(n_killed / n, n)
    return f"{n_killed}/{n} ({100 * low:.0f}–{100 * high:.0f} %)"


def set_aside(details: Account) -> str:
    """How many inputs were set aside, and why: "3 inputs set aside (2 no quorum, 1 several answers)"; "" for none."""
    counts: Mapping[str, int] = details.get("set_aside", {}).get("counts", {})
    total = sum(counts.values())
    kinds = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in counts.items())
    return f"{total} set aside ({kinds})" if total else ""


def account_lines(details: Account, strength: MadeStrength) -> Iterator[str]:
    """The whole account."""
    yield from _input_lines(details.get("inputs", {}))
    yield from _voter_lines(details)
    yield from _aside_lines(details)
    limit = details.get("time_limit")
    if limit is not None:
        yield limit["sentence"]
    yield from _strength_lines(details.get("strength", {}), strength)
    yield from _machine_lines(details)
    yield from _test_lines(details.get("tests", ()))


def _input_lines(inputs: Account) -> Iterator[str]:
    if not inputs:
        return
    refused = f", {inputs['n_refused']} more were refused" if inputs["n_refused"] else ""
    checked = f", checked by {inputs['validator']}" if inputs["validator"] else ""
    yield f"inputs: {inputs['n']} from {inputs['from']}{checked}{refused}"
    if inputs["has_every_input"]:
        yield "  with the samples these are all inputs that there are"
    if inputs["is_capped"]:
        yield "  the statement allows larger inputs than were drawn"
    reached = [one for one in inputs["extremes"] if one["n_inputs"]]
    if inputs["extremes"]:
        yield f"  extremes reached: {len(reached)} of {len(inputs['extremes'])}"
    for one in reached:
        yield f"    {one['bound']}: {counted(one['n_inputs'], 'input')}"
    for one in inputs["extremes"]:
        if not one["n_inputs"]:
            yield f"    not reached: {one['bound']}"
    for strategy, why in inputs["not_drawn"].items():
        yield f"  not drawn: {strategy}: {why}"


def _voter_lines(details: Account) -> Iterator[str]:
    voters: Sequence[Account] = details.get("voters", ())
    if voters:
        yield f"expected outputs by {decided_by(details)}"
    for one in voters:
        who = ", ".join(
            part
            for part in (one["kind"], f"family {one['family']}" if one["family"] else "")
            if part and (part != "completion" or not one["family"])
        )
        said = [f"agreed {one['n_agreed']} times"]
        said += [f"answered otherwise {one['n_differed']} times"] if one["n_differed"] else []
        said += [f"failed {one['n_failed']} times"] if one["n_failed"] else []
        said += [] if one["passes_samples"] else ["fails a sample: its word does not count"]
        said += [f"at most {one['slowest_cpu_s']:.3f} s"] if one["slowest_cpu_s"] is not None else []
        yield f"  {one['name']} ({who}): {', '.join(said)}"


def _aside_lines(details: Account) -> Iterator[str]:
    aside = details.get("set_aside", {})
    if not aside:
        return
    yield set_aside(details) or "nothing was set aside"
    for one in aside["findings"]:
        where = "" if one["input"] is None else f"input {one['input'] + 1}: "
        yield f"  {where}{one['sentence']}"
    for why in aside["refused"]:
        yield f"  refused: {why}"


def _strength_lines(found: Account, strength: MadeStrength) -> Iterator[str]:
    names = {
        "wrong programs that fail": (strength.n_wrong_killed, strength.n_wrong),
        "too slow programs that fail": (strength.n_slow_killed, strength.n_slow),
        "mutants of right programs that fail": (strength.n_mutants_killed, strength.n_mutants),
    }
    for name, (n_killed, n) in names.items():
        yield f"{name}: {rate(n_killed, n) if n else 'there are none'}"
    aside = "; the tests that they fail were set aside" if strength.n_right_killed else ""
    yield f"right programs that fail: {strength.n_right_killed} of {strength.n_right}{aside}"
    if not found:
        return
    if found["n_wrong_failing_samples"]:
        yield f"not counted, since the samples alone fail them: {found['n_wrong_failing_samples']}"
    yield from _listed("wrong programs that pass", found["survivors"])
    yield from _listed("too slow programs that pass", found["slow_survivors"])
    yield from _listed("mutants that pass, and may be right", found["maybe_equal"])
    yield from _listed(f"as strong are {counted(len(found['minimal']), 'test')}", found["minimal"])


def _machine_lines(details: Account) -> Iterator[str]:
    environment = details.get("environment")
    if environment is not None:
        yield f"made through {environment['executor']}, environment {environment['digest'][:12]}"
    yield from _listed(
        "not run", [f"{one['name']}, which needs {one['needs']}" for one in details.get("not_run", ())], apart="; "
    )


def _test_lines(tests: Sequence[Account]) -> Iterator[str]:
    if tests:
        yield "tests:"
    for one in tests:
        alone = f", alone fails {', '.join(one['kills_alone'])}" if one["kills_alone"] else ""
        slowest = "" if one["slowest_cpu_s"] is None else f", {one['slowest_cpu_s']:.3f} s"
        yield (
            f"  {one['name']}: {counted(one['input_bytes'], 'byte')}, {counted(one['n_voters'], 'voter')}"
            f"{slowest}{alone}"
        )


def _listed(what: str, names: Iterable[str], apart: str = ", ") -> Iterator[str]:
    all_names = list(names)
    if all_names:
        more = f" and {len(all_names) - _SHOWN} more" if len(all_names) > _SHOWN else ""
        yield f"{what}: {apart.join(all_names[:_SHOWN])}{more}"


def counted(n: int, one: str, many: str = "") -> str:
    """ "1 test", "2 tests"."""
    return f"{n} {one}" if n == 1 else f"{n} {many or one + 's'}"
