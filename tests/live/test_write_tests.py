"""``live tests write`` against the local endpoint: pairs that are kept, and what is said where there is none."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from db.engine import open_store
from db.identity import problem_ids
from db.records import ProblemKey
from db.references import StoredReference, list_references
from live.errors import KEPT, NOTHING_KEPT
from tests.eval.generate.server import EndpointServer
from tests.ingest.reading import write_rows
from tests.live.command import Ended, Live
from tests.live.generating import KEY
from tests.live.test_generate import started, wait_for

pytestmark = [pytest.mark.enable_socket, pytest.mark.bubblewrap]

VALIDATOR = """import sys
words = sys.stdin.read().split()
if len(words) != 2 or not all(word.isdigit() and 1 <= int(word) <= 100 for word in words):
    print("not two numbers from 1 to 100", file=sys.stderr)
    sys.exit(43)
sys.exit(42)
"""
GENERATOR = """import random
seed, number, wanted = map(int, input().split())
dice = random.Random(f"{seed} {number}")
print(min(number + 1, 100), dice.randint(1, 100))
"""
ACCEPTS_ALL = "import sys\nsys.stdin.read()\nsys.exit(42)\n"
GOOD = {"Write an input validator": VALIDATOR, "Write a generator": GENERATOR}
SUM = "Two numbers from 1 to 100 are given. Print their sum."
STATEMENTS = {"plus": SUM, "times": "Two numbers from 1 to 100 are given. Print their product.", "untold": ""}


def rows(**statements: str) -> list[dict[str, object]]:
    tests = [{"input": "2 5\n", "expected": "7\n", "origin": "sample"}]
    return [
        {"platform": "nova", "id": name, "title": name, "statement": text, "tests": tests}
        for name, text in statements.items()
    ]


@pytest.fixture
def writing(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Live:
    """The command with three problems, two of which have a statement, and no key."""
    for name in ("OPENAI_API_KEY", "LIVE_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    path = write_rows(tmp_path / "rows.jsonl", rows(**STATEMENTS))
    assert live("import", "problems", path, "--format", "jsonl").code == 0
    return live


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    """An endpoint whose models write programs that hold."""
    with EndpointServer(programs=GOOD, tcp=True) as running:
        yield running


def words(server: EndpointServer, *problems: str, model: str = "good", more: tuple[str, ...] = ()) -> list[str]:
    given = ("--model", model, "--base-url", server.base_url, "--executor", "bubblewrap", *more)
    return ["tests", "write", *problems, *given]


def kept(folder: Path, name: str = "plus") -> list[StoredReference]:
    with open_store(str(folder / "store.db"), reading=True) as store, store.read() as session:
        key = ProblemKey("nova", name)
        return list_references(session, problem_ids(session, [key])[key])


def refusal(ended: Ended) -> str:
    assert ended.code == 1
    (line,) = [line for line in ended.err.splitlines() if line.startswith("refused: ")]
    return line


def test_both_programs_are_kept_for_each_problem(writing: Live, server: EndpointServer, tmp_path: Path) -> None:
    ended = writing(*words(server, "nova:times", "plus", more=("--json", "--temperature", "0.2")))
    assert ended.code == 0
    programs = ["test_validator-1 by good", "test_generator-1 by good"]
    assert ended.document == {
        "model": "good",
        "source": "model:good",
        "language": "python3",
        "written": [
            {"problem": "nova:plus", "programs": programs, "n_answers": 2},
            {"problem": "nova:times", "programs": programs, "n_answers": 2},
        ],
        "refused": [],
        "there": [],
        "stopped": None,
    }
    assert ended.err.splitlines() == [
        f"{key}: test_validator-1 by good and test_generator-1 by good are kept" for key in ("nova:plus", "nova:times")
    ]
    assert [arrival.document["temperature"] for arrival in server.arrivals] == [0.2] * 4
    for name in ("plus", "times"):
        assert [(one.name, str(one.role), one.language, one.source) for one in kept(tmp_path, name)] == [
            ("test_generator-1 by good", "generator", "python3", "model:good"),
            ("test_validator-1 by good", "validator", "python3", "model:good"),
        ]
    assert [one.code.strip() for one in kept(tmp_path)] == [GENERATOR.strip(), VALIDATOR.strip()]


def test_what_is_there_is_asked_for_again_only_on_demand(writing: Live, server: EndpointServer, tmp_path: Path) -> None:
    assert writing(*words(server, "plus")).code == 0
    ended = writing(*words(server, "plus"))
    assert (ended.code, ended.err) == (0, "nova:plus: has programs by good (--again asks anew)\n")
    assert len(server.arrivals) == 2
    assert writing(*words(server, "plus", model="other")).code == 0
    assert writing(*words(server, "plus", more=("--again",))).code == 0
    assert len(server.arrivals) == 6
    assert [one.source for one in kept(tmp_path)] == ["model:good"] * 2 + ["model:other"] * 2


def test_a_fault_is_told_and_mended(writing: Live, tmp_path: Path) -> None:
    programs = {
        "Write a generator": GENERATOR,
        "accepts an empty input": VALIDATOR,
        "Write an input validator": ACCEPTS_ALL,
    }
    with EndpointServer(programs=programs, tcp=True) as server:
        ended = writing(*words(server, "plus", more=("--json",)))
    assert [one["n_answers"] for one in ended.document["written"]] == [3]
    assert [one.code.strip() for one in kept(tmp_path)] == [GENERATOR.strip(), VALIDATOR.strip()]


@pytest.mark.parametrize(
    ("programs", "says"),
    [
        (
            {"Write an input validator": ACCEPTS_ALL},
            "no validator by good: validator test_validator-1 accepts an empty input",
        ),
        (
            {"Write an input validator": VALIDATOR.replace("<= 100", "<= 4")},
            "no validator by good: validator test_validator-1 refuses sample 1: not two numbers from 1 to 100 "
            "(exit code 43)",
        ),
        (
            GOOD | {"Write a generator": GENERATOR.replace("min(number + 1, 100)", "number")},
            "no generator by good: generator test_generator-1 writes an input that the validator refuses: "
            "not two numbers from 1 to 100 (exit code 43)",
        ),
        (
            GOOD | {"Write a generator": "import sys\nwhile input:\n    sys.stdout.write('1' * 2**20)\n"},
            "no generator by good: generator test_generator-1 writes more than 8,388,608 bytes",
        ),
        (
            GOOD | {"Write a generator": "import os\nprint(input() and ord(os.urandom(1)) % 99 + 1, 1)\n"},
            "no generator by good: generator test_generator-1 gives another input for the same seed (number ",
        ),
    ],
)
def test_what_does_not_hold_leaves_the_problem_as_it_was(
    writing: Live, tmp_path: Path, programs: dict[str, str], says: str
) -> None:
    with EndpointServer(programs=programs, tcp=True) as server:
        ended = writing(*words(server, "plus", more=("--json",)))
    assert refusal(ended).startswith(f"refused: nova:plus: {says}")
    assert refusal(ended).endswith("(ask another model, or give both programs by live import references)")
    assert [(one["problem"], one["reason"].startswith(says)) for one in ended.document["refused"]] == [
        ("nova:plus", True)
    ]
    assert kept(tmp_path) == []


def test_a_problem_that_fails_keeps_no_other_one_back(writing: Live, tmp_path: Path) -> None:
    with EndpointServer(programs={"Print their product": ACCEPTS_ALL} | GOOD, tcp=True) as server:
        ended = writing(*words(server, "times", "plus", "untold"))
        assert not any("untold" in arrival.prompt for arrival in server.arrivals)
    assert ended.code == 1
    assert [line[:28] for line in ended.err.splitlines()] == [
        "nova:plus: test_validator-1 ",
        "refused: nova:times: no vali",
        "refused: nova:untold: no sta",
    ]
    assert (len(kept(tmp_path, "plus")), kept(tmp_path, "times")) == (2, [])


def test_an_answer_without_a_program(writing: Live, server: EndpointServer, tmp_path: Path) -> None:
    line = refusal(writing(*words(server, "plus", model="words")))
    assert line.startswith("refused: nova:plus: no validator by words: the answer has no program: no block")
    assert len(server.arrivals) == 2
    assert kept(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nova:none", "plus"), "error: no problem nova:none in the store"),
        (("plus", "--language", "cobol"), 'error: prompts have no words for the language "cobol"'),
        (("plus", "--base-url", "nowhere"), "error: "),
        (("plus", "--model", ""), "error: --model: the name of the model must not be empty"),
        (("plus", "--temperature", "-1"), "error: temperature cannot be -1.0"),
        (("plus", "--key-variable", "NO_SUCH_KEY"), "error: the variable NO_SUCH_KEY holds no key"),
    ],
)
def test_what_cannot_be_asked_is_said_in_two_lines(
    writing: Live, server: EndpointServer, arguments: tuple[str, ...], says: str
) -> None:
    ended = writing(*words(server), *arguments)
    assert ended.code == 2
    first, second = ended.err.splitlines()
    assert first.startswith(says)
    assert second.startswith("  what to do: ")
    assert server.arrivals == []


def test_an_endpoint_that_refuses_ends_the_command(
    writing: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key-0123456789")
    with EndpointServer(programs=GOOD, key=KEY, tcp=True) as server:
        ended = writing(*words(server, "plus", "times", more=("--json",)))
        assert ended.code == 4
        first, second = ended.err.splitlines()
        assert first.startswith("stopped: ")
        assert "the key in OPENAI_API_KEY was refused" in first
        assert second.startswith("  what to do: ")
        assert len(server.arrivals) == 1
        assert ended.document["stopped"] == first.removeprefix("stopped: ")
        assert kept(tmp_path) == []
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        good = writing(*words(server, "plus"))
    assert good.code == 0
    assert KEY not in good.out + good.err
    assert [one.code for one in kept(tmp_path) if KEY in one.code] == []


def test_ctrl_c_keeps_finished_problems(writing: Live, server: EndpointServer, tmp_path: Path) -> None:
    waiting = "[[behave: slow:60]] Two numbers from 1 to 100 are given. Print the larger one."
    path = write_rows(tmp_path / "more.jsonl", rows(waiting=waiting))
    assert writing("import", "problems", path, "--format", "jsonl").code == 0
    for names, said, n_kept in ((("waiting",), NOTHING_KEPT, 0), (("plus", "waiting"), KEPT, 2)):
        server.forget()
        with started(tmp_path, words(server, *names)) as process:
            wait_for(server, n_kept + 1, process)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
        assert (process.returncode, err.splitlines()[-1]) == (130, said)
        assert len(kept(tmp_path)) == n_kept
        assert kept(tmp_path, "waiting") == []
