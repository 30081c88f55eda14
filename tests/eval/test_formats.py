"""The formats of solutions and results, read from files in the shape that their makers write."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from db.importing import Note, Refusal
from eval.formats import ResultRow, SolutionRow, _reading, all_formats, jsonl, result_formats, solution_formats

DATA = Path(__file__).parent / "data"


def solutions(format_name: str, path: Path) -> tuple[list[SolutionRow], list[Refusal], list[Note]]:
    read = solution_formats()[format_name].read_solutions
    assert read is not None
    items = list(read(path))
    return (
        [item for item in items if isinstance(item, SolutionRow)],
        [item for item in items if isinstance(item, Refusal)],
        [item for item in items if isinstance(item, Note)],
    )


def results(format_name: str, path: Path) -> tuple[list[ResultRow], list[Refusal], list[Note]]:
    read = result_formats()[format_name].read_results
    assert read is not None
    items = list(read(path))
    return (
        [item for item in items if isinstance(item, ResultRow)],
        [item for item in items if isinstance(item, Refusal)],
        [item for item in items if isinstance(item, Note)],
    )


def refused(refusals: Iterable[Refusal]) -> list[str]:
    return [str(refusal) for refusal in refusals]


def test_formats_are_found_by_their_modules() -> None:
    names = ["csv", "evalplus", "jsonl", "livecodebench", "livecodebench-custom", "livecodebench-site"]
    assert list(all_formats()) == [*names, "openai-batch"]
    assert set(solution_formats()) == {*names} - {"livecodebench-site"}
    assert set(result_formats()) == {*names} - {"livecodebench-custom"}
    assert all(entry.description for entry in all_formats().values())


class TestLiveCodeBench:
    def test_every_program_is_one_row_and_an_empty_one_stays(self) -> None:
        rows, refusals, _ = solutions("livecodebench", DATA / "o9_eval_all.json")
        assert not refusals
        assert [(row.platform, row.native_id, row.sample_index, row.code) for row in rows[:3]] == [
            ("atcoder", "xyz001_a", 0, "print(2 * int(input()))"),
            ("atcoder", "xyz001_a", 1, "print(int(input()) ** 2)"),
            ("atcoder", "xyz001_a", 2, ""),
        ]
        assert [(row.native_id, row.sample_index) for row in rows[3:]] == [
            ("9001", 0),
            ("9001", 1),
            ("xyz001_b", 0),
            ("xyz001_b", 1),
        ]
        assert rows[4].code == ""
        assert rows[0].raw_output == "Here it is:\n```python\nprint(2 * int(input()))\n```"
        assert rows[3].raw_output is None

    def test_raw_outputs_that_do_not_pair_with_programs_are_left_out(self) -> None:
        rows, _, notes = solutions("livecodebench", DATA / "o9_eval_all.json")
        assert [row.raw_output for row in rows if row.native_id == "xyz001_b"] == [None, None]
        assert [str(note) for note in notes] == [
            "row 3, question_id 'xyz001_b': 1 raw outputs for 2 programs, so they are left out"
        ]

    def test_grades_are_counted(self) -> None:
        rows, refusals, notes = results("livecodebench", DATA / "o9_eval_all.json")
        assert [(row.native_id, row.n_samples, row.n_correct, row.origin) for row in rows] == [
            ("xyz001_a", 3, 1, "livecodebench eval_all"),
            ("9001", 2, 1, "livecodebench eval_all"),
        ]
        assert refused(refusals) == ["row 3, question_id 'xyz001_b': 1 grades for 2 programs"]
        assert [note.text for note in notes] == ["'pass@1' says 1, its grades say 0.5; the grades are taken"]

    def test_compressed_file_is_known_by_its_bytes(self, tmp_path: Path) -> None:
        path = tmp_path / "no_suffix"
        path.write_bytes(gzip.compress((DATA / "o9_eval_all.json").read_bytes()))
        assert solutions("livecodebench", path) == solutions("livecodebench", DATA / "o9_eval_all.json")

    @pytest.mark.parametrize(
        ("document", "message"),
        [
            ('{"question_id": "a"}', "row 1, character 1: an array was expected, not an object"),
            ("", "row 1, character 1: an array was expected, not the end of the file"),
            ("none", "row 1, character 1: an array was expected, not a plain value"),
            ("[{,}]", "row 1, character 3: not JSON: Expecting property name enclosed in double quotes"),
            ("[1 2]", "row 2, character 4: not JSON: expected ',' or ']'"),
            ("[] []", "row 1, character 4: something follows after the end of the JSON"),
            ("[" * 100_000, "row 1, character 2: not readable as JSON: maximum recursion depth exceeded"),
        ],
    )
    def test_document_of_another_kind(self, tmp_path: Path, document: str, message: str) -> None:
        path = tmp_path / "file.json"
        path.write_text(document)
        rows, refusals, _ = solutions("livecodebench", path)
        assert rows == []
        assert refused(refusals)[-1].startswith(message)


def question(number: int, code: str) -> dict[str, object]:
    return {"question_id": f"q{number}", "code_list": [code]}


class TestLargeArrays:
    @pytest.mark.parametrize("length", [10, 100_000, 300_000, 600_000])
    def test_rows_across_the_reading_steps(self, tmp_path: Path, length: int) -> None:
        codes = [f'# "é{{[\\ 𝄞\n{chr(97 + number)}' * (length // 11) for number in range(6)]
        path = tmp_path / "large.json"
        path.write_text(json.dumps([question(number, code) for number, code in enumerate(codes)], ensure_ascii=False))
        rows, refusals, _ = solutions("livecodebench-custom", path)
        assert not refusals
        assert [row.code for row in rows] == codes

    @pytest.mark.parametrize("step", range(1, 30))
    def test_numbers_across_the_reading_steps(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
        monkeypatch.setattr(_reading, "CHUNK", step)
        path = tmp_path / "site.json"
        row = {"question_id": "a", "model": "Nova-1", "pass@1": 3e1, "date": 1.5e12}
        path.write_text(json.dumps({"date_marks": [1.5e-7, -2.5e300, 10], "performances": [row]}))
        rows, refusals, _ = results("livecodebench-site", path)
        assert (refused(refusals), [row.n_correct for row in rows]) == ([], [3])

    @pytest.mark.parametrize("share", [0.1, 0.35, 0.5, 0.72, 0.9, 0.999])
    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    def test_file_cut_off(self, tmp_path: Path, share: float, pack: Callable[[bytes], bytes]) -> None:
        whole = json.dumps([question(number, f"print({number})\n" * 50) for number in range(300)]).encode()
        path = tmp_path / "cut.json"
        packed = pack(whole)
        path.write_bytes(packed[: int(share * len(packed))])
        rows, refusals, _ = solutions("livecodebench-custom", path)
        assert [row.native_id for row in rows] == [f"q{number}" for number in range(len(rows))]
        assert len(refusals) == 1
        assert refusals[0].where.startswith(f"row {len(rows) + 1}")
        assert "ends here" in refusals[0].reason
        if pack is bytes:
            assert len(rows) == pytest.approx(300 * share, abs=10)

    def test_damaged_checksum_is_told_after_all_rows(self, tmp_path: Path) -> None:
        packed = bytearray(gzip.compress(json.dumps([question(1, "a"), question(2, "b")]).encode()))
        packed[-6] ^= 1
        path = tmp_path / "damaged.json.gz"
        path.write_bytes(packed)
        rows, refusals, _ = solutions("livecodebench-custom", path)
        assert [row.native_id for row in rows] == ["q1", "q2"]
        assert "CRC check failed" in refusals[0].reason

    @pytest.mark.parametrize(
        "cut", ['[{"question_id": "a", "code_list": ["x"]}', '[{"a": tr', '[{"a": "\\u00', "[", "[ 1 ,"]
    )
    def test_places_where_a_file_can_end(self, tmp_path: Path, cut: str) -> None:
        path = tmp_path / "cut.json"
        path.write_text(cut)
        _, refusals, _ = solutions("livecodebench-custom", path)
        assert refusals[-1].reason == "the file ends here, in the middle of its JSON"

    def test_damage_in_the_middle_keeps_what_came_before(self, tmp_path: Path) -> None:
        path = tmp_path / "damaged.json"
        path.write_text(
            json.dumps([question(1, "a"), question(2, "b")])[:-1] + ", {oops}, " + json.dumps(question(3, "c"))
        )
        rows, refusals, _ = solutions("livecodebench-custom", path)
        assert [row.native_id for row in rows] == ["q1", "q2"]
        assert [refusal.where.partition(",")[0] for refusal in refusals] == ["row 3"]

    def test_bytes_that_are_not_utf8_cost_one_program(self, tmp_path: Path) -> None:
        path = tmp_path / "latin.json"
        path.write_bytes(
            b'[{"question_id": "a", "code_list": ["# caf\xe9", "x"]}, {"question_id": "b", "code_list": ["y"]}]'
        )
        rows, refusals, _ = solutions("livecodebench-custom", path)
        assert [row.code for row in rows] == ["x", "y"]
        assert len(refusals) == 1
        assert refusals[0].where == "row 1, question_id 'a', sample 0"
        assert "which no UTF-8 file can hold" in refusals[0].reason

    def test_row_longer_than_any_real_one(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_reading, "MAX_ROW", 300_000)
        path = tmp_path / "long.json"
        path.write_text(json.dumps([question(1, "x"), question(2, "x" * 1_500_000), question(3, "x")]))
        rows, refusals, _ = solutions("livecodebench-custom", path)
        assert [row.native_id for row in rows] == ["q1"]
        assert "a single row is longer than" in refusals[0].reason

    def test_numbers_beyond_64_bits_and_nan_are_read(self, tmp_path: Path) -> None:
        path = tmp_path / "python.json"
        path.write_text(
            '\ufeff[{"question_id": "a", "code_list": ["x"], "n": 12345678901234567890123, "t": NaN}]', "utf-8"
        )
        assert [row.code for row in solutions("livecodebench-custom", path)[0]] == ["x"]


def test_custom_evaluator_form() -> None:
    rows, refusals, _ = solutions("livecodebench-custom", DATA / "custom.json")
    assert [(row.platform, row.native_id, row.sample_index, row.code) for row in rows] == [
        (None, "9001", 0, "class Solution:\n    pass"),
        (None, "9001", 1, ""),
        (None, "xyz001_a", 0, "print(2 * int(input()))"),
        (None, "xyz001_d", 1, "print('d1')"),
    ]
    assert refused(refusals) == [
        "row 3, question_id 'xyz001_b': 'code_list' must be a list, not \"print('b')\"",
        "row 4: the key 'question_id' is missing",
        "row 5: expected an object, found a list",
        "row 6, question_id 'xyz001_d', sample 0: the program must be a text, not a number",
    ]


class TestEvalplus:
    def test_samples(self) -> None:
        rows, refusals, _ = solutions("evalplus", DATA / "samples.jsonl")
        assert [(row.platform, row.native_id, row.sample_index, row.continues_starter) for row in rows] == [
            ("humaneval", "HumanEval/900", 0, False),
            ("humaneval", "HumanEval/900", 1, True),
            ("mbpp", "Mbpp/901", 0, False),
            # Line 5 was sample 2, though it holds no program.
            ("humaneval", "HumanEval/900", 3, False),
        ]
        assert refused(refusals) == [
            "line 5, task_id 'HumanEval/900': the row has neither 'solution' nor 'completion'",
            "line 7, task_id 'Other/3': the task id 'Other/3' is of no known benchmark",
            "line 8: the line ends in the middle of its JSON",
        ]

    def test_graded_file_gives_programs_and_tallies(self) -> None:
        rows, refusals, _ = solutions("evalplus", DATA / "graded_eval_results.json")
        assert not refusals
        assert [(row.native_id, row.sample_index) for row in rows] == [
            ("HumanEval/900", 0),
            ("HumanEval/900", 1),
            ("HumanEval/900", 2),
            ("HumanEval/902", 0),
        ]
        tallies, refusals, _ = results("evalplus", DATA / "graded_eval_results.json")
        assert [(row.native_id, row.origin, row.n_correct, row.n_samples) for row in tallies] == [
            ("HumanEval/900", "evalplus base", 2, 3),
            ("HumanEval/900", "evalplus plus", 1, 3),
            ("HumanEval/902", "evalplus base", 1, 1),
        ]
        assert refused(refusals) == ["task_id 'HumanEval/903': the task has no samples"]

    def test_graded_file_cut_off(self, tmp_path: Path) -> None:
        path = tmp_path / "cut.json"
        path.write_text((DATA / "graded_eval_results.json").read_text()[:560])
        rows, refusals, _ = solutions("evalplus", path)
        assert len(rows) == 3
        assert refused(refusals)[0].startswith("after 'HumanEval/900', character ")

    def test_ungraded_samples_have_no_results(self) -> None:
        rows, refusals, _ = results("evalplus", DATA / "samples.jsonl")
        assert rows == []
        assert refused(refusals) == ["after the start, character 78: the file has no key 'eval'"]


class TestJsonl:
    def test_solutions(self) -> None:
        rows, refusals, _ = solutions("jsonl", DATA / "solutions.jsonl")
        assert [(row.platform, row.native_id, row.model, row.sample_index) for row in rows] == [
            ("atcoder", "xyz001_a", "nova-1", 0),
            (None, "xyz001_a", "nova-1", 1),
            (None, "9001", "nova-1", 0),
            (None, "9001", "nova-1", 1),
            (None, "9001", "nova-2", 0),
        ]
        first = rows[0]
        assert (first.language, first.finish_reason, first.raw_output) == ("python3", "stop", "the program")
        assert refused(refusals) == [
            "line 6, id '9001': unknown key 'kode', 'score'",
            "line 7, id '9001': the key 'code' is missing",
            "line 8, id '9001': 'code' must be a text, not 5",
            "line 9, id '9001': 'sample' must be a whole number from 0 on, not -1",
            "line 10, id '9001': 'sample' must be a whole number from 0 on, not True",
            "line 11, id '': 'id' must be an id, not ''",
            "line 12, id '9001': the code holds half a surrogate pair, which no UTF-8 file can hold",
            "line 13: expected an object, found a list",
            "line 14: the line ends in the middle of its JSON",
        ]
        assert refusals[0].hint.startswith("the keys of this format are platform, id, model, sample, code,")

    def test_results(self) -> None:
        rows, refusals, _ = results("jsonl", DATA / "results.jsonl")
        assert [(row.platform, row.native_id, row.model, row.n_samples, row.n_correct, row.origin) for row in rows] == [
            ("atcoder", "xyz001_a", "nova-1", 10, 4, "our board"),
            (None, "9001", "nova-1", 1, 0, "jsonl"),
        ]
        assert refused(refusals) == [
            "line 3, id '9001': 11 correct of 10 samples",
            "line 4, id '9001': 'n_samples' must be at least 1",
            "line 5, id '9001': 'n_correct' must be a whole number from 0 on, not 2.5",
            "line 6, id '9001': unknown key 'n_right'",
        ]

    def test_array_is_refused_once(self, tmp_path: Path) -> None:
        path = tmp_path / "array.jsonl"
        path.write_text(json.dumps([{"id": "a", "code": "x"}] * 50, indent=1))
        rows, refusals, _ = solutions("jsonl", path)
        assert rows == []
        assert refused(refusals) == ["line 1: the file is one JSON array, not one JSON object per line"]

    def test_line_longer_than_any_real_one_is_passed_over(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(jsonl, "MAX_ROW", 1000)
        path = tmp_path / "long.jsonl"
        path.write_text("".join(json.dumps({"id": f"{n}", "code": "x" * n}) + "\n" for n in (5, 4321, 6)))
        rows, refusals, _ = solutions("jsonl", path)
        assert [row.native_id for row in rows] == ["5", "6"]
        assert [refusal.where for refusal in refusals] == ["line 2"]


class TestWhatIsKeptOfARefusedRow:
    def test_line_as_it_stands(self) -> None:
        _, refusals, _ = solutions("jsonl", DATA / "solutions.jsonl")
        lines = (DATA / "solutions.jsonl").read_text().splitlines()
        assert [refusal.raw for refusal in refusals] == [line.strip() for line in lines[5:]]

    def test_element_of_an_array(self, tmp_path: Path) -> None:
        path = tmp_path / "custom.json"
        path.write_bytes(b'[{"question_id": "a", "code_list": []} , {"question_id" :\n "b \xe9"}, 7]')
        _, refusals, _ = solutions("livecodebench-custom", path)
        assert [refusal.raw for refusal in refusals] == ['{"question_id" :\n "b \\udce9"}', "7"]

    def test_task_of_a_graded_file(self) -> None:
        _, refusals, _ = results("evalplus", DATA / "graded_eval_results.json")
        assert [refusal.raw for refusal in refusals] == ["[]"]


class TestLiveCodeBenchSite:
    def test_percent_becomes_counts(self) -> None:
        rows, _, _ = results("livecodebench-site", DATA / "site.json")
        assert [(row.native_id, row.model, row.model_id, row.n_samples, row.n_correct) for row in rows] == [
            ("xyz001_a", "Nova-1", "orion/nova-1-2024-01-01", 10, 7),
            ("9001", "Nova-1", "orion/nova-1-2024-01-01", 10, 3),
            # The name says that there was one sample.
            ("xyz001_a", "Nova-2 (N=1)", "orion/nova-2", 1, 1),
            ("9001", "Nova-2 (N=1)", "orion/nova-2", 1, 0),
            # Two display names share one full name, which then tells nothing.
            ("xyz001_a", "Vega (high)", None, 15, 5),
            ("xyz001_b", "Vega (high)", None, 20, 5),
        ]
        assert {row.origin for row in rows} == {"livecodebench site"}

    def test_what_cannot_be_counted_is_refused(self) -> None:
        _, refusals, _ = results("livecodebench-site", DATA / "site.json")
        assert refused(refusals) == [
            "row 3, question_id 'xyz001_b', model 'Nova-1': not run (pass@1 is -1)",
            "row 6, question_id 'xyz001_b', model 'Nova-2 (N=1)': "
            "pass@1 of 50.0 % is no whole number of right answers out of 1 samples",
            "row 8, question_id 9001, model 'Vega (high)': "
            "pass@1 of 12.345 % is no whole number of right answers out of any usual number of samples "
            "(1, 5, 10, 15, ... 100)",
            "row 10, question_id 'xyz001_b', model 'Vega (low)': 'pass@1' must be a percentage, not 101",
            "row 11, question_id 'xyz001_c', model 'Vega (low)': 'pass@1' is missing or no number",
        ]

    def test_two_dates_of_one_problem_are_noted(self) -> None:
        _, _, notes = results("livecodebench-site", DATA / "site.json")
        assert [str(note) for note in notes] == [
            "question_id '9001': carries different dates for different models: 2024-03-03 and 2024-03-04"
        ]

    def test_file_cut_off_before_its_models(self, tmp_path: Path) -> None:
        path = tmp_path / "cut.json"
        path.write_text((DATA / "site.json").read_text()[:400])
        rows, refusals, _ = results("livecodebench-site", path)
        assert [(row.model, row.model_id) for row in rows] == [("Nova-1", None)] * 2
        assert [refusal.reason for refusal in refusals] == ["the file ends here, in the middle of its JSON"]

    def test_file_of_another_kind(self) -> None:
        _, refusals, _ = results("livecodebench-site", DATA / "custom.json")
        assert refused(refusals) == ["row 1, character 1: an object was expected, not an array"]


@pytest.mark.shared
class TestRealFiles:
    def test_o1_mini(self, shared_data: Path) -> None:
        path = shared_data / "livecodebench" / "o1-mini_eval_all.json.gz"
        rows, refusals, notes = solutions("livecodebench", path)
        assert (len(rows), len(refusals), len(notes)) == (880, 0, 0)
        assert sum(row.code == "" for row in rows) == 6
        assert all(row.raw_output is not None for row in rows)
        tallies, refusals, notes = results("livecodebench", path)
        assert (len(tallies), len(refusals), len(notes)) == (880, 0, 0)
        assert sum(row.n_correct for row in tallies) == 602

    @pytest.mark.parametrize(
        ("name", "n_rows", "n_models", "n_problems", "n_notes", "sample_counts"),
        [
            # The page lists 28 models, of which 16 have results.
            ("site_2024-02-26.json.gz", 5583, 16, 349, 5, {10}),
            ("site_repair.json.gz", 12121, 17, 713, 0, {1, 10}),
        ],
    )
    def test_site(
        self,
        shared_data: Path,
        name: str,
        n_rows: int,
        n_models: int,
        n_problems: int,
        n_notes: int,
        sample_counts: set[int],
    ) -> None:
        rows, refusals, notes = results("livecodebench-site", shared_data / "livecodebench" / name)
        assert (len(rows), len(refusals), len(notes)) == (n_rows, 0, n_notes)
        assert len({row.model for row in rows}) == len({row.model_id for row in rows}) == n_models
        assert len({row.native_id for row in rows}) == n_problems
        assert {row.n_samples for row in rows} == sample_counts

    @pytest.mark.parametrize(
        ("name", "n_tasks", "base", "plus"),
        [
            ("qwen2.5-coder-1.5b-base_humaneval", 164, 43.9, 36.6),
            ("qwen2.5-coder-1.5b-base_mbpp", 399, 69.2, 58.6),
            ("qwen2.5-coder-7b-base_humaneval", 164, 61.6, 53.0),
            ("qwen2.5-coder-7b-base_mbpp", 399, 76.9, 62.9),
        ],
    )
    def test_evalplus_aggregates(self, shared_data: Path, name: str, n_tasks: int, base: float, plus: float) -> None:
        path = shared_data / "saturated" / "qwen_evalplus" / f"{name}.json.gz"
        assert len(solutions("evalplus", path)[0]) == n_tasks
        rows, refusals, _ = results("evalplus", path)
        assert not refusals
        for origin, published in (("evalplus base", base), ("evalplus plus", plus)):
            of_origin = [row for row in rows if row.origin == origin]
            assert len(of_origin) == n_tasks
            assert round(100 * sum(row.n_correct for row in of_origin) / n_tasks, 1) == published
