"""`sessions.jsonl`: one line per conversation, ordered by start; who worked when, and what it came to."""

from collections.abc import Iterable

import orjson

from eventlog.ids import digest
from eventlog.projections.base import Document, Line, Projection
from eventlog.projections.state.conclusions import SUMMARY_CHARS, Conclusion, agents_own, conclusions
from eventlog.projections.state.conversations import Conversation, Conversations
from eventlog.retractions import Retractions
from eventlog.settings.schema import Settings


def render(state: Conversations, settings: Settings) -> Iterable[Document]:
    """Render one document; none while there is no conversation."""
    del settings
    withdrawn = state.withdrawn()
    concluded = state.once(conclusions)
    lines = [_line(conversation, concluded[conversation.id], withdrawn) for conversation in state.in_order()]
    if lines:
        yield Document("sessions.jsonl", tuple(lines))


def _line(conversation: Conversation, conclusion: Conclusion, withdrawn: Retractions) -> Line:
    """Write one conversation; the first nine fields are those of earlier formats, `null` is not known."""
    summaries = [summary for summary in conversation.summaries if not withdrawn.hides(summary)]
    fields = {
        "id": f"sum-{digest(conversation.id, 6).hex()}",
        "session_id": conversation.id,
        "topic": conclusion.topic,
        "summary": conclusion.summary_within(SUMMARY_CHARS),
        "decisions": [said.text for said in conclusion.decisions],
        "todos": [said.text for said in conclusion.todos],
        "timestamp": conclusion.saved_at or conversation.last_at,
        "auto_generated": conclusion.automatic,
        "source": conclusion.source,
        "project": conversation.place or conversation.project,
        "agent": conversation.agent,
        "started_at": conversation.started_at,
        "ended_at": conversation.ended.ts if conversation.ended else None,
        "end_reason": conversation.ended.reason if conversation.ended else None,
        "turns": conversation.turns,
        "facts": sum(not withdrawn.hides(fact) for fact in conversation.facts),
        "stages": len(agents_own(summaries, "stage")),
        "revisions": max(0, len(agents_own(summaries, "session")) - 1),
        "events": conversation.events,
    }
    return Line(orjson.dumps(fields).decode(), conversations=(conversation.id,))


SESSIONS = Projection(name="sessions", state=Conversations, render=render, owns=("sessions.jsonl",))
