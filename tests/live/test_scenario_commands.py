"""Scenarios from the command line: asked, answered, judged and shown, each by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.eval.generate.server import EndpointServer
from tests.live.command import Ended, Live
from tests.live.test_commands import write_lines

N = 12
WINDOW = ("--since", "2025-01-01")
MODELS = """
[[model]]
name = "nova-1"
provider = "Nova"
release_date = "2024-10-02"

[[model]]
name = "orion-1"
provider = "Orion"
release_date = "2024-10-02"
"""
EXECUTORS = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]


def task(k: int) -> dict[str, Any]:
    """A problem: add k. Its hidden test adds it to 1000 + k."""
    return {
        "platform": "nova",
        "id": f"plus-{k}",
        "title": f"Plus {k}",
        "contest": {"id": f"round-{k}", "starts_at": f"2025-03-{k + 1:02}T12:00:00Z"},
        "released": f"2025-03-{k + 1:02}T12:00:00Z",
        "statement": f"Read a number and print it plus {k}. That is all.",
        "tests": [
            {"input": "1\n", "expected": f"{k + 1}\n", "origin": "sample"},
            {"input": f"{1000 + k}\n", "expected": f"{1000 + 2 * k}\n", "origin": "official"},
        ],
    }


def right(k: int) -> str:
    return f"print(int(input()) + {k})"


@pytest.fixture
def nova_live(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Live:
    """The command with twelve problems and two models, and no answers."""
    path = tmp_path / "models.toml"
    path.write_text(MODELS, encoding="utf-8")
    monkeypatch.setenv("LIVE_MODELS", str(path))
    for name in ("OPENAI_API_KEY", "LIVE_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert live("import", "problems", write_lines(tmp_path / "p.jsonl", *map(task, range(N))), "-f", "jsonl").code == 0
    return live


def generate(live: Live, answers: dict[str, str], *more: str) -> Ended:
    """Ask an endpoint that gives these answers to prompts with these phrases in them."""
    with EndpointServer(programs=answers, tcp=True) as server:
        return live("generate", "nova-1", *WINDOW, "--base-url", server.base_url, *more)


def evaluated(live: Live, scenario: str, *more: str) -> dict[str, Any]:
    document: dict[str, Any] = live("eval", *WINDOW, "--scenario", scenario, *more, "--json").document
    assert document["settings"]["scenario"] == scenario
    return document


@pytest.mark.enable_socket
@pytest.mark.parametrize("executor", EXECUTORS)
def test_self_repair_from_end_to_end(nova_live: Live, executor: str) -> None:
    first = {f"plus {k}.": right(k) if k % 2 == 0 else "print(0)" for k in range(N)}
    assert generate(nova_live, first).code == 0
    judged = ("--executor", executor)
    (row,) = evaluated(nova_live, "code_generation", *judged)["rows"]
    assert (row["n_judged"], row["pass_at_1"]) == (12, 0.5)

    repaired = {f"plus {k}.": right(k) if k % 4 == 1 else "print(1)" for k in range(N)}
    ended = generate(nova_live, repaired, "--scenario", "self_repair")
    assert ended.code == 0
    assert "left out: all samples pass: 6" in ended.err
    assert "asked for 6 answers: 6 came, 0 failed" in ended.err
    assert " eval nova-1 --since 2025-01-01 --scenario self_repair" in ended.err.splitlines()[-1]
    assert "nothing is missing" in generate(nova_live, repaired, "--scenario", "self_repair").err

    (row,) = evaluated(nova_live, "self_repair", *judged)["rows"]
    assert (row["n_judged"], row["pass_at_1"], row["conditions"]["scenario"]) == (12, 0.75, "self_repair")
    assert len(row["conditions"]["repairs"]) == 12
    assert (row["repair"]["before"]["value"], row["repair"]["repaired"]["value"]) == (0.5, 0.5)
    assert (row["repair"]["n_repaired"], row["repair"]["n_asked"], row["repair"]["repaired"]["n_problems"]) == (3, 6, 6)
    shown = nova_live("eval", *WINDOW, "--scenario", "self_repair", "--no-judge").out
    assert "Scenario self_repair: not to be set beside scores of code generation." in shown
    assert "75.0 %" in shown
    assert "repaired: 3 of 6 failing samples of 6 problems" in shown

    (row,) = evaluated(nova_live, "code_generation", *judged)["rows"]
    assert (row["pass_at_1"], row["repair"]) == (0.5, None)
    assert nova_live("judge", *judged, "--json").document["n_judged"] == 0


@pytest.mark.enable_socket
def test_output_prediction_from_end_to_end(nova_live: Live) -> None:
    told = {f"plus {k}.": str(1000 + 2 * k) if k < 9 else "0" for k in range(N)}
    ended = generate(nova_live, told, "--scenario", "output_prediction")
    assert ended.code == 0
    (row,) = evaluated(nova_live, "output_prediction")["rows"]  # nothing has to be run, so no sandbox is needed
    assert (row["n_judged"], row["n_samples"], row["pass_at_1"]) == (12, 12, 0.75)
    assert nova_live("eval", *WINDOW, "--no-judge").code == 3
    shared = nova_live("eval", *WINDOW, "--scenario", "output_prediction", "--table", "common")
    assert "scenario output_prediction" in shared.out


@pytest.mark.enable_socket
@pytest.mark.parametrize("executor", EXECUTORS)
def test_code_execution_from_end_to_end(nova_live: Live, tmp_path: Path, executor: str) -> None:
    rows = [{"id": f"plus-{k}", "platform": "nova", "code": right(k) + "\n"} for k in range(N)]
    path = write_lines(tmp_path / "s.jsonl", *rows)
    assert nova_live("import", "solutions", path, "-f", "jsonl", "--model", "orion-1").code == 0
    assert generate(nova_live, {}, "--scenario", "code_execution").code == 3  # nothing is known to be right yet
    assert nova_live("judge", "--executor", executor).code == 0
    told = {f"+ {k})": str(k + 1) for k in range(N)}  # right for the sample, wrong for the other test
    assert generate(nova_live, told, "--scenario", "code_execution").code == 0
    (row,) = evaluated(nova_live, "code_execution")["rows"]
    assert (row["model"], row["n_judged"], row["n_samples"], row["pass_at_1"]) == ("nova-1", 12, 24, 0.5)
    own = nova_live("generate", "orion-1", *WINDOW, "--base-url", "http://127.0.0.1:1", "--scenario", "code_execution")
    assert own.code == 3
    assert (
        "left out: no short Python program (2000 bytes) that is not of the model's family is known to be right: 12"
        in (own.err)
    )


def test_by_way_of_files(nova_live: Live, tmp_path: Path) -> None:
    command = ("prompts", "nova-1", *WINDOW, "--scenario", "output_prediction", "--out", "requests.jsonl")
    assert nova_live(*command).code == 0
    requests = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(requests) == 12
    assert all(one["custom_id"].split("-")[3] != "0" for one in requests)  # each has a question of its own
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(map(answer, requests)), encoding="utf-8")
    assert nova_live("import", "solutions", path, "-f", "openai-batch").code == 0
    (row,) = evaluated(nova_live, "output_prediction")["rows"]
    assert (row["n_samples"], row["pass_at_1"]) == (12, pytest.approx(1 / 12))
    assert "nothing is missing" in nova_live(*command).err
    forged = requests[0]["custom_id"].split("-")
    forged[3] = "999"
    path.write_text(answer(requests[0] | {"custom_id": "-".join(forged)}), encoding="utf-8")
    refused = nova_live("import", "solutions", path, "-f", "openai-batch")
    assert refused.code == 1
    assert "the store has no question 999 on a problem" in refused.err


def answer(request: dict[str, Any]) -> str:
    choice = {"message": {"role": "assistant", "content": "```answer\n1004\n```"}, "finish_reason": "stop"}
    response = {"status_code": 200, "body": {"model": "nova", "choices": [choice]}}
    return json.dumps({"custom_id": request["custom_id"], "response": response, "error": None}) + "\n"


def test_one_prompt_to_read(nova_live: Live) -> None:
    ended = nova_live("prompts", "nova-1", *WINDOW, "--scenario", "output_prediction", "--show")
    assert ended.code == 0
    assert "Work out what a correct program prints for this input." in ended.out
    assert "1000" in ended.out


def test_imported_results_of_a_scenario(nova_live: Live, tmp_path: Path) -> None:
    rows = [
        {"platform": "nova", "id": f"plus-{k}", "model": "nova-1", "n_samples": 2, "n_correct": 1} for k in range(N)
    ]
    path = write_lines(tmp_path / "r.jsonl", *rows)
    assert nova_live("import", "results", path, "-f", "jsonl", "--scenario", "self_repair").code == 0
    (row,) = evaluated(nova_live, "self_repair", "--no-judge")["rows"]
    assert (row["n_judged"], row["pass_at_1"], row["repair"]) == (12, 0.5, None)
    assert nova_live("eval", *WINDOW, "--no-judge").code == 3
    for audit in ("runs", "problems", "saturation"):
        assert "nova-1" not in nova_live("audit", audit).out


def test_imported_solutions_of_a_scenario(nova_live: Live, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", {"id": "plus-0", "platform": "nova", "code": right(0)})
    command = ("import", "solutions", path, "-f", "jsonl", "--model", "nova-1", "--condition")
    assert nova_live(*command, "scenario=self_repair").code == 0
    assert evaluated(nova_live, "code_generation", "--no-judge")["rows"] == []
    (row,) = evaluated(nova_live, "self_repair", "--no-judge")["rows"]
    assert row["left_out"]["not judged"] == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["eval", *WINDOW, "--scenario", "selfrepair"], 'no scenario is called "selfrepair"'),
        (["eval", *WINDOW, "--scenario", "output_prediction", "--k", "1,5"], "--k 5: output_prediction puts several"),
        (["eval", *WINDOW, "--scenario", "code_execution", "--k", "2"], "--k 2: code_execution puts several"),
        (
            ["eval", *WINDOW, "--scenario", "self_repair", "--table", "common"],
            "self_repair compares a model with itself",
        ),
        (["prompts", "nova-1", *WINDOW, "--show", "--scenario", "x"], 'no scenario is called "x"'),
        (["prompts", "nova-1", *WINDOW, "--show", "--repairs", "x"], "--repairs goes with a scenario that repairs"),
        (["prompts", "nova-1", *WINDOW, "--show", "--scenario", "self_repair"], "nova-1 has no run to repair"),
        (
            ["prompts", "nova-1", *WINDOW, "--show", "--scenario", "self_repair", "--n", "2"],
            "--n 2: self_repair asks once for each failing sample",
        ),
        (
            ["prompts", "nova-1", *WINDOW, "--show", "--scenario", "code_execution", "--language", "rust"],
            "--language rust: code_execution asks for no program",
        ),
        (["import", "results", "x.jsonl", "-f", "jsonl", "--scenario", "x"], 'no scenario is called "x"'),
        (
            ["import", "solutions", "x.jsonl", "-f", "jsonl", "--condition", "scenario=output_prediction"],
            "the answers in output_prediction are no programs",
        ),
        (["import", "solutions", "x.jsonl", "-f", "jsonl", "--condition", "scenario=x"], 'no scenario is called "x"'),
    ],
)
def test_bad_input(nova_live: Live, tmp_path: Path, words: list[str], complaint: str) -> None:
    (tmp_path / "x.jsonl").write_text("", encoding="utf-8")
    ended = nova_live(*words)
    assert ended.code == 2
    error, hint = ended.err.splitlines()[-2:]
    assert error.startswith(f"error: {complaint}")
    assert hint.startswith("  what to do: ")
