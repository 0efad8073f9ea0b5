"""The offsets of the user's time zone from UTC, noted for a session's start: to load the rules of a zone takes 6 ms.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast import fastjson
from eventlog.format import timestamps
from eventlog.store.files import file_stamp, read, replace_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from eventlog.format.local_time import Offsets
    from eventlog.store import Store

_FIRST_YEAR, _LAST_YEAR = 2015, 2045
_DAY = 24 * 60  # minutes


def read_offsets(store: "Store", timezone: str) -> "Offsets":
    """Read the offsets of a zone; none where they are not noted, or its rules have changed since."""
    if timezone == "UTC":
        return ()
    noted = fastjson.object_in(read(store.cached("timezone.json")) or b"")
    offsets, rules = noted.get("offsets"), str(noted.get("rules"))
    is_current = noted.get("made_of") == [timezone, *file_stamp(rules)]
    return offsets if is_current and isinstance(offsets, list) else ()


def note_offsets(store: "Store", timezone: str, rules: "Path") -> None:
    """Note the offsets of a zone other than UTC, of which this file has the rules. Raises NotStored."""
    if not read_offsets(store, timezone):
        made_of = [timezone, *file_stamp(str(rules))]
        noted: dict[str, object] = {"rules": str(rules), "made_of": made_of, "offsets": [*_offsets(timezone)]}
        replace_file(store.cached("timezone.json"), fastjson.dumps(noted), durable=False)


def _offsets(timezone: str) -> "Iterator[tuple[int, int, int]]":
    """Yield from which minute on, and until which, clocks are ahead by so many minutes."""
    from bisect import bisect_left
    from datetime import datetime, timedelta
    from zoneinfo import ZoneInfo

    zone = ZoneInfo(timezone)

    def ahead(minute: int) -> int:
        return (datetime.fromtimestamp(minute * 60, zone).utcoffset() or timedelta()) // timedelta(minutes=1)

    begun, end = (timestamps.to_ms(f"{year}-01-01T00:00:00.000000Z") // 60_000 for year in (_FIRST_YEAR, _LAST_YEAR))
    offset = ahead(begun)
    for day in range(begun, end, _DAY):
        if ahead(day + _DAY) != offset:
            set_at = day + bisect_left(range(day, day + _DAY), True, key=lambda minute: ahead(minute) != offset)
            yield begun, set_at, offset
            begun, offset = set_at, ahead(day + _DAY)
    yield begun, end, offset
