"""Report cases of group B on the side of tests that are made here: what their expected outputs are, and what they kill.

Statements are our own, since the cases have none. What the cases say of tests that come from elsewhere is in
``test_report_cases_tests.py`` and ``test_report_cases_judging.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from db.engine import open_store
from db.problems import list_problems
from db.records import ProgramRole, SuiteRecord, TestCaseRecord, TestOrigin
from db.suites import load_suite
from eval.made_tests.agreement import FindingKind
from eval.made_tests.building import BuildSettings, MadeSuite, build, prepare
from eval.made_tests.calibration import calibrate
from eval.made_tests.gate import CannotBuild
from eval.made_tests.material import KnownProgram, Material
from sandbox import Judge, Program, SandboxUnavailable
from tests.ingest.reading import write_rows
from tests.live.command import Ended, Live, runner
from tests.real.case_sites import scores
from tests.real.test_report_cases_judging import EXECUTORS
from tests.real.test_report_cases_tests import CUTOFFS, load, problem

pytestmark = pytest.mark.shared

KEY = "nova:case"
RIGHT, WRONG = ProgramRole.ACCEPTED, ProgramRole.WRONG
STATEMENT = """\
{}

## Constraints

{}
- All values in the input are integers.

## Input

The input is given from Standard Input in the following format:

```
{}
```
"""
ADD = STATEMENT.format("Print A + B.", "- $0 \\leq A, B \\leq 100$", "$A$ $B$")
ECHO = STATEMENT.format("Print N.", "- $1 \\leq N \\leq 10^{18}$", "$N$")
EVEN = STATEMENT.format("Say whether N is even.", "- $1 \\leq N \\leq 10^9$", "$N$")
MEDIAN = "Return the lower median of a lovely list."


@pytest.fixture(scope="module", params=EXECUTORS)
def executor(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def judge(executor: str) -> Iterator[Judge]:
    try:
        judge = Judge(executor, jobs=2)
    except SandboxUnavailable as error:
        pytest.skip(f"{error.message} ({error.hint})")
    with judge:
        yield judge


def made(
    judge: Judge, statement: str, sample: tuple[str, str], *programs: tuple[str, ProgramRole], **rules: Any
) -> MadeSuite:
    """The tests of a problem with one sample and these programs."""
    given, expected = (text.encode() for text in sample)
    suite = SuiteRecord((TestCaseRecord("sample 1", given, expected, TestOrigin.SAMPLE),), comparison=rules)
    known = tuple(KnownProgram(f"{number}.py", Program(source), role) for number, (source, role) in enumerate(programs))
    plan = prepare(Material(KEY, statement, suite, known), BuildSettings(wanted=20))
    return build(plan, judge, calibrate(judge))


def pairs(found: MadeSuite) -> dict[bytes, bytes]:
    """Input and expected output of each test that was made."""
    tests = [test for test in found.suite.tests if test.origin is TestOrigin.GENERATED]
    assert len(tests) == found.n_made
    return {test.input: test.expected for test in tests if test.expected is not None}


EXACT = "print(int(input()))"
IN_FLOATS = "print(int(float(input())))"


def test_b11_a_number_that_went_through_a_float_is_another_one(judge: Judge) -> None:
    """It fails tests that an exact program decides, and decides none where it is held to be right itself."""
    found = made(judge, ECHO, ("3\n", "3\n"), (EXACT, RIGHT), (IN_FLOATS, WRONG))
    assert (found.strength.n_wrong, found.strength.n_wrong_killed) == (1, 1)
    assert all(int(given) == int(expected) for given, expected in pairs(found).items())
    assert any(int(float(given)) != int(given) for given in pairs(found))
    with pytest.raises(CannotBuild, match="too few tests") as caught:
        made(judge, ECHO, ("3\n", "3\n"), (EXACT, RIGHT), (IN_FLOATS, RIGHT))
    assert {one.kind for one in caught.value.findings} == {FindingKind.SEVERAL_ANSWERS}


def test_b12_outputs_of_other_systems_are_expected_as_utf8_with_lf(judge: Judge, cases: Path) -> None:
    crlf = (cases / "B12" / "crlf_out.py").read_text(encoding="utf-8")
    assert "1 2\\r\\nYes\\r\\n" in crlf
    windows = crlf.replace("b'1 2\\r\\nYes\\r\\n'", "b'%d\\r\\nYes\\r\\n' % int(input())")
    good = "print(int(input()))\nprint('Yes')"
    for programs in ([(windows, RIGHT)], [(windows, RIGHT), (good, RIGHT)], [(good, RIGHT), (windows, RIGHT)]):
        found = made(judge, ECHO, ("3\n", "3\nYes\n"), *programs)
        assert found.findings == ()
        assert all(expected == b"%d\nYes\n" % int(given) for given, expected in pairs(found).items())


def test_b12_an_output_that_is_no_text_is_no_expected_output(judge: Judge) -> None:
    broken = "import sys\nn = int(input())\nsys.stdout.buffer.write(b'%d\\n' % n if n < 100 else b'\\xff\\xfe\\xfa\\n')"
    with pytest.raises(CannotBuild):
        made(judge, ECHO, ("3\n", "3\n"), (broken, RIGHT))


def test_b14_yes_in_capitals_is_right_only_where_the_statement_allows_it(judge: Judge) -> None:
    small = "print('No' if int(input()) % 2 else 'Yes')"
    capital = small.replace("Yes", "YES")
    found = made(judge, EVEN, ("3\n", "No\n"), (small, RIGHT), (capital, RIGHT), case_sensitive=False)
    assert (found.findings, found.strength.n_right_killed) == ((), 0)
    found = made(judge, EVEN, ("3\n", "No\n"), (small, RIGHT), (capital, WRONG))
    assert (found.strength.n_wrong, found.strength.n_wrong_killed) == (1, 1)
    assert all(expected in (b"Yes\n", b"No\n") for expected in pairs(found).values())


# --- through the store ---------------------------------------------------------------------------------------------


def refer(live: Live, folder: Path, programs: Mapping[str, str]) -> None:
    """Give programs for the case's problem, by ROLE/FILE."""
    for place, source in programs.items():
        file = folder / "programs" / KEY / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
    assert live("import", "references", folder / "programs", "--format", "folder").code == 0


def built(live: Live, executor: str, *words: str) -> Ended:
    return live("tests", "build", "case", "--executor", executor, *words)


def stored(folder: Path) -> tuple[str | None, SuiteRecord]:
    """The digest and the tests by which the case's problem is judged."""
    with open_store(str(folder / "store.db"), reading=True) as store, store.read() as session:
        (one,) = list_problems(session)
        assert one.suite_id is not None
        return one.suite_digest, load_suite(session, one.suite_id)


@pytest.mark.parametrize("is_hidden_given", [False, True])
def test_b18_tests_are_made_where_there_are_samples_alone_and_the_table_fails_them(
    executor: str, cases: Path, live: Live, tmp_path: Path, is_hidden_given: bool
) -> None:
    """Also where the hidden tests of its source are the samples again: the flag speaks of those."""
    folder = cases / "B18"
    samples, hidden = (
        [{"input": one["in"], "expected": one["out"]} for one in load(folder / f"{name}.json")]
        for name in ("samples", "hidden")
    )
    (probe,) = load(folder / "case.json")["probes"]
    row = problem("case", statement=ADD)
    row["tests"] = [one | {"origin": "sample"} for one in samples] + (hidden if is_hidden_given else [])
    assert live("import", "problems", write_rows(tmp_path / "rows.jsonl", [row]), "-f", "jsonl").code == 0
    cutoffs = dict.fromkeys(("table", "honest"), CUTOFFS["nova-1"])
    scores(live, tmp_path, cutoffs)
    models = ("--models", tmp_path / "models.toml")
    for model, name in (("table", probe), ("honest", "honest.py")):
        answer = {"platform": "nova", "id": "case", "code": (folder / name).read_text(encoding="utf-8")}
        path = write_rows(tmp_path / f"{model}.jsonl", [answer])
        assert live(*models, "import", "solutions", path, "--format", "jsonl", "--model", model).code == 0
    refer(live, tmp_path, {"accepted/honest.py": (folder / "honest.py").read_text(encoding="utf-8")})
    assert live("judge", "--executor", executor).code == 0
    assert {row["pass_at_1"] for row in scores(live, tmp_path, cutoffs).values()} == {None}
    assert built(live, executor).code == 0
    assert live("judge", "--executor", executor).code == 0
    after = {
        model: (row["pass_at_1"], row["n_judged"], row["tests"]["n_made"])
        for model, row in scores(live, tmp_path, cutoffs).items()
    }
    assert after == {"table import": (0.0, 1, 1), "honest import": (1.0, 1, 1)}


def test_b20_made_tests_have_the_input_that_the_reference_was_given(
    executor: str,
    cases: Path,
    live: Live,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = cases / "B20"
    case, inputs, expected = (load(folder / f"{name}.json") for name in ("case", "inputs", "expected"))
    writes = (
        "import json\n"
        f"INPUTS = {inputs!r}\n"
        "_, number, _ = map(int, input().split())\n"
        "given = INPUTS[number] if number < len(INPUTS) else [list(range(number, 0, -1))]\n"
        "print('\\n'.join(map(json.dumps, given)), end='')\n"
    )
    takes = "import json, sys\nsys.exit(42 if all(isinstance(x, int) for x in json.loads(input())) else 43)\n"
    programs = {
        "accepted/med.py": (folder / case["reference"]).read_text(encoding="utf-8"),
        "generator/writes.py": writes,
        "validator/takes.py": takes,
    }
    row = problem("case", statement=MEDIAN, io="function", entry_point=case["entry"])
    row["tests"] = [{"input": "[7]", "expected": "7", "origin": "sample"}]
    digests = []
    for name in ("once", "twice"):
        place = tmp_path / name
        place.mkdir()
        command = runner(monkeypatch, capsys, place)
        assert command("import", "problems", write_rows(place / "rows.jsonl", [row]), "-f", "jsonl").code == 0
        refer(command, place, programs)
        assert built(command, executor).code == 0
        digest, suite = stored(place)
        found = {test.input: test.expected for test in suite.tests if test.origin is TestOrigin.GENERATED}
        for one in expected:
            assert found[json.dumps(*one["args"]).encode()] == json.dumps(one["expected"]).encode()
        assert all(json.loads(text) == sorted(json.loads(text), reverse=True) for text in found if text != b"[3, 1, 2]")
        assert built(command, executor, "--again").code == 0
        digests += [digest, stored(place)[0]]
    assert len(set(digests)) == 1
