"""The submissions of a package, as programs with the role that their folder gives them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records import ProgramRole, ReferenceRecord
from ingest.package_submissions import FOLDERS, named_apart
from tests.ingest.package_folders import JUDGED, judged_problems, package
from tests.ingest.reading import read

KIB = 1024
SUBMISSIONS = JUDGED / "parts" / "submissions"


def made(files: dict[str, bytes | str]) -> dict[str, Any]:
    return {f"submissions__{name}": content for name, content in files.items()}


def roles_of(folder: Path) -> dict[str, ProgramRole]:
    return {one.name: one.role for one in read("kattis", folder).one.references or ()}


def test_submissions_with_their_roles_the_accepted_ones_first() -> None:
    accepted = SUBMISSIONS / "accepted"
    assert judged_problems()["parts"].references == (
        ReferenceRecord("first_one.py", "python3", (accepted / "first_one.py").read_text()),
        ReferenceRecord("other_way.cpp", "cpp20", (accepted / "other_way.cpp").read_text()),
        ReferenceRecord(
            "halves.py", "python3", (SUBMISSIONS / "wrong_answer" / "halves.py").read_text(), ProgramRole.WRONG
        ),
    )


def test_what_each_folder_says(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {
        "accepted__a.py": "",
        "run_time_error__b.py": "",
        "time_limit_exceeded__c.py": "",
        "wrong_answer__d.py": "",
        "partially_accepted__e.py": "",
        "other__f.py": "",
        "g.py": "",
    }
    assert roles_of(package(tmp_path, **made(files))) == {
        "a.py": ProgramRole.ACCEPTED,
        "b.py": ProgramRole.WRONG,
        "c.py": ProgramRole.TOO_SLOW,
        "d.py": ProgramRole.WRONG,
    }


def test_names_in_several_folders_are_told_apart_and_accepted_ones_stay(tmp_path: Path) -> None:
    folders = ("accepted", "run_time_error", "time_limit_exceeded", "wrong_answer")
    files: dict[str, bytes | str] = {f"{folder}__ann.py": folder for folder in folders}
    files |= {"time_limit_exceeded__bo.py": "t", "wrong_answer__bo.py": "w", "wrong_answer__cy.py": "w"}
    record = read("kattis", package(tmp_path, **made(files))).one
    assert {one.name: one.code for one in record.references or ()} == {
        "ann.py": "accepted",
        "run_time_error/ann.py": "run_time_error",
        "time_limit_exceeded/ann.py": "time_limit_exceeded",
        "wrong_answer/ann.py": "wrong_answer",
        "time_limit_exceeded/bo.py": "t",
        "wrong_answer/bo.py": "w",
        "cy.py": "w",
    }


@given(st.sets(st.tuples(st.sampled_from(sorted(FOLDERS)), st.sampled_from(["a.py", "b.py", "c.cpp", "d"]))))
def test_no_two_programs_share_a_name(files: set[tuple[str, str]]) -> None:
    ordered = sorted(files)
    names = named_apart(ordered)
    assert len(set(names)) == len(files)
    for (folder, file), name in zip(ordered, names, strict=True):
        assert name in ((file,) if folder == "accepted" else (file, f"{folder}/{file}"))


@pytest.mark.parametrize("folder", ["accepted", "run_time_error", "time_limit_exceeded", "wrong_answer"])
def test_submissions_that_are_passed_over(tmp_path: Path, folder: str) -> None:
    files: dict[str, bytes | str] = {
        "a.py": "print()\n",
        "b.kt": "",
        "c.py": b"\xff",
        "d.py": "#!/usr/bin/python2\nprint 1\n",
        "e__f.py": "",
        ".g.py": "",
        "h.cc": "/" * (256 * KIB + 1),
        "README": "",
    }
    root = package(tmp_path, **made({f"{folder}__{name}": content for name, content in files.items()}))
    (root / "submissions" / folder / "z.py").symlink_to(tmp_path / "outside.py")
    (tmp_path / "outside.py").write_text("")
    assert list(roles_of(root)) == ["a.py"]


@pytest.mark.shared
def test_submissions_of_real_juries_come_with_what_the_jury_says(shared_data: Path, tmp_path: Path) -> None:
    with gzip.open(shared_data / "packages" / "submissions.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        folder = tmp_path / row["package"] / "submissions" / row["expected"]
        folder.mkdir(parents=True, exist_ok=True)
        (folder.parents[1] / "problem.yaml").write_text("name: A\n")
        (folder / row["name"]).write_text(row["source"], encoding="utf-8", newline="")
    elsewhere = (".cs", ".hs", ".kt")
    expected = Counter(row["expected"] for row in rows if not row["name"].endswith(elsewhere))
    found = read("kattis", tmp_path)
    assert found.refusals == []
    assert Counter(one.role for problem in found.problems for one in problem.references or ()) == {
        ProgramRole.ACCEPTED: expected["accepted"],
        ProgramRole.WRONG: expected["wrong_answer"] + expected["run_time_error"],
        ProgramRole.TOO_SLOW: expected["time_limit_exceeded"],
    }
