"""Our own form as CSV: ids stay text, and what is wrong is told by its row."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.eval.test_formats import refused, results, solutions


def test_ids_stay_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes(b'\xef\xbb\xbfquestion_id,code\r\n0123,a\r\n1e3,"b,\n""c"""\r\n\r\n 7 ,\r\n')
    rows, refusals, _ = solutions("csv", path)
    assert [(row.native_id, row.code) for row in rows] == [("0123", "a"), ("1e3", 'b,\n"c"'), (" 7 ", "")]
    assert not refusals


def test_results_and_what_is_wrong_with_rows(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    lines = ("id,model,n_samples,n_correct,origin", "1,m,10,3,", "2,m,2,1,us", "3,m,1", "4,m,1,+1,", ",m,1,1,")
    path.write_text("\n".join(lines), encoding="utf-8")
    rows, refusals, _ = results("csv", path)
    assert [(row.native_id, row.model, row.n_samples, row.n_correct, row.origin) for row in rows] == [
        ("1", "m", 10, 3, "jsonl"),
        ("2", "m", 2, 1, "us"),
    ]
    assert refused(refusals) == [
        "row 3: 3 cells under 5 columns",
        "row 4, id '4': 'n_correct' must be a whole number from 0 on, not '+1'",
        "row 5: the key 'id' is missing",
    ]
    assert refusals[0].raw == "3,m,1"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "line 1: no column id, code"),
        (b"id,code,kode\n", "line 1: unknown column 'kode'"),
        (b"id,question_id,code\n", "line 1: two columns id"),
        (b'id,code\n1,a\n2,"b', "after row 1: not CSV: unexpected end of data"),
        (b"id,code\n1,a\n2,\xff\n", "not UTF-8: invalid start byte"),
        (gzip.compress(b"id,code\n1,a\n")[:-6], "the compressed file ends here"),
    ],
)
def test_what_ends_a_file_early(tmp_path: Path, text: bytes, reason: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(text)
    rows, refusals, _ = solutions("csv", path)
    assert len(rows) <= 1
    assert reason in str(refusals[-1])
