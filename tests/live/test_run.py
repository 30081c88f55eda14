"""``live run``: one program on a problem's tests or on one input, what a person sees of it, and what is refused."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.package_folders import JUDGED
from tests.live.command import Ended, Live

EXECUTORS = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]
ADD = "print(sum(map(int, input().split())))\n"
BUBBLEWRAP = ("--executor", "bubblewrap")
NO_TESTS = {"platform": "nova", "id": "n1", "title": "Sum", "released": "2025-06-01T10:00:00Z"}
SUM = {**NO_TESTS, "id": "n2", "tests": [{"input": "1 2\n", "expected": "3\n"}]}


@pytest.fixture
def cup(live: Live) -> Live:
    """The command with the packages of a small contest: with groups and scores, with a validator, interactive."""
    assert live("import", "problems", JUDGED, "-f", "kattis").code == 0
    return live


@pytest.fixture
def add(live: Live, tmp_path: Path) -> Live:
    """The command in a folder with a program that adds, an input and the output that is right for it."""
    for name, text in {"add.py": ADD, "in.txt": "1 2\n", "out.txt": "3\n"}.items():
        (tmp_path / name).write_text(text)
    return live


def import_rows(live: Live, folder: Path, *rows: dict[str, Any]) -> None:
    file = folder / "problems.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert live("import", "problems", file, "-f", "jsonl").code == 0


def submission(name: str) -> Path:
    package, _, rest = name.partition("/")
    return JUDGED / package / "submissions" / rest


def refused(ended: Ended) -> str:
    """What an expected error says, which is two lines: what is wrong, and what to do."""
    assert ended.code == 2
    assert ended.out == ""
    what, remedy = ended.err.splitlines()
    assert what.startswith("error: ")
    assert remedy.startswith("  what to do: ")
    return what


# --- a problem of the store --------------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", EXECUTORS)
def test_groups_and_their_scores_are_shown(cup: Live, executor: str) -> None:
    file = submission("stairs/partially_accepted/narrow.py")
    ended = cup("run", file, "--problem", "second-cup-2025/stairs", "--executor", executor)
    assert ended.code == 1
    lines = ended.out.splitlines()
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["sample/1", "accepted"],
        ["secret/small/1", "accepted"],
        ["secret/small/2", "accepted"],
        ["secret/tall/1", "wrong_answer"],
    ]
    assert "expected '20365011074'" in lines[4]
    # 30 for the small ones, 70 for the tall ones, by the package's own rules.
    assert lines[5:] == [
        "group sample: accepted score 0",
        "group secret/small: accepted score 30",
        "group secret/tall: wrong_answer score 0",
        "group secret: accepted score 30",
        "group (all): accepted score 30",
        f"wrong_answer, score 30 (4 of 5 tests run, {executor})",
    ]


@pytest.mark.bubblewrap
def test_with_all_it_goes_on_after_the_first_that_fails(cup: Live) -> None:
    file = submission("stairs/partially_accepted/narrow.py")
    ended = cup("run", file, "--problem", "second-cup-2025/stairs", "--all-tests", *BUBBLEWRAP)
    assert ended.code == 1
    rows = [line.split()[:2] for line in ended.out.splitlines() if line.startswith("secret/tall/")]
    assert rows == [["secret/tall/1", "wrong_answer"], ["secret/tall/2", "wrong_answer"]]
    assert ended.out.splitlines()[-1] == "wrong_answer, score 30 (5 tests, bubblewrap)"


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    ("program", "code", "last_line"),
    [
        ("stairs/accepted/adding.py", 0, "accepted, score 100 (5 tests, bubblewrap)"),
        ("divisors/accepted/trying.py", 0, "accepted, score 100 (5 tests, bubblewrap)"),
        ("guesses/accepted/halving.py", 0, "accepted (3 tests, bubblewrap)"),
        ("guesses/wrong_answer/counting.py", 1, "wrong_answer (2 of 3 tests run, bubblewrap)"),
    ],
)
def test_the_exit_code_says_whether_it_is_accepted(cup: Live, program: str, code: int, last_line: str) -> None:
    problem = f"icpc:second-cup-2025/{program.partition('/')[0]}"
    ended = cup("run", submission(program), "--problem", problem, *BUBBLEWRAP)
    assert (ended.code, ended.out.splitlines()[-1]) == (code, last_line)


@pytest.mark.bubblewrap
def test_one_json_document(cup: Live) -> None:
    file = submission("stairs/partially_accepted/narrow.py")
    ended = cup("run", file, "--problem", "second-cup-2025/stairs", "--json", *BUBBLEWRAP)
    assert ended.code == 1
    found = ended.document
    assert (found["verdict"], found["score"], found["n_tests"]) == ("wrong_answer", 30, 5)
    assert (found["language"], found["executor"]) == ("python3", "bubblewrap")
    assert "scores 30 of 100" in found["detail"]
    groups = {group["name"]: (group["verdict"], group["score"]) for group in found["groups"]}
    assert groups["secret/small"] == ("accepted", 30)
    assert groups["secret/tall"] == ("wrong_answer", 0)
    assert [test["verdict"] for test in found["tests"]] == [*["accepted"] * 3, "wrong_answer"]
    for test in found["tests"]:
        facts = test["facts"]
        assert (facts["exit_code"], facts["signal"]) == (0, None)
        assert 0 < facts["cpu_s"] < facts["limits"]["cpu_s"]
        assert facts["peak_memory_bytes"] > 2**20


# --- an input and its output -------------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", EXECUTORS)
def test_an_input_and_the_output_that_is_right_for_it(add: Live, executor: str) -> None:
    right = add("run", "add.py", "--input", "in.txt", "--expect", "out.txt", "--executor", executor)
    assert right.code == 0
    assert right.out.splitlines()[1].split()[:2] == ["in.txt", "accepted"]
    assert right.out.splitlines()[-1] == f"accepted (1 test, {executor})"

    wrong = add("run", "add.py", "--input", "in.txt", "--expect", "in.txt", "--executor", executor)
    assert wrong.code == 1
    assert "expected '1', got '3'" in wrong.out
    assert wrong.out.splitlines()[-1] == f"wrong_answer (1 test, {executor})"


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["add.py", "--input", "-", "--expect", "out.txt"], "1 2\n"),
        (["add.py", "--input", "in.txt", "--expect", "-"], "3\n"),
        (["-", "--language", "python3", "--input", "in.txt", "--expect", "out.txt"], ADD),
    ],
    ids=["input", "output", "program"],
)
def test_a_dash_is_standard_input(add: Live, monkeypatch: pytest.MonkeyPatch, words: list[str], given: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
    ended = add("run", *words, *BUBBLEWRAP)
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "accepted (1 test, bubblewrap)")


@pytest.mark.bubblewrap
def test_a_closed_standard_input_is_an_empty_one(add: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    ended = add("run", "add.py", "--input", "-", "--expect", "out.txt", *BUBBLEWRAP)
    assert ended.code == 1
    assert "EOFError" in ended.out


@pytest.mark.bubblewrap
def test_a_name_is_shown_as_it_is_and_moves_no_terminal(add: Live, tmp_path: Path) -> None:
    (tmp_path / "[bold]in[").write_text("1 2\n")
    ended = add("run", "add.py", "--input", "[bold]in[", "--expect", "out.txt", *BUBBLEWRAP)
    assert ended.out.splitlines()[1].split()[:2] == ["[bold]in[", "accepted"]
    (tmp_path / "a\x1b[2Jb").write_text("1 2\n")
    ended = add("run", "add.py", "--input", "a\x1b[2Jb", "--expect", "out.txt", *BUBBLEWRAP)
    assert ended.out.splitlines()[1].split()[:3] == ["a", "[2Jb", "accepted"]


# --- limits and languages ----------------------------------------------------------------------------------------


@pytest.mark.bubblewrap
def test_limits_can_be_given(add: Live, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text("while True:\n    pass\n")
    (tmp_path / "hog.py").write_text("x = bytearray(200 << 20)\nprint(3)\n")
    tests = ("--input", "in.txt", "--expect", "out.txt", "--json", *BUBBLEWRAP)
    slow = add("run", "loop.py", *tests, "--time-limit", "0.2")
    assert (slow.code, slow.document["verdict"]) == (1, "time_limit")
    assert slow.document["tests"][0]["facts"]["limits"]["cpu_s"] == 0.2

    assert add("run", "hog.py", *tests).document["verdict"] == "accepted"
    big = add("run", "hog.py", *tests, "--memory-limit", "100")
    assert (big.code, big.document["verdict"]) == (1, "memory_limit")
    assert big.document["tests"][0]["facts"]["limits"]["memory_bytes"] == 100 * 2**20


@pytest.mark.bubblewrap
def test_a_problem_has_limits_of_its_own_unless_others_are_given(add: Live, tmp_path: Path) -> None:
    import_rows(add, tmp_path, {**SUM, "time_limit_s": 1.5, "memory_limit_bytes": 128 * 2**20})
    words = ("run", "add.py", "--problem", "n2", "--json", *BUBBLEWRAP)

    def limits(*more: str) -> tuple[float, int]:
        found = add(*words, *more).document["tests"][0]["facts"]["limits"]
        return found["cpu_s"], found["memory_bytes"]

    assert limits() == (1.5, 128 * 2**20)
    assert limits("--time-limit", "3") == (3.0, 128 * 2**20)
    assert limits("--memory-limit", "300") == (1.5, 300 * 2**20)


@pytest.mark.bubblewrap
def test_the_language_is_told_by_the_name_or_by_an_option(add: Live, tmp_path: Path) -> None:
    (tmp_path / "add.txt").write_text(ADD)
    words = ("--input", "in.txt", "--expect", "out.txt", *BUBBLEWRAP)
    assert "--language: " in add("run", "add.txt", *words).err
    ended = add("run", "add.txt", *words, "--language", "CPython 3.11", "--json")
    assert (ended.code, ended.document["language"]) == (0, "python3")


@pytest.mark.docker
def test_what_the_sandbox_does_not_have_is_said_with_a_remedy(add: Live, tmp_path: Path) -> None:
    (tmp_path / "add.rs").write_text("fn main() {}\n")
    words = ("--input", "in.txt", "--expect", "out.txt", "--executor", "docker", "--image", "slim")
    ended = add("run", "add.rs", *words)
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.splitlines() == [
        "error: this needs rust, which this sandbox does not have",
        "  what to do: build the full image: make full-image",
    ]


# --- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["absent.py", "--input", "in.txt", "--expect", "out.txt"], "absent.py cannot be read"),
        (["add.py", "--input", "absent.txt", "--expect", "out.txt"], "absent.txt cannot be read"),
        (["add.py", "--input", "in.txt", "--expect", "."], ". cannot be read: Is a directory"),
        (["in.txt", "--input", "in.txt", "--expect", "out.txt"], "the language of in.txt cannot be told"),
        (["add.py", "--language", "cobol", "--input", "in.txt", "--expect", "out.txt"], "no language 'cobol'"),
        (["add.py", "--language", "python2", "--input", "in.txt", "--expect", "out.txt"], "no language 'python2'"),
        (
            ["latin.py", "--input", "in.txt", "--expect", "out.txt"],
            "latin.py is not UTF-8: invalid start byte at byte 7",
        ),
        (["add.py"], "what should it be run on?"),
        (["add.py", "--input", "in.txt"], "what should it be run on?"),
        (["add.py", "--expect", "out.txt"], "what should it be run on?"),
        (["add.py", "--problem", "n2", "--input", "in.txt"], "what should it be run on?"),
        (["add.py", "--problem", "n2", "--input", "in.txt", "--expect", "out.txt"], "what should it be run on?"),
        (["add.py", "--problem", ""], "what should it be run on?"),
        (["add.py", "--input", "-", "--expect", "-"], "standard input can be only one of"),
        (["-", "--language", "python3", "--input", "-", "--expect", "out.txt"], "standard input can be only one of"),
        (["add.py", "--problem", "absent"], "no problem absent in the store"),
        (["add.py", "--problem", "nova:n1"], "nova:n1 has no tests in the store"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_two_lines(add: Live, tmp_path: Path, words: list[str], complaint: str) -> None:
    (tmp_path / "latin.py").write_bytes(b'print("\xff")\n')
    import_rows(add, tmp_path, NO_TESTS, SUM)
    assert complaint in refused(add("run", *words))


@pytest.mark.parametrize(
    "words",
    [
        ["--time-limit", "0"],
        ["--time-limit", "nan"],
        ["--time-limit", "inf"],
        ["--time-limit", "soon"],
        ["--memory-limit", "0"],
        ["--memory-limit", "99999999999999999999"],
        ["--executor", "none"],
    ],
    ids=" ".join,
)
def test_options_out_of_range(add: Live, words: list[str]) -> None:
    ended = add("run", "add.py", "--input", "in.txt", "--expect", "out.txt", *words)
    assert (ended.code, ended.out) == (2, "")
    assert words[0] in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("comparison = '{\"fuzzy\": true}'", "a comparison has no field 'fuzzy'"),
        ('comparison = \'{"unordered": "words"}\'', "unordered must be one of lines, tokens, list, nested"),
        ("io_kind = 'graph'", "graph"),
    ],
    ids=["a field of the comparison", "a word in it", "a kind of input"],
)
def test_tests_of_a_kind_that_this_version_does_not_know(
    add: Live, tmp_path: Path, change: str, complaint: str
) -> None:
    import_rows(add, tmp_path, SUM)
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute(f"UPDATE test_suite SET {change}")
    connection.close()
    said = refused(add("run", "add.py", "--problem", "n2"))
    assert said.startswith("error: the tests of nova:n2 cannot be judged here: ")
    assert complaint in said


def test_nothing_to_run_it_in(add: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/absent.sock")
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = add("run", "add.py", "--input", "in.txt", "--expect", "out.txt")
    assert (ended.code, ended.out) == (4, "")
    what, remedy = ended.err.splitlines()
    assert "Docker does not answer" in what
    assert "bubblewrap is not installed" in what
    assert "install it: apt-get install bubblewrap" in remedy
