"""The receipt: what a session was given, kept in the log, so that "did it know?" has an answer."""

import hashlib
from pathlib import PurePath
from typing import NamedTuple

from msgspec import to_builtins

from eventlog.context.build import Built
from eventlog.context.gather import Request
from eventlog.days import Entry
from eventlog.events import ContextInjected
from eventlog.live import append_once
from eventlog.log import EventLog
from eventlog.settings import Settings

_SAME_START_MS = 30_000  # two registrations of one hook are one start


class Given(NamedTuple):
    """What one receipt stands for: events told of by themselves, and per file those behind its lines.

    None for a file that was not rendered from the log.
    """

    receipt: ContextInjected
    entries: list[Entry]
    files: dict[str, list[Entry] | None]


def acknowledge(log: EventLog, request: Request, built: Built) -> bool:
    """Append the receipt; False where it is there already. Raises NotStored."""
    text = built.context.text
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    fields: dict[str, object] = {"type": "context_injected", "conversation_id": request.session_id}
    about = {"project": request.project, "agent": request.agent}
    fields |= {name: value for name, value in about.items() if value}
    told = {"digest": digest, "chars": len(text), "sources": built.sources, "cut": built.context.cut}
    fields |= {**told, "files": to_builtins(built.files)}
    key = f"context\n{request.session_id}\n{request.source}\n{digest}"
    return append_once(log.store.log, fields, key, within_ms=_SAME_START_MS)


def given(log: EventLog, settings: Settings, conversation_id: str) -> list[Given]:
    """Everything the session was ever given, oldest first."""
    receipts = [event for event in log.session(conversation_id) if isinstance(event, ContextInjected)]
    return [_explain(log, settings, receipt) for receipt in receipts]


def _explain(log: EventLog, settings: Settings, receipt: ContextInjected) -> Given:
    behind = {file.path: _events_behind(log, settings, file.path, file.as_of) for file in receipt.files}
    found = log.find({*receipt.sources, *(event for events in behind.values() for event in events or ())})
    return Given(
        receipt,
        _known(found, receipt.sources),
        {path: None if events is None else _known(found, events) for path, events in behind.items()},
    )


def _events_behind(log: EventLog, settings: Settings, path: str, as_of: str | None) -> list[str] | None:
    """Of a rendered file, as it was then."""
    from eventlog.projections.replay import replay  # a hook only acknowledges

    knowledge = PurePath(log.store.knowledge)
    if as_of is None or not PurePath(path).is_relative_to(knowledge):
        return None
    name = PurePath(path).relative_to(knowledge).as_posix()
    documents = [one for one in replay(log, settings, until=as_of).documents if one.path == name]
    return list(dict.fromkeys(event for one in documents for line in one.lines for event in line.events))


def _known(found: dict[str, Entry], events: list[str]) -> list[Entry]:
    return sorted((found[one] for one in events if one in found), key=lambda one: (one.event.ts, one.event.id))
