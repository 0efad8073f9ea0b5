"""`cache/avoided.log`: what was about to be written twice and was not, a short line each; only for `eventlog stats`.

Not an event: nothing happened. Lost with the cache. Imported inside agents' hooks, when a call arrives again.
"""

import time

from eventlog.format import timestamps
from eventlog.store.files import append_bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.store import Store

_LARGEST = 8 << 20  # bytes; then nothing is counted any more


def count_avoided(store: "Store", what: str) -> None:
    """One more `event` (of a hook) or `statement` (of an agent) not written twice; never raises."""
    try:
        day = timestamps.from_ns(time.time_ns())[:10]
        append_bounded(_path(store), f"{day} {what}".encode(), _LARGEST, starts_anew=False)
    except OSError:
        return


def avoided_by_day(store: "Store") -> "list[str]":
    """The day of each, in no particular order; none where there is no cache."""
    try:
        with open(_path(store), encoding="ascii", errors="replace") as opened:
            return [line.split(" ", 1)[0] for line in opened if line.endswith("\n")]
    except OSError:
        return []


def _path(store: "Store") -> str:
    return store.cached("avoided.log")
