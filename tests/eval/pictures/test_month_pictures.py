from __future__ import annotations

from dataclasses import replace

import pytest

from eval.editions.document import EditionSettings
from eval.models import ModelEntry
from eval.pictures import kinds
from eval.publishing.publication import Published
from tests.eval.editions.built import HOSTILE, invented, published
from tests.eval.facts import claim, model
from tests.eval.pictures.drawn import LEFT, RIGHT, Drawn, share_at
from tests.eval.pictures.small import PLAIN, drawn, months_edition, picture, with_numbers

PIXEL = 0.11
"""Lengths are rounded to a tenth."""

MONTH = (RIGHT - LEFT) / 3
"""The width of a month of ``PLAIN``."""


@pytest.fixture(scope="module")
def plain() -> Published:
    return months_edition({"atcoder": PLAIN})


def test_a_mark_is_as_high_as_the_share_and_in_the_middle_of_its_month(plain: Published) -> None:
    seen, unseen = drawn(plain, "months").marks("0-seen"), drawn(plain, "months").marks("0-unseen")
    assert [x for x, _ in seen + unseen] == pytest.approx([LEFT + MONTH / 2, LEFT + 1.5 * MONTH], abs=PIXEL)
    assert share_at(drawn(plain, "months"), "0", seen[0][1]) == pytest.approx(0.5, abs=0.002)
    assert share_at(drawn(plain, "months"), "0", unseen[0][1]) == pytest.approx(0.25, abs=0.002)


def test_bars_are_the_95_percent_interval(plain: Published) -> None:
    # 10 of 20, each a contest: s.e. = sqrt(20/19 * 20 * 0.25) / 20 = 0.11471, t(19) = 2.0930
    shown = drawn(plain, "months")
    ((_, one), (_, other)) = shown.paths("0-seen-95")[0]
    low, high = sorted(share_at(shown, "0", y) for y in (one, other))
    assert (low, high) == pytest.approx((0.5 - 2.0930 * 0.11471, 0.5 + 2.0930 * 0.11471), abs=0.003)


def test_few_problems_are_a_hollow_mark_with_their_number_and_no_bar(plain: Published) -> None:
    shown = drawn(plain, "months")
    ((x, y),) = shown.marks("0-unseen-few")
    assert share_at(shown, "0", y) == pytest.approx(0.25, abs=0.002)
    assert "fill:#ffffff" in shown.styles("0-unseen-few")
    assert "fill:#ffffff" not in shown.styles("0-unseen")
    assert not shown.has("0-unseen-few-95")
    assert shown.word("4")[0] == pytest.approx(x, abs=PIXEL)


def test_bars_below_count_the_problems(plain: Published) -> None:
    boxes = drawn(plain, "months").boxes("0-n")
    heights = [bottom - top for _, top, _, bottom in boxes]
    assert heights[1] == pytest.approx(heights[0], abs=PIXEL)
    assert heights[2] == pytest.approx(heights[0] * 4 / 20, abs=PIXEL)
    assert "n ≤ 20" in drawn(plain, "months").words


def test_the_cutoff_is_a_line_at_its_last_instant_and_coarse_words_shade_from_their_first_day(plain: Published) -> None:
    # "2024-01" ends with 31 January at UTC-12: 1 February 12:00 UTC, half a day of 29 into the month.
    shown, end = drawn(plain, "months"), LEFT + MONTH * (1 + 0.5 / 29)
    ((above, below),) = shown.paths("0-cutoff")
    assert above[0] == below[0] == pytest.approx(end, abs=PIXEL)
    assert "stroke-dasharray" not in shown.styles("0-cutoff")
    assert shown.boxes("0-cutoff-span")[0][::2] == pytest.approx((LEFT, end), abs=PIXEL)
    assert shown.boxes("0-seen-span")[0][::2] == pytest.approx((LEFT, end), abs=PIXEL)
    assert "cut-off 2024-01" in shown.words
    assert {"may have been seen", "after the cut-off", "days that the cut-off names"} <= set(shown.words)


def test_a_quarter_is_shaded_from_its_first_day() -> None:
    months = {f"2024-{month:02d}": (10, 5) for month in range(1, 7)}
    shown = drawn(months_edition({"atcoder": months}, model("steady", "2024-Q2")), "months")
    assert shown.boxes("0-cutoff-span")[0][::2] == pytest.approx((LEFT + (RIGHT - LEFT) / 2, RIGHT), abs=PIXEL)
    assert "cut-off 2024-Q2 →" in shown.words
    assert not shown.has("0-cutoff")  # its last instant is in July, where the axis has ended


def test_the_release_date_is_a_dashed_line_with_a_question_mark() -> None:
    entry = model("steady", None, release=claim("2024-02-20").cutoff, release_source="https://example.org")
    shown = drawn(months_edition({"atcoder": PLAIN}, entry), "months")
    assert "stroke-dasharray" in shown.styles("0-cutoff")
    assert "days that the cut-off names" not in shown.words
    assert "cut-off ? released 2024-02-20" in shown.words
    assert "Its release date stands in for the cut-off: 2024-02-20" in shown.picture.alt


def test_the_month_that_the_cutoff_falls_in_is_neither_seen_nor_unseen() -> None:
    shown = drawn(months_edition({"atcoder": PLAIN}, days=["2024-02-01T06:00"]), "months")
    assert len(shown.marks("0-part")) == 1
    assert not shown.marks("0-unseen")
    assert "in part after the cut-off" in shown.words


def test_a_margin_shades_more_and_decides_what_is_unseen() -> None:
    settings = EditionSettings(margin_hours=29 * 24)
    shown = drawn(months_edition({"atcoder": PLAIN}, settings=settings), "months")
    assert shown.boxes("0-seen-span")[0][2] == pytest.approx(LEFT + MONTH * (2 + 0.5 / 31), abs=PIXEL)
    assert len(shown.marks("0-seen")) == 2
    assert "margin of 696 h" in " ".join(shown.words)


def test_a_model_without_a_cutoff_has_no_line_and_marks_of_its_own() -> None:
    shown = drawn(months_edition({"atcoder": PLAIN}, ModelEntry("steady")), "months")
    assert not shown.has("0-cutoff")
    assert not shown.has("0-seen-span")
    assert len(shown.marks("0-unknown")) == 2
    assert "no cut-off: no cut-off and no release date is known" in shown.words
    assert "No cut-off: no cut-off and no release date is known; 36.4 % of 44 problems" in shown.picture.alt


def test_an_early_cutoff_is_named_at_the_side() -> None:
    shown = drawn(months_edition({"atcoder": PLAIN}, model("steady", "2021-09")), "months")
    assert "← cut-off 2021-09" in shown.words
    assert not shown.has("0-cutoff")
    assert not shown.has("0-seen-span")
    assert not shown.has("0-seen")


def test_each_platform_has_a_panel_of_its_own() -> None:
    of = months_edition({"codeforces": {"2024-02": (12, 3)}, "atcoder": {"2024-01": (16, 4), "2024-02": (10, 10)}})
    shown = drawn(of, "months")
    assert [word for word in shown.words if word in {"atcoder", "codeforces", "all platforms"}] == [
        "atcoder",
        "codeforces",
    ]
    assert share_at(shown, "0", shown.marks("0-seen")[0][1]) == pytest.approx(0.25, abs=0.002)
    assert share_at(shown, "0", shown.marks("0-unseen")[0][1]) == pytest.approx(1, abs=0.002)
    assert share_at(shown, "1", shown.marks("1-unseen")[0][1]) == pytest.approx(0.25, abs=0.002)
    assert shown.marks("1-unseen")[0][0] == shown.marks("0-unseen")[0][0]
    assert [row[:3] for row in shown.picture.data.rows] == [
        ("2024-01", "atcoder", 16),
        ("2024-02", "atcoder", 10),
        ("2024-02", "codeforces", 12),
    ]


def test_platforms_that_have_a_rate_together_alone_are_shown_together_too() -> None:
    shown = drawn(months_edition({"codeforces": {"2024-02": (6, 3)}, "atcoder": {"2024-02": (6, 3)}}), "months")
    assert "all platforms" in shown.words
    assert len(shown.marks("0-unseen")) == 1
    assert len(shown.marks("1-unseen-few")) == len(shown.marks("2-unseen-few")) == 1


def test_broken_months_are_crossed_and_named(plain: Published) -> None:
    (run,) = plain.edition.numbers.months
    months = tuple(replace(one, is_broken=one.month == "2024-02") for one in run.months)
    shown = drawn(with_numbers(plain, months=(replace(run, months=months),)), "months")
    assert shown.marks("0-broken") == shown.marks("0-unseen")
    assert "looks broken: 2024-02" in shown.words
    assert "It looks broken in 2024-02." in shown.picture.alt
    assert not drawn(plain, "months").has("0-broken")


def test_the_picture_says_by_itself_what_was_measured(plain: Published) -> None:
    shown = drawn(plain, "months")
    words = " ".join(shown.words)
    for part in (
        "steady",
        f"edition {plain.name}",
        "44 problems",
        plain.digest[:12],
        "frozen 2025-05-03T09:00Z",
        "problems published 2024-01-02 to 2024-03-05 (UTC)",
        "from 2024-02-01T12:00Z on",
        "there 24 of 24 problems, set",
        "2 samples for each problem",
        "t over contests",
    ):
        assert part in words
    described = shown.root.find("{http://www.w3.org/2000/svg}desc").text
    (row,) = plain.edition.numbers.own.rows
    for part in (row.problem_set_digest[:12], "temperature 0.2", "judged here"):
        assert part in described


def test_the_alternative_text_has_the_numbers(plain: Published) -> None:
    # After the cut-off: 6 of 24, each problem a contest: s.e. = sqrt(24/23 * 4.5) / 24 = 0.09029, t(23) = 2.0687
    assert picture(plain, "months").alt == (
        "pass@1 of steady by month of publication, 44 problems, 2024-01 to 2024-03. Its cut-off is 2024-01. "
        "In the months before it: 50.0 % of 20 problems. "
        "On the problems after it: 25.0 % (95 %: 6.3–43.7) of 24 problems. "
        "Months with fewer than 10 problems, which have no rate: 1 of 3."
    )


def test_the_data_are_the_numbers_shown(plain: Published) -> None:
    data = picture(plain, "months").data
    names = [column.heading for column in data.columns]
    assert names == ["month", "problems", "solved", "pass@1", "95 %", "with regard to the cut-off", "remark"]
    assert [row[:4] for row in data.rows] == [
        ("2024-01", 20, 10.0, 0.5),
        ("2024-02", 20, 5.0, 0.25),
        ("2024-03", 4, 1.0, None),
    ]
    assert [row[5] for row in data.rows] == ["may have been seen", "after the cut-off", "after the cut-off"]
    assert data.rows[2][4] is None
    assert data.rows[2][6] == "fewer than 10 problems: no rate"


def test_one_month_alone_is_a_picture() -> None:
    shown = drawn(months_edition({"atcoder": {"2024-02": (12, 6)}}), "months")
    ((x, y),) = shown.marks("0-unseen")
    assert x == pytest.approx((LEFT + RIGHT) / 2, abs=PIXEL)
    assert share_at(shown, "0", y) == pytest.approx(0.5, abs=0.002)
    assert "2024-02" in shown.words


def test_all_runs_have_the_same_months_and_their_slug_as_name() -> None:
    of = published(invented())
    shown = [Drawn(one) for one in kinds()["months"](of)]
    assert [one.picture.name for one in shown] == [f"months-{of.run_slugs[run.name]}" for run in of.edition.runs]
    assert len(shown) == 7
    assert HOSTILE in [run.name for run in of.edition.runs]
    labels = {tuple(word for word in one.words if word.startswith("2024-") and len(word) == 7) for one in shown}
    assert len(labels) == 1


@pytest.mark.shared
def test_the_recorded_board(recorded_edition: Published) -> None:
    of = recorded_edition
    shown = drawn(of, f"months-{of.run_slugs['DeepSeek-V3']}")
    months = {
        one.month: one
        for run in of.edition.numbers.months
        if run.run == "DeepSeek-V3"
        for one in run.months
        if one.platform == "leetcode"
    }
    # leetcode is the third panel; a month is one of 24.
    width = (RIGHT - LEFT) / 24
    july = next(y for x, y in shown.marks("2-seen") if x == pytest.approx(LEFT + 14.5 * width, abs=PIXEL))
    assert share_at(shown, "2", july) == pytest.approx(months["2024-07"].score, abs=0.002)
    assert "looks broken: 2025-01, 2025-03" in shown.words
    assert len(shown.marks("0-broken")) == 2
    assert "Its release date stands in for the cut-off: 2024-12-26" in shown.picture.alt
    assert "1,055 problems" in shown.picture.alt
    assert len(shown.picture.svg) < 25_000
    assert shown.picture.png is not None
    assert len(shown.picture.png) < 90_000
