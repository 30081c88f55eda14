"""``live import references``: the report, the source, and what is said of a bad file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from db.engine import open_store
from db.identity import problem_ids
from db.records import ProblemKey, ProgramRole
from db.references import list_references
from tests.live.command import Live


@pytest.fixture
def sum_live(live: Live, tmp_path: Path) -> Live:
    """The command with one problem."""
    rows = tmp_path / "problems.jsonl"
    rows.write_text(json.dumps({"platform": "own", "id": "sum", "title": "Sum"}) + "\n")
    assert live("import", "problems", rows, "--format", "jsonl").code == 0
    return live


def program(**fields: str) -> str:
    return json.dumps({"problem": "own:sum", "name": "a.py", "code": "print(1)\n"} | fields)


def kept(folder: Path) -> list[tuple[str, ProgramRole, str]]:
    key = ProblemKey("own", "sum")
    with open_store(f"sqlite:///{folder / 'store.db'}", reading=True) as store, store.read() as session:
        found = list_references(session, problem_ids(session, [key])[key])
    return [(one.name, one.role, one.source) for one in found]


def test_a_file_with_a_bad_row(sum_live: Live, tmp_path: Path) -> None:
    path = tmp_path / "references.jsonl"
    path.write_text(f"{program()}\n{program(name='b.py', role='wrnog')}\n")
    ended = sum_live("import", "references", path, "--format", "jsonl")
    assert (ended.code, ended.out) == (1, "")
    assert "references: 1 new, 0 updated, 0 unchanged, 1 refused" in ended.err
    assert "refused: line 2, name 'b.py': role is 'wrnog' (did you mean wrong? the roles are: accepted, " in ended.err
    assert kept(tmp_path) == [("a.py", ProgramRole.ACCEPTED, "user")]
    (refused,) = sum_live("import", "refused", "--json").document
    assert (refused["place"], refused["raw"]) == ("line 2, name 'b.py'", program(name="b.py", role="wrnog"))


def test_a_folder_of_another_source_as_json(sum_live: Live, tmp_path: Path) -> None:
    for place in ("own/sum/accepted/a.py", "own/sum/time_limit_exceeded/b.py"):
        file = tmp_path / "programs" / place
        file.parent.mkdir(parents=True)
        file.write_text("print(1)\n")
    words = ("import", "references", tmp_path / "programs", "-f", "folder", "--json")
    for source, counts in (("ada", (2, 0)), ("user:ada", (0, 2)), ("user", (2, 0))):
        ended = sum_live(*words, "--source", source)
        assert ended.code == 0
        assert (ended.document["created"], ended.document["unchanged"], ended.document["refused"]) == (*counts, [])
    assert kept(tmp_path) == [
        (name, role, source)
        for source in ("user", "user:ada")
        for name, role in (("a.py", ProgramRole.ACCEPTED), ("b.py", ProgramRole.TOO_SLOW))
    ]


@pytest.mark.parametrize(
    ("words", "says", "hint"),
    [
        (("--format", "tar"), "no format of programs is called 'tar'", "the formats are: folder, jsonl"),
        (("--format", "folder"), "references.jsonl is not a folder", "lay programs out as PROBLEM/ROLE/FILE"),
        (
            ("--format", "jsonl", "--source", " "),
            "--source: ' ' is no name for a source",
            "use letters, digits and signs",
        ),
    ],
)
def test_what_ends_the_import(sum_live: Live, tmp_path: Path, words: tuple[str, ...], says: str, hint: str) -> None:
    path = tmp_path / "references.jsonl"
    path.write_text(f"{program()}\n")
    ended = sum_live("import", "references", path, *words)
    first, second = ended.err.splitlines()
    assert ended.code == 2
    assert first.startswith("error: ")
    assert first.endswith(says)
    assert second.startswith(f"  what to do: {hint}")
    assert kept(tmp_path) == []


def test_a_store_that_is_not_there(live: Live, tmp_path: Path) -> None:
    path = tmp_path / "references.jsonl"
    path.write_text(f"{program()}\n")
    ended = live("import", "references", path, "--format", "jsonl")
    assert ended.code != 0
    assert not (tmp_path / "store.db").exists()
