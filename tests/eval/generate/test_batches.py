"""Requests in files: their ids, their lines, and what is written where."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records import Place
from eval.generate.batches import (
    CustomId,
    ForeignId,
    NotOurFile,
    custom_id,
    is_run,
    matches,
    read_custom_id,
    request_line,
    write_requests,
)
from eval.generate.prompts import Message, prompt_sha256
from eval.generate.sampling import Sampling

MESSAGES = (Message("user", "Add 1 to π.\n"),)
RUN = "0123456789abcdef" * 4
# With numbers of nine digits an id has 64 characters: what the batch API takes.
NUMBERS = st.integers(0, 999_999_999)


@given(NUMBERS, NUMBERS, NUMBERS, st.text("0123456789abcdef", min_size=64, max_size=64), st.text(max_size=20))
def test_an_id_says_what_it_was_made_of(problem: int, question: int, sample: int, digest: str, content: str) -> None:
    messages = (Message("user", content),)
    written = custom_id(digest, Place(problem, question, sample), messages)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", written)
    read = read_custom_id(written)
    assert read == CustomId(digest[:16], Place(problem, question, sample), prompt_sha256(messages)[:12])
    assert is_run(digest, read.run)
    assert matches(read, messages)
    assert not matches(read, (Message("user", content + "!"),))


def test_an_id_that_would_be_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than 64"):
        custom_id(RUN, Place(10**9, 10**9, 10**9), MESSAGES)


@pytest.mark.parametrize(
    "foreign",
    [
        "",
        "request-1",
        "live-0123456789abcdef-7-0-0-0123456789a",
        "live-0123456789abcdef-07-0-0-0123456789ab",
        "live-0123456789ABCDEF-7-0-0-0123456789ab",
        "live-0123456789abcdef-7-0-0-0123456789ab\n",
        "live-0123456789abcdef-٧-0-0-0123456789ab",
        "live-0123456789abcdef-7-0-9999999999-0123456789ab",
        "live-0123456789abcdef-7-0-0-0123456789ab" + "0" * 40,
        "x" * 10_000,
    ],
)
def test_foreign_ids_are_refused_in_one_clear_way(foreign: str) -> None:
    with pytest.raises(ForeignId) as refused:
        read_custom_id(foreign)
    assert refused.value.message.endswith("is none that `live prompts` has written")
    assert len(refused.value.message) < 160
    assert "\n" not in refused.value.message


@given(st.text())
def test_whatever_is_no_id_is_a_foreign_one(text: str) -> None:
    with pytest.raises(ForeignId):
        read_custom_id(text)


def test_a_line_is_what_the_batch_api_reads() -> None:
    sampling = Sampling(temperature=0.2, max_tokens=500, seed=40, extra_body={"top_k": 20})
    line = request_line("live-x", MESSAGES, "nova-1", sampling.body(2))
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "custom_id": "live-x",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": "nova-1",
            "messages": [{"role": "user", "content": "Add 1 to π.\n"}],
            "temperature": 0.2,
            "max_tokens": 500,
            "seed": 42,
            "top_k": 20,
        },
    }


def lines(count: int) -> list[bytes]:
    return [request_line(custom_id(RUN, Place(1, 0, sample), MESSAGES), MESSAGES, "m", {}) for sample in range(count)]


def test_one_file_where_one_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    assert write_requests(path, lines(3), RUN) == [path]
    assert path.read_bytes() == b"".join(lines(3))
    assert path.stat().st_mode & 0o077 == 0  # statements are for nobody else to read
    assert write_requests(path, lines(2), RUN) == [path]  # a file of requests may be written again
    assert path.read_bytes() == b"".join(lines(2))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("limits", [{"max_requests": 2}, {"max_bytes": len(lines(1)[0]) * 2}])
def test_numbered_files_where_one_is_too_large(tmp_path: Path, limits: dict[str, int]) -> None:
    written = write_requests(tmp_path / "requests.jsonl", lines(5), RUN, **limits)
    assert [path.name for path in written] == ["requests-1.jsonl", "requests-2.jsonl", "requests-3.jsonl"]
    assert [path.read_bytes().count(b"\n") for path in written] == [2, 2, 1]
    assert b"".join(path.read_bytes() for path in written) == b"".join(lines(5))


def test_all_is_written_or_nothing(tmp_path: Path) -> None:
    def breaks_off() -> object:
        yield from lines(3)
        raise RuntimeError("the store is gone")

    with pytest.raises(RuntimeError):
        write_requests(tmp_path / "requests.jsonl", breaks_off(), RUN, max_requests=1)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    other = tmp_path / "requests-2.jsonl"
    other.write_text("my notes\n")
    with pytest.raises(NotOurFile) as refused:
        write_requests(tmp_path / "requests.jsonl", lines(3), RUN, max_requests=1)
    assert refused.value.message == f"{other} is there already and holds no requests"
    assert list(tmp_path.iterdir()) == [other]
    assert write_requests(tmp_path / "none.jsonl", [], RUN) == []


def test_no_request_of_an_earlier_call_is_left_to_be_sent_again(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    write_requests(path, lines(3), RUN, max_requests=1)
    notes, other = tmp_path / "requests-4.jsonl", tmp_path / "requests-5.jsonl"
    notes.write_text("my notes\n")
    other.write_bytes(request_line(custom_id("f" * 64, Place(1), MESSAGES), MESSAGES, "m", {}))  # of another run
    assert write_requests(path, lines(1), RUN) == [path]
    assert sorted(tmp_path.iterdir()) == [notes, other, path]
    assert write_requests(path, [], RUN) == []
    assert sorted(tmp_path.iterdir()) == [notes, other]
