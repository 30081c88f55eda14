from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records import Precision
from ingest.dates import read_date, read_zoneless_date
from ingest.errors import UnreadableDate

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1971, 1, 2), datetime(9998, 12, 30), timezones=ZONES)


@pytest.mark.parametrize(
    ("text", "earliest", "precision"),
    [
        ("2024-05-04T12:00:00Z", datetime(2024, 5, 4, 12, tzinfo=UTC), Precision.INSTANT),
        ("2024-05-04 21:00+09:00", datetime(2024, 5, 4, 12, tzinfo=UTC), Precision.INSTANT),
        ("2024-01-01T00:00:00+1400", datetime(2023, 12, 31, 10, tzinfo=UTC), Precision.INSTANT),
        ("2024-05-04T12:00:00.250Z", datetime(2024, 5, 4, 12, 0, 0, 250000, tzinfo=UTC), Precision.INSTANT),
        ("2024-05-04", datetime(2024, 5, 4, tzinfo=UTC), Precision.DAY),
        ("2024-05", datetime(2024, 5, 1, tzinfo=UTC), Precision.MONTH),
        ("2024-Q4", datetime(2024, 10, 1, tzinfo=UTC), Precision.QUARTER),
        ("2024", datetime(2024, 1, 1, tzinfo=UTC), Precision.YEAR),
    ],
)
def test_reads_each_precision_at_its_earliest_instant(text: str, earliest: datetime, precision: Precision) -> None:
    claim = read_date(text, "somewhere")
    assert (claim.earliest, claim.precision) == (earliest, precision)
    assert (claim.as_written, claim.source) == (text, "somewhere")


@pytest.mark.parametrize(
    "text",
    """
    |soon|05/04/2024|2024-13|2024-02-30|2024-5-4|2024-Q5|20240504|2024-W18|1714824000|2024-05-04T12Z|٢٠٢٤|0000|1970-01-01
    |2024-05-04T25:00:00Z|2024-05-04T12:00:60Z|2024-05-04T12:00:00+25:00|2024-05-04T12:00:00Z and later
    |9999-12-31T23:59:59-12:00|1969-12-31T23:59:59Z
    """.replace("\n    ", "").split("|"),
)
def test_refuses_what_says_nothing_certain(text: str) -> None:
    with pytest.raises(UnreadableDate) as refused:
        read_date(text, "somewhere")
    assert repr(text) in refused.value.reason
    assert refused.value.hint


def test_refuses_a_time_of_day_without_a_zone() -> None:
    with pytest.raises(UnreadableDate, match="no time zone") as refused:
        read_date("2024-05-04T12:00:00", "somewhere")
    assert "+09:00" in refused.value.hint


@given(MOMENTS)
def test_an_instant_is_the_same_in_every_zone(moment: datetime) -> None:
    claim = read_date(moment.isoformat(), "somewhere")
    assert claim.earliest == moment
    assert claim.precision is Precision.INSTANT


@given(st.datetimes(datetime(1971, 1, 1), datetime(9999, 12, 31)))
def test_of_a_zoneless_time_only_the_day_is_believed(moment: datetime) -> None:
    text = moment.isoformat()
    claim = read_zoneless_date(text, "livecodebench")
    assert claim.as_written == text
    assert claim.precision is Precision.DAY
    assert claim.earliest == datetime(moment.year, moment.month, moment.day, tzinfo=UTC)


def test_a_zoneless_source_may_know_better() -> None:
    assert read_zoneless_date("2024-05-04T12:00:00Z", "livecodebench").precision is Precision.INSTANT
    assert read_zoneless_date("2024-05", "livecodebench").precision is Precision.MONTH
    with pytest.raises(UnreadableDate):
        read_zoneless_date("2024-05-04T99:00:00", "livecodebench")


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for reader in (read_date, read_zoneless_date):
        try:
            assert reader(text, "somewhere").as_written == text
        except UnreadableDate as refused:
            assert refused.hint
