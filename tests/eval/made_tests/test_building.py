"""Tests made from end to end, with programs that are functions of this process: a sum of N numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from db.digests import suite_digest
from db.records import IoKind, MadeStrength, ProgramRole, SuiteRecord, TestCaseRecord, TestOrigin
from eval.made_tests.agreement import FindingKind
from eval.made_tests.building import BuildSettings, MadeSuite, build, prepare
from eval.made_tests.gate import CannotBuild
from eval.made_tests.material import KnownProgram, Material
from eval.made_tests.time_limit import Calibration
from sandbox import Program, Verdict
from tests.eval.made_tests import sums
from tests.eval.made_tests.fake_runner import Answer, FakeRunner
from tests.eval.made_tests.sums import STATEMENT, first_hundred, numbers, right

SAMPLES = tuple(
    TestCaseRecord(f"sample {number}", row["input"].encode(), row["expected"].encode(), TestOrigin.SAMPLE)
    for number, row in enumerate(sums.SAMPLES, 1)
)
LOOSE = {"absolute_tolerance": 0.01}
CALIBRATION = Calibration("python-loop-1", 0.1)


def off_by_one(text: bytes) -> Answer:
    found = numbers(text)
    return b"%d\n" % (sum(found) + (found not in ([1, 2, 3], [-5])))


FUNCTIONS: dict[str, Callable[[bytes], Answer]] = sums.FUNCTIONS | {
    "off by one": off_by_one,
    "in order": right,
    "near": lambda text: b"%.3f\n" % (sum(numbers(text)) + 0.001),
    "with returns": lambda text: b"%d\r\n" % sum(numbers(text)),
    "no text": lambda text: (
        b"%d \xff\n" % sum(numbers(text)) if numbers(text) not in ([1, 2, 3], [-5]) else right(text)
    ),
}


def program(source: str, role: ProgramRole, *, is_official: bool = True) -> KnownProgram:
    return KnownProgram(source, Program(source, "cpp17"), role, is_official=is_official)


def completion(source: str, model: str, family: str, known: Verdict | None = None) -> KnownProgram:
    name = f"{model}: {source}"
    return KnownProgram(name, Program(source, "cpp17"), model=model, family=family, standing=0.5, known=known)


REFERENCE = program("right", ProgramRole.ACCEPTED)
THREE = (
    completion("right", "oak-1", "oak"),
    completion("right too", "oak-2", "oak"),
    completion("right", "elm", "elm"),
)


def material(*programs: KnownProgram, suite: SuiteRecord | None = None, statement: str = STATEMENT) -> Material:
    return Material("our:sum", statement, suite or SuiteRecord(SAMPLES), programs)


def made(given: Material, settings: BuildSettings | None = None, cpu_s: dict[str, float] | None = None) -> MadeSuite:
    return build(prepare(given, settings or BuildSettings()), FakeRunner(FUNCTIONS, cpu_s), CALIBRATION)


def made_tests(found: MadeSuite) -> list[TestCaseRecord]:
    return [test for test in found.suite.tests if test.origin is TestOrigin.GENERATED]


def test_a_reference_makes_a_suite() -> None:
    found = made(material(REFERENCE))
    assert found.suite.tests[:2] == SAMPLES
    tests = made_tests(found)
    assert len(tests) == found.n_made == 48
    for test in tests:
        row = numbers(test.input)
        assert test.expected == right(test.input)
        assert 1 <= int(test.input.split()[0]) == len(row) <= 1000
        assert all(-(10**9) <= number <= 10**9 for number in row)
    assert [len(test.input) for test in tests] == sorted(len(test.input) for test in tests)
    assert len({test.input for test in found.suite.tests}) == 50
    assert len({test.name for test in found.suite.tests}) == 50
    assert found.findings == ()
    assert found.details["decided_by"] == "references"


def test_known_wrong_programs_are_killed_and_counted() -> None:
    wrong = [program(source, ProgramRole.WRONG) for source in ("in 32 bits", "first hundred", "crash on many")]
    found = made(material(REFERENCE, *wrong, program("no negatives", ProgramRole.WRONG)))
    # The last one fails the second sample: that is no merit of the made tests.
    assert found.strength == MadeStrength(n_wrong=3, n_wrong_killed=3, n_right=1)
    assert found.details["strength"]["n_wrong_failing_samples"] == 1
    assert found.details["strength"]["survivors"] == []


def test_the_minimal_suite_kills_as_many() -> None:
    wrong = [program(source, ProgramRole.WRONG) for source in ("in 32 bits", "first hundred", "crash on many")]
    whole, few = (made(material(REFERENCE, *wrong), BuildSettings(minimal=minimal)) for minimal in (False, True))
    assert [test.name for test in made_tests(few)] == [
        name for name in (test.name for test in made_tests(whole)) if name in whole.details["strength"]["minimal"]
    ]
    assert few.n_made < whole.n_made
    assert few.strength == whole.strength


def test_completions_of_two_families_decide_without_a_reference() -> None:
    found = made(material(*THREE, completion("first hundred", "fir", "fir")))
    assert found.n_made == 48
    assert all(test.expected == right(test.input) for test in made_tests(found))
    voters = {one["name"]: one for one in found.details["voters"]}
    assert found.details["decided_by"] == "completions"
    assert voters["oak-1: right"]["n_agreed"] == 48
    assert voters["fir: first hundred"]["n_differed"] > 0


def test_one_family_decides_nothing() -> None:
    one_family = [completion("right", f"oak-{number}", "oak") for number in range(4)]
    with pytest.raises(CannotBuild) as refused:
        made(material(*one_family))
    assert refused.value.message == (
        "nobody can say what is right: no reference is known, and completions of 4 models pass the samples, "
        "all of one family"
    )
    with pytest.raises(CannotBuild, match="no reference and no completion is known"):
        made(material())


def test_references_that_differ_make_a_finding_and_no_test() -> None:
    found = made(material(REFERENCE, program("first hundred", ProgramRole.ACCEPTED)))
    assert found.findings
    assert {one.kind for one in found.findings} == {FindingKind.SEVERAL_ANSWERS}
    assert all(
        len(numbers(test.input)) <= 100 or right(test.input) == first_hundred(test.input) for test in made_tests(found)
    )


def test_a_brute_force_is_asked_on_small_inputs() -> None:
    runner = FakeRunner(FUNCTIONS)
    given = material(REFERENCE, program("right too", ProgramRole.BRUTE_FORCE))
    build(prepare(given, BuildSettings()), runner, CALIBRATION)
    sizes = [len(text) for source, text in runner.runs if source == "right too"]
    assert sizes
    assert max(sizes) <= 400
    found = made(material(REFERENCE, program("in 32 bits", ProgramRole.BRUTE_FORCE)))
    assert {one.kind for one in found.findings} == {FindingKind.SEVERAL_ANSWERS}


def test_a_test_that_a_known_right_program_fails_is_set_aside() -> None:
    doubted = completion("first hundred", "fir", "fir", Verdict.ACCEPTED)
    found = made(material(*THREE, doubted))
    assert (found.strength.n_right, found.strength.n_right_killed) == (1, 1)
    assert {one.kind for one in found.findings} == {FindingKind.RIGHT_FAILS}
    assert all(first_hundred(test.input) == test.expected for test in made_tests(found))


def test_a_right_program_that_is_slow_on_many_tests_sets_all_of_them_aside() -> None:
    slow = completion("right too", "fir", "fir", Verdict.ACCEPTED)
    found = made(material(REFERENCE, slow, suite=SuiteRecord(SAMPLES, time_limit_s=2.0)), cpu_s={"right too": 3.0})
    assert (found.strength.n_right, found.strength.n_right_killed) == (2, 1)
    assert all(len(test.input) <= 100 for test in made_tests(found))


def test_a_reference_that_crashes_on_many_inputs_decides_none_of_them() -> None:
    found = made(material(REFERENCE, program("crash on many", ProgramRole.ACCEPTED)))
    assert {one.kind for one in found.findings} == {FindingKind.REFERENCE_FAILS}
    assert all(len(numbers(test.input)) <= 500 for test in made_tests(found))


def test_a_reference_that_fails_the_samples_is_a_finding_and_no_more() -> None:
    found = made(material(REFERENCE, program("no negatives", ProgramRole.ACCEPTED)))
    assert found.n_made == 48
    assert [(one.kind, one.voters) for one in found.findings] == [(FindingKind.REFERENCE_FAILS, ("no negatives",))]
    assert (found.strength.n_right, found.strength.n_right_killed) == (1, 0)


def test_who_is_known_to_be_wrong_has_no_say() -> None:
    wrong = [completion("first hundred", f"fir-{number}", f"fir {number}", Verdict.WRONG_ANSWER) for number in range(4)]
    with pytest.raises(CannotBuild, match="nobody can say what is right"):
        made(material(*wrong))
    found = made(material(*THREE, *wrong))
    assert all(test.expected == right(test.input) for test in made_tests(found))


def test_what_references_disagree_on_is_told_where_nothing_is_made() -> None:
    references = (REFERENCE, program("off by one", ProgramRole.ACCEPTED))
    with pytest.raises(CannotBuild, match="too few tests") as refused:
        made(material(*references))
    assert {one.kind for one in refused.value.findings} == {FindingKind.SEVERAL_ANSWERS}


def test_the_extremes_are_those_of_the_tests_that_are_kept() -> None:
    doubted = completion("first hundred", "fir", "fir", Verdict.ACCEPTED)
    reached = {one["bound"]: one["n_inputs"] for one in made(material(REFERENCE)).details["inputs"]["extremes"]}
    without = {
        one["bound"]: one["n_inputs"] for one in made(material(REFERENCE, doubted)).details["inputs"]["extremes"]
    }
    assert reached["N <= 1000"] > 0
    assert without["N <= 1000"] < reached["N <= 1000"]


def test_expected_outputs_have_plain_line_ends_and_are_text() -> None:
    found = made(material(program("with returns", ProgramRole.ACCEPTED)))
    assert all(test.expected == right(test.input) for test in made_tests(found))
    with pytest.raises(CannotBuild, match="too few tests") as refused:
        made(material(program("no text", ProgramRole.ACCEPTED)))
    assert {one.kind for one in refused.value.findings} == {FindingKind.REFERENCE_FAILS}


def test_made_tests_are_compared_as_the_samples_are() -> None:
    samples = tuple(replace(sample, comparison=LOOSE) for sample in SAMPLES)
    near = program("near", ProgramRole.ACCEPTED)
    assert {test.comparison is None for test in made_tests(made(material(REFERENCE)))} == {True}
    found = made(material(REFERENCE, near, suite=SuiteRecord(samples)))
    assert found.findings == ()
    assert all(test.comparison == LOOSE for test in made_tests(found))


def test_a_slow_completion_does_not_raise_the_limit() -> None:
    four = (*THREE, completion("in order", "yew", "yew"))
    assert made(material(*four), cpu_s={"right": 0.1, "right too": 0.1, "in order": 3.0}).suite.time_limit_s == 1.0


def test_a_time_limit_where_none_is_stated() -> None:
    found = made(material(REFERENCE), cpu_s={"right": 0.61})
    assert found.suite.time_limit_s == 4.0  # 5 x 0.61 is 3.05
    assert found.details["time_limit"]["calibration"] == {"workload": "python-loop-1", "cpu_s": 0.1}
    slow = program("right too", ProgramRole.TOO_SLOW)
    assert made(material(REFERENCE, slow), cpu_s={"right": 0.61, "right too": 4.5}).strength.n_slow_killed == 1
    assert made(material(REFERENCE, slow), cpu_s={"right": 0.61, "right too": 3.5}).strength.n_slow_killed == 0


def test_a_time_limit_that_is_stated_stays() -> None:
    found = made(material(REFERENCE, suite=SuiteRecord(SAMPLES, time_limit_s=2.0)), cpu_s={"right": 1.5})
    assert found.suite.time_limit_s == 2.0
    assert found.details["time_limit"] is None


def test_the_same_seed_makes_the_same_suite() -> None:
    first, again = made(material(*THREE)), made(material(*reversed(THREE)))
    assert suite_digest(first.suite) == suite_digest(again.suite)
    assert first.recipe == again.recipe
    other = made(material(*THREE), BuildSettings(seed=1))
    assert suite_digest(other.suite) != suite_digest(first.suite)
    assert other.recipe != first.recipe


def test_how_strong_models_are_is_part_of_the_recipe_where_they_decide() -> None:
    def recipe(*programs: KnownProgram) -> str:
        return prepare(material(*programs), BuildSettings()).recipe

    stronger = (THREE[0], replace(THREE[1], standing=0.9), THREE[2])
    assert recipe(*stronger) != recipe(*THREE)
    assert recipe(REFERENCE, *stronger) == recipe(REFERENCE, *THREE)


def test_the_recipe_is_known_without_running_anything() -> None:
    plan = prepare(material(REFERENCE), BuildSettings())
    others = [
        material(REFERENCE, program("first hundred", ProgramRole.WRONG)),
        material(program("right too", ProgramRole.ACCEPTED)),
        material(REFERENCE, statement=STATEMENT.replace("1000", "999")),
        material(REFERENCE, suite=SuiteRecord(SAMPLES, time_limit_s=2.0)),
        material(REFERENCE, suite=SuiteRecord(SAMPLES[:1])),
    ]
    recipes = {plan.recipe, *(prepare(one, BuildSettings()).recipe for one in others)}
    recipes |= {prepare(material(REFERENCE), settings).recipe for settings in (BuildSettings(1), BuildSettings(0, 30))}
    assert len(recipes) == 8


def test_other_tests_of_the_problem_do_not_matter() -> None:
    official = TestCaseRecord("1", b"1\n7\n", b"7\n", TestOrigin.OFFICIAL)
    found = made(material(REFERENCE, suite=SuiteRecord((*SAMPLES, official))))
    assert official not in found.suite.tests


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (material(REFERENCE, statement=" "), "no statement is in the store"),
        (material(REFERENCE, suite=SuiteRecord(())), "no sample is in the store"),
        (material(REFERENCE, suite=SuiteRecord(SAMPLES, IoKind.INTERACTIVE)), "the problem is interactive"),
        (material(REFERENCE, suite=SuiteRecord(SAMPLES, checker={})), "its answers are judged by a checker program"),
        (material(REFERENCE, suite=SuiteRecord(SAMPLES, groups={"scoring": True})), "its tests give parts of a score"),
        (
            material(REFERENCE, suite=SuiteRecord((replace(SAMPLES[0], comparison=LOOSE), SAMPLES[1]))),
            "its samples are compared in different ways",
        ),
        (
            material(REFERENCE, statement=STATEMENT.replace("- All values", "- $A$ is beautiful.\n- All values")),
            "the statement's input was not understood: $A$ is beautiful.",
        ),
        (
            material(REFERENCE, statement=STATEMENT.replace("1 \\leq N", "2 \\leq N")),
            "the inferred shape refuses sample 2: 2 <= N does not hold: 2 <= 1 is wrong",
        ),
        (
            material(program("no negatives", ProgramRole.ACCEPTED)),
            "no reference passes the samples: no negatives gets token 1: expected '-5', got '5'",
        ),
    ],
)
def test_what_cannot_be_built_is_said_in_one_line(given: Material, message: str) -> None:
    with pytest.raises(CannotBuild) as refused:
        made(given)
    assert refused.value.message.startswith(message)
    assert refused.value.message.isprintable()
    assert refused.value.hint


def test_constraints_that_contradict_each_other_refuse_the_samples() -> None:
    """No input keeps them all, so the first of the samples names one."""
    with pytest.raises(CannotBuild) as refused:
        made(material(REFERENCE, statement=STATEMENT.replace("N \\leq 1000", "N \\leq 0")))
    assert refused.value.message == "the inferred shape refuses sample 1: N <= 0 does not hold: 3 <= 0 is wrong"


def test_where_the_samples_are_all_inputs_nothing_is_made() -> None:
    statement = STATEMENT.replace("N \\leq 1000", "N \\leq 1").replace(
        "-10^9 \\leq A_i \\leq 10^9", "7 \\leq A_i \\leq 7"
    )
    suite = SuiteRecord((TestCaseRecord("sample 1", b"1\n7\n", b"7\n", TestOrigin.SAMPLE),))
    with pytest.raises(CannotBuild, match="the samples are all inputs that there are"):
        made(material(REFERENCE, statement=statement, suite=suite))
