"""`sessions/<conversation>.md`: one short summary per conversation, the newest of each project."""

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from eventlog.format.retractions import Retractions
from eventlog.format.text import cut, one_line, project_name
from eventlog.projections.base import Document, Line, Projection, RowKind, View
from eventlog.projections.current.conclusions import NONE, Conclusion, SourcedText, and_more, conclude
from eventlog.projections.current.conversations import Conversation, Conversations
from eventlog.projections.current.told import Told
from eventlog.projections.views.daily_notes import local_time
from eventlog.projections.views.labels import LABELS, Labels
from eventlog.projections.views.markdown import as_item, as_text, stamped
from eventlog.settings.schema import Settings
from eventlog.store import conversation_name

if TYPE_CHECKING:
    from eventlog.projections.engine.documents import DocumentIndex

_place_of = attrgetter("last_at", "id")
_SHORTEST_CUT = 8  # characters; less of a sentence says nothing


class Head(Struct, array_like=True):
    """A conversation that said anything: when it was last at work, and on what, where it came to something.

    `changed_at` is when it was given its project, or anything of it was withdrawn or restored.
    """

    last_at: str
    id: str
    came_to_something: bool
    topic: str
    changed_at: str


def _rows(told: Told) -> dict[str, Head]:
    if not told.said:
        return {}
    conversation, conclusion = told.conversation, told.conclusion
    is_any = conclusion.source != NONE
    last_at = conversation.last_work(told.withdrawn)
    return {told.project: Head(last_at, conversation.id, is_any, conclusion.topic, max(_touched(told)))}


def _touched(told: Told) -> list[str]:
    named_at = told.conversation.first_project[0] if told.project else ""
    return [named_at, *[max(event.ts, told.touched[event.id]) for event in told.said if event.id in told.touched]]


HEADS = RowKind("head", Head, _rows, whole=True)


def kept(index: "DocumentIndex", project: str) -> list[Head]:
    """List the conversations of a project whose summaries are kept, the last active first."""
    heads = [head for head in index.rows(HEADS, project) if head.came_to_something]
    return sorted(heads, key=_place_of, reverse=True)[: index.settings.summaries.keep]


def _render(name: str, index: "DocumentIndex") -> Iterable[Document]:
    """Render the conversations of a project that came to something, the newest."""
    for head in kept(index, name):
        conversation = index.conversation(head.id)
        yield document(conversation, conclude(conversation, index.withdrawn), index.withdrawn, index.settings)


def document(
    conversation: Conversation, conclusion: Conclusion, withdrawn: Retractions, settings: Settings
) -> Document:
    """Render the summary of a conversation that came to something."""
    words = LABELS[settings.locale]
    stages = any(summary.scope == "stage" and not withdrawn.hides(summary) for summary in conversation.summaries)
    lines = [
        *_head(conversation, words, _period(conversation, withdrawn, settings.timezone), stages=stages),
        *_body(conversation, conclusion, words, settings.summaries.max_chars),
    ]
    touched = [withdrawn.touched_at(event) for event in (*conversation.facts, *conversation.summaries)]
    return stamped(f"sessions/{conversation_name(conversation.id)}.md", lines, max([conversation.last_at, *touched]))


def _head(conversation: Conversation, words: Labels, period: str, *, stages: bool) -> Iterator[Line]:
    fields = {
        words.session_id: one_line(conversation.id),
        words.time: period,
        words.project: project_name(conversation.project) if conversation.project else None,
        words.mode: words.workflow if stages else words.free,
    }
    yield Line(f"# {words.session}", whole=(conversation.id,))
    yield Line("", whole=(conversation.id,))
    for name, value in fields.items():
        if value:
            yield Line(f"**{name}:** {as_text(value)}", whole=(conversation.id,))


def _body(conversation: Conversation, conclusion: Conclusion, words: Labels, budget: int) -> Iterator[Line]:
    """Write the sections; each may use what those after it leave, and at least half of what is left.

    Of decisions there is no room for, the oldest are left out; every section says how many are.
    """
    sections = (
        (words.done, conclusion.parts, conclusion.more),
        (words.key_decisions, conclusion.decisions[::-1], 0),
        (words.open_ends, conclusion.todos, 0),
    )
    for position, (heading, texts, more) in enumerate(sections):
        others = sum(len(said.text) for _, later, _ in sections[position + 1 :] for said in later)
        fitting = _fit_and_count(texts, more, max(budget - others, budget // 2))
        budget -= sum(len(said.text) for said in fitting)
        if fitting:
            yield Line("", whole=(conversation.id,))
            yield Line(f"## {heading}", whole=(conversation.id,))
            yield from (
                Line(f"- {as_item(said.text)}", said.sources, (conversation.id,) * (not said.mentions))
                for said in fitting
            )


def _fit_and_count(texts: Sequence[SourcedText], more: int, room: int) -> list[SourcedText]:
    """Return the texts there is room for, and what says how many more there are."""
    mark = len(and_more(len(texts) + more))
    if room < mark or not (more or sum(len(said.text) for said in texts) > room):
        return list(_fit(texts, room))
    fitting = list(_fit(texts, room - mark))
    left = len(texts) - len(fitting) + more
    return [*fitting, SourcedText(and_more(left), ())] if left else fitting


def _fit(texts: Iterable[SourcedText], budget: int) -> Iterator[SourcedText]:
    for said in texts:
        if len(said.text) > budget < _SHORTEST_CUT:
            return
        yield replace(said, text=cut(said.text, budget))
        budget -= min(budget, len(said.text))


def _period(conversation: Conversation, withdrawn: Retractions, timezone: str) -> str:
    local = local_time(timezone)
    times = (conversation.started_at, conversation.last_work(withdrawn))
    start, last = (local(ts).replace("T", " ") for ts in times)
    until = "" if start == last else f" – {last.removeprefix(start[:11])}"
    return f"{start}{until} {timezone}"


_VIEW = View((HEADS,), _render)
SUMMARIES = Projection("summaries", Conversations, None, ("sessions/*.md",), view=_VIEW)
