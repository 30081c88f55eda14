"""``live edition``: freezing, listing, setting two beside each other, and whether one still holds."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from db.editions import load_edition
from db.engine import open_store
from tests.live.command import Live


def body_of(folder: Path, name: str) -> bytes:
    with open_store(f"sqlite:///{folder / 'store.db'}") as store, store.read() as session:
        return load_edition(session, name)[1]


def test_an_edition_is_frozen_listed_and_holds(board_live: Live, tmp_path: Path) -> None:
    done = board_live("edition", "freeze", "2025-04")
    assert done.code == 0
    assert done.out.startswith("2025-04: 10 runs, 180 problems, digest ")
    digest = done.out.split()[-1]
    assert "live publish DIR --edition 2025-04" in done.err
    (listed,) = board_live("edition", "list", "--json").document
    assert (listed["name"], listed["digest"], listed["n_problems"], listed["n_runs"]) == ("2025-04", digest, 180, 10)
    assert board_live("edition", "verify", "2025-04").out == (
        f"2025-04 holds: its numbers come out of itself and of the store, digest {digest}\n"
    )


def test_the_same_store_gives_the_same_bytes(board_live: Live, board_folder: Path, tmp_path: Path) -> None:
    first = board_live("edition", "freeze", "a", "--json").document
    second = board_live("edition", "freeze", "b")
    assert "the same as a: nothing has moved" in second.err
    assert body_of(tmp_path, "a") == body_of(tmp_path, "b")
    shutil.copy(board_folder / "store.db", tmp_path / "store.db")
    assert board_live("edition", "freeze", "elsewhere", "--json").document["digest"] == first["digest"]


def test_a_name_is_given_once(board_live: Live) -> None:
    assert board_live("edition", "freeze", "a").code == 0
    assert board_live("edition", "freeze", "a").code == 0  # nothing moved, nothing to change
    other = board_live("edition", "freeze", "A", "--note", "something else")
    assert other.code == 2
    assert 'there is an edition "a" already' in other.err
    assert len(board_live("edition", "list", "--json").document) == 1


@pytest.mark.parametrize("name", ["", "..", "a b", "a/b", "-a", "x" * 61, "é"])
def test_a_name_must_fit_into_a_path(board_live: Live, name: str) -> None:
    ended = board_live("edition", "freeze", "--", name)
    assert ended.code == 2
    assert f'cannot be called "{name}"' in ended.err


def test_a_model_does_not_disappear_without_a_word(board_live: Live) -> None:
    assert board_live("edition", "freeze", "a").code == 0
    silent = board_live("edition", "freeze", "b", *(f"m{place}" for place in range(8)), "late")
    assert silent.code == 2
    assert 'memoriser: in the edition "a", and in this one without a word no more' in silent.err
    assert "--withdrawn" in silent.err
    told = board_live("edition", "freeze", "b", "--withdrawn", "memoriser=asked by its provider")
    assert told.code == 0
    # It stays withdrawn until it is taken back in.
    assert board_live("edition", "freeze", "c", "--json").document["withdrawn"] == {
        "memoriser": "asked by its provider"
    }
    assert board_live("edition", "freeze", "d", "--readmit", "memoriser", "--json").document["withdrawn"] == {}


def test_what_moved_is_told(board_live: Live, tmp_path: Path) -> None:
    assert board_live("edition", "freeze", "a").code == 0
    flagged = board_live(
        "problems", "flag", "leetcode:round-59-easy", "bad_tests", "--reason", "two right programs fail"
    )
    assert flagged.code == 0
    results = tmp_path / "new.jsonl"
    row = {"platform": "atcoder", "id": "round-58-hard", "model": "m7", "n_samples": 4, "n_correct": 0}
    results.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert board_live("import", "results", results, "--format", "jsonl", "--replace").code == 0
    broken = board_live("edition", "verify", "a")
    assert broken.code == 1
    assert "the store says otherwise than the edition a" in broken.err
    assert "leetcode:round-59-easy" in broken.out
    assert board_live("edition", "freeze", "b").code == 0
    told = board_live("edition", "diff", "a", "b")
    assert told.code == 0
    assert "leetcode:round-59-easy" in told.out
    assert "two right programs fail" in told.out
    assert board_live("edition", "diff", "a", "b", "--json").document["title"]
    assert board_live("edition", "verify", "b").code == 0


def test_unknown_editions_and_empty_stores(live: Live, board_live: Live) -> None:
    assert board_live("edition", "list").out == ""
    assert board_live("edition", "freeze", "2025-04").code == 0
    unknown = board_live("edition", "verify", "2025-05")
    assert unknown.code == 2
    assert 'no edition "2025-05"' in unknown.err
    assert "2025-04" in unknown.err


def test_nothing_to_freeze_is_no_number(live: Live, board_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVE_MODELS", str(board_folder / "models.toml"))
    assert live("import", "problems", board_folder / "problems.jsonl", "--format", "jsonl").code == 0
    ended = live("edition", "freeze", "a")
    assert ended.code == 3
    assert "there is no result to freeze" in ended.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--platform", "nowhere"], "nowhere"),
        (["--margin", "soon"], "soon"),
        (["--fresh", "since=2024"], "--saturated and --fresh go together"),
        (["--saturated", "nonsense", "--fresh", "since=2024"], "nonsense"),
        (["--withdrawn", "memoriser"], "--withdrawn"),
        (["--across", "nonsense"], "nonsense"),
        (["--as-of", "yesterday"], "--as-of"),
        (["nobody"], "nobody"),
    ],
)
def test_bad_choices_are_named(board_live: Live, options: list[str], message: str) -> None:
    ended = board_live("edition", "freeze", "a", *options)
    assert ended.code == 2
    assert message in ended.err
    assert "what to do" in ended.err
    assert board_live("edition", "list").out == ""
