"""`sessions/<conversation>.md`: one short summary per conversation, the newest of each project."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import islice

from eventlog.projections.base import Document, Line, Projection
from eventlog.projections.labels import LABELS, Labels
from eventlog.projections.raw_html import as_item, as_text
from eventlog.projections.stamp import stamped
from eventlog.projections.state.conclusions import Conclusion, SourcedText, and_more, conclude
from eventlog.projections.state.conversations import Conversation, Conversations
from eventlog.retractions import Retractions
from eventlog.settings.schema import Settings
from eventlog.store import conversation_name
from eventlog.text import cut, one_line, project_name

_SHORTEST_CUT = 8  # characters; less of a sentence says nothing


def render(state: Conversations, settings: Settings) -> Iterable[Document]:
    """Render the conversations that came to something, the newest of each project."""
    withdrawn = state.withdrawn()
    for kept in newest_per_project(state, withdrawn, settings.summaries.keep).values():
        for conversation, conclusion in kept:
            yield document(conversation, conclusion, withdrawn, settings)


def newest_per_project(
    state: Conversations, withdrawn: Retractions, keep: int
) -> dict[str | None, list[tuple[Conversation, Conclusion]]]:
    """Return the newest `keep` conversations of each project that came to something, the last active first."""
    by_project: dict[str | None, list[Conversation]] = {}
    for conversation in state.by_id.values():
        by_project.setdefault(conversation.project, []).append(conversation)
    return {project: list(islice(_newest(group, withdrawn), keep)) for project, group in by_project.items()}


def _newest(group: list[Conversation], withdrawn: Retractions) -> Iterator[tuple[Conversation, Conclusion]]:
    for conversation in sorted(group, key=lambda conversation: (conversation.last_at, conversation.id), reverse=True):
        conclusion = conclude(conversation, withdrawn)
        if conclusion.source != "none":
            yield conversation, conclusion


def document(
    conversation: Conversation, conclusion: Conclusion, withdrawn: Retractions, settings: Settings
) -> Document:
    """Render the summary of a conversation that came to something."""
    words = LABELS[settings.locale]
    stages = any(summary.scope == "stage" and not withdrawn.hides(summary) for summary in conversation.summaries)
    lines = [
        *_head(conversation, words, settings, stages=stages),
        *_body(conversation, conclusion, words, settings.summaries.max_chars),
    ]
    touched = [withdrawn.touched_at(event) for event in (*conversation.facts, *conversation.summaries)]
    return stamped(f"sessions/{conversation_name(conversation.id)}.md", lines, max([conversation.last_at, *touched]))


def _head(conversation: Conversation, words: Labels, settings: Settings, *, stages: bool) -> Iterator[Line]:
    fields = {
        words.session_id: one_line(conversation.id),
        words.time: _period(conversation, settings.timezone),
        words.project: project_name(conversation.project) if conversation.project else None,
        words.mode: words.workflow if stages else words.free,
    }
    yield Line(f"# {words.session}", conversations=(conversation.id,))
    yield Line("", conversations=(conversation.id,))
    for name, value in fields.items():
        if value:
            yield Line(f"**{name}:** {as_text(value)}", conversations=(conversation.id,))


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
            yield Line("", conversations=(conversation.id,))
            yield Line(f"## {heading}", conversations=(conversation.id,))
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
        yield said._replace(text=cut(said.text, budget))
        budget -= min(budget, len(said.text))


def _zone(timezone: str) -> tzinfo:
    if timezone == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    return ZoneInfo(timezone)


def _period(conversation: Conversation, timezone: str) -> str:
    zone = _zone(timezone)
    start, last = _local(conversation.started_at, zone), _local(conversation.last_at, zone)
    until = "" if start == last else f" – {last.removeprefix(start[:11])}"
    return f"{start}{until} {timezone}"


def _local(ts: str, zone: tzinfo) -> str:
    return datetime.fromisoformat(ts).astimezone(zone).strftime("%Y-%m-%d %H:%M")


SUMMARIES = Projection(name="summaries", state=Conversations, render=render, owns=("sessions/*.md",))
