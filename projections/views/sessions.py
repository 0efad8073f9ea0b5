"""`sessions.jsonl`: one line per conversation, ordered by start: agent, times and conclusion."""

from collections.abc import Iterable
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from eventlog.format.ids import digest
from eventlog.projections.base import Document, Line, Projection, RowKind, View
from eventlog.projections.current.conclusions import SUMMARY_CHARS
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.fact_scopes import RowSource
from eventlog.projections.current.standing import agents_own

if TYPE_CHECKING:
    from eventlog.projections.engine.documents import DocumentIndex

_place_of = attrgetter("started_at", "id")


class _SessionLine(Struct, array_like=True):
    """The line of a conversation, with its sort key."""

    started_at: str
    id: str
    line: bytes
    replica: str | None = None  # its machine


def _rows(source: RowSource) -> dict[str, _SessionLine]:
    """Write the line of a conversation; the first nine fields are those of earlier formats, `null` means unknown."""
    conversation, conclusion, ended = source.conversation, source.conclusion, source.conversation.ended
    taken_back = len(conversation.taken_back(source.withdrawn))
    if not conversation.began or taken_back == conversation.events:
        return {}
    scopes = [summary.scope for summary in agents_own(source.summaries)]
    fields = {
        "id": f"sum-{digest(conversation.id, 6).hex()}",
        "session_id": conversation.id,
        "topic": conclusion.topic,
        "summary": conclusion.summary_within(SUMMARY_CHARS),
        "decisions": [decision.text for decision in conclusion.decisions],
        "todos": [todo.text for todo in conclusion.todos],
        "timestamp": conclusion.saved_at or conversation.last_work(source.withdrawn),
        "auto_generated": conclusion.automatic,
        "source": conclusion.source,
        "project": conversation.place or conversation.project,
        "agent": conversation.agent,
        "started_at": conversation.started_at,
        "ended_at": ended.ts if ended else None,
        "end_reason": ended.reason if ended else None,
        "turns": conversation.turns,
        "facts": len(source.stated),
        "stages": scopes.count("stage"),
        "revisions": max(0, scopes.count("session") - 1),
        "events": conversation.events - taken_back,
    }
    line = msgspec.json.encode(fields) + b"\n"
    return {"": _SessionLine(conversation.started_at, conversation.id, line, conversation.replica)}


LINES = RowKind("line", _SessionLine, _rows)


def _render(name: str, index: "DocumentIndex") -> Iterable[Document]:
    """Render the document, if there is a conversation."""
    pieces = index.pieces(LINES, name, _in_order)

    def lines() -> list[Line]:
        rows = sorted(index.rows(LINES, name), key=_place_of)
        return [Line(row.line[:-1].decode(), (), (row.id,)) for row in rows]

    if pieces.blocks:
        blocks = list(pieces.blocks.values())
        data = b"".join([block for block in blocks if block is not None]) if None not in blocks else None
        yield Document("sessions.jsonl", lines, data, pieces)


def _in_order(rows: list[_SessionLine]) -> bytes:
    """Join the lines of the conversations that began on the same day."""
    return b"".join([row.line for row in sorted(rows, key=_place_of)])


_VIEW = View((LINES,), _render)
SESSIONS = Projection("sessions", Conversations, None, ("sessions.jsonl",), view=_VIEW)
