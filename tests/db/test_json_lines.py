from __future__ import annotations

import gzip
import json
import os
import threading
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.importing import Refusal, UnreadableSource
from db.json_lines import MAX_RAW, JsonRow, is_cut_off, raw_of, read_json_lines

MB = 1_000_000
PACKINGS = pytest.mark.parametrize("pack", [bytes, gzip.compress])


def write(folder: Path, data: bytes) -> Path:
    path = folder / "rows"
    path.write_bytes(data)
    return path


def lines(n: int) -> bytes:
    return b"".join(json.dumps({"id": number, "text": f"{number**9}" * 20}).encode() + b"\n" for number in range(n))


def split(items: Iterable[JsonRow | Refusal]) -> tuple[list[JsonRow], list[Refusal]]:
    found = list(items)
    return (
        [item for item in found if isinstance(item, JsonRow)],
        [item for item in found if isinstance(item, Refusal)],
    )


def ids(rows: Iterable[JsonRow]) -> list[Any]:
    return [row.value["id"] for row in rows]


@PACKINGS
def test_lines_of_all_kinds(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    parts = [
        b'\xef\xbb\xbf{"id": 1}\r',
        b"",
        b' \t {"id": 3}  ',
        b'{"id": "\xe9"}',
        b'{"id": "\xed\xa0\xbd"}',
        b"[1]",
        b"null",
        b'{"id": 8',
        b'{"id": {"of": 9}',
        b'{"id": 10} x',
        b"no JSON",
        b"[" * 100_000,
        b'{"id": ' + b"1" * 5000 + b"}",
        b'{"id": NaN}',
        b'{"id": 15}',
    ]
    rows, refusals = split(read_json_lines(write(tmp_path, pack(b"\n".join(parts)))))
    assert [row.where for row in rows] == ["line 1", "line 3", "line 14", "line 15"]
    assert [row.raw for row in rows] == ['{"id": 1}', '{"id": 3}', '{"id": NaN}', '{"id": 15}']
    assert [str(refusal) for refusal in refusals[:-2]] == [
        "line 4: not UTF-8 at byte 9 of the line",
        "line 5: not UTF-8 at byte 9 of the line",
        "line 6: expected an object, found a list",
        "line 7: expected an object, found null",
        "line 8: the line ends in the middle of its JSON",
        "line 9: the line ends in the middle of its JSON",
        "line 10: not JSON: Extra data, column 12",
        "line 11: not JSON: Expecting value, column 1",
    ]
    assert [refusal.where for refusal in refusals[-2:]] == ["line 12", "line 13"]
    assert all(refusal.reason.startswith("not readable as JSON: ") for refusal in refusals[-2:])
    assert all(refusal.hint for refusal in refusals)
    assert [refusal.raw for refusal in refusals[:3]] == ['{"id": "\\xe9"}', '{"id": "\\xed\\xa0\\xbd"}', "[1]"]
    assert refusals[-1].raw == '{"id": ' + "1" * (MAX_RAW - 7) + "…"


@PACKINGS
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\n \n"])
def test_one_array_is_refused_once(tmp_path: Path, pack: Callable[[bytes], bytes], start: bytes) -> None:
    document = json.dumps([{"id": number} for number in range(50)], indent=1).encode()
    rows, (refusal,) = split(read_json_lines(write(tmp_path, pack(start + document))))
    assert rows == []
    assert "one JSON array" in refusal.reason
    assert "the format that this file is in" in refusal.hint


@PACKINGS
def test_overlong_lines_are_passed_over(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    size = 3 * MB
    good = b'{"id": 1}\n'
    just = b'{"id": "' + b"x" * (size - 11) + b'"}\n'
    too_long = b'{"id": "' + b"x" * (size - 10) + b'"}\n'
    path = write(tmp_path, pack(good + just + too_long + good + too_long[:-1] + b" " * size))
    rows, refusals = split(read_json_lines(path, max_bytes=size))
    assert [row.where for row in rows] == ["line 1", "line 2", "line 4"]
    assert [str(refusal) for refusal in refusals] == [
        "line 3: the line is longer than 2 MiB",
        "line 5: the line is longer than 2 MiB",
    ]
    assert all(refusal.raw.startswith('{"id": "xxx') and len(refusal.raw) == MAX_RAW + 1 for refusal in refusals)


@pytest.mark.parametrize("share", [0.0005, 0.1, 0.5, 0.9, 0.9999])
def test_a_compressed_file_cut_off_gives_its_whole_lines_and_one_refusal(tmp_path: Path, share: float) -> None:
    packed = gzip.compress(lines(5000), mtime=0)
    rows, (refusal,) = split(read_json_lines(write(tmp_path, packed[: int(share * len(packed))])))
    assert ids(rows) == list(range(len(rows)))
    assert len(rows) == pytest.approx(5000 * share, abs=200)
    assert str(refusal) == f"line {len(rows) + 1}: the compressed file ends here, in the middle of its data"
    assert refusal.hint


def test_damage_is_told_after_all_that_stands_before_it(tmp_path: Path) -> None:
    packed = gzip.compress(lines(900))
    for damaged in (packed[:-6] + bytes([packed[-6] ^ 1]) + packed[-5:], packed + b"no gzip"):
        rows, (refusal,) = split(read_json_lines(write(tmp_path, damaged)))
        assert ids(rows) == list(range(900))
        assert refusal.where == "line 901"
        assert refusal.reason.startswith("the file cannot be read any further: ")


def test_gzip_files_one_after_the_other_are_one(tmp_path: Path) -> None:
    rows, refusals = split(read_json_lines(write(tmp_path, gzip.compress(lines(3)) + gzip.compress(lines(2)))))
    assert (ids(rows), refusals) == ([0, 1, 2, 0, 1], [])


@PACKINGS
def test_a_pipe_is_read_once(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(pack(lines(3000)),))
    writer.start()
    rows, refusals = split(read_json_lines(path))
    writer.join()
    assert (len(rows), refusals) == (3000, [])


@pytest.mark.parametrize("data", [b"", gzip.compress(b""), b"\xef\xbb\xbf", b"\n\n  \n"])
def test_nothing_in_it(tmp_path: Path, data: bytes) -> None:
    assert list(read_json_lines(write(tmp_path, data))) == []


def test_what_is_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.jsonl.gz"):
        with pytest.raises(UnreadableSource) as failed:
            list(read_json_lines(path))
        assert str(path) in failed.value.message
        assert failed.value.hint


@PACKINGS
def test_a_long_line_is_held_twice_while_it_is_read_and_not_afterwards(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    long = b'{"id": 1, "text": "' + b"7" * (20 * MB) + b'"}\n'
    path = write(tmp_path, pack(long * 3))
    del long
    tracemalloc.start()
    for row in read_json_lines(path):
        assert isinstance(row, JsonRow)
        del row
        assert tracemalloc.get_traced_memory()[0] < 4 * MB
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 45 * MB


@given(st.text(st.characters(), max_size=2 * MAX_RAW))
def test_what_is_kept_of_a_row_can_always_be_printed(text: str) -> None:
    raw = raw_of(text)
    assert raw.encode().decode() == raw
    assert raw.endswith("…") if len(text) > MAX_RAW else len(raw) <= 6 * len(text)


def test_half_a_surrogate_pair_is_written_out() -> None:
    assert raw_of('{"id": "\ud83d"}\n') == '{"id": "\\ud83d"}'


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists))
def test_every_beginning_of_an_object_is_cut_off(value: object) -> None:
    whole = json.dumps({"key": value})
    for length in range(1, len(whole)):
        with pytest.raises(json.JSONDecodeError) as caught:
            json.loads(whole[:length])
        assert is_cut_off(caught.value, length), whole[:length]
