"""Erase texts and events from every file of a store, and from what it has written elsewhere.

What is to be done is written into a journal first, `redactions.jsonl.pending`, and synced. Every step may be repeated:
after a kill the next program that opens the log does them all once more, and removes the journal.

Log          the line of an event stays, with id, time and type; its texts go, or all that it said. It carries a keyed
             digest of the line that was there before, whose key can be deleted (`redactions.keys`).
Caches       databases are deleted, for a deleted row stays in the file; so are knowledge files nobody has changed.
Other files  spool, staged entries, copies set aside, damaged lines, logs of errors, backups of hosts' files, knowledge
             bases: the texts are replaced.
"""

import base64
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from eventlog.app.write.erasing.erased_text import Needles, bytes_of, text_of
from eventlog.fast import fastjson, os
from eventlog.fast.sha import keyed, sha256
from eventlog.format import codec
from eventlog.format.errors import Busy, InvalidEvent, NotStored
from eventlog.format.events import Rejected
from eventlog.format.retractions import wordless
from eventlog.log import days
from eventlog.log.rewrite import rewrite
from eventlog.projections.views.markdown import is_untouched
from eventlog.secrets.redacted import Redactions, is_only_markers, mark_of
from eventlog.store import Store, day_of, is_own
from eventlog.store.files import FileStamp, file_stamp, read, read_regular, remove, replace_file, sync_dir
from eventlog.store.locks import locked
from eventlog.store.shared_files import ChangedMeanwhile, replace_if_unchanged

_KEY = 32  # bytes
_LIFECYCLE = frozenset(("session_start", "session_end", "turn_end", "save_requested", "context_injected", "redacted"))
IN_FILES = frozenset(("plan_entry", "entry_applied", "entry_resolved", "knowledge_edited"))  # ledgers need them
_DECISIONS = frozenset(("retraction", "rejected", "restored", "project_seen", "project_joined"))
_LISTS = ("decisions", "todos", "done", "entities", "prompts", "files")
_ENVELOPE = ("v", "id", "ts", "after", "type", "conversation_id", "project", "agent", "subagent", "layer", "replica",
             "speaker")  # fmt: skip
_OWN = frozenset(("config.yaml", "trusted.json", "replica", "replica.machine", "redactions.jsonl", "redactions.keys",
                  "seals.jsonl", "rewritten.jsonl"))  # fmt: skip
_DATABASE = b"SQLite format 3"
_DATABASES = (".db", ".sqlite", "-wal", "-shm", "-journal", ".index")
_TRIES = 5


class Erasing(Struct):
    """The erasure of a redaction, and its journal until it is done."""

    number: int
    ts: str
    what: str  # event, session, text or pattern
    key: str  # of the digests of the lines that were there before
    texts: list[str] = []
    events: list[str] = []  # of which all goes
    bases: list[str] = []  # files of knowledge bases in which the log wrote one of the texts
    lines: list[str] = []  # of those files, as the log knows them
    digests: dict[str, str] = {}  # of sections of those files: as they were, and as they will be
    copies: list[str] = []  # files for hosts
    left: list[str] = []  # places that hold the texts and are out of reach
    before: list[str] = []  # digests of lines that were redacted already, here or on another machine


class _ErasedEvent(Struct):
    """An event of a receipt: its id, its file, and the digests of its line, before (keyed) and now."""

    id: str
    file: str
    before: str
    now: str


class Receipt(Struct):
    """The result of a redaction, without the text: a line of `redactions.jsonl`."""

    n: int
    ts: str
    what: str
    events: list[_ErasedEvent] = []
    files: list[str] = []
    bytes: int = 0
    left: list[str] = []


_ID = re.compile(rb'"id":"([^"]*)"')


def begin(store: Store, prepare: Callable[[], Erasing]) -> Receipt:
    """Write the journal of what is prepared at our turn, and carry it out.

    Raises NotStored, or Busy where another replay is at work.
    """
    with locked(store, store.lock("replay")):
        finish(store)
        erasing = prepare()
        erasing.before = [event.before for path in day_files(store) for event in _erased_in(path)]
        replace_file(store.redacting, msgspec.json.encode(erasing))
        try:
            return _carry_out(store, erasing)
        except NotStored as error:
            what = f"not erased everywhere: {error.what.removeprefix('not stored: ')}"
            raise NotStored(what, where=error.where, hint="the next use of eventlog goes on with it") from error


def complete(store: Store) -> None:
    """Finish a redaction whose program was killed, unless another redaction is at work; raises NotStored."""
    if not os.path.exists(store.redacting):
        return
    try:
        with locked(store, store.lock("replay"), patience=0):
            finish(store)
    except Busy:
        return


def erase_arrived(store: Store) -> None:
    """Erase again what an older copy of a day file has brought back; raises NotStored.

    Only files that have changed since the last look are read.
    """
    redactions = Redactions.of(store)
    if redactions is None:
        return
    note = store.cached("redacted.seen")
    seen = codec.json_of(read(note), dict[str, FileStamp]) or {}
    now = {}
    for path in day_files(store):
        name = os.path.basename(path)
        if file_stamp(path) != seen.get(name):
            if read(path) is None:
                continue  # what nobody can read brings nothing back, until it can be read
            rewrite(path, partial(without_redacted_in, redactions, is_own(name)))
        now[name] = file_stamp(path)
    if now != seen:
        with suppress(NotStored):
            replace_file(note, msgspec.json.encode(now), durable=False)


def without_redacted_in(redactions: Redactions, is_from_here: bool, data: bytes) -> bytes | None:
    """Erase again from lines what was erased before; None where nothing of it is in them."""
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        found = _ID.search(line)
        is_named = found is not None and found[1].decode() in redactions.ids and b'"redacted":"' not in line
        if not is_named and (is_from_here or not line):
            continue
        fields = fastjson.object_in(line)
        if not fields:
            continue
        cleaned = {name: value if name in _ENVELOPE else redactions.clean(value) for name, value in fields.items()}
        if cleaned == fields and not is_named:
            continue
        nothing = Needles([], 0)
        remaining = _stub(fields, nothing) if cleaned == fields else _reduced(fields, cleaned, nothing)
        lines[number] = fastjson.dumps({**remaining, "redacted": keyed(os.urandom(_KEY))(line)})
    new = b"\n".join(lines)
    return None if new == data else new


def finish(store: Store) -> None:
    """Finish a redaction whose program was killed, by its journal, if there is any; only who has the lock may.

    Raises NotStored, of a day that nobody can read where all others are done.
    """
    try:
        erasing = msgspec.json.decode(read_regular(store.redacting), type=Erasing)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise NotStored("cannot be read: a redaction is not finished", where=store.redacting) from error
    _carry_out(store, erasing)


def _carry_out(store: Store, erasing: Erasing) -> Receipt:
    _announce(store, erasing)
    needles = Needles(erasing.texts, erasing.number)
    log = [path for day in days.list_days(store.log) for path in day.files]  # those that cannot be read, too
    changed: dict[str, int] = {}
    seen: dict[str, FileStamp] = {}
    failed: list[NotStored] = []
    for path in log:
        try:
            seen[path] = _erase_day(path, erasing, needles, changed)
        except NotStored as error:  # what one file holds is no reason to leave it in all others
            failed.append(NotStored(error.what, where=path, hint=error.hint))
    erase_in_files(store, needles.without, changed)
    for path in erasing.bases:
        for copy in sorted(Path(path).parent.glob(f"{Path(path).name}.edited-*")):
            _replace(str(copy), needles.without, changed)
        _replace(path, lambda text: needles.without_in_lines(text, set(erasing.lines)), changed)
    for path in erasing.copies:
        if (data := read(path)) is not None and needles.are_in(text_of(data)) and is_untouched(data):
            remove(path, must=True)
            changed[path] = len(data)
    if failed:
        raise max(failed, key=lambda error: read(error.where) is not None)  # what can be read holds it, too
    for path in log:  # what was appended by a program that had begun before the texts were announced
        if file_stamp(path) != seen[path]:
            _erase_day(path, erasing, needles, changed)
    receipt = _note(store, erasing, log, changed)
    remove(store.redacting, must=True)
    sync_dir(store.root)
    return receipt


def _announce(store: Store, erasing: Erasing) -> None:
    """Let every writer refuse the texts from now on; the key of this redaction is there before it is used."""
    if not os.path.exists(store.redactions):
        replace_file(store.redactions, b"")
    path = store.redaction_keys
    lines = [fastjson.object_in(line) for line in (read(path) or b"").splitlines()]
    if any(line.get("n") == erasing.number for line in lines):
        return
    key = next((str(line["key"]) for line in lines if "key" in line and "marks" not in line), "")
    if not key:
        key = os.urandom(_KEY).hex()
        lines.insert(0, {"key": key})
    marks: dict[str, list[str]] = {}
    for mark in filter(None, (mark_of(text, key) for text in erasing.texts)):
        marks.setdefault(str(mark[0]), []).append(mark[1])
    lines.append({"n": erasing.number, "lines": erasing.key, "marks": marks})
    replace_file(path, b"".join(fastjson.dumps(line) + b"\n" for line in lines))


def _note(store: Store, erasing: Erasing, log: list[str], changed: dict[str, int]) -> Receipt:
    """Append the receipt, unless a run that was killed has done so."""
    before = read(store.redactions) or b""
    receipts = [fastjson.object_in(line) for line in before.splitlines()]
    if found := next((receipt for receipt in receipts if receipt.get("n") == erasing.number), None):
        return msgspec.convert(found, Receipt)
    before_it = set(erasing.before)
    events = [event for path in log for event in _erased_in(path) if event.before not in before_it]
    named = (re.sub(r"[^\w.-]", "-", text, flags=kind) for text in erasing.texts for kind in (0, re.ASCII))  # of files
    needles = Needles([*erasing.texts, *named], erasing.number)
    receipt = Receipt(
        n=erasing.number,
        ts=erasing.ts,
        what=erasing.what,
        events=events,
        files=sorted({needles.without(path.removeprefix(f"{store.root}/")) for path in changed}),
        bytes=sum(changed.values()),
        left=[needles.without(place) for place in erasing.left],
    )
    line = msgspec.json.encode(receipt)
    replace_file(store.redactions, before + line + b"\n")
    return receipt


def _erased_in(path: str) -> Iterator[_ErasedEvent]:
    for line in (read(path) or b"").split(b"\n"):
        if b'"redacted":"' in line and (fields := fastjson.object_in(line)):
            yield _ErasedEvent(str(fields.get("id")), os.path.basename(path), str(fields.get("redacted")), sha256(line))


# ------------------------------------------------------------------------------------------- lines of the log


def _erase_day(path: str, erasing: Erasing, needles: Needles, changed: dict[str, int]) -> FileStamp:
    """Erase from one day file, under its lock; return its stamp then."""
    known = erasing if is_own(path) else replace(erasing, digests={})  # knowledge bases elsewhere are as they were

    def erased(data: bytes) -> bytes | None:
        new = _erase_lines(data, known, needles)
        if new == data:
            return None
        changed[path] = changed.get(path, 0) + abs(len(data) - len(new))
        return new

    rewrite(path, erased)
    return file_stamp(path)


def _erase_lines(data: bytes, erasing: Erasing, needles: Needles) -> bytes:
    """Erase from the lines of a day file; all other lines stay as they are, to the byte."""
    ids = [event_id.encode() for event_id in erasing.events] + [digest.encode() for digest in erasing.digests]
    if not needles.are_in(text_of(data)) and not any(event_id in data for event_id in ids):
        return data
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        if needles.are_in(text_of(line)) or any(event_id in line for event_id in ids):
            lines[number] = _erase_line(line, erasing, needles)
    return b"\n".join(lines)


def _erase_line(line: bytes, erasing: Erasing, needles: Needles) -> bytes:
    fields = fastjson.object_in(line)
    if not fields:  # damaged, or written half
        return bytes_of(needles.without(text_of(line)))
    kind = str(fields.get("type"))
    if fields.get("id") in erasing.events and kind not in _LIFECYCLE:
        remaining = _stub(fields, needles)
        if kind in IN_FILES | _DECISIONS:  # others refer to it: it loses its texts only
            texts = {
                name: needles.marker for name in ("content", "below", "reason") if isinstance(fields.get(name), str)
            }
            remaining = needles.without_in_fields({**fields, **texts})
    else:
        remaining = needles.without_in_fields(_wordless(fields, needles))
        if kind == "entry_applied" and isinstance(digest := remaining.get("digest"), str):
            remaining["digest"] = erasing.digests.get(digest, digest)
        remaining = _reduced(fields, remaining, needles)
    if remaining == fields and not needles.are_in(text_of(line)):
        return line
    key = keyed(erasing.key.encode())(str(fields.get("id")).encode("utf-8", "replace"))
    remaining["redacted"] = keyed(key.encode())(line)
    return _valid(line, fields, remaining, needles)


def _reduced(fields: dict[str, object], remaining: dict[str, object], needles: Needles) -> dict[str, object]:
    """Drop items of which only markers are left; return a stub where nothing else is left of an event."""
    for name in _LISTS:
        if isinstance(items := remaining.get(name), list):
            remaining[name] = [item for item in items if not is_only_markers(str(item))]
    is_empty = not (remaining.get("decisions") or remaining.get("todos") or remaining.get("topic"))
    content = {"fact": "content", "stage_summary": "summary"}.get(str(remaining.get("type")), "")
    text = remaining.get(content)
    if content and is_empty and text != fields.get(content) and is_only_markers(str(text)):
        return _stub(fields, needles)
    return remaining


def _wordless(fields: dict[str, object], needles: Needles) -> dict[str, object]:
    """Replace the words of a rejection by their digest; it stays in force."""
    if fields.get("type") != "rejected" or not needles.are_in(str(fields.get("statement") or "")):
        return fields
    event = codec.from_fields(fields)
    return codec.to_fields(wordless(event)) if isinstance(event, Rejected) else fields


def _stub(fields: dict[str, object], needles: Needles) -> dict[str, object]:
    """Make what stays of an event of which all goes."""
    common = {name: value for name, value in fields.items() if name in _ENVELOPE}
    return needles.without_in_fields({**common, "v": 1, "type": "redacted", "was": str(fields.get("type"))})


def _valid(line: bytes, fields: dict[str, object], remaining: dict[str, object], needles: Needles) -> bytes:
    """Write the line; where no reader would take it, what the format fixes stays, else nothing but a stub."""
    stub = {**_stub(fields, needles), "redacted": remaining["redacted"]}
    restored = (
        {**remaining, name: fields[name]} for name in remaining if name in fields and remaining[name] != fields[name]
    )
    candidates = map(fastjson.dumps, (remaining, *restored, stub)) if _is_event(line) else ()
    return next(filter(_is_event, candidates), fastjson.dumps(remaining))


def _is_event(line: bytes) -> bool:
    try:
        codec.decode(line)
    except InvalidEvent:
        return False
    return True


# ------------------------------------------------------------------------------------------- all other files


def erase_in_files(store: Store, without: Callable[[str], str], changed: dict[str, int], *, below: str = "") -> None:
    """Erase texts from all files of a store but its log, or from those below a directory of it; raises NotStored."""
    exempt = {store.redacting, *(f"{store.root}/{name}" for name in _OWN)}
    for path in files_below(below or store.root):
        is_of_sync = _is_below(store.sync, path) and not path.endswith("/state.json")  # that names projects
        is_of_log = os.path.dirname(path) == store.log and day_of(os.path.basename(path))
        if not (path in exempt or is_of_sync or is_of_log):
            _erase_file(store, path, without, changed)


def _is_below(folder: str, path: str) -> bool:
    return path.startswith(f"{folder}/")


def _erase_file(store: Store, path: str, without: Callable[[str], str], changed: dict[str, int]) -> None:
    if _is_below(store.cache, path) and (path.endswith(_DATABASES) or (read(path) or b"").startswith(_DATABASE)):
        remove(path, must=True)  # a deleted row stays in it
        return
    data = read(path) or b""
    if _is_below(store.knowledge, path) and is_untouched(data):
        if without(text_of(data)) != text_of(data):
            changed[path] = len(data)
            remove(path, must=True)  # the next replay makes it anew
            with suppress(OSError):  # others are in it; its name may be made of the text
                os.rmdir(os.path.dirname(path))
        return
    is_backup = os.path.dirname(path) == f"{store.root}/backups"
    _replace(path, partial(_in_backup, without) if is_backup else without, changed)


def _in_backup(without: Callable[[str], str], text: str) -> str:
    """Erase texts from a backup of a host's file, and from the file that it holds."""
    fields = fastjson.object_in(bytes_of(text))
    with suppress(ValueError):  # damaged
        before = text_of(base64.b64decode(str(fields.get("before") or ""), validate=True))
        if (remaining := without(before)) != before:
            fields["before"] = base64.b64encode(bytes_of(remaining)).decode()
            text = text_of(fastjson.dumps(fields))
    return without(text)


def _replace(path: str, make: Callable[[str], str], changed: dict[str, int]) -> None:
    """Replace the text of a file; what another program saves or removes meanwhile counts. Raises NotStored."""
    for _ in range(_TRIES):
        data = read(path)
        if data is None or (new := bytes_of(make(text_of(data)))) == data:
            return
        with suppress(ChangedMeanwhile, FileNotFoundError):
            replace_if_unchanged(path, new, data, mode=os.stat(path).st_mode & 0o777)
            changed[path] = abs(len(data) - len(new))
            return
    raise NotStored("another program saves it again and again", where=path, hint="try again")


def files_below(root: str) -> list[str]:
    """List the files of a store, also where a directory of it, or a day file, is a link; no other link is followed."""
    found, seen = [], set[str]()
    for folder, below, names in os.walk(root, followlinks=True):
        if (real := os.path.realpath(folder)) in seen:
            below.clear()
            continue
        seen.add(real)
        for name in names:
            path = f"{folder}/{name}"
            is_followed = day_of(name) or not os.path.islink(path)
            if is_followed and os.path.isfile(path) and not name.endswith(".lock"):
                found.append(path)
    return sorted(found)


def day_files(store: Store) -> list[str]:
    """List the day files of a store, those of other machines included."""
    return [path for path in files_below(store.log) if day_of(os.path.basename(path))]
