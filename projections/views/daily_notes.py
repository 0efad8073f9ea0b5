"""`memory/YYYY-MM-DD.md`: what happened on a day, what was learned, what is left to do; across all projects.

Days are those of the calendar where the user lives. A conversation is told of by its facts of the day and by what its
summaries of that day come to: the last one of the whole session, else its stages, else the one from its transcript.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from eventlog.format.events import Event, Fact, StageSummary
from eventlog.format.text import project_name
from eventlog.projections.base import Document, Line, Projection, RowKind, Sources, View
from eventlog.projections.current.conclusions import Conclusion, SourcedText, conclusion_of
from eventlog.projections.current.conversations import Conversation, Conversations
from eventlog.projections.current.distinct_facts import Statement
from eventlog.projections.current.told import Local, Told
from eventlog.projections.views.labels import LABELS, Labels, all_for
from eventlog.projections.views.markdown import as_item, as_text, stamped

if TYPE_CHECKING:
    from eventlog.projections.engine.documents import DocumentIndex

_INSIGHTS = frozenset(word for meant in ("insight", "lesson", "decision") for word in all_for(meant))
_EVENTS, _LEARNED, _TODOS = range(3)  # the sections, in this order
_place_of = attrgetter("ts", "events", "project", "text")  # when it was first said


class Item(Struct, array_like=True, gc=False):
    """Something said, in a section; `same` is the `likeness` of its text."""

    section: int
    ts: str
    events: tuple[str, ...]
    project: str
    text: str
    same: bytes


class DailyNote(Struct, array_like=True):
    """The items of a day, events not withdrawn that add none, and when any event had its last say in it."""

    items: list[Item] = []
    silent: list[str] = []  # some count once others are gone
    changed_at: str = ""


def notes(state: Conversations, local: Local) -> dict[str, DailyNote]:
    """Collect the notes of every day anything was ever said on, even if all of it was withdrawn."""
    withdrawn = state.withdrawn()
    found: dict[str, list[DailyNote]] = {}
    for conversation in state.by_id.values():
        for day, note in _rows(Told(conversation, withdrawn, local)).items():
            found.setdefault(day, []).append(note)
    return {day: _merged(parts) for day, parts in found.items()}


def _rows(told: Told) -> dict[str, DailyNote]:
    by_day = _by_day(told)
    return {day: _note(said, told, is_whole=len(by_day) == 1) for day, said in by_day.items()}


SAID = RowKind("note", DailyNote, _rows)


def _merged(parts: Iterable[DailyNote]) -> DailyNote:
    whole_day = DailyNote()
    for part in parts:
        whole_day.items += part.items
        whole_day.silent += part.silent
        whole_day.changed_at = max(whole_day.changed_at, part.changed_at)
    return whole_day


def _render(day: str, index: "DocumentIndex") -> Iterable[Document]:
    """Render the notes of a day on which something was said."""
    words = LABELS[index.settings.locale]
    local = local_time(index.settings.timezone)
    note = _merged(index.rows(SAID, day))
    if note.items:
        yield stamped(f"memory/{day}.md", list(lines(day, note, words, local)), note.changed_at)


def lines(day: str, note: DailyNote, words: Labels, local: Local) -> Iterator[Line]:
    """Write the title and the sections there is anything to say in; the same thing said twice is one bullet."""

    def all_of_it() -> Sources:
        return tuple(sorted({*_sources_of(note.items), *note.silent})), ()

    yield Line(f"# {day}", find=all_of_it)
    told = _gathered(note.items)
    for section, title in enumerate((words.events, words.insights, words.todos)):
        chosen = [same for same in told if same.section == section]
        if chosen:
            yield from (Line(text, find=all_of_it) for text in ("", f"## {title}", ""))
            yield from (Line(_bullet(same, local), same.events) for same in chosen)


def _gathered(items: Iterable[Item]) -> list[Item]:
    """Gather each once, as first said; what anyone called an insight is one, what is left to do stays to be done."""
    found: dict[tuple[bool, str, bytes], Item] = {}
    again: dict[tuple[bool, str, bytes], list[Item]] = {}
    for item in sorted(items, key=_place_of):
        same = (item.section == _TODOS, item.project, item.same)
        if item.text and found.setdefault(same, item) is not item:
            again.setdefault(same, [found[same]]).append(item)
    for same, said in again.items():
        section = max(item.section for item in said)
        found[same] = replace(found[same], section=section, events=_sources_of(said))
    return list(found.values())


def _bullet(item: Item, local: Local) -> str:
    told = _about(item.project) + item.text
    if item.section == _LEARNED:
        return f"- {as_item(told)}"
    mark = "[ ]" if item.section == _TODOS else local(item.ts)[11:]
    return f"- {mark} {as_text(told)}"


@cache
def _about(project: str) -> str:
    name = project_name(project)
    return f"{name}: " if name else ""


def local_time(timezone: str) -> Local:
    """Make the conversion of timestamps to `YYYY-MM-DDTHH:MM` on the clocks of that zone."""
    if timezone == "UTC":
        return lambda ts: ts[:16]
    from zoneinfo import ZoneInfo

    zone = ZoneInfo(timezone)

    def exact(ts: str) -> str:
        return datetime.fromisoformat(ts).astimezone(zone).strftime("%Y-%m-%dT%H:%M")

    @lru_cache(maxsize=1024)
    def hour(start: str) -> str:
        """Convert an hour; "" where its minutes are others there."""
        first, last = exact(f"{start}:00Z"), exact(f"{start}:59:59.999999Z")
        return first[:-2] if (first[-2:], last) == ("00", f"{first[:-2]}59") else ""

    def local(ts: str) -> str:
        begun = hour(ts[:13])
        return begun + ts[14:16] if begun else exact(ts)

    return local


def _by_day(told: Told) -> dict[str, Conversation]:
    """Split what the conversation said by day, as if it had lasted only that long."""
    conversation, local = told.conversation, told.local
    dates = {local(event.ts)[:10] for event in told.said}
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


def _note(said: Conversation, told: Told, *, is_whole: bool) -> DailyNote:
    """Note what was said on a day, which may be all the conversation ever said."""
    items = [_of_fact(fact, *told.stated[fact.id]) for fact in said.facts if fact.id in told.stated]
    if said.summaries:
        conclusion = told.conclusion if is_whole and told.summaries else _alone(said.summaries, told)
        items += _of_conclusion(conclusion, said.project or "")
    events = [*said.facts, *said.summaries]
    heard = {event for item in items for event in item.events} | told.hidden
    silent = [event.id for event in events if event.id not in heard]
    return DailyNote(items, silent, _changed_at(said, events, told.touched))


def _alone(summaries: Iterable[StageSummary], told: Told) -> Conclusion:
    """Conclude what the summaries of a day say, whatever else was said."""
    return conclusion_of([summary for summary in summaries if summary.id not in told.hidden], (), told.withdrawn)


def _of_fact(fact: Fact, subject: str, stated: Statement) -> Item:
    section = _LEARNED if (fact.category or "").casefold() in _INSIGHTS else _EVENTS
    return Item(section, fact.ts, (fact.id,), subject, stated.text, stated.same)


def _of_conclusion(conclusion: Conclusion, project: str) -> list[Item]:
    texts = ((_EVENTS, conclusion.parts), (_LEARNED, conclusion.decisions), (_TODOS, conclusion.todos))
    return [_of_summary(section, text, project) for section, told in texts for text in told]


def _of_summary(section: int, said: SourcedText, project: str) -> Item:
    return Item(section, said.mentions[0].ts, said.sources, project, said.text, said.same)


def _changed_at(said: Conversation, events: Iterable[Event], touched: Mapping[str, str]) -> str:
    """Return the last change, which may be the later day the conversation was given its project."""
    named_at = said.first_project[0] if said.project and said.summaries else ""
    fates = [touched[event.id] for event in events if event.id in touched]
    return max([named_at, *[event.ts for event in events], *fates])


def _sources_of(items: Iterable[Item]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([event for item in items for event in item.events]))


_VIEW = View((SAID,), _render, of_rows=True)
DAILY_NOTES = Projection("daily-notes", Conversations, None, ("memory/*.md",), view=_VIEW)
