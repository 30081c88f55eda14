"""Commands without judging: what they print, what they refuse, and their exit codes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from db.engine import open_store
from live.app import app
from live.commands.judge import ExecutorName
from sandbox import EXECUTORS
from tests.live.command import DEMO, Live

PROBLEM = {
    "platform": "nova",
    "id": "n1",
    "title": "Sum",
    "released": "2025-06-01T10:00:00Z",
    "tests": [{"input": "1 2\n", "expected": "3\n"}],
}
MODEL = '[[model]]\nname = "nova-1"\n[[model.claim]]\nkind = "training_data"\ncutoff = "2024-10"\n'


def write_lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_every_command_has_help(live: Live) -> None:
    names = [command.callback.__name__ for command in app.registered_commands if command.callback]
    assert {"judge", "evaluate", "demo"} <= set(names)
    for words in (
        ["--help"],
        ["judge", "--help"],
        ["eval", "--help"],
        ["import", "problems", "--help"],
        ["models", "--help"],
    ):
        shown = live(*words)
        assert shown.code == 0
        assert "Usage: live" in shown.out


def test_importing_twice_changes_nothing(live: Live, tmp_path: Path) -> None:
    path = DEMO / "problems.jsonl"
    first = live("import", "problems", path, "-f", "jsonl", "--json").document
    second = live("import", "problems", path, "-f", "jsonl", "--json").document
    assert (first["created"], first["unchanged"], first["n_refused"]) == (20, 0, 0)
    assert (second["created"], second["updated"], second["unchanged"]) == (0, 0, 20)


def test_a_window_is_required(live: Live) -> None:
    ended = live("eval")
    assert ended.code == 2
    assert ended.err.splitlines() == [
        "error: which problems? there is no default that mixes old problems in",
        "  what to do: use --after-cutoff, or give a window with --since and --until",
    ]


def test_an_unknown_model_is_named_with_its_neighbours(live: Live) -> None:
    assert live("import", "problems", DEMO / "problems.jsonl", "-f", "jsonl").code == 0
    ended = live("eval", "o1-mini-2024-09-13", "--after-cutoff")
    assert ended.code == 2
    assert ended.err.splitlines()[0].startswith(
        'error: unknown model "o1-mini-2024-09-13"; did you mean o1-mini-2024-09-12'
    )


def test_an_empty_store_has_nothing_to_score(live: Live, tmp_path: Path) -> None:
    open_store(str(tmp_path / "store.db")).close()
    ended = live("eval", "--after-cutoff", "--json")
    assert ended.code == 3
    assert ended.document["rows"] == []


def test_no_verdicts_means_no_number(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVE_MODELS", str(write_lines(tmp_path / "models.toml", MODEL)))
    live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM), "-f", "jsonl")
    live(
        "import",
        "solutions",
        write_lines(tmp_path / "s.jsonl", {"id": "n1", "code": "print(3)"}),
        "-f",
        "jsonl",
        "--model",
        "nova-1",
    )
    ended = live("eval", "--after-cutoff", "--no-judge", "--json")
    assert ended.code == 3
    (row,) = ended.document["rows"]
    assert (row["pass_at_1"], row["ci_low"], row["n_eligible"], row["n_judged"]) == (None, None, 1, 0)
    assert row["left_out"] == {"not judged": 1}


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        (MODEL.replace("2024-10", "soon"), 'cutoff: cannot read the date "soon"'),
        (MODEL + MODEL, "nova-1"),
        ("[[model]\n", "models.toml"),
    ],
    ids=["a cut-off that cannot be read", "two models under one name", "broken TOML"],
)
def test_a_bad_model_file(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, complaint: str
) -> None:
    monkeypatch.setenv("LIVE_MODELS", str(write_lines(tmp_path / "models.toml", entry)))
    ended = live("models", "list")
    assert ended.code == 2
    assert complaint in ended.err
    assert "Traceback" not in ended.err


def test_bad_rows_are_refused_one_by_one(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVE_MODELS", str(write_lines(tmp_path / "models.toml", MODEL)))
    no_expected = {**PROBLEM, "id": "n2", "tests": [{"input": "1"}]}
    path = write_lines(tmp_path / "p.jsonl", PROBLEM, no_expected, '{"platform": "nova", "id": "n3", "ti')
    problems = live("import", "problems", path, "-f", "jsonl")
    assert problems.code == 1
    refused = [line for line in problems.err.splitlines() if line.startswith("refused:")]
    assert len(refused) == 2
    assert "n2" in refused[0]
    assert "line 3" in refused[1]

    path = write_lines(tmp_path / "s.jsonl", {"id": "n1", "code": "print(3)"}, {"id": "gone", "code": ""})
    solutions = live("import", "solutions", path, "-f", "jsonl", "--model", "nova-1")
    assert solutions.code == 1
    assert "solutions: 1 new, 0 updated, 0 unchanged, 1 refused" in solutions.err
    assert "gone" in solutions.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["import", "problems", "absent.jsonl", "-f", "jsonl"],
        ["import", "problems", "absent.jsonl", "-f", "xml"],
        ["import", "solutions", "absent.jsonl", "-f", "jsonl", "--model", "o1-mini-2024-09-12"],
        ["eval", "--after-cutoff", "--margin", "long"],
        ["eval", "--since", "soon"],
        ["eval", "--since", "2024-05", "--until", "2024-03"],
        ["eval", "--after-cutoff", "--k", "0"],
        ["problems", "show", "nova:absent"],
        ["eval", "--after-cutoff", "--json", "--csv"],
    ],
    ids=" ".join,
)
def test_usage_errors_are_two_lines(live: Live, arguments: list[str]) -> None:
    assert live("import", "problems", DEMO / "problems.jsonl", "-f", "jsonl").code == 0
    ended = live(*arguments)
    assert ended.code == 2
    lines = ended.err.splitlines()
    assert lines[0].startswith("error: ")
    assert lines[1].startswith("  what to do: ")
    assert len(lines) == 2


def test_a_store_from_a_newer_version(live: Live, tmp_path: Path) -> None:
    open_store(str(tmp_path / "store.db")).close()
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    ended = live("problems", "list")
    assert ended.code == 4
    assert "newer" in ended.err


def test_a_file_that_is_no_store(live: Live, tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"these are not the bytes of a database" * 100)
    ended = live("problems", "list")
    assert ended.code == 4
    assert ended.err.startswith("error: ")


def test_no_executor(demo_live: Live, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/absent.sock")
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = demo_live("judge")
    assert ended.code == 4
    assert "Docker does not answer" in ended.err
    assert "bubblewrap is not installed" in ended.err


def test_dates_of_every_source_are_shown(live: Live, tmp_path: Path) -> None:
    live("import", "problems", write_lines(tmp_path / "a.jsonl", {**PROBLEM, "released": "2025-05"}), "-f", "jsonl")
    better = {**PROBLEM, "released": {"value": "2025-06-01T10:00:00Z", "source": "the contest page"}}
    assert live("import", "problems", write_lines(tmp_path / "b.jsonl", better), "-f", "jsonl").code == 0
    shown = live("problems", "show", "nova:n1").out
    assert "released_at: 2025-06-01T10:00:00+00:00" in shown
    assert (
        "date by the contest page: 2025-06-01T10:00:00Z (instant, 2025-06-01T10:00:00+00:00 at the earliest)" in shown
    )
    assert "2025-05 (month, 2025-05-01T00:00:00+00:00 at the earliest)" in shown


@pytest.mark.parametrize(
    ("released", "shown"),
    [
        ("2025-06-01T10:00:00Z", "2025-06-01 10:00"),
        ("2025-06-01", "2025-06-01"),
        ("2025-06", "2025-06"),
        ("2025-Q2", "2025-Q2"),
        ("2025", "2025"),
        (None, "unknown"),
    ],
)
def test_a_list_shows_a_date_as_finely_as_it_is_known(
    live: Live, tmp_path: Path, released: str | None, shown: str
) -> None:
    path = write_lines(tmp_path / "p.jsonl", {**PROBLEM, "released": released})
    assert live("import", "problems", path, "-f", "jsonl").code == 0
    heading, row = (line.split("  ") for line in live("problems", "list").out.splitlines())
    assert [cell.strip() for cell in row if cell][:2] == ["nova:n1", shown]
    assert heading[0] == "problem"


def test_scripts_see_the_flags_and_all_else_that_a_person_sees(live: Live, tmp_path: Path) -> None:
    live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM), "-f", "jsonl")
    live("problems", "flag", "n1", "bad_tests", "--reason", "the second test breaks its limits")
    flags = [{"name": "bad_tests", "reason": "the second test breaks its limits"}]
    (listed,) = live("problems", "list", "--json").document
    shown = live("problems", "show", "n1", "--json").document
    assert listed["flags"] == shown["flags"] == flags
    assert shown.items() >= listed.items()
    assert shown["date_claims"] == [
        {
            "source": "jsonl",
            "as_written": "2025-06-01T10:00:00Z",
            "precision": "instant",
            "earliest": "2025-06-01T10:00:00+00:00",
        }
    ]
    assert "flag bad_tests: the second test breaks its limits" in live("problems", "show", "n1").out.splitlines()


def test_a_flag_that_nobody_knows_is_refused_with_those_that_are_known(live: Live, tmp_path: Path) -> None:
    other = {**PROBLEM, "id": "n2", "flags": [{"name": "files", "reason": "reads a file"}]}
    live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM, other), "-f", "jsonl")
    ended = live("problems", "flag", "n1", "bad_test", "--reason", "r")
    assert ended.code == 2
    what, to_do = ended.err.splitlines()
    assert what == "error: no flag is called 'bad_test'"
    assert "bad_tests, early_access, exposed_earlier, files, " in to_do  # files: the store has it already
    assert "--new-flag" in to_do
    assert live("problems", "list", "--json").document[0]["flags"] == []
    said = live("problems", "flag", "n1", "bad_tests", "--reason", "r")
    assert (said.code, said.err) == (0, "nova:n1: left out of scores: bad tests\n")
    assert "had that flag before" in live("problems", "flag", "n1", "bad_tests", "--reason", "r").err
    assert "keeps no problem out of scores" in live("problems", "flag", "n1", "has_image", "--reason", "r").err
    own = live("problems", "flag", "n1", "ours", "--reason", "r", "--new-flag")
    assert (own.code, own.err) == (0, "nova:n1: left out of scores: flagged: ours\n")
    assert live("problems", "flag", "n2", "ours", "--reason", "r").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("import refused", "no row of an import was refused"),
        ("duplicates list", "no pair of problems was found or decided yet"),
        ("duplicates list --verdict same", "no pair of problems with the verdict same was found or decided yet"),
        ("sources snapshots atcoder", "there is no snapshot of atcoder in the store"),
    ],
)
def test_an_empty_list_says_so_on_stderr(live: Live, tmp_path: Path, words: str, said: str) -> None:
    live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM), "-f", "jsonl")
    ended = live(*words.split())
    assert (ended.code, ended.out, ended.err) == (0, "", f"{said}\n")


def test_results_of_another_revision_end_with_1_and_say_how_to_keep_both(live: Live, tmp_path: Path) -> None:
    live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM), "-f", "jsonl")
    words = ("import", "results", tmp_path / "r.jsonl", "-f", "jsonl")
    for n_correct in (1, 3):
        write_lines(tmp_path / "r.jsonl", {"id": "n1", "model": "m", "n_samples": 4, "n_correct": n_correct})
        ended = live(*words)
    assert ended.code == 1
    assert "refused: m (jsonl): 1 of 1 results differ from those in the store: the model or the harness changed" in (
        ended.err
    )
    assert "--origin" in ended.err
    kept = live(*words, "--origin", "jsonl 2025-01")
    assert (kept.code, kept.err.splitlines()[0]) == (0, "results: 1 new, 0 updated, 0 unchanged, 0 refused")
    taken = live(*words, "--replace")
    assert (taken.code, taken.err.splitlines()[0]) == (0, "results: 0 new, 1 updated, 0 unchanged, 0 refused")
    assert "1 of 1 results changed, the former ones are gone" in taken.err


def test_a_flagged_problem_is_left_out_with_its_reason(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIVE_MODELS", str(write_lines(tmp_path / "models.toml", MODEL)))
    live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM), "-f", "jsonl")
    result = {"id": "n1", "model": "nova-1", "n_samples": 4, "n_correct": 1}
    live("import", "results", write_lines(tmp_path / "r.jsonl", result), "-f", "jsonl")
    assert live("eval", "--after-cutoff", "--json").document["rows"][0]["pass_at_1"] == 0.25
    assert live("problems", "flag", "n1", "bad_tests", "--reason", "the second test breaks its limits").code == 0
    (row,) = live("eval", "--after-cutoff", "--json").document["rows"]
    assert (row["pass_at_1"], row["left_out"]) == (None, {"bad tests": 1})


def test_models_show_their_evidence(live: Live) -> None:
    listed = live("models", "list", "--json").document
    assert {"o1-mini-2024-09-12", "o1-preview-2024-09-12"} <= {entry["name"] for entry in listed}
    shown = live("models", "show", "o1-mini-2024-09-12").out
    assert "cutoff_status: stated" in shown
    assert "cutoff_source: https://" in shown


def test_an_id_on_two_platforms_needs_its_platform(live: Live, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.jsonl", PROBLEM, {**PROBLEM, "platform": "vega"})
    live("import", "problems", path, "-f", "jsonl")
    for words in (["problems", "show", "n1"], ["problems", "flag", "n1", "bad_tests", "--reason", "x"]):
        ended = live(*words)
        assert ended.code == 2
        assert ended.err.splitlines()[1] == "  what to do: name the platform too: PLATFORM:ID"
    assert live("problems", "show", "vega:n1").code == 0


def test_results_of_a_model_in_no_registry_can_be_asked_for(live: Live, tmp_path: Path) -> None:
    live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM), "-f", "jsonl")
    result = {"id": "n1", "model": "nobody-knows", "n_samples": 4, "n_correct": 1}
    assert live("import", "results", write_lines(tmp_path / "r.jsonl", result), "-f", "jsonl").code == 0
    ended = live("eval", "nobody-knows", "--since", "2025", "--json")
    assert (ended.code, ended.document["rows"][0]["pass_at_1"]) == (0, 0.25)
    ended = live("eval", "nobody-knows", "--after-cutoff", "--json")
    assert (ended.code, ended.document["rows"]) == (3, [])
    assert ended.document["not_scored"][0]["reason"].startswith('unknown model "nobody-knows"')


def test_an_alias_is_read_as_of_the_day_of_the_run(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alias = 'aliases = [{ name = "nova", from = 2024-12-01, to = 2025-06-01 }]\n[[model.claim]]'
    entry = MODEL.replace("[[model.claim]]", alias)
    monkeypatch.setenv("LIVE_MODELS", str(write_lines(tmp_path / "models.toml", entry)))
    live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM), "-f", "jsonl")
    path = write_lines(tmp_path / "s.jsonl", {"id": "n1", "code": "print(3)"})
    assert live("import", "solutions", path, "-f", "jsonl", "--model", "nova").code == 2
    taken = live("import", "solutions", path, "-f", "jsonl", "--model", "nova", "--ran-on", "2025-03-01")
    assert taken.code == 0
    (row,) = live("eval", "nova-1", "--after-cutoff", "--no-judge", "--json").document["rows"]
    assert (row["model"], row["n_eligible"]) == ("nova-1", 1)


def test_the_executors_to_choose_from_are_those_of_the_sandbox() -> None:
    assert set(ExecutorName) == {"auto", *EXECUTORS}


def test_an_executor_that_is_none(live: Live) -> None:
    assert live("judge", "--executor", "foo").code == 2


def test_a_platform_that_no_problem_is_of_is_named_with_those_that_there_are(live: Live, tmp_path: Path) -> None:
    live("import", "problems", write_lines(tmp_path / "p.jsonl", PROBLEM), "-f", "jsonl")
    ended = live("problems", "list", "--platform", "atcodr")
    assert (ended.code, ended.err.splitlines()[0]) == (
        2,
        f'error: no problem is of the platform "atcodr"; there is {PROBLEM["platform"]}',
    )
    assert len(live("problems", "list", "--platform", str(PROBLEM["platform"]).upper(), "--json").document) == 1
