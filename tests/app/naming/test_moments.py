"""Times as people say them, in their zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from eventlog.app.naming.moments import moment
from eventlog.cli.show.display import Display
from eventlog.format.errors import BadRequest
from eventlog.store import Store
from tests.support import builders
from tests.support.command_line import call

NOW = "2026-11-21T18:30:00.000000Z"  # a Saturday; in Shanghai already the 22nd
SHANGHAI, BERLIN = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ("today", "2026-11-21T00:00:00.000000Z", "2026-11-21T23:59:59.999999Z"),
        ("yesterday", "2026-11-20T00:00:00.000000Z", "2026-11-20T23:59:59.999999Z"),
        ("monday", "2026-11-16T00:00:00.000000Z", "2026-11-16T23:59:59.999999Z"),
        ("Sat", "2026-11-21T00:00:00.000000Z", "2026-11-21T23:59:59.999999Z"),
        ("last saturday", "2026-11-14T00:00:00.000000Z", "2026-11-14T23:59:59.999999Z"),
        ("this week", "2026-11-16T00:00:00.000000Z", "2026-11-22T23:59:59.999999Z"),
        ("last week", "2026-11-09T00:00:00.000000Z", "2026-11-15T23:59:59.999999Z"),
        ("last month", "2026-10-01T00:00:00.000000Z", "2026-10-31T23:59:59.999999Z"),
        ("last year", "2025-01-01T00:00:00.000000Z", "2025-12-31T23:59:59.999999Z"),
        ("2026-02-20", "2026-02-20T00:00:00.000000Z", "2026-02-20T23:59:59.999999Z"),
        ("2d", "2026-11-19T18:30:00.000000Z", "2026-11-19T18:30:00.000000Z"),
        ("2 weeks ago", "2026-11-07T18:30:00.000000Z", "2026-11-07T18:30:00.000000Z"),
        ("90 min", "2026-11-21T17:00:00.000000Z", "2026-11-21T17:00:00.000000Z"),
        ("5m", "2026-11-21T18:25:00.000000Z", "2026-11-21T18:25:00.000000Z"),
        ("an hour ago", "2026-11-21T17:30:00.000000Z", "2026-11-21T17:30:00.000000Z"),
        ("9 months", "2026-02-21T18:30:00.000000Z", "2026-02-21T18:30:00.000000Z"),
        ("8:15", "2026-11-21T08:15:00.000000Z", "2026-11-21T08:15:00.000000Z"),
        ("2026-02-20T08:30:00+08:00", "2026-02-20T00:30:00.000000Z", "2026-02-20T00:30:00.000000Z"),
        ("2026-02-20 08:30", "2026-02-20T08:30:00.000000Z", "2026-02-20T08:30:00.000000Z"),
        ("2026年2月20日", "2026-02-20T00:00:00.000000Z", "2026-02-20T23:59:59.999999Z"),
        ("２０２６年２月２０号 ０８：３０", "2026-02-20T08:30:00.000000Z", "2026-02-20T08:30:00.000000Z"),
        ("11月21日", "2026-11-21T00:00:00.000000Z", "2026-11-21T23:59:59.999999Z"),
        ("11月22日", "2025-11-22T00:00:00.000000Z", "2025-11-22T23:59:59.999999Z"),
        ("昨天", "2026-11-20T00:00:00.000000Z", "2026-11-20T23:59:59.999999Z"),
        ("前天", "2026-11-19T00:00:00.000000Z", "2026-11-19T23:59:59.999999Z"),
        ("昨天 8:30", "2026-11-20T08:30:00.000000Z", "2026-11-20T08:30:00.000000Z"),
        ("2 min", "2026-11-21T18:28:00.000000Z", "2026-11-21T18:28:00.000000Z"),
        ("monday 08:30", "2026-11-16T08:30:00.000000Z", "2026-11-16T08:30:00.000000Z"),
        ("last sat 8:30", "2026-11-14T08:30:00.000000Z", "2026-11-14T08:30:00.000000Z"),
        ("周一 8:30", "2026-11-16T08:30:00.000000Z", "2026-11-16T08:30:00.000000Z"),
        ("Nov 20", "2026-11-20T00:00:00.000000Z", "2026-11-20T23:59:59.999999Z"),
        ("February 3, 2025 8:30", "2025-02-03T08:30:00.000000Z", "2025-02-03T08:30:00.000000Z"),
        ("22 november", "2025-11-22T00:00:00.000000Z", "2025-11-22T23:59:59.999999Z"),
        ("21 Nov", "2026-11-21T00:00:00.000000Z", "2026-11-21T23:59:59.999999Z"),
        ("星期一", "2026-11-16T00:00:00.000000Z", "2026-11-16T23:59:59.999999Z"),
        ("上周", "2026-11-09T00:00:00.000000Z", "2026-11-15T23:59:59.999999Z"),
        ("2个星期前", "2026-11-07T18:30:00.000000Z", "2026-11-07T18:30:00.000000Z"),
        ("9个月前", "2026-02-21T18:30:00.000000Z", "2026-02-21T18:30:00.000000Z"),
    ],
)
def test_a_time_is_read_as_people_say_it(said, first, last):
    assert first == moment(said, NOW, UTC, end=False)
    assert last == moment(said, NOW, UTC, end=True)


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("today", "2026-11-21T16:00:00.000000Z"),
        ("yesterday", "2026-11-20T16:00:00.000000Z"),
        ("2026-02-20", "2026-02-19T16:00:00.000000Z"),
        ("2026-02-20T08:30", "2026-02-20T00:30:00.000000Z"),
    ],
)
def test_days_and_hours_are_those_of_the_users_zone(said, first):
    assert first == moment(said, NOW, SHANGHAI, end=False)


def test_a_day_on_which_clocks_are_set_has_its_own_length():
    summer, winter = "2026-03-29", "2026-10-25"

    assert "2026-03-28T23:00:00.000000Z" == moment(summer, NOW, BERLIN, end=False)
    assert "2026-03-29T21:59:59.999999Z" == moment(summer, NOW, BERLIN, end=True)
    assert "2026-10-25T22:59:59.999999Z" == moment(winter, NOW, BERLIN, end=True)
    assert "2026-10-25T00:30:00.000000Z" == moment("2h", "2026-10-25T02:30:00.000000Z", BERLIN, end=False)


@pytest.mark.parametrize("days", [0, 1, 2, 30, 364, 365, 400])
def test_a_time_is_read_as_screens_show_it(days):
    display = Display(Store("/nowhere"), NOW)
    display.is_for_people = True
    ts = (datetime.fromisoformat(NOW) - timedelta(days=days)).isoformat(timespec="microseconds")[:-6] + "Z"

    assert ts == moment(display.moment(ts), NOW, UTC, end=False)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "soon",
        "20 Foo",
        "31 Feb",
        "20 Nov 25:00",
        "today soon",
        "today 2026-02-20",
        "this week 08:30",
        "2d 08:30",
        "monday 08:30 08:30",
        "Nov 31",
        "Marble 3",
        "2026-02-30",
        "25:00",
        "999999 years",
        "2",
        "1969-12-31",
        "next week",
        "2026年2月30日",
        "明天",
        "一",
    ],
)
def test_what_is_no_time_is_refused_with_examples(said):
    with pytest.raises(BadRequest) as caught:
        moment(said, NOW, UTC, end=False)

    assert "yesterday" in caught.value.hint


def test_verbs_read_times_in_the_zone_of_the_settings(tmp_path):
    (tmp_path / "config.yaml").write_text("version: 1\ntimezone: Asia/Shanghai\n")
    builders.write(tmp_path / "log", builders.line(1, ts="2026-02-20T15:59:00.000000Z") + b"\n")

    found = [
        call("query", "--since", day, "--until", day, "--store", tmp_path).out for day in ("2026-02-20", "2026-02-21")
    ]

    assert [1, 0] == [text.count("\n") for text in found]
