"""The offsets of a time zone that a session's start reads are those its rules have."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from zoneinfo import TZPATH

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.app.build.zone_offsets import note_offsets, read_offsets
from eventlog.format.local_time import local_time
from eventlog.store import Store

# summer and winter, half an hour of it, the month of Ramadan, a change by law, east of all, none at all
ZONES = [
    "Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca", "Europe/Volgograd", "Pacific/Kiritimati", "Asia/Shanghai",
]  # fmt: skip
BERLIN = ZONES[0]
SPAN = datetime(2014, 6, 1), datetime(2045, 6, 1)  # noqa: DTZ001 - hypothesis asks for times without a zone


def rules_of(zone):
    places = [Path(folder, zone) for folder in TZPATH if Path(folder, zone).is_file()]
    return places[0] if places else pytest.skip("the system has no time zones")


@pytest.fixture(scope="module")
def offsets(tmp_path_factory):
    @cache
    def of(zone):
        store = Store(str(tmp_path_factory.mktemp("store")))
        note_offsets(store, zone, rules_of(zone))
        return read_offsets(store, zone)

    return of


@given(moment=st.datetimes(*SPAN, timezones=st.just(UTC)), zone=st.sampled_from(ZONES))
def test_noted_offsets_show_the_time_that_the_rules_do(offsets, moment, zone):
    ts = f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"

    assert local_time(zone)(ts) == local_time(zone, offsets(zone))(ts)


@pytest.mark.parametrize("zone", ZONES)
def test_clocks_are_set_in_the_minute_in_which_the_rules_do_it(offsets, zone):
    for _, end, _ in offsets(zone):
        for minute in (end - 1, end):
            ts = f"{datetime.fromtimestamp(minute * 60, UTC):%Y-%m-%dT%H:%M:%S}.000000Z"
            assert local_time(zone)(ts) == local_time(zone, offsets(zone))(ts)


def test_offsets_of_other_rules_or_another_zone_do_not_count(tmp_path):
    store, rules = Store(str(tmp_path / "store")), tmp_path / "Berlin"
    rules.write_bytes(rules_of(BERLIN).read_bytes())
    note_offsets(store, BERLIN, rules)

    assert read_offsets(store, BERLIN)
    assert () == read_offsets(store, "Asia/Shanghai")
    rules.write_bytes(rules_of("Asia/Shanghai").read_bytes())
    assert () == read_offsets(store, BERLIN)
    note_offsets(store, BERLIN, rules)
    assert read_offsets(store, BERLIN)
    rules.unlink()
    assert () == read_offsets(store, BERLIN)


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b'{"made_of":["Europe/Berlin"]}', b"\xff"])
def test_damaged_offsets_are_as_good_as_none(tmp_path, damaged):
    store = Store(str(tmp_path))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "timezone.json").write_bytes(damaged)

    assert () == read_offsets(store, BERLIN)
