"""``live audit difficulty`` at a terminal."""

from __future__ import annotations

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
    (bad,) = board_live(*asked, "--band=3.0..4.0").document["candidates"]
    assert not bad["result"]["accepted"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--candidate", "atcoder:round-40-medium"], "--candidate and --band go together"),
        (["--band", "0..1"], "--candidate and --band go together"),
        (["--candidate", "atcoder:nope", "--band", "0..1"], 'no results on the problem "atcoder:nope"'),
        (["--candidate", "atcoder:round-40-medium", "--band", "1..0"], 'cannot read --band "1..0"'),
        (["--near", "m99"], 'no results of the model "m99"'),
    ],
)
def test_bad_options_are_named(board_live: Live, options: list[str], said: str) -> None:
    ended = board_live("audit", "difficulty", *options)
    assert ended.code == 2
    assert said in ended.err.splitlines()[0]


def test_too_few_models_give_no_fit(board_live: Live) -> None:
    ended = board_live("audit", "difficulty", "m1", "m2")
    assert ended.code == 3
    assert "no fit: " in ended.out
