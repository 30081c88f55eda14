from __future__ import annotations

import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import PageChanged
from ingest.pages import Page
from ingest.sources._yukicoder_tests import MAX_ENTRIES, MAX_UNPACKED_BYTES, FullTests, read_zip

NOW = datetime(2026, 3, 8, 3, 17, tzinfo=UTC)
ZIP_URL = "https://yukicoder.me/problems/no/9001/testcase.zip"


def page(body: bytes, url: str) -> Page:
    return Page(url, body, NOW)


def zipped(files: Mapping[str, bytes] | list[tuple[str, bytes]]) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a name that is there twice
        for name, data in files.items() if isinstance(files, Mapping) else files:
            archive.writestr(name, data)
    return body.getvalue()


def unzip(files: Mapping[str, bytes] | list[tuple[str, bytes]]) -> FullTests:
    return read_zip(page(zipped(files), ZIP_URL))


def test_files_of_other_systems_are_passed_over() -> None:
    found = unzip(
        {
            "test_in/": b"",
            "test_in/a": b"1\n",
            "test_out/a": b"2\n",
            "__MACOSX/test_in/._a": b"\0\1",
            "test_in/.DS_Store": b"\0",
            "test_out/._a": b"\0",
        }
    )
    assert ([test.name for test in found.cases], found.refused, found.flags) == (["a"], (), ())
    (note,) = found.notes
    assert "3 files that are no tests were passed over" in note


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("../test_in/b", "no test's name"),
        ("test_in/../../b", "no test's name"),
        ("/test_in/b", "no test's name"),
        ("test_in/sub/b", "no test's name"),
        ("test_in/..", "no test's name"),
        ("test_in/x\\b", "no test's name"),
        ("C:/test_in/b", "no test's name"),
        ("validator.cpp", "no test's name"),
        ("test_in/b", "test_in/b has no test_out"),
        ("test_out/b", "test_out/b has no test_in"),
    ],
)
def test_other_names_are_refused_alone(name: str, says: str) -> None:
    found = unzip({"test_in/a": b"1\n", "test_out/a": b"2\n", name: b"3\n"})
    assert [test.name for test in found.cases] == ["a"]
    assert says in found.refused[0]
    assert [flag for flag, _ in found.flags] == ["partial_tests"]
    assert says in found.notes[0]


def test_a_name_that_is_there_twice_is_taken_once() -> None:
    found = unzip([("test_in/a", b"1\n"), ("test_out/a", b"2\n"), ("test_in/a", b"3\n")])
    assert ([test.input for test in found.cases], len(found.refused)) == ([b"1\n"], 1)


def test_tests_that_are_no_text_are_refused() -> None:
    found = unzip({"test_in/a": b"\xff", "test_out/a": b"2\n", "test_in/b": b"\0", "test_out/b": b"2\n"})
    assert (found.cases, len(found.refused)) == ((), 2)


def test_zip_bombs_are_refused_before_they_are_unpacked() -> None:
    body = bytearray(zipped({"test_in/a": b"1\n", "test_out/a": b"2\n"}))
    mark = body.rindex(b"PK\x01\x02")
    struct.pack_into("<I", body, mark + 24, MAX_UNPACKED_BYTES)  # the size that the directory gives
    with pytest.raises(PageChanged, match="more than tests can be"):
        read_zip(page(bytes(body), ZIP_URL))
    many = zipped({f"test_in/{number}": b"" for number in range(MAX_ENTRIES + 1)})
    with pytest.raises(PageChanged, match="more than tests can be"):
        read_zip(page(many, ZIP_URL))
    with pytest.raises(PageChanged, match="more files than tests can be"):
        read_zip(page(b"PK\x01\x02" * (2 * MAX_ENTRIES + 1), ZIP_URL))


def test_a_file_that_unpacks_to_more_than_it_says_is_refused() -> None:
    body = bytearray(zipped({"test_in/a": b"1" * 5000, "test_out/a": b"2\n"}))
    struct.pack_into("<I", body, body.index(b"PK\x01\x02") + 24, 10)
    found = read_zip(page(bytes(body), ZIP_URL))
    assert (found.cases, "cannot be unpacked" in found.refused[0]) == ((), True)


def test_packing_that_is_not_read_is_refused_alone() -> None:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr("test_in/a", b"1\n", zipfile.ZIP_BZIP2)
        archive.writestr("test_out/a", b"1\n")
        archive.writestr("test_in/b", b"1\n")
        archive.writestr("test_out/b", b"1\n")
    locked = bytearray(body.getvalue())
    locked[locked.index(b"PK\x01\x02", locked.index(b"test_in/b", locked.index(b"PK\x01\x02")) - 60) + 8] |= 1
    found = read_zip(page(bytes(locked), ZIP_URL))
    assert (found.cases, len(found.refused)) == ((), 2)


@pytest.mark.parametrize("body", [b"", b"<html>login</html>", b"PK\x03\x04 cut off"])
def test_what_is_no_zip_is_an_error(body: bytes) -> None:
    with pytest.raises(PageChanged, match="no zip archive"):
        read_zip(page(body, ZIP_URL))


@pytest.mark.parametrize(
    "error", [NotImplementedError, struct.error, zlib.error, ValueError, RuntimeError, EOFError, zipfile.BadZipFile]
)
@pytest.mark.parametrize("opening", [True, False])
def test_whatever_the_library_says_of_an_archive_is_a_refusal(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception], opening: bool
) -> None:
    body = zipped({"test_in/a": b"1\n", "test_out/a": b"2\n"})

    def refuse(*given: object) -> None:
        raise error("not read")

    monkeypatch.setattr(zipfile.ZipFile, "infolist" if opening else "read", refuse)
    if opening:
        with pytest.raises(PageChanged, match=r"no zip archive that can be read \(not read\)"):
            read_zip(page(body, ZIP_URL))
    else:
        found = read_zip(page(body, ZIP_URL))
        assert (found.cases, found.refused) == ((), ("a cannot be unpacked (not read)",))


def test_an_archive_of_a_later_version_is_refused_whole() -> None:
    body = bytearray(zipped({"test_in/a": b"1\n", "test_out/a": b"2\n"}))
    struct.pack_into("<H", body, body.index(b"PK\x01\x02") + 6, 255)  # the version that unpacking needs
    with pytest.raises(PageChanged, match="no zip archive that can be read"):
        read_zip(page(bytes(body), ZIP_URL))


def test_a_long_name_of_folders_is_judged_at_once() -> None:
    """Read step by step this takes minutes: each of the folders may be the one that begins the stray part."""
    found = unzip({"__MACOSX/" * 7000 + "\n": b"", "a/._" * 15000 + "/\n": b""})
    assert found.cases == ()


NAMES = st.text(st.sampled_from("ab1./_"), min_size=1, max_size=6)


def entries() -> st.SearchStrategy[dict[str, bytes]]:
    paths = st.tuples(st.sampled_from(["test_in/", "test_out/", ""]), NAMES).map("".join)
    return st.dictionaries(paths, st.binary(max_size=3), max_size=8)


@given(entries())
def test_every_test_has_both_halves_and_a_plain_name(files: dict[str, bytes]) -> None:
    for case in unzip(files).cases:
        assert "/" not in case.name
        assert f"test_in/{case.name}" in files
        assert f"test_out/{case.name}" in files


@given(st.binary(max_size=200))
def test_any_bytes_are_a_zip_or_an_error(body: bytes) -> None:
    try:
        read_zip(page(body, ZIP_URL))
    except PageChanged as error:
        assert error.message
