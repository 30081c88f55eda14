"""Importing solutions and results: what arrives in the store, and what is said about the rest."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db.completions import list_runs
from db.engine import Store, open_store
from db.importing import ImportFailure, UnknownFormat, UnreadableSource
from db.problems import save_problem
from db.records import IoKind, ProblemKey, ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from eval.import_models import UnknownModel
from eval.importing import import_results, import_solutions
from tests.eval.stored import completions, tallies

DATA = Path(__file__).parent / "data"
NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)

PROBLEMS = (
    ProblemKey("atcoder", "xyz001_a"),
    ProblemKey("atcoder", "xyz001_b"),
    ProblemKey("leetcode", "9001"),
    ProblemKey("humaneval", "HumanEval/900"),
    ProblemKey("mbpp", "Mbpp/901"),
)
STARTERS = {"HumanEval/900": "def twice(x):\n"}
NAMES = {"nova-1": "nova-1", "orion/nova-1-2024-01-01": "nova-1", "Nova": "nova-1", "nova-2": "nova-2"}


def known_models(name: str) -> str | None:
    return NAMES.get(name)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'live.db'}") as opened:
        add_problems(opened, PROBLEMS)
        yield opened


def add_problems(store: Store, keys: tuple[ProblemKey, ...]) -> None:
    test = TestCaseRecord("1", b"1\n", b"2\n", TestOrigin.SAMPLE)
    with store.write() as session:
        for key in keys:
            starter = STARTERS.get(key.native_id, "")
            suite = SuiteRecord((test,), IoKind.STDIN)
            record = ProblemRecord(key, "A problem", (), "test", starter_code=starter, suite=suite)
            save_problem(session, record, now=NOW)


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def solution(native_id: str, code: str, **more: Any) -> dict[str, Any]:
    return {"id": native_id, "code": code, **more}


class TestSolutions:
    def test_file_of_livecodebench(self, store: Store) -> None:
        report = import_solutions(
            store, DATA / "o9_eval_all.json", "livecodebench", model="Nova", known_models=known_models, now=NOW
        )
        assert (report.created, report.updated, report.unchanged, report.n_refused) == (7, 0, 0, 0)
        assert report.notes == ("row 3, question_id 'xyz001_b': 1 raw outputs for 2 programs, so they are left out",)
        stored = completions(store)
        assert {(row.model, row.label) for row in stored} == {("nova-1", "import")}
        assert [(str(row.key), row.sample_index, row.code) for row in stored[:3]] == [
            ("atcoder:xyz001_a", 0, "print(2 * int(input()))"),
            ("atcoder:xyz001_a", 1, "print(int(input()) ** 2)"),
            ("atcoder:xyz001_a", 2, ""),
        ]
        assert stored[0].raw_output == "Here it is:\n```python\nprint(2 * int(input()))\n```"
        assert {row.language for row in stored} == {"python3"}

    def test_same_file_twice_changes_nothing(self, store: Store) -> None:
        path = DATA / "o9_eval_all.json"
        import_solutions(store, path, "livecodebench", model="nova-1", known_models=known_models, now=NOW)
        before = completions(store)
        report = import_solutions(store, path, "livecodebench", model="nova-1", known_models=known_models, now=NOW)
        assert (report.created, report.updated, report.unchanged, report.n_refused) == (0, 0, 7, 0)
        assert completions(store) == before

    def test_other_code_for_a_sample_is_refused_and_another_run_takes_it(self, store: Store, tmp_path: Path) -> None:
        first = write(tmp_path / "1.jsonl", solution("9001", "old", sample=0))
        second = write(tmp_path / "2.jsonl", solution("9001", "new", sample=0), solution("9001", "more", sample=1))
        import_solutions(store, first, "jsonl", model="nova-1", known_models=known_models, now=NOW)
        report = import_solutions(store, second, "jsonl", model="nova-1", known_models=known_models, now=NOW)
        assert (report.created, report.n_refused) == (1, 1)
        assert str(report.refused[0]) == (
            "line 1, id '9001': run 'import' of nova-1 already holds sample 0 of leetcode:9001 with other code"
        )
        assert report.refused[0].hint == "import it into a run of its own with another --run label"
        assert [row.code for row in completions(store)] == ["old", "more"]
        report = import_solutions(
            store, second, "jsonl", model="nova-1", label="second", known_models=known_models, now=NOW
        )
        assert (report.created, report.n_refused) == (2, 0)

    def test_other_conditions_are_another_run(self, store: Store, tmp_path: Path) -> None:
        path = write(tmp_path / "1.jsonl", solution("9001", "x"))
        for conditions in ({"temperature": 0}, {"temperature": 0.7}, {"temperature": 0}):
            import_solutions(
                store, path, "jsonl", model="nova-1", conditions=conditions, known_models=known_models, now=NOW
            )
        with store.read() as session:
            runs = list_runs(session)
        assert sorted(run.conditions["temperature"] for run in runs) == [0, 0.7]

    def test_rows_name_their_models(self, store: Store) -> None:
        report = import_solutions(
            store, DATA / "solutions.jsonl", "jsonl", model=None, known_models=known_models, now=NOW
        )
        assert (report.created, report.n_refused) == (5, 9)
        assert {(row.model, str(row.key), row.sample_index) for row in completions(store)} == {
            ("nova-1", "atcoder:xyz001_a", 0),
            ("nova-1", "atcoder:xyz001_a", 1),
            ("nova-1", "leetcode:9001", 0),
            ("nova-1", "leetcode:9001", 1),
            ("nova-2", "leetcode:9001", 0),
        }

    def test_rows_of_another_model_than_the_one_named(self, store: Store, tmp_path: Path) -> None:
        path = write(
            tmp_path / "rows.jsonl",
            solution("9001", "a", model="Nova", sample=0),
            solution("9001", "b", model="nova-2", sample=1),
            solution("9001", "c", model="nobody", sample=2),
            solution("9001", "d", sample=3),
        )
        report = import_solutions(store, path, "jsonl", model="nova-1", known_models=known_models, now=NOW)
        assert [row.code for row in completions(store)] == ["a", "d"]
        assert [str(refusal) for refusal in report.refused] == [
            "line 2, id '9001': the row is of model nova-2, the import is for nova-1",
            "line 3, id '9001': unknown model 'nobody'",
        ]

    def test_row_without_model_among_others(self, store: Store, tmp_path: Path) -> None:
        path = write(tmp_path / "rows.jsonl", solution("9001", "a", model="nova-1"), solution("xyz001_a", "b"))
        report = import_solutions(store, path, "jsonl", model=None, known_models=known_models, now=NOW)
        assert [str(refusal) for refusal in report.refused] == ["line 2, id 'xyz001_a': the row names no model"]

    def test_answers_are_joined_by_id(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "answers.json"
        answers = [("9999", "x"), ("9001", "c"), ("xyz001_b", "b"), ("xyz001_a", "a")]
        path.write_text(json.dumps([{"question_id": key, "code_list": [code]} for key, code in answers]))
        report = import_solutions(
            store, path, "livecodebench-custom", model="nova-1", known_models=known_models, now=NOW
        )
        assert {row.key.native_id: row.code for row in completions(store)} == {
            "9001": "c",
            "xyz001_b": "b",
            "xyz001_a": "a",
        }
        assert [str(refusal) for refusal in report.refused] == [
            "row 1, question_id '9999', sample 0: no problem 9999 in the store"
        ]
        assert report.refused[0].hint == "import the problems first"

    def test_id_that_two_platforms_have(self, store: Store, tmp_path: Path) -> None:
        add_problems(store, (ProblemKey("elsewhere", "9001"),))
        path = write(tmp_path / "rows.jsonl", solution("9001", "a"), solution("9001", "b", platform="leetcode"))
        report = import_solutions(store, path, "jsonl", model="nova-1", known_models=known_models, now=NOW)
        assert [(str(row.key), row.code) for row in completions(store)] == [("leetcode:9001", "b")]
        assert "elsewhere:9001, leetcode:9001" in report.refused[0].reason
        assert report.refused[0].hint == "name the platform in the row"

    def test_completions_go_on_from_the_stored_prompt(self, store: Store) -> None:
        report = import_solutions(
            store, DATA / "samples.jsonl", "evalplus", model="nova-1", known_models=known_models, now=NOW
        )
        codes = {row.sample_index: row.code for row in completions(store) if row.key.platform == "humaneval"}
        assert codes == {
            0: "def twice(x):\n    return 2 * x\n",
            1: "def twice(x):\n    return x + x\n",
            3: "def twice(x):\n    return x << 1\n",
        }
        assert (report.created, report.n_refused) == (4, 3)

    def test_completion_without_a_stored_prompt(self, store: Store, tmp_path: Path) -> None:
        path = write(tmp_path / "rows.jsonl", {"task_id": "Mbpp/901", "completion": "    return 1\n"})
        report = import_solutions(store, path, "evalplus", model="nova-1", known_models=known_models, now=NOW)
        assert [refusal.reason for refusal in report.refused] == [
            "the program goes on from a prompt, and problem mbpp:Mbpp/901 is stored without starter code"
        ]

    def test_language_of_the_row_counts_more_than_the_default(self, store: Store, tmp_path: Path) -> None:
        path = write(tmp_path / "rows.jsonl", solution("9001", "a"), solution("9001", "b", language="cpp17"))
        import_solutions(store, path, "jsonl", model="nova-1", language="pypy3", known_models=known_models, now=NOW)
        assert [row.language for row in completions(store)] == ["pypy3", "cpp17"]

    def test_a_language_gets_the_name_that_it_has_here(self, store: Store, tmp_path: Path) -> None:
        rows = [solution("9001", "a", language="GNU C++20 (64)"), solution("9001", "b", language="Befunge")]
        import_solutions(
            store, write(tmp_path / "rows.jsonl", *rows), "jsonl", model="nova-1", known_models=known_models, now=NOW
        )
        assert [row.language for row in completions(store)] == ["cpp20", "Befunge"]

    def test_file_cut_in_half(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "cut.json"
        path.write_text((DATA / "o9_eval_all.json").read_text()[:1000])
        report = import_solutions(store, path, "livecodebench", model="nova-1", known_models=known_models, now=NOW)
        assert (report.created, report.n_refused) == (3, 1)
        assert str(report.refused[0]) == ("row 2, character 1,000: the file ends here, in the middle of its JSON")
        assert len(completions(store)) == 3

    def test_nothing_taken_leaves_no_run(self, store: Store, tmp_path: Path) -> None:
        path = write(tmp_path / "rows.jsonl", solution("nowhere", "a"))
        report = import_solutions(store, path, "jsonl", model="nova-1", known_models=known_models, now=NOW)
        assert (report.created, report.n_refused) == (0, 1)
        with store.read() as session:
            assert list_runs(session) == []

    def test_empty_file(self, store: Store, tmp_path: Path) -> None:
        report = import_solutions(
            store, write(tmp_path / "rows.jsonl"), "jsonl", model=None, known_models=known_models, now=NOW
        )
        assert (report.created, report.n_refused) == (0, 0)

    def test_damaged_text_costs_its_row(self, store: Store, tmp_path: Path) -> None:
        path = write(
            tmp_path / "rows.jsonl",
            solution("9001", "a\0b", raw_output="half \ud83d"),
            solution("9001", "c", language="py\0"),
            solution("90\ud83d01", "d"),
            solution("9001", "e", sample=10**12),
        )
        report = import_solutions(store, path, "jsonl", model="nova-1", known_models=known_models, now=NOW)
        assert (report.created, report.n_refused) == (1, 3)
        assert [(row.code, row.raw_output) for row in completions(store)] == [("a\0b", "half \ufffd")]

    def test_refusals_are_counted_beyond_those_kept(self, store: Store, tmp_path: Path) -> None:
        path = write(tmp_path / "rows.jsonl", *(solution(f"no{number}", "x") for number in range(1500)))
        report = import_solutions(store, path, "jsonl", model="nova-1", known_models=known_models, now=NOW)
        assert (len(report.refused), report.n_refused) == (1000, 1500)

    def test_progress_tells_the_rows_read_so_far(self, store: Store, tmp_path: Path) -> None:
        path = write(tmp_path / "rows.jsonl", *(solution("9001", "x", sample=number) for number in range(450)))
        steps: list[int] = []
        import_solutions(
            store, path, "jsonl", model="nova-1", known_models=known_models, now=NOW, progress=steps.append
        )
        assert steps == [200, 400, 450]

    def test_interruption_keeps_finished_batches(self, store: Store, tmp_path: Path) -> None:
        path = write(tmp_path / "rows.jsonl", *(solution("9001", "x", sample=number) for number in range(450)))

        def interrupt(n_rows: int) -> None:
            if n_rows == 400:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            import_solutions(
                store, path, "jsonl", model="nova-1", known_models=known_models, now=NOW, progress=interrupt
            )
        assert len(completions(store)) == 400
        report = import_solutions(store, path, "jsonl", model="nova-1", known_models=known_models, now=NOW)
        assert (report.created, report.unchanged) == (50, 400)


class TestImportsThatDoNotBegin:
    def test_unknown_model(self, store: Store) -> None:
        with pytest.raises(UnknownModel) as caught:
            import_solutions(
                store, DATA / "o9_eval_all.json", "livecodebench", model="novva", known_models=known_models, now=NOW
            )
        assert caught.value.message == "unknown model 'novva'"
        assert "live models list" in caught.value.hint

    def test_unknown_model_late_in_the_file_writes_nothing(self, store: Store, tmp_path: Path) -> None:
        rows = [solution("9001", "x", model="nova-1") for _ in range(500)]
        path = write(tmp_path / "rows.jsonl", *rows, solution("9001", "x", model="zeta"))
        with pytest.raises(UnknownModel, match="unknown model 'zeta'"):
            import_solutions(store, path, "jsonl", model=None, known_models=known_models, now=NOW)
        assert completions(store) == []

    def test_many_unknown_models(self, store: Store, tmp_path: Path) -> None:
        path = write(tmp_path / "rows.jsonl", *(solution("9001", "x", model=f"m{number:02}") for number in range(12)))
        with pytest.raises(UnknownModel, match=r"unknown models 'm00', .*'m09' and 2 more"):
            import_solutions(store, path, "jsonl", model=None, known_models=known_models, now=NOW)

    @pytest.mark.parametrize(
        ("name", "format_name", "message"),
        [
            ("o9_eval_all.json", "livecodebench", "files of the format livecodebench do not name their model"),
            ("samples.jsonl", "evalplus", "files of the format evalplus do not name their model"),
        ],
    )
    def test_no_model_at_all(self, store: Store, name: str, format_name: str, message: str) -> None:
        with pytest.raises(UnknownModel) as caught:
            import_solutions(store, DATA / name, format_name, model=None, known_models=known_models, now=NOW)
        assert (caught.value.message, caught.value.hint) == (message, "say whose answers these are with --model NAME")

    def test_no_row_names_a_model(self, store: Store, tmp_path: Path) -> None:
        path = write(tmp_path / "rows.jsonl", solution("9001", "x"))
        with pytest.raises(UnknownModel, match="no row names its model"):
            import_solutions(store, path, "jsonl", model=None, known_models=known_models, now=NOW)

    def test_unknown_format(self, store: Store) -> None:
        with pytest.raises(UnknownFormat) as caught:
            import_solutions(store, DATA / "site.json", "xlsx", model="nova-1", known_models=known_models, now=NOW)
        assert caught.value.message == "unknown format of solutions 'xlsx'"
        assert caught.value.hint == (
            "the formats of solutions are csv, evalplus, jsonl, livecodebench, livecodebench-custom"
        )

    def test_format_without_programs(self, store: Store) -> None:
        with pytest.raises(UnknownFormat, match="unknown format of solutions 'livecodebench-site'"):
            import_solutions(
                store, DATA / "site.json", "livecodebench-site", model="nova-1", known_models=known_models, now=NOW
            )

    @pytest.mark.parametrize("name", ["missing.json", "."])
    def test_unreadable_file(self, store: Store, tmp_path: Path, name: str) -> None:
        with pytest.raises(UnreadableSource, match="cannot be read: ") as caught:
            import_results(store, tmp_path / name, "jsonl", now=NOW)
        assert isinstance(caught.value, ImportFailure)

    def test_naive_clock(self, store: Store) -> None:
        with pytest.raises(ValueError, match="aware UTC"):
            import_results(store, DATA / "results.jsonl", "jsonl", now=datetime(2025, 3, 1))


class TestResults:
    def test_grades_of_a_livecodebench_file(self, store: Store) -> None:
        path = DATA / "o9_eval_all.json"
        report = import_results(store, path, "livecodebench", model="Nova", known_models=known_models, now=NOW)
        assert (report.created, report.n_refused) == (2, 1)
        assert tallies(store) == {
            ("nova-1", "atcoder:xyz001_a", "livecodebench eval_all", 1, 3),
            ("nova-1", "leetcode:9001", "livecodebench eval_all", 1, 2),
        }
        report = import_results(store, path, "livecodebench", model="Nova", known_models=known_models, now=NOW)
        assert (report.created, report.updated, report.unchanged) == (0, 0, 2)

    def test_site_with_names_as_they_stand(self, store: Store) -> None:
        report = import_results(store, DATA / "site.json", "livecodebench-site", now=NOW)
        assert (report.created, report.n_refused) == (6, 5)
        assert {(model, correct, samples) for model, _, _, correct, samples in tallies(store)} == {
            ("orion/nova-1-2024-01-01", 7, 10),
            ("orion/nova-1-2024-01-01", 3, 10),
            ("orion/nova-2", 1, 1),
            ("orion/nova-2", 0, 1),
            ("Vega (high)", 5, 15),
            ("Vega (high)", 5, 20),
        }
        assert any("carries different dates" in note for note in report.notes)

    def test_one_model_of_a_site(self, store: Store) -> None:
        report = import_results(
            store,
            DATA / "site.json",
            "livecodebench-site",
            model="nova-1",
            known_models=known_models,
            origin="site of March",
            now=NOW,
        )
        assert report.created == 2
        assert tallies(store) == {
            ("nova-1", "atcoder:xyz001_a", "site of March", 7, 10),
            ("nova-1", "leetcode:9001", "site of March", 3, 10),
        }
        assert "4 rows of other models than nova-1 were left aside" in report.notes

    def test_site_with_unknown_models_kept(self, store: Store) -> None:
        # Known by its display name alone: the full name that stands first must not hide that.
        resolve = {"Nova-1": "nova-1"}.get
        report = import_results(
            store, DATA / "site.json", "livecodebench-site", known_models=resolve, keep_unknown_models=True, now=NOW
        )
        assert {model for model, *_ in tallies(store)} == {"nova-1", "orion/nova-2", "Vega (high)"}
        assert "in no registry, so not scored by cut-off: Vega (high), orion/nova-2" in report.notes

    @pytest.mark.parametrize("name", ["Nova-1", "orion/nova-1-2024-01-01"])
    def test_one_model_of_a_site_by_either_of_its_names(self, store: Store, name: str) -> None:
        report = import_results(store, DATA / "site.json", "livecodebench-site", model=name, now=NOW)
        assert report.created == 2
        assert {model for model, *_ in tallies(store)} == {name}

    def test_site_with_unknown_models_writes_nothing(self, store: Store) -> None:
        with pytest.raises(UnknownModel, match=r"unknown models 'Nova-2 \(N=1\)', 'Vega \(high\)'"):
            import_results(store, DATA / "site.json", "livecodebench-site", known_models=known_models, now=NOW)
        assert tallies(store) == set()

    def test_jsonl(self, store: Store) -> None:
        report = import_results(store, DATA / "results.jsonl", "jsonl", known_models=known_models, now=NOW)
        assert (report.created, report.n_refused) == (2, 4)
        assert tallies(store) == {
            ("nova-1", "atcoder:xyz001_a", "our board", 4, 10),
            ("nova-1", "leetcode:9001", "jsonl", 0, 1),
        }

    def test_two_results_for_one_problem_in_one_file(self, store: Store, tmp_path: Path) -> None:
        row = {"id": "9001", "model": "nova-1", "n_samples": 10, "n_correct": 3}
        # Another name of the same model: taking both would leave the later one, whichever it is.
        path = write(tmp_path / "rows.jsonl", row, row, {**row, "model": "Nova", "n_correct": 9})
        report = import_results(store, path, "jsonl", known_models=known_models, now=NOW)
        assert (report.created, report.unchanged, report.n_refused) == (0, 0, 3)
        assert str(report.refused[2]) == (
            "line 3, id '9001': contradicts another result of nova-1 for leetcode:9001 (line 1, id '9001'); "
            "none of them was taken"
        )
        assert report.notes[0] == "1 duplicate, 1 conflict (leetcode:9001)"
        assert tallies(store) == set()

    def test_blanks_around_ids_are_removed_and_gaps_are_told(self, store: Store, tmp_path: Path) -> None:
        row = {"id": " 9001 ", "model": "nova-1", "n_samples": 10, "n_correct": 3}
        report = import_results(store, write(tmp_path / "rows.jsonl", row), "jsonl", known_models=known_models, now=NOW)
        assert report.created == 1
        assert report.notes == ("blanks around ids were removed: ' 9001 '",)

    def test_results_for_problems_that_are_not_there(self, store: Store, tmp_path: Path) -> None:
        row = {"platform": "atcoder", "id": "9001", "model": "nova-1", "n_samples": 10, "n_correct": 3}
        report = import_results(store, write(tmp_path / "rows.jsonl", row), "jsonl", now=NOW)
        assert [str(refusal) for refusal in report.refused] == [
            "line 1, id '9001': no problem atcoder:9001 in the store"
        ]


def test_compressed_file_cut_off_keeps_what_it_holds(store: Store, tmp_path: Path) -> None:
    rows = [
        {"question_id": "9001", "code_list": [f"print({number})" for number in range(2000)]},
        {"question_id": "xyz001_a", "code_list": [f"print({number**5})" for number in range(2000)]},
    ]
    path = tmp_path / "cut.json.gz"
    packed = gzip.compress(json.dumps(rows).encode())
    path.write_bytes(packed[: int(len(packed) * 0.8)])
    report = import_solutions(store, path, "livecodebench-custom", model="nova-1", known_models=known_models, now=NOW)
    assert (report.created, report.n_refused) == (2000, 1)
    assert report.refused[0].reason == "the compressed file ends here, in the middle of its data"
