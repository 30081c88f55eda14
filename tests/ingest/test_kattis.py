from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.importing import UnreadableSource
from db.records import IoKind, Precision, ProblemRecord, TestOrigin
from ingest.errors import BadRow
from ingest.packages import open_package, validator_rules
from tests.ingest.package_folders import package
from tests.ingest.reading import DATA, Read, read

PACKAGES = DATA / "packages"
CUP = PACKAGES / "first-cup-2024"


@pytest.fixture(scope="module")
def found() -> Read:
    return read("kattis", PACKAGES)


@pytest.fixture(scope="module")
def packages(found: Read) -> dict[str, ProblemRecord]:
    return {problem.key.native_id: problem for problem in found.problems}


def test_finds_every_package_of_a_tree(packages: dict[str, ProblemRecord]) -> None:
    assert list(packages) == ["first-cup-2024/guess", "first-cup-2024/half", "first-cup-2024/shop"]
    assert {problem.key.platform for problem in packages.values()} == {"icpc"}


@pytest.mark.parametrize("start", [PACKAGES, CUP, CUP / "half"])
def test_the_id_does_not_depend_on_the_folder_named(packages: dict[str, ProblemRecord], start: Path) -> None:
    by_id = {problem.key.native_id: problem for problem in read("kattis", start).problems}
    assert by_id["first-cup-2024/half"] == packages["first-cup-2024/half"]


PLAIN = {"case_sensitive": False, "assume_tolerance": False}
"""What a package without flags means."""


def test_a_legacy_package(packages: dict[str, ProblemRecord]) -> None:
    half = packages["first-cup-2024/half"]
    assert half.title == "Half {\\em of} It"
    assert half.statement.startswith("% a comment\n\\problemname")
    assert half.contest is not None
    assert (half.contest.native_id, half.contest.title) == ("first-cup-2024", "First Cup 2024")
    suite = half.suite
    assert suite is not None
    assert (suite.time_limit_s, suite.memory_limit_bytes) == (None, 64 * 2**20)
    assert suite.comparison == PLAIN | {"absolute_tolerance": 1e-4, "relative_tolerance": 1e-4}
    assert [(test.name, test.input, test.expected, test.origin) for test in suite.tests] == [
        ("sample/1", b"4\n", b"2.0\n", TestOrigin.SAMPLE),
        ("secret/02-empty", b"", b"", TestOrigin.OFFICIAL),
        ("secret/1", b"1\n", b"0.5\n", TestOrigin.OFFICIAL),
        ("secret/strict/2", b"3\n", b"1.5\n", TestOrigin.OFFICIAL),
    ]
    strict = {"absolute_tolerance": 1e-9, "relative_tolerance": 1e-9, "space_sensitive": True}
    assert [test.comparison for test in suite.tests] == [None, None, None, PLAIN | strict]


def test_the_manifest_dates_a_package(packages: dict[str, ProblemRecord]) -> None:
    (claim,) = packages["first-cup-2024/half"].dates
    assert (claim.earliest, claim.precision) == (datetime(2024, 4, 6, tzinfo=UTC), Precision.DAY)
    assert (claim.as_written, claim.source) == ("2024-04-06", "manifest.json")
    assert packages["first-cup-2024/shop"].dates == ()
    assert packages["first-cup-2024/guess"].dates == ()


def test_an_interactive_package_of_2025_09(packages: dict[str, ProblemRecord]) -> None:
    guess = packages["first-cup-2024/guess"]
    assert guess.title == "No"
    assert guess.flags == ()
    assert guess.suite is not None
    assert (guess.suite.time_limit_s, guess.suite.memory_limit_bytes) == (1.5, 256 * 2**20)
    assert guess.suite.io_kind is IoKind.INTERACTIVE
    assert guess.suite.checker is not None
    source = (CUP / "guess" / "output_validator" / "validate.py").read_text()
    assert guess.suite.checker["program"] == {"source": source, "language": "python3", "files": {}}


def test_arguments_of_groups_and_tests(found: Read, packages: dict[str, ProblemRecord]) -> None:
    shop = packages["first-cup-2024/shop"]
    assert shop.suite is not None
    assert [(test.name, test.comparison) for test in shop.suite.tests] == [
        ("secret/g1/01", PLAIN | {"case_sensitive": True}),
        ("secret/g1/02", PLAIN | {"absolute_tolerance": 1e-6}),
        ("secret/g2/01", None),
    ]
    assert shop.flags == (("partial_tests", "3 of 6 tests were refused at import"),)
    assert [str(refusal) for refusal in found.refusals] == [
        "first-cup-2024/shop/data/secret/g2/10: gives its program arguments, which is not supported",
        "first-cup-2024/shop/data/secret/g2/question: has no answer file",
        "first-cup-2024/shop/data/secret/g2/lost: has no input file",
    ]


def test_a_lone_package_has_no_contest(tmp_path: Path) -> None:
    problem = read("kattis", package(tmp_path)).one
    assert (str(problem.key), problem.contest, problem.title) == ("icpc:small", None, "Small")
    (tmp_path / "contest.yaml").write_text("")
    assert read("kattis", tmp_path / "small").one.key.native_id == f"{tmp_path.name}/small"


@pytest.mark.parametrize(
    ("yaml", "flags"),
    [
        ("name: A\nvalidation: custom\nvalidator_flags: its own business\n", ["custom_validator"]),
        ("name: A\nvalidation: custom interactive\n", ["interactive"]),
        ("name: A\nproblem_format_version: 2025-09\ntype: interactive\n", ["interactive"]),
        ("name: A\nproblem_format_version: 2023-07-draft\ntype: [multi-pass, scoring]\n", ["multi_pass"]),
        ("name: A\nproblem_format_version: 2025-09\ntype: submit-answer\n", ["submit_answer"]),
    ],
)
def test_what_the_sandbox_cannot_judge_is_flagged(tmp_path: Path, yaml: str, flags: list[str]) -> None:
    problem = read("kattis", package(tmp_path, yaml)).one
    assert [name for name, _ in problem.flags] == flags
    assert all(reason for _, reason in problem.flags)
    assert problem.suite is not None
    assert (problem.suite.io_kind, problem.suite.checker) == (IoKind.STDIN, None)


@pytest.mark.parametrize(
    ("yaml", "files", "title"),
    [
        ("name: 2048\n", {}, "2048"),
        ("name: {sv: Noll, en: Zero}\n", {}, "Zero"),
        ("name: {sv: Noll}\n", {}, "Noll"),
        ("", {"problem_statement__problem.tex": "\\problemname{A {B}\n C}"}, "A {B} C"),
        ("name:\n", {"statement__problem.sv.tex": "%% plainproblemname: x^2\n\\problemname{$x^2$}"}, "x^2"),
        ("", {"problem_statement__problem-slide.en.tex": "\\problemname{Slide}"}, "small"),
        ("", {"problem_statement__problem.en.tex": "\\problemname{no end"}, "small"),
    ],
)
def test_where_the_title_stands(tmp_path: Path, yaml: str, files: dict[str, str], title: str) -> None:
    assert read("kattis", package(tmp_path, yaml, **files)).one.title == title


def test_files_from_windows_are_normalised_with_a_note(tmp_path: Path) -> None:
    folder = package(
        tmp_path,
        "\ufeffname: Small\r\n",
        **{
            "data__secret__1.ans": b"1 2\r\nYes\r\n",
            "data__secret__2.in": b"",
            "data__secret__2.ans": b"\xef\xbb\xbf1 2\nYes\n",
            "data__secret__3.in": "1\n".encode("utf-16"),
            "data__secret__3.ans": "1 2\nYes\n".encode("utf-16"),
        },
    )
    found = read("kattis", folder)
    assert found.one.suite is not None
    assert {test.expected for test in found.one.suite.tests} == {b"1 2\nYes\n"}
    (note,) = found.notes
    assert str(note) == (
        "small: normalised to UTF-8 with LF line ends: "
        "secret/1.ans (CRLF), secret/2.ans (byte-order mark), secret/3.in (UTF-16) and 1 more"
    )


def test_data_that_is_no_text_is_refused_at_import(tmp_path: Path) -> None:
    broken: dict[str, bytes | str] = {"data__secret__2.in": b"\xff", "data__secret__2.ans": b""}
    found = read("kattis", package(tmp_path, "name: Small\n", **broken))
    assert str(found.refusal) == "small/data/secret/2: 2.in is not UTF-8 text (byte 0: invalid start byte)"
    assert found.problems[0].flags == (("partial_tests", "1 of 2 tests were refused at import"),)


def test_a_link_out_of_the_package_is_not_followed(tmp_path: Path) -> None:
    folder = package(tmp_path)
    (tmp_path / "private").write_text("not for the store\n")
    (folder / "data" / "secret" / "2.in").symlink_to(tmp_path / "private")
    (folder / "data" / "secret" / "2.ans").symlink_to("1.ans")
    (folder / "data" / "secret" / "loop").symlink_to(folder / "data")
    found = read("kattis", folder)
    assert str(found.refusal) == "small/data/secret/2: 2.in is a link out of the package"


@pytest.mark.parametrize(
    ("yaml", "files", "says"),
    [
        ("[", {}, "problem.yaml is not YAML"),
        ("- a\n", {}, "problem.yaml is not a map"),
        ("!!python/object/apply:os.system ['true']", {}, "problem.yaml is not a map"),
        ("name: A\nproblem_format_version: 2031-01\n", {}, "the format version '2031-01' is not known"),
        ("name: [A]\n", {}, "name is not a text"),
        ("limits: fast\n", {}, "limits is not a map"),
        ("limits: {memory: much}\n", {}, "memory is 'much'"),
        ("limits: {time_limit: -1}\n", {}, "time_limit is '-1'"),
        ("validator_flags: float_tolerence 1e-4\n", {}, "has no flag 'float_tolerence'"),
        ("validator_flags: float_tolerance\n", {}, "has None for its tolerance"),
        ("validator_flags: float_tolerance nan\n", {}, "'nan' for its tolerance"),
        ("", {"data__secret__testdata.yaml": "output_validator_flags: {a: [b]}\nx: ]"}, "testdata.yaml is not YAML"),
        ("", {"data__secret__test_group.yaml": "output_validator_args: [[a]]\n"}, "are not words"),
        ("", {"problem_statement__problem.en.tex": b"\xff"}, "problem.en.tex is not UTF-8 text"),
    ],
)
def test_packages_that_cannot_be_used(tmp_path: Path, yaml: str, files: dict[str, Any], says: str) -> None:
    package(tmp_path, yaml, **files)
    found = read("kattis", tmp_path)
    assert found.problems == []
    assert says in found.refusal.reason
    assert (found.refusal.where, bool(found.refusal.hint)) == ("small", True)


def test_one_broken_package_does_not_stop_the_others(tmp_path: Path) -> None:
    shutil.copytree(CUP, tmp_path / "cup")
    (tmp_path / "cup" / "guess" / "problem.yaml").write_text("name: [\n")
    (tmp_path / "manifest.json").write_text("{")
    shutil.rmtree(tmp_path / "cup" / "shop")
    found = read("kattis", tmp_path)
    assert [refusal.where for refusal in found.refusals] == ["cup/guess", "cup/half"]
    assert "manifest.json is not JSON" in found.refusals[1].reason
    (tmp_path / "manifest.json").unlink()
    assert len(read("kattis", tmp_path).problems) == 1


@pytest.mark.parametrize("name", ["absent", "empty", "file"])
def test_paths_that_hold_no_package(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(UnreadableSource) as failed:
        read("kattis", tmp_path / name)
    assert str(tmp_path / name) in failed.value.message
    assert "problem.yaml" in failed.value.hint


def test_a_package_without_tests_is_a_problem_without_a_suite(tmp_path: Path) -> None:
    folder = package(tmp_path)
    shutil.rmtree(folder / "data")
    assert read("kattis", folder).one.suite is None


def test_statements_of_several_languages(packages: dict[str, ProblemRecord], tmp_path: Path) -> None:
    half = packages["first-cup-2024/half"]
    assert half.language == "en"
    assert half.translations == (("de", "\\problemname{Die Hälfte}\n"),)
    files: dict[str, bytes | str] = {
        "statement__problem.sv.md": "Svenska *här*.\n",
        "statement__problem.md": "No language named.\n",
        "statement__problem.de.tex": "Deutsch.",
    }
    problem = read("kattis", package(tmp_path, "name: A\nproblem_format_version: 2025-09\n", **files)).one
    assert (problem.language, problem.statement) == (None, "No language named.\n")
    assert problem.translations == (("de", "Deutsch."), ("sv", "Svenska *här*.\n"))


def test_a_translation_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {
        "problem_statement__problem.en.tex": "Print it.",
        "problem_statement__problem.sv.tex": "Skriv p\xe5.".encode("latin-1"),
    }
    found = read("kattis", package(tmp_path, "name: Small\n", **files))
    assert (found.one.statement, found.one.translations) == ("Print it.", ())
    (note,) = found.notes
    assert str(note).startswith("small: the translation problem_statement/problem.sv.tex is not UTF-8 text")


@pytest.mark.parametrize(
    ("files", "flagged"),
    [
        ({"statement__problem.en.pdf": b"%PDF-1.7"}, True),
        ({"problem_statement__problem.pdf": b"%PDF-1.7"}, True),
        ({"statement__problem.en.pdf": b"%PDF-1.7", "statement__problem.en.md": "Text."}, False),
        ({"statement__solution.en.pdf": b"%PDF-1.7"}, False),
        ({}, False),
    ],
)
def test_a_statement_that_is_only_a_pdf_is_flagged(tmp_path: Path, files: dict[str, Any], flagged: bool) -> None:
    problem = read("kattis", package(tmp_path, "name: Small\n", **files)).one
    assert [name for name, _ in problem.flags] == (["pdf_statement"] if flagged else [])


def test_the_contests_and_the_embargo_that_a_package_names(tmp_path: Path) -> None:
    shop = open_package(CUP / "shop")
    assert (shop.source, shop.sources) == ("First Cup 2024", ("First Cup 2024", "Another Cup"))
    found = open_package(package(tmp_path, "source: {name: Cup 2020}\nembargo_until: 2025-10-01\n"))
    assert (found.sources, found.embargo_until) == (("Cup 2020",), "2025-10-01")
    bare = open_package(package(tmp_path, "name: A\n"))
    assert (bare.source, bare.embargo_until, bare.statement, bare.translations) == (None, None, "", ())


def test_a_time_limit_is_the_one_that_is_stated() -> None:
    stated = {name: open_package(CUP / name).time_limit_s for name in ("half", "shop", "guess")}
    assert stated == {"half": None, "shop": None, "guess": 1.5}


def test_a_time_limit_beside_the_metadata(tmp_path: Path) -> None:
    assert open_package(package(tmp_path, **{".timelimit": "4\n"})).time_limit_s == 4


@given(st.lists(st.sampled_from(["case_sensitive", "space_change_sensitive", "float_tolerance 1e-6", "float_x 1"])))
def test_flags_are_read_or_refused(flags: list[str]) -> None:
    words = tuple(word for flag in flags for word in flag.split())
    try:
        rules = validator_rules(words)
    except BadRow:
        assert "float_x" in words
    else:
        assert rules["case_sensitive"] is ("case_sensitive" in words)
        assert rules.get("absolute_tolerance") == (1e-6 if "float_tolerance" in words else None)


@pytest.mark.shared
def test_all_shared_packages_are_taken(shared_data: Path) -> None:
    found = read("kattis", shared_data / "packages")
    manifest = json.loads((shared_data / "packages" / "manifest.json").read_text())
    assert found.refusals == []
    by_id = {problem.key.native_id: problem for problem in found.problems}
    assert sorted(by_id) == sorted(entry["dir"] for entry in manifest)
    for entry in manifest:
        problem = by_id[entry["dir"]]
        assert [claim.as_written for claim in problem.dates] == (
            [entry["contest_date"]] if entry["contest_date"] else []
        )
        assert problem.flags == ()
        assert problem.suite is not None
        assert (problem.suite.groups is not None) is (entry["type"] == "scoring")
        assert problem.suite.checker is None
        origins = [test.origin for test in problem.suite.tests]
        assert origins.count(TestOrigin.SAMPLE) == entry["sample"]
        assert origins.count(TestOrigin.OFFICIAL) == entry["secret"]
