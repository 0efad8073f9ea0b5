"""`memory/YYYY-MM-DD.md`: what happened on a day, what was learned, what is left to do; across all projects.

Days are those of the calendar where the user lives. A conversation is told of by its facts of the day and by what its
summaries of that day come to: the last one of the whole session, else its stages, else the one from its transcript.
"""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from eventlog.format.events import Event
from eventlog.format.local_time import local_time
from eventlog.format.text import same_text
from eventlog.projections.base import Document, Projection, RowKind, View
from eventlog.projections.current.conclusions import conclusion_of
from eventlog.projections.current.conversations import Conversation, Conversations
from eventlog.projections.current.fact_scopes import RowSource
from eventlog.projections.current.standing import same_todo
from eventlog.projections.views.labels import LABELS, all_for
from eventlog.projections.views.markdown import stamped
from eventlog.projections.views.note_lines import DONE, EVENTS, LEARNED, TODOS, items_of, lines

if TYPE_CHECKING:
    from eventlog.projections.engine.documents import DocumentIndex

_ts_of = attrgetter("ts")
_INSIGHTS = frozenset(word for meant in ("insight", "lesson", "decision") for word in all_for(meant))


class Item(Struct, array_like=True, gc=False):
    """A statement in a section; `same` is the `likeness` of its text."""

    section: int
    ts: str
    events: tuple[str, ...]
    project: str
    text: str
    same: bytes


class _DailyNote(Struct, array_like=True):
    """The items of a day, events not withdrawn that add none, and when any event last changed them."""

    items: list[Item] = []
    silent: list[str] = []  # some count once others are gone
    changed_at: str = ""


def _rows(source: RowSource) -> dict[str, _DailyNote]:
    by_day = _by_day(source)
    return {day: _note(events, source, is_whole=len(by_day) == 1) for day, events in by_day.items()}


NOTES = RowKind("note", _DailyNote, _rows)


def _render(day: str, index: "DocumentIndex") -> Iterable[Document]:
    """Render the notes of a day with statements."""
    words = LABELS[index.settings.locale]
    local = local_time(index.settings.timezone)
    notes = index.rows(NOTES, day)
    noted = [item for note in notes for item in note.items]
    over = _over(noted)
    if items := [item for item in noted if not over(item)]:
        silent = [event for note in notes for event in note.silent]
        silent += [event for item in noted if over(item) for event in item.events]
        changed_at = max(note.changed_at for note in notes)
        yield stamped(f"memory/{day}.md", list(lines(day, items, silent, words, local)), changed_at)


def _over(items: Iterable[Item]) -> Callable[[Item], bool]:
    """Make the test whether an item is done, or a to-do that a later save of that day, of any session, calls done."""
    done = {(item.project, item.same): item.ts for item in sorted(items, key=_ts_of) if item.section == DONE}
    of = done.get
    return lambda item: item.section >= TODOS and (item.section == DONE or item.ts < of((item.project, item.same), ""))


def _by_day(source: RowSource) -> dict[str, Conversation]:
    """Split the statements of the conversation by day, as if it had lasted only that long."""
    conversation, local = source.conversation, source.local
    dates = {local(event.ts)[:10] for event in source.saved}
    if len(dates) == 1:
        return {dates.pop(): conversation}
    days: dict[str, Conversation] = {}

    def on(event: Event) -> Conversation:
        alone = Conversation(conversation.id, first_project=conversation.first_project)
        return days.setdefault(local(event.ts)[:10], alone)

    for fact in conversation.facts:
        on(fact).facts.append(fact)
    for summary in conversation.summaries:
        on(summary).summaries.append(summary)
    return days


def _note(conversation: Conversation, source: RowSource, *, is_whole: bool) -> _DailyNote:
    """Add the statements of a day, which may be all statements of the conversation."""
    items = []
    for fact in (fact for fact in conversation.facts if fact.id in source.stated):
        subject, stated = source.stated[fact.id]
        section = LEARNED if stated.category and same_text(stated.category) in _INSIGHTS else EVENTS
        items.append(Item(section, fact.ts, (fact.id,), subject, stated.text, stated.same))
    if conversation.summaries:
        alone = [summary for summary in conversation.summaries if summary.id not in source.hidden]
        conclusion = source.conclusion
        of_facts = any(part.sources[0] in source.stated for part in conclusion.parts[:1])  # which are items above
        if of_facts or not is_whole:
            conclusion = conclusion_of(alone, (), source.withdrawn)
        project = conversation.project or ""
        items += items_of(conclusion, project, Item)
        done = [(save, text) for save in alone if save.done for text in source.withdrawn.cleared(save).done]
        items += [Item(DONE, save.ts, (save.id,), project, "", same_todo(text)) for save, text in done]
    events = [*conversation.facts, *conversation.summaries]
    heard = {event for item in items for event in item.events} | source.hidden
    silent = [event.id for event in events if event.id not in heard]
    return _DailyNote(items, silent, _changed_at(conversation, events, source.touched))


def _changed_at(conversation: Conversation, events: Iterable[Event], touched: Mapping[str, str]) -> str:
    """Return the last change, which may be the later day the conversation was given its project."""
    named_at = conversation.first_project[0] if conversation.project and conversation.summaries else ""
    fates = [touched[event.id] for event in events if event.id in touched]
    return max([named_at, *[event.ts for event in events], *fates])


_VIEW = View((NOTES,), _render, of_rows=True)
DAILY_NOTES = Projection("daily-notes", Conversations, None, ("memory/*.md",), view=_VIEW)
