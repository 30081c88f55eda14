"""``live audit stability``, ``weights``, ``saturation``, ``memorisation`` and ``split`` at a terminal."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.live.command import Live

SHARES = "[difficulty]\neasy = 1\nmedium = 1\nhard = 2\n"


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    path = tmp_path / "work.toml"
    path.write_text(SHARES, encoding="utf-8")
    return path


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_bytes(b"a key of 24 bytes, so so\n")
    path.chmod(0o600)
    return path


def test_stability_after_the_latest_cut_off(board_live: Live, workload: Path) -> None:
    ended = board_live("audit", "stability", "--weights", workload)
    assert ended.code == 0
    for words in ("after the latest cut-off: 2024-09 (late)", "What was changed", "your weights", "not run: "):
        assert words in ended.out
    (group,) = board_live("audit", "stability", "--json").document["groups"]
    assert group["n_problems"] == 42
    models = {one["model"]: one for one in group["models"]}
    assert models["m7"]["rank"] == 1
    for one in models.values():
        assert one["overall"]["best"] <= one["rank"] <= one["overall"]["worst"]


def test_stability_in_a_window_of_ones_own(board_live: Live) -> None:
    ended = board_live("audit", "stability", "--any-time", "--since", "2024-10", "--until", "2025-12", "--json")
    (group,) = ended.document["groups"]
    assert group["n_problems"] == 42
    assert (ended.document["window_from"], ended.document["seed"]) == ("2024-10-01T00:00:00Z", 0)
    assert len(ended.document["problem_set_digest"]) == 64
    seen = board_live("audit", "stability", "--any-time", "--since", "2023", "--until", "2023-12")
    assert seen.code == 3
    assert "10 of 10 models may have seen problems (late may have seen 78): leave out --any-time" in " ".join(
        seen.out.split()
    )  # one contest every 14 days, from 7 January
    assert board_live("audit", "stability", "--any-time").code == 2
    assert board_live("audit", "stability", "--since", "2025-03").code == 3
    assert board_live("audit", "stability", "m1", "m2").code == 3
    again = board_live("audit", "stability", "--any-time", "--since", "2024-10", "--until", "2025-12", "--json")
    assert ended.document["groups"] == again.document["groups"]


def test_weights_beside_the_plain_score(board_live: Live, workload: Path) -> None:
    ended = board_live("audit", "weights", "--weights", workload, "--json")
    assert ended.code == 0
    rows = {row["model"]: row for row in ended.document["rows"]}
    assert (rows["m3"]["n_problems"], rows["late"]["n_problems"]) == (102, 42)
    weighted = rows["m3"]["weighted"]
    assert weighted["score"] < rows["m3"]["plain"]["score"]  # hard problems weigh more
    assert weighted["low"] < weighted["score"] < weighted["high"]
    assert weighted["n_eff"] < 102
    shown = board_live("audit", "weights", "--weights", workload, "m3")
    assert "workload: easy 25 %, medium 25 %, hard 50 %" in shown.out
    assert "these scores do not rank them" in shown.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[platform]\natcoder = -1\n", 'the weight of "atcoder" cannot be -1'),
        ("[x]\n", 'unknown "x"'),
        (None, "cannot be read"),
    ],
)
def test_weights_that_cannot_be_used(board_live: Live, tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "w.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    ended = board_live("audit", "weights", "--weights", path)
    assert ended.code == 2
    first, second = ended.err.splitlines()
    assert said in first
    assert second.startswith("  what to do: ")


def test_weights_of_kinds_that_are_not_there(board_live: Live, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text("[platform]\ncodeforces = 1\n", encoding="utf-8")
    ended = board_live("audit", "weights", "--weights", "w.toml")
    assert ended.code == 2
    assert 'w.toml: no problem is of the platform "codeforces"; there are atcoder, leetcode' in ended.err
    (tmp_path / "w.toml").write_text("[difficulty]\neazy = 1\n", encoding="utf-8")
    for audit in ("weights", "stability"):
        ended = board_live("audit", audit, "--weights", "w.toml")
        assert ended.code == 2
        assert 'w.toml: no problem is labelled "eazy"; there are easy, medium, hard' in ended.err.splitlines()[0]


@pytest.mark.parametrize(
    "command", ["eval --after-cutoff", "audit runs", "audit stability", "compare m1 m2", "audit problems"]
)
def test_filters_that_match_nothing(board_live: Live, command: str) -> None:
    words = command.split()
    ended = board_live(*words, "--platform", "nosuch")
    assert ended.code == 2
    assert 'no problem is of the platform "nosuch"; there are atcoder, leetcode' in ended.err.splitlines()[0]
    ended = board_live(*words, "--difficulty", "EASY", "--difficulty", "eazy")
    assert ended.code == 2
    assert 'no problem is labelled "eazy"; there are easy, medium, hard' in ended.err.splitlines()[0]


def test_saturation_between_two_sets(board_live: Live) -> None:
    sets = ["--saturated", "platform=leetcode,until=2023-12", "--fresh", "platform=leetcode,since=2024-01"]
    ended = board_live("audit", "saturation", *sets, "--json")
    assert ended.code == 0
    rows = {row["model"]: row for row in ended.document["rows"]}
    assert rows["memoriser"]["saturated"] > 0.9
    assert ended.document["ceiling_saturated"] == pytest.approx(0.1)
    assert max(rows, key=lambda name: rows[name]["gap"]) == "memoriser"
    assert rows["late"]["n_exposed"] > 0 == rows["m3"]["n_exposed"]
    assert rows["late"]["n_fresh"] + rows["late"]["n_exposed"] == rows["m3"]["n_fresh"]
    shown = board_live("audit", "saturation", *sets)
    assert "above 90% on the saturated set" in shown.out


def test_saturation_against_published_scores(board_live: Live, tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("model,score,n\nM3,80,164\nelse,90,164\n", encoding="utf-8")
    ended = board_live("audit", "saturation", "--published", "old.csv", "--fresh", "since=2024-10")
    assert ended.code == 0
    assert "published models without a run here: 1 (else)" in ended.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fresh", "since=2024"], "one saturated side is needed"),
        (["--fresh", "2024", "--saturated", "until=2023"], 'cannot read "2024" in the set "2024"'),
        (["--fresh", "since=2023-06", "--saturated", "until=2023-12"], "share"),
        (["--fresh", "since=2024", "--saturated", "until=2023", "--benchmark", "mbpp"], "--benchmark"),
        (["--fresh", "since=2024", "--published", "none.csv"], "none.csv cannot be read"),
        (
            ["--fresh", "platform=nosuch", "--saturated", "until=2023"],
            'no problem is of the platform "nosuch"; there are',
        ),
        (["--fresh", "since=2024", "--saturated", "difficulty=eazy"], 'no problem is labelled "eazy"; there are easy'),
    ],
)
def test_sets_that_cannot_be_used(board_live: Live, options: list[str], said: str) -> None:
    ended = board_live("audit", "saturation", *options)
    assert ended.code == 2
    assert said in ended.err.splitlines()[0]


def test_memorisation_against_the_stores_gaps(board_live: Live, tmp_path: Path) -> None:
    names = [*(f"m{place}" for place in range(8)), "memoriser", "late"]
    lines = [f"{name},{2 if name == 'memoriser' else place / 10},us" for place, name in enumerate(names)]
    (tmp_path / "m.csv").write_text("model,measure,origin\n" + "\n".join(lines) + "\n", encoding="utf-8")
    ended = board_live("audit", "memorisation", "m.csv", "--platform", "leetcode", "--json")
    assert ended.code == 0
    assert ended.document["correlation"]["n"] == 10
    points = {one["model"]: one for one in ended.document["points"]}
    assert points["memoriser"]["gap"] == max(one["gap"] for one in points.values())
    assert "plain difference in differences" in ended.document["gap"]
    shown = board_live("audit", "memorisation", "m.csv")
    assert "Rank correlation" in shown.out


def test_memorisation_of_few_models_shows_points_only(board_live: Live, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("model,loglik,gap\na,-1,50\nb,-2,25\n", encoding="utf-8")
    ended = board_live("audit", "memorisation", "m.csv", "--measure", "loglik")
    assert ended.code == 3
    assert "no correlation: needs at least 10 models" in ended.out
    assert "+50.0" in ended.out
    ended = board_live("audit", "memorisation", "m.csv")
    assert ended.code == 2
    assert "has no column measure" in ended.err
    ended = board_live("audit", "memorisation", "m.csv", "--measure", "loglik", "--since", "2024")
    assert ended.code == 2
    assert "the gap is a column of the file" in ended.err


def test_memorisation_by_problem(board_live: Live, tmp_path: Path) -> None:
    """The memoriser has learnt leetcode's problems before its cut-off: a count that is high there goes with solving."""
    listed = board_live("problems", "list", "--json").document
    rows = [(one["problem"], 20 if one["problem"].startswith("leetcode") else 1) for one in listed]
    lines = [f"{name},{count + place % 5}" for place, (name, count) in enumerate(rows)]
    (tmp_path / "p.csv").write_text("problem,count\n" + "\n".join(lines) + "\nnosuch,3\n", encoding="utf-8")
    asked = ["audit", "memorisation", "p.csv", "--measure", "count"]
    ended = board_live(*asked, "--json")
    assert ended.code == 0
    found = {row["model"]: row for row in ended.document["rows"]}
    assert found["memoriser"]["before"]["count"]["low"] > 1
    assert found["memoriser"]["before"]["p_holm"] < 0.01
    assert found["memoriser"]["after"]["p_holm"] > 0.05
    assert ended.document["unknown"] == ["nosuch"]
    shown = board_live(*asked)
    assert "Memorisation by problem" in shown.out
    assert "before / after" in shown.out
    assert board_live(*asked, "--csv").out.startswith("table,model,side,cutoff,")
    assert board_live(*asked, "--md").out.startswith("# Memorisation by problem")


def test_measures_of_problems_that_give_nothing(board_live: Live, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("problem,measure\nnosuch,3\n", encoding="utf-8")
    ended = board_live("audit", "memorisation", "p.csv")
    assert ended.code == 3
    assert "left out: no result on a problem of the file" in ended.out
    (tmp_path / "p.csv").write_text("problem,measure\nnosuch,-3\n", encoding="utf-8")
    ended = board_live("audit", "memorisation", "p.csv")
    assert ended.code == 2
    assert "p.csv, line 2, measure: -3 is negative" in ended.err.splitlines()[0]


def test_split_by_a_key(board_live: Live, key: Path) -> None:
    ended = board_live("audit", "split", "--key-file", key, "--json")
    assert ended.code == 0
    assert ended.err == ""
    document = ended.document
    assert document["n_private"] + document["n_public"] == 180
    assert len(document["rows"]) == 10
    assert len(document["pairs"]) == 45
    assert "a key of 24" not in ended.out
    rows = list(csv.reader(io.StringIO(board_live("audit", "split", "--key-file", key, "--csv").out)))
    assert rows[0][:4] == ["table", "model", "public", "private"]


def test_the_parts_as_lists(board_live: Live, key: Path) -> None:
    asked = ["audit", "split", "--key-file", key]
    private = board_live(*asked, "--list", "private").out.split()
    public = board_live(*asked, "--list", "public").out.split()
    assert len(private) + len(public) == len({*private, *public}) == 180
    assert all(one.startswith(("atcoder:round-", "leetcode:round-")) for one in private)
    some = board_live(*asked, "--list", "private", "--platform", "atcoder").out.split()
    assert some == [one for one in private if one.startswith("atcoder:")]
    key.write_bytes(key.read_bytes().strip())  # an editor's line end is no part of the key
    assert board_live(*asked, "--list", "private").out.split() == private
    assert board_live(*asked, "--list", "private", "--json").code == 2


def test_a_key_that_others_can_read_or_guess(board_live: Live, key: Path) -> None:
    key.chmod(0o644)
    ended = board_live("audit", "split", "--key-file", key, "--list", "public")
    assert ended.code == 0
    assert f"chmod 600 {key}" in ended.err
    key.write_bytes(b"short\n")
    ended = board_live("audit", "split", "--key-file", key)
    assert ended.code == 2
    assert "a key of 5 bytes can be guessed" in ended.err
    assert "short" not in ended.err
    assert board_live("audit", "split", "--key-file", "none").code == 2


@pytest.fixture
def broken_live(live: Live, board_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Live:
    """Eight models on a year of 8 easy problems a month; m0 solves nothing in August."""
    monkeypatch.setenv("LIVE_MODELS", str(board_folder / "models.toml"))
    problems, results = [], []
    for number in range(96):
        month, contest = 1 + number % 12, f"round-{number % 48}"
        key = {"platform": "atcoder", "id": f"p{number}"}
        starts = f"2024-{month:02}-15T12:00:00+00:00"
        more = {"contest": {"id": contest, "starts_at": starts}, "released": starts, "difficulty": "easy"}
        problems.append({**key, "title": key["id"], **more, "statement": f"Problem {number}."})
        for place in range(8):
            right = 0 if (place, month) == (0, 8) else 7 + (number + place) % 3
            results.append({**key, "model": f"m{place}", "n_samples": 10, "n_correct": right})
    for name, rows in (("problems", problems), ("results", results)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        assert live("import", name, path, "-f", "jsonl").code == 0
    return live


@pytest.mark.parametrize(
    "asked",
    [
        "weights --weights w.toml",
        "weights --weights w.toml m0",
        "stability",
        "saturation --saturated until=2024-06 --fresh since=2024-07",
        "saturation --saturated until=2024-06 --fresh since=2024-07 m0",
        "split --key-file key",
        "split --key-file key m0",
    ],
)
def test_broken_months_are_named(broken_live: Live, key: Path, tmp_path: Path, asked: str) -> None:
    """Also of a model that is asked for alone: it is judged beside all others of the store."""
    (tmp_path / "w.toml").write_text("[difficulty]\neasy = 1\n", encoding="utf-8")
    document = broken_live("audit", *asked.split(), "--json").document
    assert document["broken_months"] == {"m0": ["2024-08"]}
    said = "m0: results of 2024-08 look broken (live audit runs) and are in these numbers"
    assert said in document["conditions"]


def test_gaps_of_the_store_leave_broken_months_out(broken_live: Live, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("model,measure\nm0,1\n", encoding="utf-8")
    ended = broken_live("audit", "memorisation", "m.csv", "--json")
    assert ended.code == 3  # one model
    assert "left out: m0: results of 2024-08, which look broken (live audit runs)" in ended.document["conditions"]
