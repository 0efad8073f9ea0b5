"""Lines of other machines on their way into the log: `log/<day>.<replica>.jsonl`, each event once.

A file is written by this program only: new lines are appended, and what a kill has torn of them arrives again. Lines
that any file of the day has already are left out; one that states something else stays beside it, where `verify` names
it, and counts by the rule of `days.claim` on every machine. A line that its machine has cut anew, because something was
erased from it or its content may leave now, takes the place of the earlier one; what was erased here stays erased.
"""

from collections.abc import Iterator

from eventlog.app.build import foreign_logs
from eventlog.app.write.erasing.erase_everywhere import without_redacted_in
from eventlog.fast import os
from eventlog.format import codec
from eventlog.format.errors import NotStored
from eventlog.format.events import Event
from eventlog.format.retractions import statements_of
from eventlog.log.event_log import EventLog
from eventlog.log.lines import LogLine, decode_whole
from eventlog.log.rewrite import rewrite
from eventlog.secrets.redacted import Redactions
from eventlog.store import shared_files
from eventlog.store.dayfile import DayFile
from eventlog.store.files import not_stored, read, remove, sync_dir

_ERASED = b'"redacted":"'


def take_in(log: EventLog, replica: str, day: str, lines: bytes, taken: dict[str, bool]) -> int:
    """Add lines of a machine and a day to the log; return how many are new or changed. Raises NotStored.

    Notes in `taken` their file, and whether it is new: such a file is not synced yet (`make_durable`).
    """
    path = f"{log.store.log}/{day}.{replica}.jsonl"
    if redactions := Redactions.of(log.store):
        lines = without_redacted_in(redactions, is_from_here=False, data=lines) or lines
    arriving = _not_elsewhere(log, path, day, dict(by_id(day, lines)))
    is_there = os.path.exists(path)
    is_new = taken.get(path, not is_there)
    before = (read(path) if is_there else b"") or b""
    if not before or before.endswith(b"\n"):
        differing, new = _compared(day, before, arriving)
        if not differing:
            if new:  # who has read the file so far reads on from there
                with DayFile(log.store.log, f"{day}.{replica}", sync=not is_new) as opened:
                    opened.append(b"".join(line + b"\n" for line in new))
            if new or is_there:
                taken[path] = is_new
            return len(new)
    changed = 0

    def merged(data: bytes) -> bytes | None:
        nonlocal changed
        made, changed = united(day, data, arriving)
        return made if made != data else None

    if rewrite(path, merged):
        foreign_logs.accept(log.store, path)
    return changed


def _not_elsewhere(log: EventLog, path: str, day: str, arriving: dict[str, bytes]) -> dict[str, bytes]:
    """Leave out what other files of the day have, and do not contradict."""
    for found in log.days(day, day):
        for file in found.files:
            if file != path:
                for event_id, line in by_id(day, read(file) or b""):
                    if not _contradicts(arriving.get(event_id, line), line):
                        arriving.pop(event_id, None)
    return arriving


def _contradicts(line: bytes, other: bytes) -> bool:
    """Return whether both lines of an event state something, and not the same; erased texts and marks state nothing."""
    if line == other or _ERASED in line or _ERASED in other:
        return False
    here, there = (list(statements_of(codec.decode(found))) for found in (line, other))
    return bool(here and there) and here != there


def make_durable(log: EventLog, taken: dict[str, bool]) -> None:
    """Sync the files of what was taken in; raises NotStored, without those that are new: their lines arrive again.

    Also files that had all lines are synced: a program that was killed may have written them.
    """
    if not taken:
        return
    try:
        shared_files.make_durable(list(taken))
        sync_dir(log.store.log)
    except (OSError, NotStored) as error:
        for path in (path for path, is_new in taken.items() if is_new):
            remove(path)
        raise error if isinstance(error, NotStored) else not_stored(error, log.store.log) from error


def united(day: str, data: bytes, arriving: dict[str, bytes]) -> tuple[bytes, int]:
    """Unite a file with arriving lines: those it has are replaced where they differ, all others follow.

    A line at the end that a kill has torn is cut off: its machine has it whole.
    """
    whole = data.rfind(b"\n") + 1
    data = data[:whole] + b"".join(line + b"\n" for _, line in by_id(day, data[whole:]))
    differing, new = _compared(day, data, arriving)
    if differing:
        data = b"".join(differing.get(line, line) + b"\n" for line in data.split(b"\n")[:-1])
    return data + b"".join(line + b"\n" for line in new), len(new) + len(differing)


def _compared(day: str, data: bytes, arriving: dict[str, bytes]) -> tuple[dict[bytes, bytes], list[bytes]]:
    """Find the lines of a file that are replaced, by what, and the arriving lines that it lacks.

    A whole line never replaces an erased line.
    """
    lines = dict(by_id(day, data))
    both = ((lines[event_id], line) for event_id, line in arriving.items() if event_id in lines)
    differing = {before: now for before, now in both if before != now and (_ERASED not in before or _ERASED in now)}
    return differing, [line for event_id, line in arriving.items() if event_id not in lines]


def by_id(day: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the ids and lines of a day's events; damaged lines are left out."""
    return ((event.id, line) for event, line in events_in(day, data))


def events_in(day: str, data: bytes) -> Iterator[tuple[Event, bytes]]:
    """Yield a day's events and their lines; damaged lines are left out."""
    events = decode_whole(data, day)
    lines = data.split(b"\n")
    if events is not None:
        yield from zip(events, lines, strict=False)
        return
    for line in filter(None, lines):
        for found in LogLine.unread(line, "", 0, 1).check(day):
            if isinstance(found, LogLine):
                yield found.event, line
