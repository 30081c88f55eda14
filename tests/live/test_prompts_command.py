"""``live prompts`` and reading its answers back: from a store to a file of requests, and from answers to runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.live.command import DEMO, Live

N_ASKED = 11  # of the demonstration's twenty: those after demo-steady's cut-off that can be scored
WINDOW = ("--after-cutoff",)


@pytest.fixture
def asked_live(live: Live, monkeypatch: pytest.MonkeyPatch) -> Live:
    """The command with the demonstration's problems and models, and no answers."""
    monkeypatch.setenv("LIVE_MODELS", str(DEMO / "models.toml"))
    assert live("import", "problems", DEMO / "problems.jsonl", "--format", "jsonl").code == 0
    return live


def requests_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def answer(request: dict[str, Any], content: str = "```python\nprint(1)\n```") -> str:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    response = {"status_code": 200, "request_id": "r", "body": {"model": "demo", "choices": [choice]}}
    return json.dumps({"id": "b", "custom_id": request["custom_id"], "response": response, "error": None}) + "\n"


def test_a_run_by_way_of_files(asked_live: Live, tmp_path: Path) -> None:
    command = ("prompts", "demo-steady", *WINDOW, "--n", "2", "--temperature", "0.2", "--out", "requests.jsonl")
    ended = asked_live(*command)
    assert ended.code == 0
    assert ended.out == ""
    assert ended.err.splitlines() == [
        "left out: published before the cut-off: 6",
        "left out: interactive: 1",
        "left out: multiple answers without a checker: 1",
        "left out: publication date unknown: 1",
        "22 requests for 11 problems, written to requests.jsonl",
        "they hold the problems' statements: keep them out of what you publish",
        "read the answers with: live import solutions ANSWERS --format openai-batch",
    ]
    requests = requests_in(tmp_path / "requests.jsonl")
    assert len({request["custom_id"] for request in requests}) == 2 * N_ASKED
    assert {(one["body"]["model"], one["body"]["temperature"]) for one in requests} == {("demo-steady", 0.2)}
    before = (tmp_path / "requests.jsonl").read_bytes()
    assert asked_live(*command).code == 0
    assert (tmp_path / "requests.jsonl").read_bytes() == before

    # The first batch brings all answers but two: a failure and one that is missing.
    failed = {"custom_id": requests[0]["custom_id"], "response": None, "error": {"code": "batch_expired"}}
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps(failed) + "\n" + "".join(map(answer, reversed(requests[2:]))), encoding="utf-8")
    read = asked_live("import", "solutions", "answers.jsonl", "--format", "openai-batch")
    assert read.code == 1
    assert read.err.splitlines() == [
        "answers: 20 new, 0 updated, 0 unchanged, 0 refused",
        "note: requests that failed and are no answers: error_body 1; `live prompts` writes them again",
    ]
    assert asked_live(*command).code == 0
    assert [one["custom_id"] for one in requests_in(tmp_path / "requests.jsonl")] == [
        one["custom_id"] for one in requests[:2]
    ]
    answers.write_text("".join(map(answer, requests)), encoding="utf-8")
    read = asked_live("import", "solutions", "answers.jsonl", "--format", "openai-batch", "--json")
    assert (read.code, read.document["created"], read.document["unchanged"]) == (0, 2, 20)
    assert read.document["failed_requests"] == {}
    nothing = asked_live(*command)
    assert nothing.code == 0
    assert nothing.err.splitlines()[-1] == "nothing is missing: 11 problems with 2 answers each"
    (row,) = asked_live("eval", *WINDOW, "--no-judge", "--json").document["rows"]
    assert (row["model"], row["label"], row["n_eligible"]) == ("demo-steady", "generate", N_ASKED)
    assert row["left_out"]["not judged"] == N_ASKED
    assert row["conditions"]["prompt"] == "plain-1"


def test_other_settings_are_another_run(asked_live: Live, tmp_path: Path) -> None:
    runs = set()
    for more in ([], ["--prompt", "worked"], ["--language", "c++"], ["--seed", "1"], ["--as", "x"], ["--run", "b"]):
        ended = asked_live("prompts", "demo-steady", *WINDOW, *more, "--out", "-", "--limit", "1")
        assert ended.code == 0
        (line,) = ended.out.splitlines()
        runs.add(json.loads(line)["custom_id"].split("-")[1])
    assert len(runs) == 6
    assert list(tmp_path.glob("*.jsonl")) == []


def test_fields_of_a_request(asked_live: Live, tmp_path: Path) -> None:
    (tmp_path / "extra.json").write_text('{"top_k": 20}')
    options = "--as demo/steady --max-tokens 9 --max-tokens-field max_completion_tokens --top-p 0.9 --seed 4 --n 2"
    more = ["--effort", "high", "--stop", "\n\n", "--extra-body", "@extra.json", "--problem", "demo:dry-spell"]
    ended = asked_live("prompts", "demo-steady", *WINDOW, *options.split(), *more, "--out", "-")
    bodies = [json.loads(line)["body"] for line in ended.out.splitlines()]
    assert [body.pop("seed") for body in bodies] == [4, 5]
    assert [body.pop("messages")[0]["role"] for body in bodies] == ["user", "user"]
    asked = {"model": "demo/steady", "max_completion_tokens": 9, "top_p": 0.9, "reasoning_effort": "high"}
    assert bodies == [asked | {"stop": ["\n\n"], "top_k": 20}] * 2


def test_one_prompt_to_read(asked_live: Live, tmp_path: Path) -> None:
    ended = asked_live("prompts", "demo-steady", *WINDOW, "--show", "--problem", "demo:double-watch")
    assert ended.code == 0
    assert ended.out.startswith("Write code in Python 3.11 that solves the problem below.\n")
    assert "    def doubleWatch(self, shifts: List[List[int]]) -> int:" in ended.out
    assert list(tmp_path.glob("*.jsonl")) == []
    assert asked_live("eval", *WINDOW, "--no-judge").code == 3  # no run was registered


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["demo-steady", "--after-cutoff", "--since", "2027"], "demo-steady is not asked: none of 20 problems is left"),
        (
            ["demo-steady", "--after-cutoff", "--problem", "demo:ferry-groups"],
            "demo-steady is not asked: none of 20 problems is left",
        ),
        (["mistral-large-latest", "--after-cutoff"], "mistral-large-latest is not asked: "),
    ],
    ids=["nothing in the window", "before the cut-off", "a name without a snapshot"],
)
def test_nothing_to_ask(asked_live: Live, tmp_path: Path, options: list[str], said: str) -> None:
    ended = asked_live("--quiet", "prompts", *options, "--out", "requests.jsonl")
    assert ended.code == 3
    assert ended.out == ""
    assert ended.err.startswith(said)
    assert not (tmp_path / "requests.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["prompts", "demo-steady", *WINDOW], "where to?"),
        (["prompts", "demo-steady", *WINDOW, "--show", "--out", "-"], "where to?"),
        (["prompts", "demo-steady", "--out", "-"], "which problems?"),
        (["prompts", "nobody", *WINDOW, "--out", "-"], 'unknown model "nobody"'),
        (["prompts", "demo-steady", *WINDOW, "--out", "-", "--prompt", "fancy"], "no prompt of code_generation"),
        (["prompts", "demo-steady", *WINDOW, "--out", "-", "--language", "cobol"], "prompts have no words for"),
        (["prompts", "demo-steady", *WINDOW, "--out", "-", "--problem", "gone"], "no problem gone in the store"),
        (["prompts", "demo-steady", *WINDOW, "--out", "-", "--platform", "gone"], 'of the platform "gone"'),
        (["prompts", "demo-steady", *WINDOW, "--out", "-", "--extra-body", "[1]"], "--extra-body is no JSON object"),
        (["prompts", "demo-steady", *WINDOW, "--out", "-", "--extra-body", "{"], "--extra-body is not JSON"),
        (["prompts", "demo-steady", *WINDOW, "--out", "-", "--extra-body", "@gone"], "--extra-body: gone cannot be"),
        (["prompts", "demo-steady", *WINDOW, "--out", "-", "--extra-body", '{"n": 2}'], "the extra body cannot set"),
        (["prompts", "demo-steady", *WINDOW, "--out", "notes.txt"], "notes.txt is there already"),
        (["import", "solutions", "a", "-f", "openai-batch", "--model", "demo-steady"], "--model does not go with"),
        (["import", "solutions", "a", "-f", "openai-batch", "--ran-on", "2025-01-01"], "--ran-on does not go with"),
        (["import", "solutions", "absent", "-f", "openai-batch"], "absent cannot be read"),
    ],
    ids=lambda value: " ".join(value[2:]) if isinstance(value, list) else None,
)
def test_what_cannot_be(asked_live: Live, tmp_path: Path, words: list[str], complaint: str) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    ended = asked_live(*words)
    assert ended.code == 2
    first, second = [line for line in ended.err.splitlines() if not line.startswith("left out")]
    assert first.startswith("error: ")
    assert complaint in first
    assert second.startswith("  what to do: ")
    assert notes.read_text() == "mine"
    assert ended.out == ""


def test_a_folder_that_is_not_there(asked_live: Live) -> None:
    ended = asked_live("prompts", "demo-steady", *WINDOW, "--out", "gone/requests.jsonl")
    assert ended.code == 4
    assert "gone" in ended.err
    assert "Traceback" not in ended.err
    assert asked_live("eval", *WINDOW, "--no-judge", "--json").document["rows"] == []  # and no empty run
