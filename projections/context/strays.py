"""Conversations that strayed: what they said stands in files where the next replay may not put it.

A replay files what a conversation decided under the project it named first, or as the user's where it named none. One
that names its project afterwards has moved; until the next replay its words are known by itself.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import NamedTuple

import msgspec

from eventlog.format.events import StageSummary
from eventlog.log.days import Day, load_mentioning
from eventlog.log.event_log import EventLog
from eventlog.projections.context.recent_events import said_in
from eventlog.projections.context.request import ContextRequest
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.engine.day_fold import stamps_of, stored_decisions, stored_strays
from eventlog.projections.engine.row_store import RowStore


class _Naming(msgspec.Struct):
    conversation_id: str
    project: str | None = None


_naming = msgspec.json.Decoder(_Naming)


class Strays(NamedTuple):
    """The conversations that may move once they name a project, and of these by id those that now belong elsewhere."""

    ids: Collection[str]
    elsewhere: dict[str, Conversation]


def strays(log: EventLog, cache: RowStore, request: ContextRequest) -> Strays:
    """Find them; where there are none, as in most logs, nothing but what is kept is read."""
    try:
        kept = stored_strays(cache)
        ids = set(_said_nowhere(log) if kept is None else kept)
        named = ids.intersection(one for day in _since_replay(log, cache) for one in _named_on(day)) if ids else ()
    except OSError:
        return Strays((), {})
    found = (said_in(log, one, "~", lambda _: True) for one in sorted(named))
    moved = (one for one in found if one.project and not request.is_about(one.project, one.replica))
    return Strays(ids, {one.id: one for one in moved})


def _said_nowhere(log: EventLog) -> Iterator[str]:
    """Yield what is astray of a log of which nothing is kept."""
    for day in log.days():
        for event in load_mentioning(day, [b'"stage_summary"']):
            if isinstance(event, StageSummary) and not event.project:
                yield event.conversation_id


def _since_replay(log: EventLog, cache: RowStore) -> Iterator[Day]:
    kept = stored_decisions(cache)
    return (day for day in log.days() if day.date not in kept or kept[day.date].stamps != stamps_of(day))


def _named_on(day: Day) -> Iterator[str]:
    """Yield the conversations of which a line of that day names a project."""
    for data in day.contents():
        for line in (data or b"").split(b"\n"):
            with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                if (one := _naming.decode(line)).project:
                    yield one.conversation_id
