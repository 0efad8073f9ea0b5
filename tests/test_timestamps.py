from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given

from eventlog import codec, timestamps
from tests.strategies import moments

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(moments)
def test_a_timestamp_is_the_time_the_calendar_says(ns):
    moment = EPOCH + timedelta(microseconds=ns // 1000)

    assert moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(timestamps.LENGTH, "0") == timestamps.from_ns(ns)


@given(moments)
def test_milliseconds_survive_the_way_to_text_and_back(ns):
    assert ns // 1_000_000 == timestamps.to_ms(timestamps.from_ns(ns))


@given(moments, moments)
def test_text_order_is_time_order(one, other):
    assert (one <= other) == (timestamps.from_ns(one) <= timestamps.from_ns(other))


@given(moments)
def test_every_time_written_is_a_time_read(ns):
    assert codec.is_timestamp(timestamps.from_ns(ns))


@pytest.mark.parametrize("day", ["1900-02-28", "1900-03-01", "1969-12-31", "2000-02-29", "2024-02-29", "2024-12-31"])
def test_leap_days_and_times_before_the_epoch_count(day):
    midnight = datetime.fromisoformat(f"{day}T00:00:00+00:00")

    assert midnight.timestamp() * 1000 == timestamps.to_ms(f"{day}T00:00:00.000000Z")


def test_nanoseconds_are_cut_not_rounded():
    assert "1970-01-01T00:00:00.999999Z" == timestamps.from_ns(999_999_999)


def test_the_day_of_a_timestamp_is_its_utc_date():
    assert "2026-02-21" == timestamps.day_of("2026-02-21T23:59:59.999999Z")


@pytest.mark.parametrize(
    "text",
    [
        "", "2026-02-21", "2026-02-21T08:35:44Z", "2026-02-21T08:35:44.123Z", "2026-02-21T08:35:44.123456",
        "2026-02-21T08:35:44.123456+00:00", "2026-02-21T08:35:44.123456z", "2026-02-21 08:35:44.123456Z",
        "2026-02-30T08:35:44.123456Z", "2026-13-01T08:35:44.123456Z", "2026-02-21T24:00:00.000000Z",
        "2026-02-21T08:60:00.000000Z", "2026-02-21T08:00:60.000000Z", "0000-01-01T00:00:00.000000Z",
        "2026-02-21T08:35:44.123456Z\n", "٢٠٢٦-02-21T08:35:44.123456Z", "../../../../etc/passwd",
    ],
)  # fmt: skip
def test_nothing_else_is_a_timestamp(text):
    assert not codec.is_timestamp(text)
