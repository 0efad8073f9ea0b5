"""The receipt: what a session was given, kept in the log, so that "did it know?" has an answer."""

from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from msgspec import to_builtins

from eventlog.app.serve.receipt_line import append_receipt_line, digest_of
from eventlog.format.events import ContextInjected, KnownFile, order
from eventlog.format.marks import has_line_mark, line_marks_in, says_something
from eventlog.log.event_log import EventLog
from eventlog.log.lines import LogLine
from eventlog.projections.context.build import ContextResult
from eventlog.projections.context.recent_events import retractions_since
from eventlog.projections.context.request import ContextRequest
from eventlog.settings.schema import Settings

if TYPE_CHECKING:
    from eventlog.format.payloads import ContextInjected as ContextGiven
    from eventlog.format.payloads import Envelope
    from eventlog.projections.engine.replay import Renderings


class ReceiptSources(NamedTuple):
    """The sources of one receipt: events told of by themselves, and per file those behind its lines.

    None for a file that was not rendered from the log.
    """

    receipt: ContextInjected
    entries: list[LogLine]
    files: dict[str, list[LogLine] | None]


def append_receipt(log: EventLog, request: ContextRequest, built: ContextResult) -> bool:
    """Append the receipt; False where it is there already. Raises NotStored."""
    about: Envelope = {
        "type": "context_injected",
        "conversation_id": request.session_id,
        "project": request.project,
        "agent": request.agent,
    }
    return append_receipt_line(log.store, about, receipt_of(built), built.context.text, request.source, sync=log.fsync)


def receipt_of(built: ContextResult) -> "ContextGiven":
    """Make the receipt of a context."""
    text = built.context.text
    return {
        "digest": digest_of(text),
        "chars": len(text),
        "sources": built.sources,
        "cut": built.context.cut,
        "files": to_builtins(built.files),
        "lines": built.lines,
        "session_type": built.context.session_type.value,
    }


def receipts_of(log: EventLog, settings: Settings, conversation_id: str) -> list[ReceiptSources]:
    """Find everything the session was ever given, oldest first."""
    receipts = [event for event in log.session(conversation_id) if isinstance(event, ContextInjected)]
    from eventlog.app.build.replay import replay  # a hook only acknowledges
    from eventlog.projections.engine.replay import Renderings

    past = Renderings(lambda as_of: replay(log, settings, until=as_of))
    return [_explain(log, receipt, past) for receipt in receipts]


def _explain(log: EventLog, receipt: ContextInjected, past: "Renderings") -> ReceiptSources:
    from eventlog.app.build.cache import kept

    behind = {file.path: _sources_of(log, file, past, line_marks_in(receipt.lines)) for file in receipt.files}
    found = log.find({*receipt.sources, *(event for events in behind.values() for event in events or ())})
    oldest = min((file.as_of for file in receipt.files if file.as_of), default=receipt.ts)
    told_no_more = retractions_since(
        log, kept(log.store), oldest, receipt.ts
    ).withdrawn()  # whatever the files still said

    def known(events: list[str]) -> list[LogLine]:
        entries = (found[event] for event in events if event in found and not told_no_more.hides(found[event].event))
        return sorted(entries, key=lambda entry: order(entry.event))

    files = {path: None if events is None else known(events) for path, events in behind.items()}
    return ReceiptSources(receipt, known(receipt.sources), files)


def _sources_of(log: EventLog, file: KnownFile, past: "Renderings", told: set[str]) -> list[str] | None:
    """Return the sources of the told lines of a rendered file, as it was then; None of any other file.

    The beginning of a file may have been all there was room for; receipts of old do not mark lines.
    """
    knowledge = PurePath(log.store.knowledge)
    if file.as_of is None or not PurePath(file.path).is_relative_to(knowledge):
        return None
    name = PurePath(file.path).relative_to(knowledge).as_posix()
    document = past.document(name, file.as_of)
    lines = document.lines if document else ()
    shown = (line for line in lines if not told or (says_something(line.text) and has_line_mark(line.text, told)))
    return list(dict.fromkeys(event for line in shown for event in line.sources))
