"""`sessions/<conversation>.md`: one short summary per conversation, the newest of each project."""

from collections.abc import Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from eventlog.projections.base import Document, Line, Projection, RowKind, View
from eventlog.projections.current.conclusions import NONE
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.fact_scopes import RowSource
from eventlog.projections.views.markdown import stamped
from eventlog.projections.views.note_lines import summary_lines
from eventlog.store import conversation_name

if TYPE_CHECKING:
    from eventlog.projections.engine.documents import DocumentIndex

_place_of = attrgetter("last_at", "id")


class Head(Struct, array_like=True):
    """A conversation with statements: when it was last at work, on what, and its conclusion.

    `changed_at` is when it was given its project, or anything of it was withdrawn or restored.
    """

    last_at: str
    id: str
    came_to_something: bool
    topic: str
    changed_at: str


def _rows(source: RowSource) -> dict[str, Head]:
    if not source.saved:
        return {}
    conversation, conclusion = source.conversation, source.conclusion
    is_any = conclusion.source != NONE
    named_at = source.conversation.first_project[0] if source.project else ""
    touched = [max(event.ts, source.touched[event.id]) for event in source.saved if event.id in source.touched]
    last_at = conversation.last_work(source.withdrawn)
    return {source.project: Head(last_at, conversation.id, is_any, conclusion.topic, max([named_at, *touched]))}


HEADS = RowKind("head", Head, _rows, whole=True)


def with_summaries(index: "DocumentIndex", project: str) -> list[Head]:
    """List the conversations of a project whose summaries have files, the last active first."""
    heads = [head for head in index.rows(HEADS, project) if head.came_to_something]
    return sorted(heads, key=_place_of, reverse=True)[: index.settings.summaries.keep]


def _render(name: str, index: "DocumentIndex") -> Iterable[Document]:
    """Render the conversations of a project that came to something, the newest."""
    for head in with_summaries(index, name):
        yield Document(summary_path(head.id), partial(_lines, index, head.id), conversation=head.id)


def summary_path(conversation_id: str) -> str:
    """Name the file with the summary of a conversation."""
    return f"sessions/{conversation_name(conversation_id)}.md"


def _lines(index: "DocumentIndex", conversation_id: str) -> Sequence[Line]:
    """Render the summary of a conversation that came to something."""
    source = RowSource(index.conversation(conversation_id), index.withdrawn)
    at_work = source.conversation.started_at, source.conversation.last_work(index.withdrawn)
    stages = any(summary.scope == "stage" for summary in source.summaries)
    lines = summary_lines(conversation_id, source.conclusion, source.project, at_work, index.settings, stages=stages)
    changed_at = max([source.conversation.last_at, *source.touched.values()])
    return stamped(summary_path(conversation_id), list(lines), changed_at).lines


_VIEW = View((HEADS,), _render)
SUMMARIES = Projection("summaries", Conversations, None, ("sessions/*.md",), view=_VIEW)
