"""Is the log whole? Every line of every file, and what no reader may assume: that the last line is finished."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from eventlog import days
from eventlog.cross_day import CopyFilter, day_in_id, misdated
from eventlog.damage import Damage
from eventlog.dayfile import read_settled
from eventlog.log import EventLog
from eventlog.log_line import LogLine


class VerifyResult(Struct):
    """Tell how much was read, and everything that is wrong with it, in the order of the files."""

    events: int = 0
    files: int = 0
    damage: list[Damage] = []


def verify(log: EventLog, progress: Callable[[int, int], None] = lambda _done, _all: None) -> VerifyResult:
    """Read the whole log, one day in memory at a time; raises Busy where a file's lock is not to be had."""
    found = VerifyResult()
    elsewhere = CopyFilter(log.holding)
    there = log.days()
    for number, day in enumerate(there, 1):
        progress(number, len(there))
        entries, damage = days.entries(day)
        copies = elsewhere.of(misdated(day.date, [entry.event.id for entry in entries]))
        found.files += len(day.files)
        found.events += len(entries) - len(copies)
        found.damage += [bad for bad in damage if bad.kind != "pending"]
        found.damage += [_conflict(entry) for entry in entries if entry.event.id in copies]
        found.damage += [torn for file in day.files for torn in _torn(file)]
    found.damage += days.irregular(log.store.log)
    return found


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
