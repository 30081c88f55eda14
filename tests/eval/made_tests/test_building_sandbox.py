"""Tests made with programs that run in the sandbox: calls that change their arguments, and programs that never end."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from db.digests import suite_digest
from db.records import IoKind, ProgramRole, SuiteRecord, TestCaseRecord, TestOrigin
from eval.made_tests.building import BuildSettings, MadeSuite, build, prepare
from eval.made_tests.calibration import WORKLOAD, calibrate
from eval.made_tests.material import KnownProgram, Material
from sandbox import Judge, Program
from tests.sandbox.conftest import EXECUTORS

STATEMENT = """\
Given a list of integers `nums`, return its lower median.

**Example 1:**

**Input:** nums = [3,1,2]
**Output:** 2

**Constraints:**

* `1 <= nums.length <= 300`
* `-1000 <= nums[i] <= 1000`
"""
STARTS = "class Solution:\n    def lowMedian(self, nums):\n"
SORTS_IN_PLACE = f"{STARTS}        nums.sort()\n        return nums[(len(nums) - 1) // 2]\n"
UPPER = f"{STARTS}        return sorted(nums)[len(nums) // 2]\n"
QUADRATIC = (
    f"{STARTS}        n = len(nums)\n"
    "        for one in nums:\n"
    "            below = sum(1 for other in nums if other < one)\n"
    "            same = sum(1 for other in nums if other == one)\n"
    "            if below <= (n - 1) // 2 < below + same:\n"
    "                return one\n"
)
HANGS = f"{STARTS}        while len(nums) > 100:\n            pass\n        return sorted(nums)[(len(nums) - 1) // 2]\n"


@pytest.fixture(scope="module", params=EXECUTORS)
def judge(request: pytest.FixtureRequest) -> Iterator[Judge]:
    """A judge with two workers, on each executor."""
    with Judge(str(request.param), jobs=2) as found:
        yield found


def program(name: str, source: str, role: ProgramRole) -> KnownProgram:
    return KnownProgram(name, Program(source), role)


def median() -> Material:
    sample = TestCaseRecord("sample 1", b"[3, 1, 2]", b"2", TestOrigin.SAMPLE)
    programs = (
        program("sorts in place", SORTS_IN_PLACE, ProgramRole.ACCEPTED),
        program("quadratic", QUADRATIC, ProgramRole.ACCEPTED),
        program("upper", UPPER, ProgramRole.WRONG),
        program("hangs", HANGS, ProgramRole.TOO_SLOW),
    )
    suite = SuiteRecord((sample,), IoKind.FUNCTION, "lowMedian")
    return Material("our:median", STATEMENT, suite, programs, (("nums", "List[int]"),))


@pytest.fixture(scope="module")
def found(judge: Judge) -> MadeSuite:
    """The tests of that problem."""
    return made(judge)


def made(judge: Judge) -> MadeSuite:
    return build(prepare(median(), BuildSettings(wanted=20)), judge, calibrate(judge))


def test_calls_that_change_their_argument_change_no_test(found: MadeSuite) -> None:
    tests = [test for test in found.suite.tests if test.origin is TestOrigin.GENERATED]
    assert len(tests) == found.n_made == 20
    inputs = [json.loads(test.input) for test in tests]
    for nums, test in zip(inputs, tests, strict=True):
        assert test.expected is not None
        assert json.loads(test.expected) == sorted(nums)[(len(nums) - 1) // 2]
    assert any(nums != sorted(nums) for nums in inputs)
    assert found.findings == ()


def test_what_is_wrong_or_never_ends_is_killed(found: MadeSuite) -> None:
    assert (found.strength.n_wrong, found.strength.n_wrong_killed) == (1, 1)
    assert (found.strength.n_slow, found.strength.n_slow_killed) == (1, 1)
    assert (found.strength.n_right, found.strength.n_right_killed) == (2, 0)
    assert found.strength.n_mutants_killed > 0
    assert found.suite.time_limit_s is not None
    assert found.suite.time_limit_s >= 1
    assert found.details["time_limit"]["calibration"]["workload"] == WORKLOAD


def test_the_same_seed_makes_the_same_tests(judge: Judge, found: MadeSuite) -> None:
    again = made(judge)
    assert found.recipe == again.recipe
    assert found.suite.tests == again.suite.tests
    assert suite_digest(found.suite) == suite_digest(again.suite)


COUNTER = """\
Keep count of the numbers that were added.

**Constraints:**

* `1 <= value <= 50`
* At most `40` calls will be made to `add` and `count`.
"""
COUNTER_STARTS = "class Counter:\n    def __init__(self):\n        self.seen = []\n    def add(self, value):\n"
KEEPS_ALL = (
    f"{COUNTER_STARTS}        self.seen.append(value)\n"
    "    def count(self, value):\n        return self.seen.count(value)\n"
)
FORGETS = KEEPS_ALL.replace("self.seen.append(value)", "self.seen = [*self.seen[-3:], value]")


def test_calls_of_a_class(judge: Judge) -> None:
    sample = TestCaseRecord(
        "sample 1", b'["Counter", "add", "count"]\n[[], [3], [3]]', b"[null, null, 1]", TestOrigin.SAMPLE
    )
    suite = SuiteRecord((sample,), IoKind.DESIGN, "Counter")
    programs = (program("all", KEEPS_ALL, ProgramRole.ACCEPTED), program("few", FORGETS, ProgramRole.WRONG))
    methods = (("add", (("value", "int"),)), ("count", (("value", "int"),)))
    found = build(
        prepare(Material("our:counter", COUNTER, suite, programs, (), methods), BuildSettings(wanted=15)),
        judge,
        calibrate(judge),
    )
    tests = [test for test in found.suite.tests if test.origin is TestOrigin.GENERATED]
    assert len(tests) >= 10
    for test in tests:
        names, arguments = (json.loads(line) for line in test.input.decode().split("\n"))
        assert len(names) == len(arguments) <= 41
        seen: list[int] = []
        returned: list[int | None] = [None]
        for name, given in zip(names[1:], arguments[1:], strict=True):
            returned.append(seen.count(given[0]) if name == "count" else None)
            seen += given if name == "add" else []
        assert test.expected is not None
        assert json.loads(test.expected) == returned
    assert found.strength.n_wrong_killed == 1
