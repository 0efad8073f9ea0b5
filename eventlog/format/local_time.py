"""The day and minute on the clocks of the user, of times as the log writes them.

Imported inside agents' hooks: standard library only, and the rules of a time zone only where no offset is known.
"""

from eventlog.format import timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Local = Callable[[str], str]  # timestamp -> `YYYY-MM-DDTHH:MM`
    Offsets = Sequence[Sequence[int]]  # first minute since the epoch, the one behind the last, minutes ahead of UTC

_HOURS = 1024  # remembered
_MINUTE_MS = 60_000


def local_time(timezone: str, offsets: "Offsets" = ()) -> "Local":
    """Make the conversion of timestamps to `YYYY-MM-DDTHH:MM` on the clocks of that zone.

    Its rules are loaded for times of which no offset is known; that takes 6 ms.
    """
    if timezone == "UTC":
        return lambda ts: ts[:16]
    hours: dict[str, str] = {}

    def exact(ts: str) -> str:
        from datetime import datetime
        from zoneinfo import ZoneInfo

        return datetime.fromisoformat(ts).astimezone(ZoneInfo(timezone)).strftime("%Y-%m-%dT%H:%M")

    def hour(start: str) -> str:
        """Convert an hour; "" where its minutes are others there."""
        first, last = exact(f"{start}:00Z"), exact(f"{start}:59:59.999999Z")
        return first[:-2] if (first[-2:], last) == ("00", f"{first[:-2]}59") else ""

    def local(ts: str) -> str:
        if offsets:
            minute = timestamps.to_ms(ts) // _MINUTE_MS
            for first, end, offset in reversed(offsets):
                if first <= minute < end:
                    return timestamps.from_ns((minute + offset) * _MINUTE_MS * 1_000_000)[:16]
        if ts[:13] not in hours:
            if len(hours) >= _HOURS:
                hours.clear()
            hours[ts[:13]] = hour(ts[:13])
        begun = hours[ts[:13]]
        return begun + ts[14:16] if begun else exact(ts)

    return local
