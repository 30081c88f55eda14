"""Cut-offs as people write them, and the instant at which they end."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.cutoffs import Cutoff, CutoffPrecision, CutoffUnreadable, is_unknown, parse_cutoff

DAY, MONTH, QUARTER, PART, YEAR = CutoffPrecision


@pytest.mark.parametrize(
    ("text", "first", "last", "precision"),
    [
        ("2023-09", "2023-09-01", "2023-09-30", MONTH),
        ("2023.9", "2023-09-01", "2023-09-30", MONTH),
        ("2023-09-30", "2023-09-30", "2023-09-30", DAY),
        ("2024-06-01", "2024-06-01", "2024-06-01", DAY),
        ("2024.06.01", "2024-06-01", "2024-06-30", MONTH),
        ("2024.11.28", "2024-11-01", "2024-11-30", MONTH),
        ("2024-Q1", "2024-01-01", "2024-03-31", QUARTER),
        ("Q4 2024", "2024-10-01", "2024-12-31", QUARTER),
        ("2024", "2024-01-01", "2024-12-31", YEAR),
        ("early 2024", "2024-01-01", "2024-04-30", PART),
        ("mid 2024", "2024-05-01", "2024-08-31", PART),
        ("mid-2024", "2024-05-01", "2024-08-31", PART),
        ("late 2024", "2024-10-01", "2024-12-31", PART),
        ("End of 2023", "2023-10-01", "2023-12-31", PART),
        ("September 2023", "2023-09-01", "2023-09-30", MONTH),
        ("Sep 2023", "2023-09-01", "2023-09-30", MONTH),
        ("Sept. 2023", "2023-09-01", "2023-09-30", MONTH),
        ("  february   2024 ", "2024-02-01", "2024-02-29", MONTH),
        ("September 30, 2023", "2023-09-30", "2023-09-30", DAY),
        ("30 September 2023", "2023-09-30", "2023-09-30", DAY),
        ("Pretraining 2022.09, Finetuning 2023.07", "2023-07-01", "2023-07-31", MONTH),
        ("fine-tuning data: March 2023; pre-training 2023", "2023-01-01", "2023-12-31", YEAR),
    ],
)
def test_each_way_of_writing(text: str, first: str, last: str, precision: CutoffPrecision) -> None:
    cutoff = parse_cutoff(text)
    assert (cutoff.first, cutoff.last) == (date.fromisoformat(first), date.fromisoformat(last))
    assert cutoff.precision is precision
    assert cutoff.as_written == " ".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "soon",
        "",
        "2023-13",
        "2023-00",
        "2023-02-30",
        "2024-Q5",
        "23-09",
        "Smarch 2023",
        "2023-9-1",
        "9999-12",
        "２０２３",
        "Pretraining 2022.09, Finetuning soon",
        "Pretraining",
        "about Pretraining 2022.09",
    ],
)
def test_unreadable_dates_say_what_and_how(text: str) -> None:
    with pytest.raises(CutoffUnreadable) as error:
        parse_cutoff(text)
    assert f'"{text}"' in error.value.message
    assert "2023-09" in error.value.hint


@pytest.mark.parametrize(("text", "last"), [("2024-06-01", "2024-06-30"), ("2024-10-31", "2024-10-31")])
def test_a_registrys_first_or_last_of_a_month_stands_for_the_month(text: str, last: str) -> None:
    cutoff = parse_cutoff(text, from_registry=True)
    assert cutoff.precision is MONTH
    assert cutoff.last == date.fromisoformat(last)
    assert parse_cutoff("2024-10-09", from_registry=True).precision is DAY
    assert parse_cutoff("1 June 2024", from_registry=True).last == date(2024, 6, 1)


def test_the_end_is_the_last_tick_of_the_last_day_at_utc_minus_12() -> None:
    cutoff = parse_cutoff("2023-10")
    assert cutoff.after == datetime(2023, 11, 1, 12, tzinfo=UTC)
    assert cutoff.end == datetime(2023, 11, 1, 11, 59, 59, 999_999, tzinfo=UTC)


def test_a_span_must_not_end_before_it_begins() -> None:
    with pytest.raises(ValueError, match="cannot end"):
        Cutoff("x", date(2024, 2, 1), date(2024, 1, 1), DAY)


days = st.dates(date(1950, 1, 1), date(2099, 12, 31))


@given(days)
def test_a_day_reads_back_as_itself(day: date) -> None:
    cutoff = parse_cutoff(day.isoformat())
    assert cutoff.first == cutoff.last == day


@given(days)
def test_coarser_words_never_end_earlier(day: date) -> None:
    quarter = f"{day.year}-Q{(day.month + 2) // 3}"
    ends = [parse_cutoff(text).end for text in (day.isoformat(), f"{day:%Y-%m}", quarter, f"{day.year}")]
    assert ends == sorted(ends)


@given(days, st.datetimes(datetime(1950, 1, 1), datetime(2100, 12, 31), timezones=st.just(UTC)))
def test_strictly_after_the_end_is_the_half_open_window_from_after(day: date, instant: datetime) -> None:
    cutoff = parse_cutoff(day.isoformat())
    assert (instant > cutoff.end) == (instant >= cutoff.after)
    assert cutoff.after - cutoff.end == timedelta(microseconds=1)


@given(st.text(max_size=20))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        cutoff = parse_cutoff(text)
    except CutoffUnreadable:
        return
    assert cutoff.first <= cutoff.last


# What the three public registries write that is read as no date, and why.
UNREAD = {
    "-": "no date: the provider names one date only",
    "": "no date",
    "Unknown": "no date: the provider publishes none (Qwen3)",
    "2025-02-31": "February has no 31st (claude-haiku-4-5 by one provider of models.dev)",
}


def registry_strings(folder: Path) -> Iterator[str]:
    """Every cut-off and release date of the recorded registries, as written."""
    columns = {
        "haooowang_current.csv": ("cutoff_as_written", "reliable_cutoff_as_written"),
        "modelsdev_base.csv": ("knowledge", "release_date"),
        "modelsdev_conflicts.csv": ("stated_cutoffs",),
        "lcb_site_estimated_cutoffs_history.csv": ("estimated_cutoff_in_site",),
    }
    for name, wanted in columns.items():
        with (folder / name).open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                for column in wanted:
                    yield from row[column].split("|")


@pytest.mark.shared
def test_every_cutoff_of_the_public_registries_is_read_or_listed(shared_data: Path) -> None:
    strings = list(registry_strings(shared_data / "cutoffs"))
    unread = Counter[str]()
    for text in strings:
        try:
            parse_cutoff(text, from_registry=True)
        except CutoffUnreadable:
            unread[text] += 1
    assert unread.keys() == UNREAD.keys()
    assert {text for text in unread if not is_unknown(text)} == {"2025-02-31"}
    assert (len(strings), len(strings) - unread.total()) == (1340, 1183)


@pytest.mark.shared
def test_free_text_of_the_registries(shared_data: Path) -> None:
    free = {text for text in registry_strings(shared_data / "cutoffs") if " " in text}
    spans = {text: parse_cutoff(text) for text in free}
    assert {text: (span.first.isoformat(), span.last.isoformat()) for text, span in spans.items()} == {
        "early 2023": ("2023-01-01", "2023-04-30"),
        "end of 2023": ("2023-10-01", "2023-12-31"),
        "Pretraining 2022.09, Finetuning 2023.07": ("2023-07-01", "2023-07-31"),
    }


@pytest.mark.parametrize(
    ("written", "shown", "after"),
    [
        ("2023-01-01", "2023-01-01 (read as the month)", "2023-02-01"),
        ("2023-04-30", "2023-04-30 (read as the month)", "2023-05-01"),
        ("2023.10.01", "2023.10.01 (read as the month)", "2023-11-01"),
        ("2023-04-15", "2023-04-15", "2023-04-16"),
        ("30 April 2023", "30 April 2023", "2023-05-01"),
        ("1 January 2023", "1 January 2023", "2023-01-02"),
        ("2023-04", "2023-04", "2023-05-01"),
        ("2023", "2023", "2024-01-01"),
    ],
)
def test_a_day_that_counts_as_its_month_says_so(written: str, shown: str, after: str) -> None:
    cutoff = parse_cutoff(written, from_registry=True)
    assert cutoff.in_words == shown
    assert cutoff.is_read_as_month == (shown != written)
    assert f"{cutoff.after:%Y-%m-%d %H}" == f"{after} 12"
