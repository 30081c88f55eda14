"""``live audit difficulty`` at a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.command import Live


def test_it_shows_bands_models_and_labels(board_live: Live) -> None:
    ended = board_live("audit", "difficulty", "--near", "m7")
    assert ended.code == 0
    for heading in ("Bands of difficulty", "Models", "What each difficulty label really weighs"):
        assert heading in ended.out
    document = board_live("audit", "difficulty", "--json").document
    abilities = {row["model"]: row["ability"] for row in document["models"]}
    assert abilities["m0"] < abilities["m3"] < abilities["m7"]


def test_a_candidate_is_put_to_the_test(board_live: Live) -> None:
    asked = ["audit", "difficulty", "--candidate", "atcoder:round-40-medium", "--json"]
    (good,) = board_live(*asked, "--band=-1.0..1.5").document["candidates"]
    assert good["result"]["accepted"]
    refused = board_live(*asked, "--band=3.0..4.0")
    (bad,) = refused.document["candidates"]
    assert not bad["result"]["accepted"]
    assert refused.code == 1
    shown = board_live(*asked[:-1], "--band=-1.0..1.5")
    assert shown.code == 0
    assert shown.out.index("Acceptance of new problems") < shown.out.index("Bands of difficulty")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--candidate", "atcoder:round-40-medium"], "--candidate and --band go together"),
        (["--band", "0..1"], "--candidate and --band go together"),
        (["--candidate", "atcoder:nope", "--band", "0..1"], 'no results on the problem "atcoder:nope"'),
        (["--candidate", "atcoder:round-40-medium", "--band", "1..0"], 'cannot read --band "1..0"'),
        (["--near", "m99"], '--near: no results of the model "m99"'),
    ],
)
def test_bad_options_are_named(board_live: Live, options: list[str], said: str) -> None:
    ended = board_live("audit", "difficulty", *options)
    assert ended.code == 2
    assert said in ended.err.splitlines()[0]


def test_too_few_problems_give_no_fit(board_live: Live) -> None:
    ended = board_live("audit", "difficulty", "--since", "2026")
    assert ended.code == 3
    assert "no abilities, and no difficulties: needs at least 5 models" in ended.out


def test_results_are_held_out_by_the_seed(board_live: Live) -> None:
    first, again, other = (
        board_live("audit", "difficulty", "--json", *seed).document["held_out"]
        for seed in ([], ["--seed", "0"], ["--seed", "1"])
    )
    assert first == again != other
    assert first["two_pl"] < first["item_mean"]
    assert "results held out, loss of each in nats" in " ".join(board_live("audit", "difficulty").out.split())


def test_models_that_are_named_are_shown_and_all_are_fitted(board_live: Live) -> None:
    some, every = (board_live("audit", "difficulty", "--json", *names).document for names in (["M3", "late"], []))
    assert {row["model"] for row in some["models"]} == {"m3", "late"}
    assert all(row in every["models"] for row in some["models"])
    assert "shown: late, m3; all were fitted" in some["conditions"]
    assert {name for band in some["bands"] for name in band["near"]} == {"m3", "late"}


def test_a_model_without_results_is_told_which_have_some(board_live: Live) -> None:
    hint = board_live("audit", "difficulty", "--near", "nosuch").err.splitlines()[1]
    assert "here are results of: late, m0, m1, m2, m3, m4, m5, m6, m7, memoriser;" in hint
    assert "live models list" in hint


def test_a_release_date_in_place_of_a_cut_off_is_marked(
    board_live: Live, board_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = (board_folder / "models.toml").read_text(encoding="utf-8").split("[[model]]\n")
    released = [
        'name = "late"\nprovider = "invented"\nrelease_date = "2024-09-30"\n' if 'name = "late"' in one else one
        for one in entries
    ]
    (tmp_path / "models.toml").write_text("[[model]]\n".join(released), encoding="utf-8")
    monkeypatch.setenv("LIVE_MODELS", str(tmp_path / "models.toml"))
    shown = board_live("audit", "difficulty", "late").out
    assert "2024-09-30?" in shown
    assert "late: cut-off unknown: release date used (2024-09-30)" in shown
    other = board_live("audit", "difficulty", "m3").out
    assert "release date" not in other
