"""Redactions on their way between machines: which events, and keyed digests of the texts, never a text.

A machine that takes one over erases the same from its log, its own lines included, and from the other files of its
store, and refuses it from then on as the first machine does. It does not touch knowledge bases: an entry without the
text is applied by the next replay, and what else is there is the person's to clean.
"""

from collections.abc import Iterable
from functools import partial
from typing import TypeVar

from msgspec import Struct

from eventlog.app.build import foreign_logs
from eventlog.app.build.rebuild import record_changes
from eventlog.app.open_store import OpenStore
from eventlog.app.write.erasing.erase_everywhere import day_files, erase_in_files, without_redacted_in
from eventlog.app.write.erasing.erased_text import Needles
from eventlog.app.write.erasing.redact import long_texts
from eventlog.fast import fastjson
from eventlog.format.codec import json_of, to_fields
from eventlog.log.rewrite import rewrite
from eventlog.secrets.redacted import Redactions
from eventlog.store import Store
from eventlog.store.files import read, replace_file
from eventlog.store.locks import locked


class ForeignRedaction(Struct):
    """A redaction of any machine: what it erased, and the marks of the texts under their key."""

    origin: str
    ts: str
    what: str
    events: list[str] = []
    key: str = ""
    marks: dict[str, list[str]] = {}


class _Receipt(Struct):
    """A line of `redactions.jsonl`, as far as it travels; `origin` where it was made elsewhere."""

    n: int
    ts: str
    what: str
    events: list[dict[str, str]] = []
    origin: str = ""


class _Marks(Struct):
    """A line of `redactions.keys`: the key of the lines that follow, or marks, with their key where it is another."""

    n: int = 0
    key: str = ""
    marks: dict[str, list[str]] | None = None


_Line = TypeVar("_Line", _Receipt, _Marks)


def redactions_to_send(store: Store) -> list[ForeignRedaction]:
    """List all redactions of a store, those taken over from others included."""
    receipts, marks = _read(store.redactions, _Receipt), {}
    own = ""
    for line in _read(store.redaction_keys, _Marks):
        if line.marks is None:
            own = line.key
        else:
            marks[line.n] = line.key or own, line.marks
    found = []
    for receipt in receipts:
        key, digests = marks.get(receipt.n, ("", {}))
        ids = [event.get("id", "") for event in receipt.events]
        found.append(
            ForeignRedaction(receipt.origin or f"{receipt.ts}-{receipt.n}", receipt.ts, receipt.what, ids, key, digests)
        )
    return found


def own_origins(store: Store) -> list[str]:
    """List the redactions that were made here."""
    return [f"{receipt.ts}-{receipt.n}" for receipt in _read(store.redactions, _Receipt) if not receipt.origin]


def take_over(opened: OpenStore, arrived: Iterable[ForeignRedaction]) -> list[str]:
    """Erase what other machines had erased, and return the redactions that were not known here; raises NotStored.

    Databases of the cache are removed; the caller rebuilds what is made of the log.
    """
    store = opened.store
    origins = {redaction.origin for redaction in redactions_to_send(store)}
    by_marks = sorted(arrived, key=lambda redaction: bool(redaction.key and redaction.marks))  # some have lost theirs
    new = {redaction.origin: redaction for redaction in by_marks if redaction.origin not in origins}
    if not new:
        return []
    record_changes(opened)  # an edit is read by the rendering that was edited, which has the texts
    with locked(store, store.lock("replay")):
        receipts = _announce(store, new.values())
        redactions = Redactions(receipts, read(store.redaction_keys) or b"")
        named = [entry.event for entry in opened.log.find(redactions.ids).values() if not entry.event.redacted]
        whole = [event for event in named if redactions.clean(fields := to_fields(event)) == fields]
        needles = Needles(long_texts(whole), redactions.last)  # where all of an event goes, its words are in this log

        def without(text: str) -> str:
            return str(redactions.clean(needles.without(text)))

        erase_in_files(store, without, {})  # as long as the log still has what is known by its event alone
        for path in day_files(store):
            if rewrite(path, partial(without_redacted_in, redactions, False)):
                foreign_logs.accept(store, path)
        erase_in_files(store, without, {}, below=store.cache)  # what was made of the log meanwhile
        replace_file(store.redactions, receipts)  # last: a program that is killed before takes them over again
    return list(new)


def _announce(store: Store, new: Iterable[ForeignRedaction]) -> bytes:
    """Let every writer refuse the texts from now on; return all receipts, those of the new texts among them."""
    receipts = read(store.redactions)
    if receipts is None:
        replace_file(store.redactions, receipts := b"")
    keys = read(store.redaction_keys) or b""
    for number, redaction in enumerate(new, Redactions(receipts, keys).last + 1):
        if redaction.marks:
            marks: dict[str, object] = {"n": number, "key": redaction.key, "marks": redaction.marks}
            if (there := redaction.origin.rpartition("-")[2]).isdecimal():  # its number there: stubs are equal anywhere
                marks["marker"] = int(there)
            keys += fastjson.dumps(marks) + b"\n"
        events = [{"id": event, "file": "", "before": "", "now": ""} for event in redaction.events]
        made = {"n": number, "ts": redaction.ts, "what": redaction.what, "events": events, "origin": redaction.origin}
        receipts += fastjson.dumps(made) + b"\n"
    replace_file(store.redaction_keys, keys)
    return receipts


def _read(path: str, kind: type[_Line]) -> list[_Line]:
    return [found for line in (read(path) or b"").splitlines() if (found := json_of(line, kind)) is not None]
