from __future__ import annotations

from typing import Any

import pytest

from eval.pictures import kinds
from eval.publishing.publication import Published
from eval.sheets import Sheet, Table
from tests.eval.editions.built import HOSTILE, invented, published
from tests.eval.pictures.drawn import LEFT, RIGHT, Drawn
from tests.eval.pictures.small import drawn, months_edition, with_numbers

PIXEL = 0.11


def row(
    name: str, saturated: float | None, fresh: float | None, half: float | None = 0.1, **changes: Any
) -> dict[str, Any]:
    """A run as the saturation sheet has it; ``half`` is half the width of its gap's interval."""
    gap = None if saturated is None or fresh is None else saturated - fresh
    ends = (None, None) if gap is None or half is None else (max(-1.0, gap - half), min(1.0, gap + half))
    fields = {"model": name, "saturated": saturated, "fresh": fresh, "gap": gap, "low": ends[0], "high": ends[1]}
    return fields | {"n_saturated": 50, "n_fresh": 40, "doubt": None} | changes


def edition(*rows: dict[str, Any], broken: dict[str, list[str]] | None = None) -> Published:
    """A small edition whose saturation sheet says this."""
    sets = {"saturated": {"written": "until 2024"}, "fresh": {"written": "since 2025"}}
    data = {"rows": list(rows), "broken_months": broken or {}, **sets}
    sheet = Sheet(
        "Saturated against fresh", ("saturated: until 2024: 50",), (Table("", (), (), ("a note",)),), (), data
    )
    return with_numbers(months_edition({"atcoder": {"2024-02": (12, 6)}}), saturation=sheet)


def shares(shown: Drawn, points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points of the page as shares on the two sets, by the lines at 0 % and 100 %."""
    heights = [path[0][1] for path in shown.paths("grid-y")]
    bottom, top = max(heights), min(heights)
    return [((x - LEFT) / (RIGHT - LEFT), (bottom - y) / (bottom - top)) for x, y in points]


def test_marks_bars_and_the_diagonal() -> None:
    shown = drawn(edition(row("falls", 0.9, 0.4), row("holds", 0.5, 0.5, 0.2)), "saturation")
    assert shares(shown, shown.marks("sure")) == [
        pytest.approx((0.9, 0.4), abs=0.002),
        pytest.approx((0.5, 0.5), abs=0.002),
    ]
    first, second = shown.paths("sure-95")
    assert shares(shown, first) == [pytest.approx((0.9, 0.3), abs=0.002), pytest.approx((0.9, 0.5), abs=0.002)]
    assert shares(shown, second) == [pytest.approx((0.5, 0.3), abs=0.002), pytest.approx((0.5, 0.7), abs=0.002)]
    assert shares(shown, shown.paths("diagonal")[0]) == [
        pytest.approx((0, 0), abs=0.002),
        pytest.approx((1, 1), abs=0.002),
    ]


def test_an_interval_ends_where_shares_end_and_one_without_has_no_bar() -> None:
    shown = drawn(edition(row("low", 0.05, 0.02, 0.3), row("sole", 0.4, 0.3, None)), "saturation")
    assert len(shown.marks("sure")) == 2
    (bar,) = shown.paths("sure-95")
    assert [y for _, y in shares(shown, bar)] == pytest.approx([0, 0.32], abs=0.002)


def test_runs_are_numbered_by_their_gap_and_named_below() -> None:
    shown = drawn(edition(row("narrow", 0.5, 0.45), row("wide", 0.9, 0.2), row("middle", 0.7, 0.4)), "saturation")
    ((x, y),) = [
        mark for mark in shown.marks("sure") if mark[0] == pytest.approx(LEFT + 0.9 * (RIGHT - LEFT), abs=PIXEL)
    ]
    numbers = [one for one in shown.root.iter("{http://www.w3.org/2000/svg}text") if one.text == "1"]
    near = [(float(one.get("x")), float(one.get("y"))) for one in numbers]
    assert any(abs(at - x) < 25 and abs(height - y) < 25 for at, height in near)
    assert [word for word in shown.words if word in {"wide", "middle", "narrow"}] == ["wide", "middle", "narrow"]
    assert {"+70.0", "+30.0", "+5.0"} <= set(shown.words)


def test_doubtful_and_broken_runs_have_marks_of_their_own() -> None:
    of = edition(row("sure", 0.9, 0.4), row("double", 0.8, 0.4, doubt="another run"), broken={"sure": ["2025-01"]})
    shown = drawn(of, "saturation")
    assert shares(shown, shown.marks("doubtful")) == [pytest.approx((0.8, 0.4), abs=0.002)]
    assert "fill:#ffffff" in shown.styles("doubtful")
    assert shown.marks("broken") == shown.marks("sure")
    assert {"in no comparison with others", "has months that look broken"} <= set(shown.words)
    assert [cells[-1] for cells in shown.picture.data.rows] == ["2025-01 looks broken", "another run"]


def test_the_alternative_text_has_the_numbers() -> None:
    of = edition(row("falls", 0.9, 0.4), row("holds", 0.5, 0.5, 0.2), row("half", 0.6, 0.35, doubt="another run"))
    assert drawn(of, "saturation").picture.alt == (
        "pass@1 of 3 runs on saturated problems (until 2024) against fresh ones (since 2025). "
        "Median gap +25.0 points; widest +50.0 (falls: 90.0 % against 40.0 %). "
        "Narrowest +0.0 (holds: 50.0 % against 50.0 %). "
        "The 95 % interval of the gap lies above 0 for 2 of 3. In no comparison with others: 1 of them."
    )


def test_of_many_runs_those_with_the_widest_gaps_are_numbered() -> None:
    rows = [row(f"run {place:03d}", 0.9, 0.1 + 0.002 * place) for place in range(300)]
    shown = drawn(edition(*rows), "saturation")
    assert len(shown.marks("sure")) == 300
    assert "run 019" in shown.words
    assert "run 020" not in shown.words
    assert "numbered: the 20 with the widest gaps of 300 runs" in shown.words
    assert len(shown.picture.data.rows) == 300


def test_without_two_sets_or_a_gap_there_is_no_picture() -> None:
    assert list(kinds()["saturation"](with_numbers(edition(), saturation=None))) == []
    assert list(kinds()["saturation"](edition())) == []
    assert list(kinds()["saturation"](edition(row("alone", None, 0.4)))) == []


def test_an_invented_edition() -> None:
    of = published(invented())
    shown = drawn(of, "saturation")
    assert len(shown.picture.data.rows) == 5
    assert HOSTILE in [cells[1] for cells in shown.picture.data.rows]
    assert len(shown.marks("sure")) == 4
    assert len(shown.marks("doubtful")) == 1  # the model without a cut-off


@pytest.mark.shared
def test_the_recorded_board(recorded_edition: Published) -> None:
    shown = drawn(recorded_edition, "saturation")
    assert len(shown.marks("sure")) == 12
    assert len(shown.marks("doubtful")) == 4
    assert "widest +59.6 (DeepSeek-V3: 75.8 % against 16.2 %)" in shown.picture.alt
    assert "lies above 0 for 15 of 16" in shown.picture.alt
    assert len(shown.picture.svg) < 25_000
