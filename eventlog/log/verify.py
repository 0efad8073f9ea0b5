"""Verify the log: every line of every file, also that the last line is finished; name conflict copies of day files.

A conflict copy is what a sync program makes of two versions of a day file it cannot reconcile. No reader takes it: an
old copy would bring back what was redacted since.

Repair       moves the damage into `log/DAY.damaged`, byte for byte: nothing is dropped, no line that is read changes. A
             damaged file has a line of JSON per piece: of which file it was, from which byte on, why, and its bytes as
             `text`, or in `base64` where they are none. They are on disk before the day file is rewritten; after a kill
             in between they are not written twice.
"""

import base64
import re
from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct

from eventlog.fast import fastjson, os
from eventlog.fast.fastjson import BOM, MAX_LINE
from eventlog.format.ids import day_in_id
from eventlog.log import days
from eventlog.log.days import DAMAGED, Day, DuplicateFilter, claim, misdated
from eventlog.log.event_log import EventLog
from eventlog.log.lines import Damage, LogLine, decode_whole
from eventlog.log.rewrite import rewrite
from eventlog.store import day_of
from eventlog.store.dayfile import read_settled
from eventlog.store.files import read_regular, replace_file
from eventlog.store.locks import locked

_PIECE = 64 << 10  # bytes
_PATIENCE = 5.0  # seconds for a writer to let go of a file
_LEFT = frozenset(("too-long", "unreadable"))  # the first is read all the same, nobody can move the second


class VerifyResult(Struct):
    """The numbers of events and files, everything wrong with them in the order of the files, and other files."""

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
    for entry in entries:
        if entry.event.id in copies:
            reason = f"its id is that of another day's event, which counts: it names {day_in_id(entry.event.id)}"
            found.damage.append(entry.damage("conflict", reason))
    found.damage += [torn for file in day.files for torn in _torn(file)]


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


class _RepairResult(Struct):
    """The damage that was moved, and what stays where it is."""

    moved: list[Damage] = []
    left: list[Damage] = []


def repair(log: EventLog) -> _RepairResult:
    """Move all damage that can be moved; raises NotStored, or Busy where a writer holds a file for 5 seconds."""
    if not log.days():  # a lock would begin a store
        return _RepairResult(left=verify(log).damage)
    with locked(log.store, log.store.lock("replay"), _PATIENCE):  # others that rewrite files wait
        return _repair(log)


def _repair(log: EventLog) -> _RepairResult:
    found = verify(log)
    damaged = {day_of(os.path.basename(damage.file)) for damage in found.damage}
    result = _RepairResult()
    elsewhere = DuplicateFilter(log.holding)
    for day in log.days() if damaged else ():
        pieces = list(_damage_of(day, elsewhere))
        for file in day.files if day.date in damaged else ():
            wanted = sorted((piece for piece in pieces if piece.file == file), key=lambda piece: piece.offset)
            if wanted and rewrite(file, partial(_without, log.store.log, day.date, wanted), _PATIENCE):
                result.moved += wanted
    result.left = verify(log).damage if damaged else []
    return result


def _damage_of(day: Day, elsewhere: DuplicateFilter) -> Iterator[Damage]:
    """Yield what no reader takes: damaged lines, lines that lose to another of their id, and an end that is torn."""
    lines: dict[str, list[LogLine]] = {}
    for file in day.files:
        for item in days.scan(file, day.date):
            if isinstance(item, LogLine):
                lines.setdefault(item.event.id, []).append(item)
            elif item.kind not in _LEFT:
                yield item
    copies = elsewhere.of(misdated(day.date, lines))
    for event_id, same in lines.items():
        first = min(same, key=claim)
        for line in same:
            if event_id in copies:
                yield line.damage("conflict", "its id is that of another day's event, which counts")
            elif line.line != first.line:
                yield line.damage("conflict", f"not the line of {os.path.basename(first.file)}, with the same id")


def _without(log_dir: str, day: str, wanted: list[Damage], data: bytes) -> bytes | None:
    """Set pieces of a file aside, durably, and return the rest; an unfinished line that was finished since stays."""
    taken, rest, done = [], [], 0
    for damage in wanted:
        end = data.find(b"\n", damage.offset) + 1 or len(data)
        end = len(BOM) if damage.kind == "bom" else end
        if damage.kind == "pending" and data[end - 1 : end] == b"\n":
            continue
        taken.append(_piece(damage, data[damage.offset : end]))
        rest.append(data[done : damage.offset])
        done = end
    if not taken:
        return None
    path = f"{log_dir}/{day}{DAMAGED}"
    before = read_regular(path) if os.path.exists(path) else b""
    new = [line for line in taken if line not in before.splitlines()]
    if new:
        replace_file(path, before + b"".join(line + b"\n" for line in new))
    return b"".join((*rest, data[done:]))


def _piece(damage: Damage, data: bytes) -> bytes:
    state = {
        "file": os.path.basename(damage.file),
        "offset": damage.offset,
        "kind": damage.kind,
        "reason": damage.reason,
    }
    try:
        return fastjson.dumps({**state, "text": data.decode()})
    except UnicodeDecodeError:
        return fastjson.dumps({**state, "base64": base64.b64encode(data).decode()})


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
