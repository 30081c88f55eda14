"""``live edition``: freezing, listing, setting two beside each other, and whether one still holds."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from db.editions import load_edition
from db.engine import open_store
from eval.editions.document import FrozenEdition, to_bytes
from eval.editions.packed import pack
from eval.editions.parts import public_part
from eval.editions.stored import load_frozen
from eval.render import to_csv
from eval.sheets import sheet_to_csv
from tests.live.command import Live

TABLES = ("own", "common", "equated")


def load_frozen_board(folder: Path, name: str) -> FrozenEdition:
    """The edition that stands in the store of a folder."""
    with open_store(f"sqlite:///{folder / 'store.db'}") as store:
        return load_frozen(store, name)


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
    assert 'memoriser: in the edition "a", and in "b" without a word no more' in silent.err
    assert "--withdrawn" in silent.err
    told = board_live("edition", "freeze", "b", "--withdrawn", "memoriser=asked by its provider")
    assert told.code == 0
    # It stays withdrawn until it is taken back in.
    assert board_live("edition", "freeze", "c", "--json").document["withdrawn"] == {
        "memoriser": "asked by its provider"
    }
    assert board_live("edition", "freeze", "d", "--readmit", "memoriser", "--json").document["withdrawn"] == {}


def test_a_withdrawn_model_does_not_come_back_as_nothing(board_live: Live) -> None:
    """Two freezes that together lose a model: withdrawn with a reason, then taken back in, and not in the table."""
    others = [*(f"m{place}" for place in range(8)), "late"]
    assert board_live("edition", "freeze", "a").code == 0
    assert board_live("edition", "freeze", "b", "--withdrawn", "memoriser=asked by its provider").code == 0
    lost = board_live("edition", "freeze", "c", *others, "--readmit", "memoriser")
    assert lost.code == 2
    assert lost.err.splitlines() == [
        "error: --readmit: there is no run of memoriser in this edition",
        "  what to do: name it among the models, and bring its results in first: live import results, live judge",
    ]
    assert len(board_live("edition", "list", "--json").document) == 2


@pytest.mark.parametrize("option", ["--withdrawn", "--readmit"])
def test_only_models_that_somebody_knows_are_withdrawn_or_taken_back(board_live: Live, option: str) -> None:
    name = "memorizer"
    ended = board_live("edition", "freeze", "a", option, f"{name}=typo" if option == "--withdrawn" else name)
    assert ended.code == 2
    assert ended.err.startswith('error: unknown model "memorizer"; did you mean memoriser?\n  what to do: ')
    assert board_live("edition", "list").out == ""


def test_one_run_of_a_model_is_not_withdrawn_while_it_stands_in_the_table(board_live: Live, tmp_path: Path) -> None:
    """It would be called withdrawn beside its own row."""
    rows = tmp_path / "new.jsonl"
    row = {"platform": "atcoder", "id": "round-58-hard", "model": "m7", "n_samples": 4, "n_correct": 0}
    rows.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert board_live("import", "results", rows, "--format", "jsonl", "--origin", "elsewhere").code == 0
    assert board_live("edition", "freeze", "a").code == 0
    run = next(one.name for one in load_frozen_board(tmp_path, "a").edition.runs if one.name.startswith("m7 ("))
    ended = board_live("edition", "freeze", "b", "--withdrawn", f"{run}=why")
    assert ended.code == 2
    assert f"--withdrawn: {run} is one run, which is in this edition" in ended.err
    assert "withdraw its model: m7" in ended.err


def test_the_day_as_of_which_it_is_frozen_is_not_before_the_last_change(board_live: Live) -> None:
    """The board came on 2026-01-01 at midnight."""
    early = board_live("edition", "freeze", "a", "--as-of", "2025-12-31")
    assert early.code == 2
    assert early.err.splitlines() == [
        "error: --as-of: the store did not stand so on 2025-12-31: it last changed at 2026-01-01T00:00:00Z",
        "  what to do: give that day or a later one, or leave it out",
    ]
    ahead = board_live("edition", "freeze", "a", "--as-of", "2098-01-01")
    assert (ahead.code, ahead.err.splitlines()[0]) == (2, "error: --as-of: 2098-01-01 is still to come")
    for name, day, at in (
        ("a", "2026-01-01", "2026-01-01T23:59:59+00:00"),
        ("b", "2026-01-03T10:00Z", "2026-01-03T10:00:00+00:00"),
    ):
        assert board_live("edition", "freeze", name, "--as-of", day, "--json").document["as_of"] == at
        assert board_live("edition", "verify", name).code == 0


def test_the_frozen_tables_are_shown_as_they_were(board_live: Live, tmp_path: Path) -> None:
    assert board_live("edition", "freeze", "a").code == 0
    frozen = load_frozen_board(tmp_path, "a").edition.numbers
    before = {table: board_live("edition", "show", "a", "--table", table, "--csv").out for table in TABLES}
    assert before["own"] == to_csv(frozen.own)
    assert before["common"] == sheet_to_csv(frozen.common)
    assert before["equated"] == sheet_to_csv(frozen.equated)
    assert board_live("problems", "flag", "leetcode:round-59-easy", "bad_tests", "--reason", "two fail").code == 0
    assert {table: board_live("edition", "show", "a", "--table", table, "--csv").out for table in TABLES} == before
    assert board_live("edition", "show", "a", "--md").out.startswith("| ")
    assert "memoriser" in board_live("edition", "show", "a").out
    assert board_live("edition", "show", "a", "--md", "--csv").code == 2


def test_a_published_file_is_verified_from_itself(board_live: Live, tmp_path: Path) -> None:
    """Without a store: one with a private problem, packed; the same with another number in it; and what is none."""
    flagged = board_live("problems", "flag", "leetcode:round-59-easy", "private", "--reason", "held back")
    assert flagged.code == 0
    assert board_live("edition", "freeze", "a").code == 0
    frozen = load_frozen_board(tmp_path, "a")
    public = public_part(frozen.edition)
    (tmp_path / "edition.json.gz").write_bytes(pack(to_bytes(public)))
    (tmp_path / "whole.json").write_bytes(to_bytes(frozen.edition))
    (tmp_path / "store.db").unlink()
    held = board_live("edition", "verify", "edition.json.gz")
    assert (held.code, held.out) == (
        0,
        "edition.json.gz holds: its numbers come out of itself, SHA-256 (unpacked) "
        f"{hashlib.sha256(to_bytes(public)).hexdigest()}\n",
    )
    assert "its private problems are left out" in held.err
    whole = board_live("edition", "verify", "whole.json", "--json")
    assert whole.document == {
        "file": "whole.json", "digest": frozen.digest, "holds": True, "other_numbers": [], "private_left_out": False
    }  # fmt: skip
    first = public.runs[0]
    changed = replace(public, runs=(replace(first, n_correct=tuple(0 for _ in first.n_correct)), *public.runs[1:]))
    (tmp_path / "changed.json").write_bytes(to_bytes(changed))
    other = board_live("edition", "verify", "changed.json")
    assert (other.code, other.out) == (1, "")
    assert f"this version computes own otherwise than {public.software} did" in other.err
    for body in (b"{}", b"\x1f\x8bnothing", pack(b"[" * 100_000), pack(to_bytes(public))[:-20]):
        (tmp_path / "none.gz").write_bytes(body)
        refused = board_live("edition", "verify", "none.gz")
        assert refused.code == 2
        assert "what to do" in refused.err


def test_a_published_file_of_some_of_the_models_says_what_cannot_be_computed_again(
    board_live: Live, tmp_path: Path
) -> None:
    """The others take part in the audits, and are not published."""
    assert board_live("edition", "freeze", "a", "m0", "m1", "m2", "memoriser").code == 0
    public = public_part(load_frozen_board(tmp_path, "a").edition)
    assert {run.model for run in public.runs} == {"m0", "m1", "m2", "memoriser"}
    (tmp_path / "edition.json.gz").write_bytes(pack(to_bytes(public)))
    held = board_live("edition", "verify", "edition.json.gz")
    assert held.code == 0
    assert "cannot be computed again: contamination, difficulty, health, broken months\n" in held.err


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
