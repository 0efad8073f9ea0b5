"""Recent facts, near in time many, farther away few; open to-dos; notes of today and yesterday; pure.

Each once, as last stated. Filters come before limits, and within a day the newest come first.
Imported inside agents' hooks: standard library only.
"""

from eventlog.format import timestamps
from eventlog.format.text import cut, statement_of
from eventlog.format.timestamps import counts_at, order
from eventlog.projections.current.conclusions import conclusion_of
from eventlog.projections.current.distinct_facts import distinct_facts
from eventlog.projections.line import Line
from eventlog.projections.views.labels import LABELS
from eventlog.projections.views.markdown import as_text
from eventlog.projections.views.note_lines import items_of, lines, local_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from eventlog.projections.context.heard import HeardEvent, RejectedStatements
    from eventlog.projections.current.distinct_facts import DistinctFact
    from eventlog.projections.views.note_lines import Local
    from eventlog.settings.schema import ContextSettings, Settings

NOTES_DAYS = 3  # UTC days that yesterday and today can touch, wherever the user lives
DAY_MS = 86_400_000
_MOST_TODOS = 8
_TODO_CHARS = 240


class _Item:
    """An item of a section; as `daily_notes.Item`, which rows have."""

    __slots__ = ("events", "project", "same", "section", "text", "ts")

    def __init__(self, section: int, ts: str, events: tuple[str, ...], project: str, text: str, same: bytes) -> None:
        self.section = section
        self.ts = ts
        self.events = events
        self.project = project
        self.text = text
        self.same = same


def recent_facts(
    events: "Iterable[HeardEvent]", now: str, settings: "ContextSettings", local: "Local"
) -> "list[DistinctFact]":
    """List the facts to show, newest first."""
    by_subject: dict[str, list[HeardEvent]] = {}
    for event in events:
        if event.type == "fact":
            by_subject.setdefault(event.subject, []).append(event)
    current = [fact for facts in by_subject.values() for fact in distinct_facts(facts)]  # type: ignore[arg-type]
    newest_first = sorted(current, key=lambda fact: order(fact.statements[-1]), reverse=True)
    return [fact for _, fact in zip(range(settings.facts), _decay(newest_first, now, settings, local), strict=False)]


def _decay(
    newest_first: "Iterable[DistinctFact]", now: str, settings: "ContextSettings", local: "Local"
) -> "Iterator[DistinctFact]":
    counts: dict[str, int] = {}
    now_ms = timestamps.to_ms(now)
    for fact in newest_first:
        age = (now_ms - timestamps.to_ms(fact.last_seen)) / DAY_MS
        day = local(fact.last_seen)[:10]
        if age < settings.days_full:
            yield fact
        elif age < settings.days_partial:
            counts[day] = counts.get(day, 0) + 1
            if counts[day] <= settings.partial_per_day:
                yield fact
        elif age < settings.days_max and fact.confidence >= settings.min_confidence:
            yield fact


def by_conversation(events: "Iterable[HeardEvent]") -> "dict[str, list[HeardEvent]]":
    """Group by conversation, each oldest first."""
    found: dict[str, list[HeardEvent]] = {}
    for event in sorted(events, key=order):
        found.setdefault(event.conversation_id, []).append(event)
    return found


def open_todos(conversations: "Mapping[str, Sequence[HeardEvent]]", rejections: "RejectedStatements") -> list[Line]:
    """List what conversations left to be done; a later conversation that names a to-do as done has done it."""
    saves = {name: [event for event in lines if event.type == "stage_summary"] for name, lines in conversations.items()}
    naming = {name: some for name, some in saves.items() if any(save.todos or save.done for save in some)}
    done_at: dict[str, str] = {}
    for save in (save for some in naming.values() for save in some):
        for statement in map(statement_of, save.done):
            done_at[statement] = max(done_at.get(statement, ""), counts_at(save))
    left: dict[str, Line] = {}
    for name in sorted(naming, key=lambda name: (max(map(counts_at, naming[name])), name), reverse=True):
        for todo in conclusion_of(naming[name], (), rejections).todos:  # type: ignore[arg-type]
            statement = statement_of(todo.text)
            if done_at.get(statement, "") <= max(map(counts_at, todo.mentions)):
                left.setdefault(statement, Line(f"- [ ] {cut(as_text(todo.text), _TODO_CHARS)}", todo.sources))
    return list(left.values())[:_MOST_TODOS]


def notes(
    conversations: "Mapping[str, Sequence[HeardEvent]]",
    rejections: "RejectedStatements",
    settings: "Settings",
    now: str,
) -> "Iterator[tuple[str, list[Line]]]":
    """Write the notes of today and yesterday, without facts, which have a section of their own."""
    local = local_time(settings.timezone)
    today = local(now)[:10]
    yesterday = timestamps.from_ns((timestamps.to_ms(f"{today}T00:00:00.000000Z") - 1) * 1_000_000)[:10]
    items: dict[str, list[_Item]] = {today: [], yesterday: []}
    silent: dict[str, list[str]] = {today: [], yesterday: []}
    for conversation in conversations.values():
        project = next((event.project for event in conversation if event.project), "")
        by_day: dict[str, list[HeardEvent]] = {}
        for heard_event in conversation:
            if heard_event.type == "stage_summary":
                by_day.setdefault(local(heard_event.ts)[:10], []).append(heard_event)
        for day in items.keys() & by_day.keys():
            found = items_of(conclusion_of(by_day[day], (), rejections), project, _Item)  # type: ignore[arg-type]
            items[day] += found
            heard = {event for item in found for event in item.events}
            silent[day] += [event.id for event in by_day[day] if event.id not in heard]
    for day in (today, yesterday):
        if items[day]:
            yield day, list(lines(day, items[day], silent[day], LABELS[settings.locale], local))
