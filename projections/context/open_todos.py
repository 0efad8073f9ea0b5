"""Open to-dos: what the sessions of a project left to be done, the newest first; pure."""

from collections.abc import Iterable

from eventlog.format.events import counts_at
from eventlog.format.retractions import Retractions
from eventlog.format.text import cut, statement_of
from eventlog.projections.base import Line
from eventlog.projections.current.conclusions import conclude
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.views.markdown import as_text

_MOST = 8
_CHARS = 240  # of one


def open_todos(conversations: Iterable[Conversation], withdrawn: Retractions) -> list[Line]:
    """List what is left to be done; a later session that calls one done, whoever named it, has done it."""
    naming = [one for one in conversations if any(summary.todos or summary.done for summary in one.summaries)]
    done_at = _done(naming, withdrawn)
    left: dict[str, Line] = {}
    for conversation in sorted(naming, key=_saved_at, reverse=True):
        for todo in conclude(conversation, withdrawn).todos:
            statement = statement_of(todo.text)
            if done_at.get(statement, "") <= max(map(counts_at, todo.mentions)):
                left.setdefault(statement, Line(f"- [ ] {cut(as_text(todo.text), _CHARS)}", todo.sources))
    return list(left.values())[:_MOST]


def _saved_at(conversation: Conversation) -> tuple[str, str]:
    return max(map(counts_at, conversation.summaries)), conversation.id


def _done(conversations: Iterable[Conversation], withdrawn: Retractions) -> dict[str, str]:
    """Tell when each statement was last called done."""
    done: dict[str, str] = {}
    for summary in (summary for one in conversations for summary in one.summaries if not withdrawn.hides(summary)):
        for text in summary.done:
            statement = statement_of(text)
            done[statement] = max(done.get(statement, ""), counts_at(summary))
    return done
