"""`sessions.jsonl`: one line per conversation, ordered by start; who worked when, and what it came to."""

from collections.abc import Iterable
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from eventlog.format.ids import digest
from eventlog.projections.base import Document, Line, Projection, RowKind, View
from eventlog.projections.current.conclusions import SUMMARY_CHARS
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.standing import agents_own
from eventlog.projections.current.told import Told

if TYPE_CHECKING:
    from eventlog.projections.engine.documents import DocumentIndex

_place_of = attrgetter("place")


class SessionLine(Struct, array_like=True):
    """The line of one conversation, and its place among the others."""

    started_at: str
    id: str
    line: bytes

    @property
    def place(self) -> tuple[str, str]:
        """Return the sort key: by start."""
        return self.started_at, self.id


def _rows(told: Told) -> dict[str, SessionLine]:
    """Write one conversation; the first nine fields are those of earlier formats, `null` is not known."""
    conversation, conclusion, ended = told.conversation, told.conclusion, told.conversation.ended
    taken_back = len(conversation.taken_back(told.withdrawn))
    if not conversation.began or taken_back == conversation.events:
        return {}
    scopes = [summary.scope for summary in agents_own(told.summaries)]
    fields = {
        "id": f"sum-{digest(conversation.id, 6).hex()}",
        "session_id": conversation.id,
        "topic": conclusion.topic,
        "summary": conclusion.summary_within(SUMMARY_CHARS),
        "decisions": [said.text for said in conclusion.decisions],
        "todos": [said.text for said in conclusion.todos],
        "timestamp": conclusion.saved_at or conversation.last_work(told.withdrawn),
        "auto_generated": conclusion.automatic,
        "source": conclusion.source,
        "project": conversation.place or conversation.project,
        "agent": conversation.agent,
        "started_at": conversation.started_at,
        "ended_at": ended.ts if ended else None,
        "end_reason": ended.reason if ended else None,
        "turns": conversation.turns,
        "facts": len(told.stated),
        "stages": scopes.count("stage"),
        "revisions": max(0, scopes.count("session") - 1),
        "events": conversation.events - taken_back,
    }
    return {"": SessionLine(conversation.started_at, conversation.id, msgspec.json.encode(fields) + b"\n")}


LINES = RowKind("line", SessionLine, _rows)


def _render(name: str, index: "DocumentIndex") -> Iterable[Document]:
    """Render one document; none while there is no conversation."""
    pieces = index.pieces(LINES, name, _in_order)

    def lines() -> list[Line]:
        rows = sorted(index.rows(LINES, name), key=_place_of)
        return [Line(row.line[:-1].decode(), (), (row.id,)) for row in rows]

    if pieces.blocks:
        said = list(pieces.blocks.values())
        data = b"".join([piece for piece in said if piece is not None]) if None not in said else None
        yield Document("sessions.jsonl", lines, data, pieces)


def _in_order(rows: list[SessionLine]) -> bytes:
    """Join the lines of the conversations that began on one day."""
    return b"".join([row.line for row in sorted(rows, key=_place_of)])


_VIEW = View((LINES,), _render)
SESSIONS = Projection("sessions", Conversations, None, ("sessions.jsonl",), view=_VIEW)
