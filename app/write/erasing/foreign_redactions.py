"""Redactions on their way between machines: which events, and keyed digests of the texts, never a text.

A machine that takes one over erases the same from its log, its own lines included, and refuses it from then on as the
first machine does. What it cannot reach is what a person wrote into files of their own.
"""

from collections.abc import Iterable
from functools import partial
from typing import TypeVar

import msgspec
from msgspec import Struct

from eventlog.app.build import foreign_logs
from eventlog.app.write.erasing.erase_everywhere import day_files, files_below, is_database, without_redacted_in
from eventlog.fast import fastjson
from eventlog.log import days
from eventlog.log.rewrite import rewrite
from eventlog.secrets.redacted import Redactions, keys_of
from eventlog.store import Store
from eventlog.store.files import remove, replace_file
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
    for line in _read(keys_of(store), _Marks):
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


def take_over(store: Store, arrived: Iterable[ForeignRedaction]) -> list[str]:
    """Erase from the log what other machines had erased, and return the redactions that were not known here.

    Databases of the cache are removed; the caller rebuilds what is made of the log. Raises NotStored.
    """
    origins = {redaction.origin for redaction in redactions_to_send(store)}
    new = {redaction.origin: redaction for redaction in arrived if redaction.origin not in origins}
    if not new:
        return []
    with locked(store, store.lock("replay")):
        for redaction in new.values():
            _note(store, redaction)
        redactions = Redactions.of(store)
        assert redactions is not None
        for path in day_files(store):
            if rewrite(path, partial(without_redacted_in, redactions, False)):
                foreign_logs.accept(store, path)
        for path in files_below(store.cache):
            text = (days.read(path) or b"").decode("utf-8", "surrogateescape")
            if is_database(path) or redactions.clean(text) != text:
                remove(path, must=True)
    return list(new)


def _note(store: Store, redaction: ForeignRedaction) -> None:
    """Record a redaction under a number of this store: its marks first, so that no receipt is without them."""
    found = Redactions.of(store)
    number = found.last + 1 if found else 1
    if redaction.marks:
        marks: dict[str, object] = {"n": number, "key": redaction.key, "marks": redaction.marks}
        replace_file(keys_of(store), (days.read(keys_of(store)) or b"") + fastjson.dumps(marks) + b"\n")
    events = [{"id": event, "file": "", "before": "", "now": ""} for event in redaction.events]
    receipt = {"n": number, "ts": redaction.ts, "what": redaction.what, "events": events, "origin": redaction.origin}
    replace_file(store.redactions, (days.read(store.redactions) or b"") + fastjson.dumps(receipt) + b"\n")


def _read(path: str, kind: type[_Line]) -> list[_Line]:
    found: list[_Line] = []
    for line in (days.read(path) or b"").splitlines():
        try:
            found.append(msgspec.json.decode(line, type=kind))
        except msgspec.MsgspecError:
            continue
    return found
