from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from eval.editions.document import EditionSettings
from eval.models import ModelEntry
from eval.publishing.publication import Published
from eval.sheets import Sheet
from tests.eval.editions.built import edition_problem, edition_run, freeze_built, invented, published
from tests.eval.facts import claim, model, registry
from tests.eval.pictures.drawn import LEFT, RIGHT, Drawn
from tests.eval.pictures.small import drawn, months_edition, with_numbers

PIXEL = 0.11


def heights(shown: Drawn, tag: str) -> list[float]:
    """How high the boxes of a tag are, from left to right."""
    return [bottom - top for _, top, _, bottom in sorted(shown.boxes(tag))]


def test_bars_are_stacked_by_difficulty_on_one_scale() -> None:
    # Of 9 and 6 problems in turn a third each is easy, medium and hard.
    shown = drawn(
        months_edition({"atcoder": {"2024-01": (9, 0), "2024-03": (6, 0)}, "codeforces": {"2024-02": (3, 0)}}),
        "coverage",
    )
    month = (RIGHT - LEFT) / 3
    for level in range(3):
        left, *_, right = heights(shown, f"0-{level}")
        assert right == pytest.approx(left * 2 / 3, abs=PIXEL)
        assert heights(shown, f"1-{level}") == pytest.approx([left / 3], abs=PIXEL)
        middles = [(box[0] + box[2]) / 2 for box in sorted(shown.boxes(f"0-{level}"))]
        assert middles == pytest.approx([LEFT + month / 2, LEFT + 2.5 * month], abs=PIXEL)
    easy, medium, hard = (sorted(shown.boxes(f"0-{level}"))[0] for level in range(3))
    assert easy[1] == pytest.approx(medium[3], abs=PIXEL)
    assert medium[1] == pytest.approx(hard[3], abs=PIXEL)
    assert {"atcoder", "15 problems", "codeforces", "3 problems", "9", "easy", "medium", "hard"} <= set(shown.words)
    assert [row[:5] for row in shown.picture.data.rows] == [
        ("2024-01", "atcoder", 3, 3, 3),
        ("2024-02", "codeforces", 1, 1, 1),
        ("2024-03", "atcoder", 2, 2, 2),
    ]


def test_what_is_not_sound_or_has_no_date_is_counted_in_words() -> None:
    # Of 58 public problems one is withdrawn, one flagged as unsound, one undated; 20 months of 2 problems at most.
    shown = drawn(published(invented()), "coverage")
    words = " ".join(shown.words)
    assert "55 problems" in words
    assert "left out: 2 problems withdrawn or flagged" in words
    assert "1 problem without a date" in words
    assert "models without a cut-off: 1" in words
    assert sum(int(str(row[-1])) for row in shown.picture.data.rows) == 55
    assert "hush-hush" not in shown.picture.svg.decode()


def test_cutoffs_stand_over_the_months_each_model_once() -> None:
    problems = [edition_problem(place, exposed_at=f"2024-0{place + 1}-15T12:00") for place in range(6)]
    released = {"release": claim("2024-05-09").cutoff, "release_source": "https://example.org"}
    models = [
        model("one", "2024-02"),
        model("two", "2024-02"),
        model("early", "2023-06"),
        model("late", "2025-02"),
        model("assumed", None, **released),
        ModelEntry("unknown"),
    ]
    runs = [edition_run(one.name, [(0, 1, 1)]) for one in models]
    runs.append(edition_run("two (again)", [(0, 1, 1)], model="two", entry="two"))
    shown = drawn(published(freeze_built(problems, runs, registry(*models))), "coverage")
    month = (RIGHT - LEFT) / 6
    ((x, _),) = shown.marks("cutoffs")
    assert x == pytest.approx(LEFT + month * (2 + 0.5 / 31), abs=PIXEL)  # 1 March 12:00 UTC
    assert shown.word("2")[0] == pytest.approx(x, abs=PIXEL)
    ((x, _),) = shown.marks("cutoffs-assumed")
    assert x == pytest.approx(LEFT + month * (4 + 9.5 / 31), abs=PIXEL)
    assert {"1?", "← 1 earlier", "1 later →", "release date stands in (?)"} <= set(shown.words)
    assert "The cut-offs of 5 models end between 2023-07-01 and 2025-03-01" in shown.picture.alt
    assert "cut-off ends 2024-03-01T12:00Z: one, two" in shown.picture.data.notes


def test_without_a_fit_the_reason_stands_in_place_of_the_bands() -> None:
    shown = drawn(months_edition({"atcoder": {"2024-02": (12, 6)}}), "coverage")
    assert "no bands: needs at least 5 models" in " ".join(shown.words)
    assert "No bands of difficulty: needs at least 5 models" in shown.picture.alt
    assert not shown.has("bands")


def band(low: float, n: int, share: float | None, gap: str | None = None) -> dict[str, Any]:
    """A band half a logit wide, as the difficulty sheet has it."""
    fields = {"information": 20.0, "se": 0.2, "near": []}
    return {"low": low, "high": low + 0.5, "n_problems": n, "share_of_information": share, "gap": gap, **fields}


def with_bands(bands: list[dict[str, Any]], models: Sequence[tuple[str, float | None, float | None]]) -> Published:
    """A small edition whose difficulty sheet says this."""
    data = {
        "refusal": None,
        "bands": bands,
        "beyond_the_strongest": 8,
        "below_the_weakest": 2,
        "models": [{"model": name, "ability": ability, "se": se} for name, ability, se in models],
    }
    of = months_edition({"atcoder": {"2024-02": (12, 6)}})
    return with_numbers(of, difficulty=Sheet("Difficulty", (), (), (), data))


def test_bands_models_and_what_is_beyond_reach() -> None:
    bands = [
        band(-0.75, 4, 0.3),
        band(-0.25, 16, 0.7),
        band(0.25, 3, 0.0, "only 3 problems"),
        band(0.75, 0, None, "empty"),
    ]
    of = with_bands(bands, [("weak", -0.5, 0.1), ("strong", 0.5, None), ("lost", None, None)])
    shown = drawn(of, "coverage")
    low, high = heights(shown, "bands")
    assert high == pytest.approx(4 * low, abs=4 * PIXEL)
    assert heights(shown, "bands-thin") == pytest.approx([low * 3 / 4, 0], abs=PIXEL)
    assert heights(shown, "outside") == pytest.approx([low / 2, low * 2], abs=PIXEL)
    assert heights(shown, "weights")[0] == pytest.approx(heights(shown, "weights")[1] * 3 / 7, abs=PIXEL)
    middles = [(box[0] + box[2]) / 2 for box in sorted(shown.boxes("bands"))]  # at -0.5 and 0.0
    logit = 2 * (middles[1] - middles[0])
    (weak, _), (strong, _) = sorted(shown.marks("abilities"))
    assert weak == pytest.approx(middles[0], abs=PIXEL)
    assert strong == pytest.approx(middles[1] + 0.5 * logit, abs=PIXEL)
    ((interval,),) = [shown.paths("abilities-95")]
    assert [x for x, _ in interval] == pytest.approx([weak - 0.196 * logit, weak + 0.196 * logit], abs=PIXEL)
    said = (
        "Beyond reach: no model solves 8 problems; bands without a problem: +0.75 to +1.25; "
        "too few problems or too large an error: +0.25 to +0.75. Every model that tried solves 2 problems."
    )
    assert said in " ".join(shown.words)
    assert said in shown.picture.alt
    assert "ability of weak: -0.50, s.e. 0.10" in shown.picture.data.notes


def test_many_models_are_marks_alone() -> None:
    models = [(f"model {place}", place / 100 - 1, 0.1) for place in range(300)]
    shown = drawn(with_bands([band(-1.25 + 0.5 * place, 9, 0.1) for place in range(8)], models), "coverage")
    assert len(shown.marks("abilities")) == 300
    assert not shown.has("abilities-95")


def test_an_edition_without_problems_or_dates_says_so() -> None:
    for problems in ([], [edition_problem(0, exposed_at=None)]):
        shown = drawn(published(freeze_built(problems, [], registry(model("steady")))), "coverage")
        assert "no sound problem has a date of publication" in shown.words
        assert shown.picture.data.rows == ()
        assert shown.picture.alt.startswith("0 problems by month of publication")


def test_filters_are_said_and_kept() -> None:
    of = months_edition(
        {"atcoder": {"2024-02": (12, 6)}, "codeforces": {"2024-02": (3, 0)}},
        settings=EditionSettings(platforms=("atcoder",)),
    )
    shown = drawn(of, "coverage")
    assert "platforms: atcoder" in " ".join(shown.words)
    assert "codeforces" not in shown.words


@pytest.mark.shared
def test_the_recorded_board(recorded_edition: Published) -> None:
    shown = drawn(recorded_edition, "coverage")
    assert shown.picture.alt.startswith("1,055 problems by month of publication and difficulty, 2023-05 to 2025-04.")
    # Counted in the recorded matrix itself.
    assert "atcoder: 183 easy, 174 medium, 245 hard. codeforces: 4 easy, 2 medium, 3 hard." in shown.picture.alt
    assert "The cut-offs of 12 models end between 2023-09-01 and 2025-02-01" in shown.picture.alt
    assert recorded_edition.edition.numbers.difficulty.notes[0].startswith("beyond the strongest model: 144 problems")
    assert "no model solves 144 problems" in shown.picture.alt
    assert len(shown.boxes("bands")) == 12
    assert len(shown.marks("abilities")) == len(shown.paths("abilities-95")) == 16
    assert len(shown.picture.svg) < 25_000
