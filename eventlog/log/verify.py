"""Is the log whole? Every line of every file, and what no reader may assume: that the last line is finished."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from eventlog.fast.fastjson import MAX_LINE
from eventlog.log import days
from eventlog.log.damage import Damage
from eventlog.log.days import Day
from eventlog.log.event_log import EventLog
from eventlog.log.fast_decode import decode_whole
from eventlog.log.foreign_ids import CopyFilter, day_in_id, misdated
from eventlog.log.log_line import LogLine
from eventlog.store.dayfile import read_settled


class VerifyResult(Struct):
    """Tell how much was read, everything wrong with it in the order of the files, and which files hold no day."""

    events: int = 0
    files: int = 0
    damage: list[Damage] = []
    strangers: list[str] = []  # of the log's directory; never read


def verify(log: EventLog, progress: Callable[[int, int], None] = lambda _done, _all: None) -> VerifyResult:
    """Read the whole log, one day in memory at a time; raises Busy where a file's lock is not to be had."""
    found = VerifyResult(strangers=days.foreign_files(log.store.log))
    elsewhere = CopyFilter(log.holding)
    there = log.days()
    for number, day in enumerate(there, 1):
        progress(number, len(there))
        found.files += len(day.files)
        ids = _ordinary(day)
        if ids is not None and not misdated(day.date, ids):
            found.events += len(ids)
        else:
            _look_closely(day, elsewhere, found)
    found.damage += days.irregular(log.store.log)
    return found


def _ordinary(day: Day) -> list[str] | None:
    """Read the ids of a day with nothing odd about it, as fast as can be; None for every other. Raises Busy."""
    ids: list[str] = []
    for file in day.files:
        try:
            data = read_settled(file)
        except OSError:
            return None
        events = decode_whole(data, day.date)
        if events is None or (len(data) > MAX_LINE and max(map(len, data.split(b"\n"))) > MAX_LINE):
            return None
        ids += [event.id for event in events]
    return ids if len(set(ids)) == len(ids) else None


def _look_closely(day: Day, elsewhere: CopyFilter, found: VerifyResult) -> None:
    """Read a day line by line. Raises Busy."""
    entries, damage = days.entries(day)
    copies = elsewhere.of(misdated(day.date, [entry.event.id for entry in entries]))
    found.events += len(entries) - len(copies)
    found.damage += [bad for bad in damage if bad.kind != "pending"]
    found.damage += [_conflict(entry) for entry in entries if entry.event.id in copies]
    found.damage += [torn for file in day.files for torn in _torn(file)]


def _conflict(entry: LogLine) -> Damage:
    reason = f"its id is that of another day's event, which counts: it names {day_in_id(entry.event.id)}"
    return Damage(entry.file, entry.number, entry.offset, "conflict", reason)


def _torn(file: str) -> Iterator[Damage]:
    """A last line that nobody is writing any more: its writer died, or the file was cut. Raises Busy."""
    try:
        data = read_settled(file)
    except OSError:  # named by the readers
        return
    if not data or data.endswith(b"\n"):
        return
    start = data.rfind(b"\n") + 1
    reason = "the last line is not finished, and no one is writing it; the next append isolates it"
    yield Damage(file, data.count(b"\n") + 1, start, "torn", reason)
