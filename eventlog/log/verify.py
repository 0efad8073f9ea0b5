"""Verify the log: every line of every file, also that the last line is finished; name conflict copies of day files.

A conflict copy is what a sync program makes of two versions of a day file it cannot reconcile. No reader takes it: an
old copy would bring back what was redacted since.
"""

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from eventlog.fast.fastjson import MAX_LINE
from eventlog.format.ids import day_in_id
from eventlog.log import days
from eventlog.log.days import Day, DuplicateFilter, misdated
from eventlog.log.event_log import EventLog
from eventlog.log.lines import Damage, LogLine, decode_whole
from eventlog.store import day_of
from eventlog.store.dayfile import read_settled

_PIECE = 64 << 10  # bytes


class VerifyResult(Struct):
    """Report how much was read, everything wrong with it in the order of the files, and which files hold no day."""

    events: int = 0
    files: int = 0
    damage: list[Damage] = []
    strangers: list[str] = []  # of the log's directory; never read


def verify(log: EventLog, progress: Callable[[int, int], None] = lambda _done, _all: None) -> VerifyResult:
    """Read the whole log, one day in memory at a time; raises Busy where a file's lock is not to be had."""
    found = VerifyResult(strangers=days.foreign_files(log.store.log))
    elsewhere = DuplicateFilter(log.holding)
    all_days = log.days()
    for number, day in enumerate(all_days, 1):
        progress(number, len(all_days))
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
        if len(data) > MAX_LINE and max(map(len, data.split(b"\n"))) > MAX_LINE:
            return None
        for piece in _pieces(data):
            events = decode_whole(piece, day.date)
            if events is None:
                return None
            ids += [event.id for event in events]
            del events
    return ids if len(set(ids)) == len(ids) else None


def _pieces(data: bytes) -> Iterator[bytes]:
    """Cut a file between lines into pieces whose events fit the processor's cache: a whole day takes longer."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _PIECE) + 1 or len(data)
        yield data[start:end]
        start = end


def _look_closely(day: Day, elsewhere: DuplicateFilter, found: VerifyResult) -> None:
    """Read a day line by line. Raises Busy."""
    entries, damage = day.entries()
    copies = elsewhere.of(misdated(day.date, [entry.event.id for entry in entries]))
    found.events += len(entries) - len(copies)
    found.damage += [bad for bad in damage if bad.kind != "pending"]
    found.damage += [_conflict(entry) for entry in entries if entry.event.id in copies]
    found.damage += [torn for file in day.files for torn in _torn(file)]


def _conflict(entry: LogLine) -> Damage:
    reason = f"its id is that of another day's event, which counts: it names {day_in_id(entry.event.id)}"
    return entry.damage("conflict", reason)


def _torn(file: str) -> Iterator[Damage]:
    """Find a last line that stays unfinished: its writer died, or the file was cut. Raises Busy."""
    try:
        data = read_settled(file)
    except OSError:  # named by the readers
        return
    if not data or data.endswith(b"\n"):
        return
    start = data.rfind(b"\n") + 1
    reason = "the last line is not finished, and no one is writing it; the next append isolates it"
    yield Damage(file, data.count(b"\n") + 1, start, "torn", reason)


_NAMES = (
    ("Syncthing", r"\.sync-conflict-"),
    ("Dropbox", r" \(.*'s conflicted copy.*\)"),
    ("Nextcloud", r" \((?:case )?conflict.*\)|_conflict-"),
    ("Seafile", r" \(SFConflict.*\)"),
    ("Resilio", r"\.conflict$"),
    ("rclone", r"\.conflict\d+$"),
    ("Synology Drive", r"_(?:upload)?conflict"),
    ("Google Drive", r" \(\d+\)$"),
    ("iCloud", r" \d+$"),
    ("OneDrive", r"^-[^.]+$"),
)
_BY_NAME = [(program, re.compile(pattern, re.IGNORECASE)) for program, pattern in _NAMES]
_DAY = len("2026-02-20")


def sync_program(name: str) -> str:
    """Name the program that calls its copy of a day file like this; "" where it is no such name."""
    if not day_of(f"{name[:_DAY]}.jsonl") or not name.endswith(".jsonl") or day_of(name):
        return ""
    rest = name[_DAY:].removesuffix(".jsonl")
    return next((program for program, pattern in _BY_NAME if pattern.search(rest)), "")
