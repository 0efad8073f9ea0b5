from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from eventlog.format import timestamps
from tests.support.strategies import moments

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
    assert timestamps.is_timestamp(timestamps.from_ns(ns))


@pytest.mark.parametrize("day", ["1900-02-28", "1900-03-01", "1969-12-31", "2000-02-29", "2024-02-29", "2024-12-31"])
def test_leap_days_and_times_before_the_epoch_count(day):
    midnight = datetime.fromisoformat(f"{day}T00:00:00+00:00")

    assert midnight.timestamp() * 1000 == timestamps.to_ms(f"{day}T00:00:00.000000Z")


def test_nanoseconds_are_cut_not_rounded():
    assert "1970-01-01T00:00:00.999999Z" == timestamps.from_ns(999_999_999)


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
    assert not timestamps.is_timestamp(text)


@pytest.mark.parametrize(
    ("text", "ts"),
    [
        ("2026-02-21T08:35:44Z", "2026-02-21T08:35:44.000000Z"),
        ("2026-02-21t08:35:44z", "2026-02-21T08:35:44.000000Z"),
        ("2026-02-21T08:35:44.1Z", "2026-02-21T08:35:44.100000Z"),
        ("2026-02-21T08:35:44.123456789Z", "2026-02-21T08:35:44.123456Z"),
        ("2026-02-21T08:35:44.999999999+00:00", "2026-02-21T08:35:44.999999Z"),
        ("2026-02-21 08:35:44+08:00", "2026-02-21T00:35:44.000000Z"),
        ("2026-02-21 08:35:44 +0800", "2026-02-21T00:35:44.000000Z"),
        ("2026-01-01T00:00:00.5+05:45", "2025-12-31T18:15:00.500000Z"),
        ("2025-12-31T23:59:00-00:01", "2026-01-01T00:00:00.000000Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z"),
        (" 2026-02-21T08:35:44Z\n", "2026-02-21T08:35:44.000000Z"),
    ],
)
def test_a_time_is_read_as_people_and_programs_write_it(text, ts):
    assert ts == timestamps.read(text)
    assert timestamps.is_timestamp(timestamps.read(text))


@given(moments, st.integers(0, 9), st.integers(-1439, 1439), st.sampled_from("Tt "))
@example(0, 0, 0, "T")
def test_every_spelling_of_a_moment_is_that_moment(ns, digits, minutes, between):
    moment = EPOCH + timedelta(microseconds=ns // 1000, minutes=minutes)
    assume(2 <= moment.year <= 9998)
    hours, rest = divmod(abs(minutes), 60)
    fraction = f".{ns % 10**9:09}"[: digits + 1] if digits else ""
    text = f"{moment:%m-%dT%H:%M:%S}".replace("T", between) + fraction
    offset = f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"
    shown = timestamps.from_ns(ns)[:19] + f".{fraction[1:7]:0<6}Z"

    assert shown == timestamps.read(f"{moment.year:04}-{text}{offset}")


@pytest.mark.parametrize(
    "text",
    [
        "", "yesterday", "2026-02-21", "2026-02-21T08:35:44", "2026-02-30T08:35:44Z", "2026-02-21T24:00:00Z",
        "2026-02-21T08:35:61Z", "2026-02-21T08:35:44+25:00", "20260221T083544Z", "2026-W08-6T08:35:44Z",
        "0001-01-01T00:00:00+08:00", "9999-12-31T23:59:59-08:00", "٢٠٢٦-02-21T08:35:44Z", "1740127344",
    ],
)  # fmt: skip
def test_what_is_no_moment_is_refused(text):
    with pytest.raises(ValueError, match="is n"):
        timestamps.read(text)


def test_a_microsecond_later_is_the_next_time_the_log_can_write():
    assert "2026-01-01T00:00:00.000000Z" == timestamps.after("2025-12-31T23:59:59.999999Z")
