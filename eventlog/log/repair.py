"""Move the damage of the log into `log/DAY.damaged`, byte for byte: nothing is dropped, no line that is read changes.

A damaged file has a line of JSON per piece: of which file it was, from which byte on, why, and its bytes as `text`, or
in `base64` where they are none. They are on disk before the day file is rewritten; after a kill in between they are not
written twice.
"""

import base64
from collections.abc import Iterator
from functools import partial

from msgspec import Struct

from eventlog.fast import fastjson, os
from eventlog.log import days
from eventlog.log.days import Day, DuplicateFilter, claim, misdated
from eventlog.log.event_log import EventLog
from eventlog.log.lines import Damage, LogLine
from eventlog.log.rewrite import rewrite
from eventlog.log.verify import verify
from eventlog.store import day_of
from eventlog.store.files import read_regular, replace_file
from eventlog.store.locks import locked

_PATIENCE = 5.0  # seconds for a writer to let go of a file
_BOM = 3  # bytes
_LEFT = frozenset(("too-long", "unreadable"))  # the first is read all the same, nobody can move the second


class _RepairResult(Struct):
    """The damage that was moved, and what stays where it is."""

    moved: list[Damage] = []
    left: list[Damage] = []


def repair(log: EventLog) -> _RepairResult:
    """Move all damage that can be moved; raises NotStored, or Busy where a writer holds a file for 5 seconds."""
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


def damaged_file(log_dir: str, day: str) -> str:
    """Name the file for the damage of a day."""
    return f"{log_dir}/{day}{days.DAMAGED}"


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
        end = _BOM if damage.kind == "bom" else end
        if damage.kind == "pending" and data[end - 1 : end] == b"\n":
            continue
        taken.append(_piece(damage, data[damage.offset : end]))
        rest.append(data[done : damage.offset])
        done = end
    if not taken:
        return None
    path = damaged_file(log_dir, day)
    before = read_regular(path) if os.path.exists(path) else b""
    new = [line for line in taken if line not in before.splitlines()]
    if new:
        replace_file(path, before + b"".join(line + b"\n" for line in new))
    return b"".join((*rest, data[done:]))


def _piece(damage: Damage, data: bytes) -> bytes:
    about = {
        "file": os.path.basename(damage.file),
        "offset": damage.offset,
        "kind": damage.kind,
        "reason": damage.reason,
    }
    try:
        return fastjson.dumps({**about, "text": data.decode()})
    except UnicodeDecodeError:
        return fastjson.dumps({**about, "base64": base64.b64encode(data).decode()})
