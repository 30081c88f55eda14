from __future__ import annotations

import base64
import io
import json
import os
import pickle
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import wire
from ingest.errors import BadRow
from ingest.wire import decode_wire_tests

TESTS = [{"input": "1 2\n", "output": "3\n", "testtype": "stdin"}, {"input": "", "output": "ä", "testtype": "stdin"}]


def pack(pickled: bytes) -> str:
    return base64.b64encode(zlib.compress(pickled)).decode()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_reads_the_wire_form_of_every_pickle_protocol(protocol: int) -> None:
    assert decode_wire_tests(pack(pickle.dumps(json.dumps(TESTS), protocol))) == TESTS
    assert decode_wire_tests(pack(pickle.dumps(TESTS, protocol))) == TESTS


@given(st.lists(st.fixed_dictionaries({"input": st.text(), "output": st.text()})))
def test_round_trip(tests: list[dict[str, str]]) -> None:
    assert decode_wire_tests(pack(pickle.dumps(json.dumps(tests)))) == tests


class Calls:
    """Pickles into a call of `function`."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_builds_something_else_is_refused_and_runs_nothing(tmp_path: Path, protocol: int) -> None:
    made = tmp_path / "made"
    for bomb in (Calls(os.mkdir, str(made)), Calls(eval, "1"), complex(1, 2), Path("x"), range(3), Exception()):
        with pytest.raises(BadRow, match="tries to build") as refused:
            decode_wire_tests(pack(pickle.dumps([bomb], protocol)))
        assert "do not use this file" in refused.value.hint
    assert not made.exists()


def persistent() -> bytes:
    class Pickler(pickle.Pickler):
        def persistent_id(self, obj: Any) -> Any:
            return "somewhere" if obj == "x" else None

    out = io.BytesIO()
    Pickler(out).dump(["x"])
    return out.getvalue()


@pytest.mark.parametrize(
    ("pickled", "says"),
    [
        (persistent(), "outside itself"),
        (b"\x80\x04\x82\x01.", "pickle"),  # an extension code
        (b"X\xff\xff\xff\x7fab", "ends early|damaged"),  # a text of 2 GiB that is not there
        (b"\x8d\xff\xff\xff\xff\xff\xff\xff\x7fab", "memory|damaged"),  # one of 8 EiB
        (b"\x80\x04K\x01r\xff\xff\xff\x7f.", ""),  # a memo index that would take the C unpickler 32 GB
        (b"", "damaged"),
        (b"\x80\x04", "damaged"),
        (b"no pickle", "damaged"),
        (pickle.dumps("[{"), "not JSON"),
        (pickle.dumps("[" * 100_000), "not JSON"),
    ],
)
def test_damaged_and_hostile_pickles_are_refused(pickled: bytes, says: str) -> None:
    try:
        value = decode_wire_tests(pack(pickled))
    except BadRow as refused:
        assert any(word in refused.reason for word in says.split("|"))
        assert refused.hint
    else:
        assert value == 1


def test_each_layer_is_named() -> None:
    whole = pack(pickle.dumps(json.dumps(TESTS)))
    for encoded, says in [
        ("!!", "base64"),
        (whole[:-3], "base64"),
        ("äöü", "base64"),
        (base64.b64encode(b"plain").decode(), "zlib"),
        (base64.b64encode(zlib.compress(pickle.dumps("x" * 99))[:-12]).decode(), "ends early|damaged"),
    ]:
        with pytest.raises(BadRow) as refused:
            decode_wire_tests(encoded)
        assert any(word in refused.value.reason for word in says.split("|"))


def test_a_bomb_is_refused_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_UNPACKED_BYTES", 1024 * 1024)
    bomb = pack(pickle.dumps("0" * 50_000_000))
    assert len(bomb) < 100_000
    with pytest.raises(BadRow, match="more than 1 MiB"):
        decode_wire_tests(bomb)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for encoded in (pack(data), base64.b64encode(data).decode()):
        try:
            decode_wire_tests(encoded)
        except BadRow as refused:
            assert refused.reason.startswith("private_test_cases")


@pytest.mark.shared
def test_reads_the_three_recorded_blobs(shared_data: Path) -> None:
    recorded = json.loads((shared_data / "livecodebench" / "full_tests.json").read_text())
    assert len(recorded) == 3
    for problem in recorded.values():
        assert decode_wire_tests(problem["private_test_cases_encoded_here"]) == problem["private_tests"]


def test_a_small_pickle_cannot_ask_for_much_memory() -> None:
    for pickled in (b"\x80\x05\x96" + struct.pack("<Q", 300 << 20) + b".", b"\x80\x05" + b"]" * (wire.MAX_OPCODES + 1)):
        with pytest.raises(BadRow, match="private_test_cases: the pickle"):
            decode_wire_tests(pack(pickled))
