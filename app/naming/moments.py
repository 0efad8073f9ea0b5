"""Times as people write them: `2d`, `yesterday`, `monday`, `last week`, `2026-02-20`, `8:30`, `3天前`, RFC 3339."""

import re
from calendar import month_abbr, month_name, monthrange
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from eventlog.format import timestamps
from eventlog.format.errors import BadRequest
from eventlog.format.text import fold
from eventlog.settings import cached
from eventlog.store import Store

_Span = tuple[datetime, datetime]  # the first moment, and the first one after it

_DAYS = ("today", "yesterday", "前天")
_MONTHS = {name.lower(): number for names in (month_abbr, month_name) for number, name in enumerate(names) if name}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {
    "s": timedelta(seconds=1),
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_UNIT = "s|min|h|d|w|m|mo|y|second|minute|hour|day|week|month|year"
_AGO = re.compile(rf"(\d{{1,6}}|an?|one) ?({_UNIT})s?(?: ago)?", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?", re.ASCII)
_CHINESE = {
    "今天": "today", "昨天": "yesterday", "现在": "now", "本周": "this week", "这周": "this week", "上周": "last week",
    "本月": "this month", "这个月": "this month", "上个月": "last month", "上月": "last month", "今年": "this year",
    "去年": "last year",
    "秒": "s", "分钟": "min", "小时": "h", "天": "d", "周": "w", "星期": "w", "月": "mo", "年": "y",
    **{f"{week}{day}": name for week in ("周", "星期") for day, name in zip("一二三四五六日", _WEEKDAYS, strict=True)},
}  # fmt: skip
_CHINESE_DATE = re.compile(r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号](?P<time>.*)", re.ASCII)
_SHOWN_DATE = re.compile(
    rf"(?P<day>\d{{1,2}}) (?P<month>{'|'.join(_MONTHS)})(?: (?P<year>\d{{4}}))?(?P<time>(?: .*)?)", re.ASCII
)
_MONTH_FIRST = re.compile(rf"({'|'.join(_MONTHS)}) (\d{{1,2}}),?(?= |$)", re.ASCII)
_CHINESE_AGO = re.compile(r"(\d{1,6}) ?个?(秒|分钟|小时|天|周|星期|月|年)前", re.ASCII)
_HINT = "say it like 2d, yesterday, monday, last week, 2026-02-20, 08:30 or 2026-02-20T08:30:00Z"


def zone_of(store: Store) -> tzinfo:
    """Find the time zone a user reads times in; UTC where the settings name none."""
    name = cached.settings(store).get("timezone")
    return ZoneInfo(name) if isinstance(name, str) and name != "UTC" else UTC


def moment(text: str, now: str, zone: tzinfo, *, end: bool) -> str:
    """Translate into a timestamp of the log; of a day its first moment, with `end` its last. Raises BadRequest."""
    try:
        local = datetime.fromisoformat(now).astimezone(zone)
        first, after = _meant(_in_english(" ".join(fold(text).split()), local), local)
        chosen = after - timedelta(microseconds=1) if end and after > first else first
        return timestamps.read(chosen.astimezone(UTC).isoformat())
    except (ValueError, OverflowError) as error:
        raise BadRequest(f"{text!r} is no time", hint=_HINT) from error


def _in_english(text: str, now: datetime) -> str:
    """Translate a time of Chinese, or one as screens show it; a date without a year was the last such day."""
    text = _MONTH_FIRST.sub(r"\2 \1", text, count=1)
    if date := _CHINESE_DATE.fullmatch(text) or _SHOWN_DATE.fullmatch(text):
        day = f"{_MONTHS.get(date['month'], date['month']):0>2}-{date['day']:0>2}"
        return f"{date['year'] or now.year - (day > f'{now:%m-%d}')}-{day}{date['time']}"
    if ago := _CHINESE_AGO.fullmatch(text):
        return ago[1] + _CHINESE[ago[2]]
    word, space, time = text.partition(" ")
    return f"{_CHINESE[word]}{space}{time}" if word in _CHINESE else text


def _meant(text: str, now: datetime) -> _Span:
    """Find what a text means: a span, or a time of a day that it names."""
    day, _, time = text.rpartition(" ")
    if not (day and _CLOCK.fullmatch(time)):
        return _span(text, now)
    first, after = _span(day, now)
    return _written(time if after - first == timedelta(days=1) else text, first)


def _span(text: str, now: datetime) -> _Span:
    if text in _DAYS:
        return _day_before(now, _DAYS.index(text))
    if text == "now":
        return now, now
    if match := _AGO.fullmatch(text):
        return _ago(match, now)
    if match := re.fullmatch(r"(this|last) (week|month|year)", text):
        return _period(match[2], now, back=match[1] == "last")
    if weekday := [day for day in _WEEKDAYS if text.removeprefix("last ") in (day, day[:3])]:
        back = (now.weekday() - _WEEKDAYS.index(weekday[0])) % 7
        return _day_before(now, back or (7 if text.startswith("last") else 0))
    return _written(text.upper(), now)


def _written(text: str, now: datetime) -> _Span:
    """Read a date of the user's calendar, or a time; without a zone it is the user's, without a date today's."""
    if match := _CLOCK.fullmatch(text):
        at = now.replace(hour=int(match[1]), minute=int(match[2]), second=int(match[3] or 0), microsecond=0)
        return at, at
    time = datetime.fromisoformat(text)
    if "T" not in text and ":" not in text:
        return _day(time.replace(tzinfo=now.tzinfo))
    at = time if time.tzinfo else time.replace(tzinfo=now.tzinfo)
    return at, at


def _ago(match: re.Match[str], now: datetime) -> _Span:
    number, unit = int(match[1]) if match[1].isdigit() else 1, match[2]
    if unit in ("mo", "month", "y", "year"):
        months = number * (12 if unit.startswith("y") else 1)
        at = _months_before(now, months)
    else:
        step = next(_UNITS[name] for name in _UNITS if unit.startswith(name) or unit == name[0])
        at = now.astimezone(UTC) - number * step  # hours by the clock on the wall are not always hours
    return at, at


def _months_before(now: datetime, months: int) -> datetime:
    year, month = divmod(now.year * 12 + now.month - 1 - months, 12)
    return now.replace(year=year, month=month + 1, day=min(now.day, monthrange(year, month + 1)[1]))


def _period(unit: str, now: datetime, *, back: bool) -> _Span:
    if unit == "week":
        first = _day_before(now, now.weekday() + 7 * back)[0]
        return first, _day_before(first, -7)[0]
    months = 12 if unit == "year" else 1
    this = _day(now.replace(day=1, month=1 if unit == "year" else now.month))[0]
    return (_months_before(this, months), this) if back else (this, _months_before(this, -months))


def _day_before(now: datetime, days: int) -> _Span:
    """Find the calendar day so many days before; days differ in length where clocks are set."""
    return _day(now.replace(hour=12) - timedelta(days=days))


def _day(moment_of_it: datetime) -> _Span:
    midnight = moment_of_it.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    return midnight, midnight + timedelta(days=1)  # by the wall clock: 23 or 25 hours where it is set
