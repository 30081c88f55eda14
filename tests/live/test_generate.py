"""``live generate`` against the local endpoint: whole runs, runs that go wrong, and runs that are cut short."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from live.errors import KEPT
from tests.eval.generate.server import EndpointServer
from tests.live.command import DEMO, Live
from tests.live.generating import KEY, N_ASKED, WINDOW, stored, words

pytestmark = pytest.mark.enable_socket


def test_a_whole_run_and_then_its_scores(asked_live: Live, server: EndpointServer, tmp_path: Path) -> None:
    ended = asked_live(*words(server, "good", "--n", "2"))
    assert ended.code == 0
    assert ended.out == ""
    lines = [line for line in ended.err.splitlines() if not line.startswith("left out")]
    assert lines[:3] == [
        "asked for 22 answers: 22 came, 0 failed",
        "answers: ok 22",
        "tokens: 2,640 in, 1,760 out, of them 1,100 reasoning",
    ]
    assert lines[3].startswith("22 requests in ")
    db = tmp_path / "store.db"
    assert lines[4:] == ["served as good-0613 22", f"next: live --db {db} eval demo-steady --after-cutoff"]
    assert set(server.asked().values()) == {1}

    again = asked_live(*words(server, "good", "--n", "2", "--json"))
    assert (again.code, again.document["wanted"], again.document["run"]["answers"]) == (0, 0, 22)
    assert "nothing is missing: the store has 22 answers to 11 problems" in again.err
    assert len(server.arrivals) == 22

    (row,) = asked_live("eval", *WINDOW, "--no-judge", "--json").document["rows"]
    assert (row["model"], row["label"], row["n_eligible"]) == ("demo-steady", "generate", N_ASKED)
    assert row["left_out"]["not judged"] == N_ASKED
    assert (row["n_failed"], row["without_program"]) == (0, {})
    assert row["conditions"]["asked_as"] == "good"


def test_the_report_as_json(asked_live: Live, server: EndpointServer, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('currency = "EUR"\n[models."good"]\ninput = 1000.0\noutput = 1000.0\n')
    ended = asked_live(*words(server, "good", "--json", "--prices", str(prices)))
    assert ended.code == 0
    document = ended.document
    assert (document["model"], document["conditions"]["seed"]) == ("demo-steady", 0)
    assert (document["wanted"], document["answered"], document["failed"], document["not_asked"]) == (11, 11, 0, 0)
    assert document["answers"] == {"ok": 11}
    assert (document["tokens_in"], document["tokens_out"], document["tokens_reasoning"]) == (1320, 880, 550)
    assert (round(document["cost"], 6), document["currency"]) == (2.2, "EUR")
    assert document["served_models"] == {"good-0613": 11}
    assert document["fingerprints"] == {"fp_44709d6fcb": 11}
    assert document["requests_per_s"] > 0
    assert document["tokens_per_s"] > 0
    assert document["stopped"] is None
    assert document["health"]["is_unhealthy"] is False
    assert document["next"] == f"live --db {tmp_path / 'store.db'} eval demo-steady --after-cutoff"
    models = asked_live("--models", DEMO / "models.toml", *words(server, "good", "--json")).document["next"]
    assert models.startswith(f"live --db {tmp_path / 'store.db'} --models {DEMO / 'models.toml'} eval ")


def test_a_dry_run_sends_and_writes_nothing(asked_live: Live, server: EndpointServer, tmp_path: Path) -> None:
    before = (tmp_path / "store.db").read_bytes()
    more = ("--n", "3", "--max-tokens", "100", "--dry-run")
    ended = asked_live(*words(server, "good", *more))
    assert ended.code == 0
    assert "33 requests for 11 problems would be sent; nothing was" in ended.err
    assert "4 characters each" in ended.err
    assert "out: at most 3,300" in ended.err
    document = asked_live(*words(server, "good", *more, "--json", "--max-requests", "7")).document
    assert (document["requests"], document["tokens_out_at_most"], document["cost"]) == (7, 700, None)
    assert 0 < document["tokens_in"] < 10_000
    assert server.arrivals == []
    assert (tmp_path / "store.db").read_bytes() == before
    asked_live(*words(server, "good", "--n", "1", "--max-tokens", "100"))
    document = asked_live(*words(server, "good", *more, "--json")).document
    assert (document["requests"], document["tokens_out"]) == (22, 22 * 80)  # as long as the answers so far


def test_a_run_without_programs_is_unhealthy(asked_live: Live, server: EndpointServer) -> None:
    ended = asked_live(*words(server, "words"))
    assert ended.code == 1
    reason = "11 of 11 answers are not what was asked for (no_code 11)"
    assert f"note: the run is unhealthy: {reason}" in ended.err
    (row,) = asked_live("eval", *WINDOW, "--no-judge", "--json").document["rows"]
    assert f"unhealthy run: {reason}" in row["warnings"]


def test_what_a_run_cost_is_told_with_its_failed_requests(
    asked_live: Live, server: EndpointServer, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('currency = "EUR"\n[models."null+good"]\ninput = 1000.0\noutput = 1000.0\n')
    arguments = words(server, "null+good", "--limit", "1", "--prices", str(prices))
    assert asked_live(*arguments).code == 1
    ended = asked_live(*arguments)
    assert ended.code == 0
    assert "run so far: 1 answer; tokens: 240 in, 160 out; cost 0.4 EUR, 0.2 EUR of it for failed requests" in ended.err
    assert "asked for 1 answer: 1 came, 0 failed" in ended.err
    assert "\n1 request in " in ended.err


def test_truncated_answers_make_a_run_unhealthy(asked_live: Live, server: EndpointServer) -> None:
    ended = asked_live(*words(server, "length", "--json"))
    assert ended.code == 1
    document = ended.document
    assert document["answers"]["truncated"] > 5
    assert document["health"]["is_unhealthy"] is True
    assert "note: the run is unhealthy: " in ended.err
    assert "note: answers of the run without a program, which count as not solved: truncated" in ended.err
    again = asked_live(*words(server, "length"))
    assert again.code == 1  # nothing is missing, and the run is as unhealthy as it was
    assert "note: the run is unhealthy: " in again.err
    assert "asked for" not in again.err
    (row,) = asked_live("eval", *WINDOW, "--no-judge", "--json").document["rows"]
    assert row["without_program"] == {"truncated": document["answers"]["truncated"]}
    assert any(warning.startswith("unhealthy run: ") for warning in row["warnings"])


def test_failed_requests_stay_failed_until_they_are_answered(
    asked_live: Live, server: EndpointServer, tmp_path: Path
) -> None:
    ended = asked_live(*words(server, "null+good"))
    assert ended.code == 1
    assert "failed: empty_content 11 (the answer has no text)" in ended.err
    assert "asked for 11 answers: 0 came, 11 failed" in ended.err
    assert stored(tmp_path) == (0, {"empty_content": 11})
    (row,) = asked_live("eval", *WINDOW, "--no-judge", "--json").document["rows"]
    assert row["n_failed"] == 11
    assert "unhealthy run: 11 of 11 samples have no answer (failed requests)" in row["warnings"]
    ended = asked_live(*words(server, "null+good"))
    assert ended.code == 0
    assert stored(tmp_path) == (11, {})


def test_a_run_of_no_use_is_stopped(asked_live: Live, server: EndpointServer) -> None:
    ended = asked_live(*words(server, "null", "--n", "9", "--json"))
    assert ended.code == 1
    assert ended.document["stopped"]["why"] == "useless"
    assert ended.document["not_asked"] > 70
    assert (
        "stopped: 20 of the last 20 replies are of no use (empty_content 20); the last: the answer has no text"
        in ended.err
    )
    assert "  what to do: raise --max-tokens" in ended.err
    ended = asked_live(*words(server, "null", "--n", "3", "--json", "--keep-going"))
    assert (ended.code, ended.document["stopped"], ended.document["not_asked"]) == (1, None, 0)


def test_limits(asked_live: Live, server: EndpointServer, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('currency = "EUR"\n[models."good"]\ninput = 1000.0\noutput = 1000.0\n')
    ended = asked_live(*words(server, "good", "--max-requests", "3"))
    assert ended.code == 0
    assert "stopped: --max-requests 3 is reached" in ended.err
    assert "asked for 11 answers: 3 came, 0 failed, 8 were not asked for" in ended.err
    ended = asked_live(*words(server, "good", "--max-cost", "0.5", "--prices", str(prices)))
    assert ended.code == 0
    assert "stopped: --max-cost 0.5 would be passed by one more request" in ended.err
    assert stored(tmp_path)[0] == len(server.arrivals) == 5
    ended = asked_live(*words(server, "good", "--limit", "7", "--json"))
    assert (ended.code, len(server.arrivals)) == (0, 5 + ended.document["wanted"])
    assert ended.document["wanted"] <= 7


def test_several_models_behind_one_name_are_said(asked_live: Live, server: EndpointServer) -> None:
    asked_live(*words(server, "good", "--max-requests", "4"))
    server_name = "good-0613"
    from tests.eval.generate import behaviours

    original = behaviours.completion

    def renamed(*args: object, **more: object) -> dict[str, object]:
        return original(*args, **more) | {"model": "good-0614", "system_fingerprint": "fp_2"}  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(behaviours, "completion", renamed)
        ended = asked_live(*words(server, "good"))
    assert ended.code == 0
    assert f"name more than one model, so that they may differ: good-0614 7, {server_name} 4" in ended.err
    assert "name more than one fingerprint" in ended.err


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--base-url", ""], "which endpoint?"),
        (["--base-url", "api.example.com/v1"], "does not begin with http"),
        (["--base-url", f"https://user:{KEY}@api.example.com/v1"], "holds a user name or a password"),
        (["--base-url", f"https://api.example.com/v1?api_key={KEY}"], "the base URL holds a secret (api_key=…)"),
        (["--key-variable", "NO_SUCH_KEY"], "the variable NO_SUCH_KEY holds no key"),
        (["--max-cost", "1"], "--max-cost needs to know what tokens cost"),
        (["--prices", "gone.toml"], "gone.toml: cannot be read"),
        (["--prices", "prices.toml"], 'prices.toml has no price for "good"'),
        (["--prompt", "fancy"], "no prompt of code_generation"),
        (["--language", "cobol"], "prompts have no words for"),
        (["--temperature", "-1"], "temperature cannot be -1"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_what_cannot_be(
    asked_live: Live, server: EndpointServer, tmp_path: Path, more: list[str], complaint: str
) -> None:
    (tmp_path / "prices.toml").write_text('currency = "EUR"\n[models."other"]\ninput = 1\noutput = 1\n')
    ended = asked_live(*words(server, "good", *more))
    assert ended.code == 2
    first, second = ended.err.splitlines()
    assert first.startswith("error: ")
    assert complaint in first
    assert second.startswith("  what to do: ")
    assert KEY not in ended.err
    assert server.arrivals == []


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["generate", "demo-steady"], 2, "which problems?"),
        (["generate", "nobody", *WINDOW], 2, 'unknown model "nobody"'),
        (["generate", "mistral-large-latest", *WINDOW], 3, "mistral-large-latest is not asked: "),
        (["generate", "demo-steady", *WINDOW, "--since", "2027"], 3, "demo-steady is not asked: none of 20"),
    ],
)
def test_nothing_to_ask(asked_live: Live, server: EndpointServer, arguments: list[str], code: int, said: str) -> None:
    ended = asked_live("--quiet", *arguments, "--base-url", server.base_url)
    assert ended.code == code
    assert said in ended.err
    assert server.arrivals == []


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [("error:unknown-model", "is not known"), ("html", "a web page"), ("redirect", "redirects are not followed")],
)
def test_an_endpoint_that_cannot_be_used(
    asked_live: Live, server: EndpointServer, tmp_path: Path, behaviour: str, said: str
) -> None:
    ended = asked_live("--quiet", *words(server, behaviour))
    assert ended.code == 4
    stopped, remedy = ended.err.splitlines()
    assert stopped.startswith("stopped: 127.0.0.1:")
    assert said in stopped
    assert remedy.startswith("  what to do: ")
    assert stored(tmp_path) == (0, {})
    assert asked_live("eval", *WINDOW, "--no-judge", "--json").document["rows"] == []  # and no empty run


def test_the_address_from_the_environment_and_from_the_file(
    asked_live: Live, server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = ["generate", "demo-steady", *WINDOW, "--as", "good", "--limit", "1"]
    (tmp_path / "live.toml").write_text(f'[generate]\nbase_url = "{server.base_url}"\n')
    assert asked_live(*plain).code == 0
    monkeypatch.setenv("LIVE_BASE_URL", "ftp://nowhere.example")
    assert "does not begin with http" in asked_live(*plain).err
    monkeypatch.delenv("LIVE_BASE_URL")
    (tmp_path / "live.toml").write_text('[generate]\nurl = "x"\n')
    assert "[generate] has an unknown key 'url'" in asked_live(*plain).err


def started(folder: Path, arguments: list[str]) -> subprocess.Popen[str]:
    """The command as a process of its own."""
    environment = {**os.environ, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "live", "--db", str(folder / "store.db"), *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder
    )


def wait_for(server: EndpointServer, n_arrivals: int, process: subprocess.Popen[str]) -> None:
    while len(server.arrivals) < n_arrivals:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


@pytest.mark.parametrize("n_interrupts", [1, 2])
def test_ctrl_c_keeps_what_is_finished(
    asked_live: Live, server: EndpointServer, tmp_path: Path, n_interrupts: int
) -> None:
    with started(tmp_path, words(server, "slow:0.05", "--n", "6")) as process:
        wait_for(server, 20, process)
        for _ in range(n_interrupts):
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.splitlines()[-1] == KEPT
    assert "Traceback" not in said
    n_kept, failures = stored(tmp_path)
    first = server.asked()
    assert n_kept > 0
    assert not failures
    assert len(first) - n_kept <= 4
    assert asked_live(*words(server, "slow:0.05", "--n", "6")).code == 0
    assert stored(tmp_path) == (66, {})
    assert sum(n > 1 for n in server.asked().values()) == len(first) - n_kept


@pytest.mark.parametrize("n_arrivals", [3, 25, 60])
def test_kill_9_in_the_middle_loses_only_what_was_on_its_way(
    asked_live: Live, server: EndpointServer, tmp_path: Path, n_arrivals: int
) -> None:
    arguments = words(server, "slow:0.02", "--n", "8")
    with started(tmp_path, arguments) as process:
        wait_for(server, n_arrivals, process)
        process.kill()
        process.communicate(timeout=30)
    n_kept, failures = stored(tmp_path)
    first = server.asked()
    assert not failures
    assert len(first) - n_kept <= 4  # one for each worker
    ended = asked_live(*arguments)
    assert ended.code == 0
    assert stored(tmp_path) == (88, {})
    twice = [key for key, n in server.asked().items() if n > 1]
    assert len(twice) == len(first) - n_kept  # nothing that was stored was asked for again
    assert max(server.asked().values()) <= 2
    assert len(server.asked()) == 88


def test_two_commands_at_once_on_one_run(asked_live: Live, server: EndpointServer, tmp_path: Path) -> None:
    arguments = words(server, "slow:0.05", "--n", "3", "--json")
    with started(tmp_path, arguments) as first, started(tmp_path, arguments) as second:
        ended = [process.communicate(timeout=60) for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), ended
    documents = [json.loads(out) for out, _ in ended]
    assert sum(document["answered"] for document in documents) == 33
    assert stored(tmp_path) == (33, {})
    assert all(n <= 2 for n in server.asked().values())
