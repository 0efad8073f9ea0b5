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
    """One document; none while there is no conversation."""
    del settings
    withdrawn = state.withdrawn()
    concluded = state.once(conclusions)
    lines = [_line(one, concluded[one.id], withdrawn) for one in state.in_order()]
    if lines:
        yield Document("sessions.jsonl", tuple(lines))


def _line(one: Conversation, conclusion: Conclusion, withdrawn: Retractions) -> Line:
    """The first nine fields are those earlier readers of such files know; `null` is what is not known."""
    summaries = [summary for summary in one.summaries if not withdrawn.hides(summary)]
    fields = {
        "id": f"sum-{digest(one.id, 6).hex()}",
        "session_id": one.id,
        "topic": conclusion.topic,
        "summary": conclusion.summary_within(SUMMARY_CHARS),
        "decisions": [said.text for said in conclusion.decisions],
        "todos": [said.text for said in conclusion.todos],
        "timestamp": conclusion.saved_at or one.last_at,
        "auto_generated": conclusion.automatic,
        "source": conclusion.source,
        "project": one.project,
        "agent": one.agent,
        "started_at": one.started_at,
        "ended_at": one.ended.ts if one.ended else None,
        "end_reason": one.ended.reason if one.ended else None,
        "turns": one.turns,
        "facts": sum(not withdrawn.hides(fact) for fact in one.facts),
        "stages": len(agents_own(summaries, "stage")),
        "revisions": max(0, len(agents_own(summaries, "session")) - 1),
        "events": one.events,
    }
    return Line(orjson.dumps(fields).decode(), conversations=(one.id,))


SESSIONS = Projection(name="sessions", state=Conversations, render=render, owns=("sessions.jsonl",))
