"""Time as the log writes it: UTC, RFC 3339, always six fraction digits, so that text order is time order."""

import time

LENGTH = len("2026-02-21T08:35:44.123456Z")
FIRST_DAY, LAST_DAY = "1970-01-01", "9998-12-31"  # of the log; a day more in any time zone is still a date
_SECOND = 1_000_000_000  # nanoseconds
FOLLOWED = 60 * _SECOND  # a clock that is set back by less is not believed
LAST_NS = 253_370_764_800 * _SECOND - 1000
_ID_AT = len('{"v":1,"id":"019c7b12-8f00-7000-8000-000000000000')
_TS_AT = _ID_AT + len('","ts":"')
_AFTER_AT, _AFTER = _TS_AT + LENGTH + 1, b',"after":"'
_SET = "set the clock of this machine"
_latest = (0, "1970-01-01T00:00:00")  # when a second began, and how it is written
_DAYS_BEFORE_EPOCH = 719_468  # days from 0000-03-01 to 1970-01-01


def from_ns(ns: int) -> str:
    """Convert nanoseconds since the epoch to a timestamp: truncated to microseconds, and to the years it takes."""
    global _latest  # noqa: PLW0603 - many events share a second
    begun, text = _latest
    rest = ns - begun
    if not 0 <= rest < _SECOND:
        seconds, rest = divmod(min(max(ns, 0), LAST_NS), _SECOND)
        year, month, day, hour, minute, second = time.gmtime(seconds)[:6]
        text = f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}"
        _latest = seconds * _SECOND, text
    return f"{text}.{rest // 1000:06d}Z"


def read(text: str) -> str:
    """Parse an RFC 3339 time as people and programs write it; raises ValueError.

    Any number of fraction digits (those beyond six are cut) or none, any offset, `t`, `z` or a space as `git` and
    `date --rfc-3339` write them. A time without a zone is refused: it would mean another moment elsewhere.
    """
    import re
    from datetime import UTC, datetime, timedelta

    # Python 3.14 takes 24:00 for the next midnight, older ones do not: RFC 3339 ends a day at 23:59
    form = r"(\d{4}-\d\d-\d\d)[Tt ]((?!24)\d\d:\d\d):(\d\d)(?:\.(\d+))? ?(?:([Zz])|([+-]\d\d):?(\d\d))"
    match = re.fullmatch(form, text.strip(), re.ASCII)
    if match is None:
        raise ValueError(f"{text!r} is not an RFC 3339 time")
    day, clock, second, fraction, _, hours, minutes = match.groups()
    offset = f"{hours}:{minutes}" if hours else "+00:00"
    leap = second == "60"  # the log has none: it is the first second of the next minute
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}:{'59' if leap else second}{offset}") + timedelta(seconds=leap)
        ts = f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{(fraction or '')[:6]:0<6}Z"
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text!r} is not a time of the calendar") from error
    if not FIRST_DAY <= ts[:10] <= LAST_DAY:
        raise ValueError(f"{text!r} is not a time of the years 1970 to 9998")
    return ts


def after(ts: str, microseconds: int = 1) -> str:
    """Add so many microseconds to a timestamp."""
    return from_ns(to_ns(ts) + microseconds * 1000)


def system_clock() -> int:
    """Read the clock of this machine, in nanoseconds; raises NotStored where Python cannot: beyond the year 2262."""
    try:
        return time.time_ns()
    except OverflowError as error:
        import eventlog

        raise eventlog.NotStored("the clock is beyond the year 2262", hint=_SET) from error


def follow(now: int, newest: str) -> tuple[int, str]:
    """Date an event that is appended now, behind the newest: its time in nanoseconds, and what it counts `after`.

    Where the newest lies a minute or more ahead, a clock is wrong, and unknown which: the event keeps
    the time of the clock, and takes a place just behind the newest. Raises NotStored where the log has no such time.
    """
    if now > LAST_NS:
        import eventlog

        raise eventlog.NotStored("the clock is beyond the year 9998", hint=_SET)
    now = max(now, 0)
    if newest < from_ns(now):
        return now, ""
    last = to_ns(newest)
    return (last + 1000, "") if last - now < FOLLOWED else (now, from_ns(last + 1000))


def newest_in(lines: bytes) -> str:
    """Find the last time at which an event of these lines counts; "" where none begins as the log writes it."""
    found = ""
    for line in lines.split(b"\n"):
        if line[_ID_AT:_TS_AT] != b'","ts":"' or line[_AFTER_AT - 1 : _AFTER_AT] != b'"':
            continue
        start = _AFTER_AT + len(_AFTER) if line.startswith(_AFTER, _AFTER_AT) else _TS_AT
        ts = line[start : start + LENGTH].decode("ascii", "replace")
        if ts > found and is_timestamp(ts):
            found = ts
    return found


def is_timestamp(ts: str) -> bool:
    """Return whether a text looks like a time as the log writes it."""
    try:
        return from_ns(to_ns(ts)) == ts
    except (ValueError, OverflowError):
        return False


def to_ns(ts: str) -> int:
    """Convert a well-formed timestamp of the log to nanoseconds since the epoch."""
    return to_ms(ts) * 1_000_000 + int(ts[23:26]) * 1000


def to_ms(ts: str) -> int:
    """Convert a well-formed timestamp of the log to milliseconds since the epoch.

    Days are counted from the first of March, which puts the leap day last (Howard Hinnant, "chrono-Compatible
    Low-Level Date Algorithms"). No calendar module: this runs inside agents' hooks.
    """
    year, month, day = int(ts[:4]), int(ts[5:7]), int(ts[8:10])
    year -= month < 3  # noqa: PLR2004 - January and February belong to the year before
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = year * 365 + year // 4 - year // 100 + year // 400 + day_of_year - _DAYS_BEFORE_EPOCH
    seconds = days * 86_400 + int(ts[11:13]) * 3600 + int(ts[14:16]) * 60 + int(ts[17:19])
    return seconds * 1000 + int(ts[20:23])


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Dated(Protocol):
        """An object with the times and the id of an event."""

        @property
        def ts(self) -> str:
            """The time it happened, as the log writes it."""

        @property
        def after(self) -> str | None:
            """The time whose place it takes, where that is not its own."""

        @property
        def id(self) -> str:
            """The event's id."""


def counts_at(event: "Dated") -> str:
    """Give the time whose place an event takes among others: a clock that was wrong outranks nothing newer."""
    return event.after or event.ts


def order(event: "Dated") -> tuple[str, str]:
    """Give the key of the one total order of events."""
    return event.after or event.ts, event.id
