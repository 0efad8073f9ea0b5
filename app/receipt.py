"""The receipt: what a session was given, kept in the log, so that "did it know?" has an answer."""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import PurePath
from typing import NamedTuple

from msgspec import to_builtins

from eventlog.app.checkpoints import Checkpoints
from eventlog.append_once import SAME_CALL_MS, append_once
from eventlog.days import LogLine
from eventlog.events import ContextInjected, KnownFile, order
from eventlog.log import EventLog
from eventlog.projections.base import Document
from eventlog.projections.context.build import ContextResult
from eventlog.projections.context.recent_events import retractions_since
from eventlog.projections.context.request import ContextRequest
from eventlog.settings.schema import Settings

_DocumentsAt = Callable[[str], list[Document]]


class ReceiptSources(NamedTuple):
    """What one receipt stands for: events told of by themselves, and per file those behind its lines.

    None for a file that was not rendered from the log.
    """

    receipt: ContextInjected
    entries: list[LogLine]
    files: dict[str, list[LogLine] | None]


def append_receipt(log: EventLog, request: ContextRequest, built: ContextResult) -> bool:
    """Append the receipt; False where it is there already. Raises NotStored."""
    text = built.context.text
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    fields: dict[str, object] = {"type": "context_injected", "conversation_id": request.session_id}
    about = {"project": request.project, "agent": request.agent}
    fields |= {name: value for name, value in about.items() if value}
    told = {"digest": digest, "chars": len(text), "sources": built.sources, "cut": built.context.cut}
    fields |= {**told, "files": to_builtins(built.files), "session_type": built.context.session_type.value}
    key = f"context\n{request.session_id}\n{request.source}\n{digest}"
    return append_once(log.store, fields, key, within_ms=SAME_CALL_MS, sync=log.fsync)


def receipts_of(log: EventLog, settings: Settings, conversation_id: str) -> list[ReceiptSources]:
    """Find everything the session was ever given, oldest first."""
    receipts = [event for event in log.session(conversation_id) if isinstance(event, ContextInjected)]
    from eventlog.app.replay import replay  # a hook only acknowledges

    @cache
    def documents_at(as_of: str) -> list[Document]:
        return list(replay(log, settings, until=as_of).documents)

    return [_explain(log, receipt, documents_at) for receipt in receipts]


def _explain(log: EventLog, receipt: ContextInjected, documents_at: _DocumentsAt) -> ReceiptSources:
    behind = {file.path: _events_behind(log, file, documents_at) for file in receipt.files}
    found = log.find({*receipt.sources, *(event for events in behind.values() for event in events or ())})
    oldest = min((file.as_of for file in receipt.files if file.as_of), default=receipt.ts)
    cache = Checkpoints(log.store.cache, writes=False)
    told_no_more = retractions_since(log, cache, oldest, receipt.ts).withdrawn()  # whatever the files still said

    def known(events: list[str]) -> list[LogLine]:
        entries = (found[event] for event in events if event in found and not told_no_more.hides(found[event].event))
        return sorted(entries, key=lambda entry: order(entry.event))

    files = {path: None if events is None else known(events) for path, events in behind.items()}
    return ReceiptSources(receipt, known(receipt.sources), files)


def _events_behind(log: EventLog, file: KnownFile, documents_at: _DocumentsAt) -> list[str] | None:
    """Find the ids of the events behind a rendered file, as it was then; None for any other file."""
    knowledge = PurePath(log.store.knowledge)
    if file.as_of is None or not PurePath(file.path).is_relative_to(knowledge):
        return None
    name = PurePath(file.path).relative_to(knowledge).as_posix()
    documents = [document for document in documents_at(file.as_of) if document.path == name]
    return list(dict.fromkeys(event for document in documents for line in document.lines for event in line.sources))
