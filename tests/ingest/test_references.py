"""Programs given for problems: each with its role under its problem, what is refused, and nothing half written."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db.engine import Store, open_store
from db.identity import add_other_id, problem_ids
from db.importing import ImportReport, UnknownFormat, UnreadableSource
from db.problems import save_problem
from db.records import ProblemKey, ProblemRecord, ProgramRole, ReferenceRecord
from db.references import list_references, save_references
from db.refused import list_refused
from ingest import references
from ingest.errors import BadRow
from ingest.reference_formats import format_names, load_format
from ingest.references import import_references, user_source
from tests.ingest.reading import DATA, write_rows

NOW = datetime(2025, 1, 2, 3, 4, tzinfo=UTC)
SUM, MAX, THEIR_MAX = ProblemKey("our", "sum"), ProblemKey("our", "max"), ProblemKey("their", "max")
PACKED = ProblemKey("icpc", "cup-2025/pack")
REFUSED = [json.loads(line) for line in (DATA / "references" / "refused.jsonl").read_text().splitlines()]
CAME_WITH_IT = ReferenceRecord("official.py", "python3", "print(0)\n")

Kept = list[tuple[str, str, ProgramRole, str]]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Four problems, the first with a program of its source's and another id."""
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        with opened.write() as session:
            for key in (SUM, MAX, THEIR_MAX, PACKED):
                record = ProblemRecord(key, key.native_id, (), "list")
                save_problem(session, replace(record, references=(CAME_WITH_IT,)) if key == SUM else record, now=NOW)
            summing = problem_ids(session, [SUM])[SUM]
            add_other_id(session, summing, ProblemKey("our", "plus"), "a mirror", now=NOW)
        yield opened


def bring(store: Store, path: Path, *, name: str = "jsonl", source: str = "user") -> ImportReport:
    return import_references(store, path, name, source=source, now=NOW)


def row(problem: str = "our:sum", name: str = "a.py", code: str = "print(1)\n", **fields: Any) -> dict[str, Any]:
    return {"problem": problem, "name": name, "code": code, **fields}


def rows(folder: Path, *given: dict[str, Any]) -> Path:
    return write_rows(folder / "references.jsonl", given)


def tree(folder: Path, *names: str) -> Path:
    """A folder with a program of one line in each of these files."""
    root = folder / "programs"
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"print({name!r})\n", encoding="utf-8")
    return root


def kept(store: Store, key: ProblemKey = SUM) -> Kept:
    """What a problem has, but for what came with it."""
    with store.read() as session:
        found = list_references(session, problem_ids(session, [key])[key])
    return sorted((one.name, one.language, one.role, one.source) for one in found if one.source != "list")


def codes(store: Store, key: ProblemKey = SUM) -> dict[str, str]:
    with store.read() as session:
        return {one.name: one.code for one in list_references(session, problem_ids(session, [key])[key])}


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    return report.created, report.updated, report.unchanged, report.n_refused


def test_formats_are_found_by_their_modules(store: Store, tmp_path: Path) -> None:
    assert format_names() == ("folder", "jsonl")
    assert [load_format(name).name for name in format_names()] == ["folder", "jsonl"]
    with pytest.raises(UnknownFormat, match="'tar'") as caught:
        bring(store, tmp_path, name="tar")
    assert caught.value.hint == "the formats are: folder, jsonl"


def test_rows_come_under_their_problem_with_role_and_language(store: Store, tmp_path: Path) -> None:
    given = [
        row(),
        row("our:max", "gen", language="Python 3", role="generator"),
        row("plus", "quick.cc", "int main() {}\r\n", role="too_slow"),
        row("our:plus", "crash.cpp", language="C++17 (GCC)", role="run_time_error"),
        row("cup-2025/pack", "check.py", role="validator"),
        row("sum", "all.py", role="brute_force", language=None),
    ]
    assert counts(bring(store, rows(tmp_path, *given))) == (6, 0, 0, 0)
    assert kept(store) == [
        ("a.py", "python3", ProgramRole.ACCEPTED, "user"),
        ("all.py", "python3", ProgramRole.BRUTE_FORCE, "user"),
        ("crash.cpp", "cpp17", ProgramRole.WRONG, "user"),
        ("quick.cc", "cpp20", ProgramRole.TOO_SLOW, "user"),
    ]
    assert kept(store, MAX) == [("gen", "python3", ProgramRole.GENERATOR, "user")]
    assert kept(store, PACKED) == [("check.py", "python3", ProgramRole.VALIDATOR, "user")]
    assert codes(store)["quick.cc"] == "int main() {}\n"
    assert codes(store)["official.py"] == CAME_WITH_IT.code
    assert counts(bring(store, rows(tmp_path, *reversed(given)))) == (0, 0, 6, 0)


def test_a_compressed_file_is_read(store: Store, tmp_path: Path) -> None:
    packed = tmp_path / "references.jsonl.gz"
    packed.write_bytes(gzip.compress(rows(tmp_path, row()).read_bytes()))
    assert counts(bring(store, packed)) == (1, 0, 0, 0)


def test_programs_take_the_place_of_those_of_the_same_source_and_problem(store: Store, tmp_path: Path) -> None:
    bring(store, rows(tmp_path, row(), row(name="b.py"), row(name="c.py"), row("our:max")))
    bring(store, rows(tmp_path, row(name="d.py")), source="user:ada")
    report = bring(store, rows(tmp_path, row(), row(name="b.py", role="wrong"), row(name="e.py")))
    assert counts(report) == (1, 1, 1, 0)
    assert report.notes == ("our:sum: former programs of user that are not here are gone: c.py",)
    assert kept(store) == [
        ("a.py", "python3", ProgramRole.ACCEPTED, "user"),
        ("b.py", "python3", ProgramRole.WRONG, "user"),
        ("d.py", "python3", ProgramRole.ACCEPTED, "user:ada"),
        ("e.py", "python3", ProgramRole.ACCEPTED, "user"),
    ]
    assert [name for name, *_ in kept(store, MAX)] == ["a.py"]


@pytest.mark.parametrize("case", REFUSED, ids=[case["says"] for case in REFUSED])
def test_a_bad_row_is_refused_with_place_reason_and_hint(store: Store, tmp_path: Path, case: dict[str, Any]) -> None:
    line = case.get("line") or json.dumps(row(name="b.py") | case["row"])
    path = rows(tmp_path, row(name="good.py"))
    path.write_text(path.read_text() + line + "\n")
    report = bring(store, path)
    (refused,) = report.refused
    assert refused.where.startswith("line 2")
    assert case["says"] in refused.reason
    assert case["hint"] in refused.hint
    assert "\n" not in f"{refused}{refused.hint}"
    assert refused.raw == line
    assert codes(store) == {"good.py": "print(1)\n", "official.py": CAME_WITH_IT.code}
    with store.read() as session:
        assert [(one.place, one.reason) for one in list_refused(session)] == [(refused.where, refused.reason)]


def test_what_no_json_can_say_is_refused_too(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "references.jsonl"
    path.write_bytes(b'{"problem": "\xff"}\n' + json.dumps(row(code="#" * (5 << 20))).encode() + b"\n")
    assert [one.reason for one in bring(store, path).refused] == [
        "not UTF-8 at byte 14 of the line",
        "the line is longer than 4 MiB",
    ]


@pytest.mark.parametrize(("letter", "n_letters"), [("#", 256 * 1024), ("é", 128 * 1024)])
def test_a_program_may_have_256_kib_and_no_more(store: Store, tmp_path: Path, letter: str, n_letters: int) -> None:
    assert bring(store, rows(tmp_path, row(code=letter * n_letters))).created == 1
    (refused,) = bring(store, rows(tmp_path, row(code=letter * n_letters + "x"))).refused
    assert refused.reason == "code has 262,145 bytes, more than 256 KiB"
    assert codes(store)["a.py"] == letter * n_letters, "a problem of which nothing was taken keeps what it has"


def test_a_problem_has_so_many_programs(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "MOST_PROGRAMS", 2)
    report = bring(store, rows(tmp_path, *(row(name=f"{number}.py") for number in range(3)), row("our:max")))
    assert (report.created, [one.where for one in report.refused]) == (3, ["line 3, name '2.py'"])
    monkeypatch.setattr(references, "MOST_PROBLEM_BYTES", 10)
    report = bring(store, rows(tmp_path, row(code="#" * 10), row(name="b.py")))
    assert [one.where for one in report.refused] == ["line 2, name 'b.py'"]


def test_memory_holds_the_programs_of_one_problem(store: Store, tmp_path: Path) -> None:
    """32 MB of programs of eight problems by turns, and 32 MB of programs of no problem."""
    with store.write() as session:
        for number in range(8):
            save_problem(session, ProblemRecord(ProblemKey("own", str(number)), "A", (), "list"), now=NOW)
    for platform, most_bytes, wanted in (("own", 20_000_000, (160, 0, 0, 0)), ("lost", 8_000_000, (0, 0, 0, 160))):
        given = (row(f"{platform}:{number % 8}", f"{number}.py", "#" * 200_000) for number in range(160))
        path = rows(tmp_path, *given)
        tracemalloc.start()
        report = bring(store, path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert counts(report) == wanted
        assert peak < most_bytes


def test_an_interrupted_import_leaves_each_problem_whole(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(store, rows(tmp_path, row(), row("our:max")))
    n_saved = 0

    def interrupted(*given: Any, **named: Any) -> bool:
        nonlocal n_saved
        n_saved += 1
        changed = save_references(*given, **named)
        if n_saved == 2:
            raise KeyboardInterrupt
        return changed

    monkeypatch.setattr(references, "save_references", interrupted)
    both = rows(tmp_path, row(name="b.py"), row("our:max", "b.py"), row(name="c.py"), row("our:max", "c.py"))
    with pytest.raises(KeyboardInterrupt):
        bring(store, both)
    assert [[name for name, *_ in kept(store, key)] for key in (SUM, MAX)] == [["b.py", "c.py"], ["a.py"]]
    assert counts(bring(store, both)) == (2, 0, 2, 0)


def test_a_folder_for_each_problem_and_role(store: Store, tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        "our:sum/accepted/a.py",
        "our:sum/wrong_answer/a.py",
        "our:sum/run_time_error/a.py",
        "our:sum/run_time_error/b.cpp",
        "our/max/time_limit_exceeded/c.cc",
        "our/max/brute_force/d.py",
        "icpc/cup-2025/pack/generator/e.py",
        "icpc/cup-2025/pack/validator/f.js",
        "icpc/cup-2025/pack/accepted/.hidden.py",
        "their:max/partially_accepted/g.py",
    )
    report = bring(store, root, name="folder")
    assert counts(report) == (8, 0, 0, 0)
    assert kept(store) == [
        ("a.py", "python3", ProgramRole.ACCEPTED, "user"),
        ("b.cpp", "cpp20", ProgramRole.WRONG, "user"),
        ("run_time_error/a.py", "python3", ProgramRole.WRONG, "user"),
        ("wrong_answer/a.py", "python3", ProgramRole.WRONG, "user"),
    ]
    assert kept(store, MAX) == [
        ("c.cc", "cpp20", ProgramRole.TOO_SLOW, "user"),
        ("d.py", "python3", ProgramRole.BRUTE_FORCE, "user"),
    ]
    assert kept(store, PACKED) == [
        ("e.py", "python3", ProgramRole.GENERATOR, "user"),
        ("f.js", "javascript", ProgramRole.VALIDATOR, "user"),
    ]
    assert kept(store, THEIR_MAX) == []
    assert codes(store)["wrong_answer/a.py"] == "print('our:sum/wrong_answer/a.py')\n"
    assert report.notes == (
        "their:max/partially_accepted: programs that are right in part are not read: they are not known to be wrong",
    )
    assert counts(bring(store, root, name="folder")) == (0, 0, 8, 0)


def test_files_that_are_refused(store: Store, tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        "our:sum/accepted/good.py",
        "our:sum/accepted/notes.txt",
        "our:sum/accepted/parts/main.py",
        "our:sum/acepted/b.py",
        "our:sum/c.py",
        "max/accepted/d.py",
        "our:min/wrong/e.py",
        "f.py",
    )
    accepted = root / "our:sum" / "accepted"
    for name, content in {
        "binary.py": b"\xff\x00\xfe",
        "empty.py": b"",
        "large.py": b"#" * (256 * 1024 + 1),
        "nul.py": b"print('\0')",
        "old.py": b"#!/usr/bin/python2\nprint 1\n",
    }.items():
        (accepted / name).write_bytes(content)
    report = bring(store, root, name="folder")
    assert report.created == 1
    assert {one.where: one.reason for one in report.refused} == {
        ".": "1 file lies in no role's folder: f.py",
        "max/accepted/d.py": "problem 'max' is on several platforms: our:max, their:max",
        "our:min/wrong/e.py": "no problem our:min in the store",
        "our:sum": "1 file lies in no role's folder: c.py",
        "our:sum/acepted": "role is 'acepted'",
        "our:sum/accepted/binary.py": "is not UTF-8 text (byte 0: invalid start byte)",
        "our:sum/accepted/empty.py": "code is empty",
        "our:sum/accepted/large.py": "it has 262,145 bytes, more than 256 KiB",
        "our:sum/accepted/notes.txt": "the ending of 'notes.txt' tells no language that the sandbox has",
        "our:sum/accepted/nul.py": "holds NUL bytes: binary data, or UTF-16 without its mark",
        "our:sum/accepted/old.py": "the ending of 'old.py' tells no language that the sandbox has",
        "our:sum/accepted/parts": "is a folder, and programs of several files are not read",
    }
    assert all(one.hint for one in report.refused)
    (misspelt,) = (one for one in report.refused if one.where == "our:sum/acepted")
    assert misspelt.hint.startswith("did you mean accepted?")


def test_links_are_followed_within_the_folder_only(store: Store, tmp_path: Path) -> None:
    root = tree(tmp_path, "our:sum/accepted/good.py")
    accepted = root / "our:sum" / "accepted"
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("print('secret')\n")
    (accepted / "out.py").symlink_to(tmp_path / "outside" / "secret.py")
    (accepted / "same.py").symlink_to(accepted / "good.py")
    (accepted / "nowhere.py").symlink_to(root / "nothing")
    (root / "our:sum" / "wrong").symlink_to(tmp_path / "outside")
    (root / "our:max").symlink_to(root / "our:sum")
    os.mkfifo(accepted / "pipe.py")
    report = bring(store, root, name="folder")
    assert set(codes(store)) == {"good.py", "same.py", "official.py"}
    assert {one.where: one.reason for one in report.refused} == {
        "our:max": "is a link to a folder",
        "our:sum/accepted/nowhere.py": "cannot be read: No such file or directory",
        "our:sum/accepted/out.py": "is a link out of the folder",
        "our:sum/accepted/pipe.py": "is no plain file",
        "our:sum/wrong": "is a link to a folder",
    }


def test_names_that_are_no_text_are_said_on_one_line(store: Store, tmp_path: Path) -> None:
    root = tree(tmp_path, "our:sum/accepted/good.py", "our:sum/accepted/two\nlines.py")
    (root / "our:sum" / "accepted" / os.fsdecode(b"\xff.py")).write_text("print(1)\n")
    (root / os.fsdecode(b"\xfe") / "wrong").mkdir(parents=True)
    (root / os.fsdecode(b"\xfe") / "wrong" / "a.py").write_text("print(1)\n")
    report = bring(store, root, name="folder")
    assert report.created == 1
    assert sorted(str(one) for one in report.refused) == [
        "\\udcfe/wrong/a.py: problem is '\\udcfe', which names none",
        "our:sum/accepted/\\udcff.py: name is '\\udcff.py', which cannot be shown",
        "our:sum/accepted/two\\nlines.py: name is 'two\\nlines.py', which cannot be shown",
    ]


def test_a_tree_without_end_is_left(store: Store, tmp_path: Path) -> None:
    report = bring(store, tree(tmp_path, f"{'deep/' * 12}accepted/a.py"), name="folder")
    assert [(one.where, one.reason) for one in report.refused] == [
        ("/".join(["deep"] * 9), "lies more than 8 folders deep")
    ]


def test_a_path_that_is_none(store: Store, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path, name, says in (
        (tmp_path / "nothing", "jsonl", "does not exist"),
        (tmp_path / "empty", "jsonl", "cannot be read: Is a directory"),
        (tmp_path / "empty", "folder", "holds no program"),
        (rows(tmp_path, row()), "folder", "is not a folder"),
    ):
        with pytest.raises(UnreadableSource, match=says) as caught:
            bring(store, path, name=name)
        assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "source"), [("user", "user"), ("ada", "user:ada"), ("user:ada", "user:ada"), (" users ", "user:users")]
)
def test_a_source_is_told_to_be_a_users(name: str, source: str) -> None:
    assert user_source(name) == source


@pytest.mark.parametrize("name", ["", "  ", "user:", "a\nb", "\0"])
def test_what_is_no_name_of_a_source(name: str) -> None:
    with pytest.raises(BadRow, match="is no name for a source"):
        user_source(name)
