"""The lines of a day's notes and of a conversation's summary.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast.copies import Values, replace
from eventlog.format.local_time import local_time
from eventlog.format.text import cut, one_line, project_name
from eventlog.projections.current.conclusions import SourcedText
from eventlog.projections.line import Line, Sources
from eventlog.projections.views.labels import LABELS
from eventlog.projections.views.markdown import as_item, as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeVar

    from eventlog.format.local_time import Local
    from eventlog.projections.current.conclusions import Conclusion
    from eventlog.projections.views.daily_notes import Item  # the same, as rows have it
    from eventlog.projections.views.labels import Labels
    from eventlog.settings.schema import Settings

    _Item = TypeVar("_Item")

EVENTS, LEARNED, TODOS, DONE = range(4)  # the sections, in this order; what is done has none
_SHORTEST_CUT = 8  # characters; less of a sentence says nothing


class NoteItem(Values):
    """A statement in a section; `same` is the `likeness` of its text."""

    section: int
    ts: str
    events: tuple[str, ...]
    project: str
    text: str
    same: bytes


def items_of(
    conclusion: "Conclusion", project: str, make: "Callable[[int, str, tuple[str, ...], str, str, bytes], _Item]"
) -> "list[_Item]":
    """Make the items of what a conversation came to."""
    texts = ((EVENTS, conclusion.parts), (LEARNED, conclusion.decisions), (TODOS, conclusion.todos))
    return [
        make(section, text.mentions[-1 if section == TODOS else 0].ts, text.sources, project, text.text, text.same)
        for section, texts_of in texts
        for text in texts_of
    ]


def lines(
    day: str, items: "Sequence[NoteItem | Item]", silent: "Sequence[str]", words: "Labels", local: "Local"
) -> "Iterator[Line]":
    """Write the title and every section with items; equal items are one bullet.

    `silent` are events that add no item.
    """

    def all_of_it() -> Sources:
        return tuple(sorted({*_sources_of(items), *silent})), ()

    yield Line(f"# {day}", find=all_of_it)
    gathered = _gathered(items)
    for section, title in enumerate((words.events, words.insights, words.todos)):
        chosen = [same for same in gathered if same.section == section]
        if chosen:
            yield from (Line(text, find=all_of_it) for text in ("", f"## {title}", ""))
            yield from (Line(_bullet(same, local), same.events) for same in chosen)


def _gathered(items: "Iterable[NoteItem | Item]") -> "list[NoteItem | Item]":
    """Collect each statement once, in its first wording; an insight stays an insight, an open to-do stays open."""
    found: dict[tuple[bool, str, bytes], NoteItem | Item] = {}
    again: dict[tuple[bool, str, bytes], list[NoteItem | Item]] = {}
    for item in sorted(items, key=_place_of):  # those of one save stay in its order
        same = (item.section == TODOS, item.project, item.same)
        if item.text and found.setdefault(same, item) is not item:
            again.setdefault(same, [found[same]]).append(item)
    for same, same_items in again.items():
        section = max(item.section for item in same_items)
        found[same] = replace(found[same], section=section, events=_sources_of(same_items))
    return list(found.values())


def _place_of(item: "NoteItem | Item") -> tuple[str, str]:
    return item.ts, item.events[-1 if item.section == TODOS else 0]


def _sources_of(items: "Iterable[NoteItem | Item]") -> tuple[str, ...]:
    return tuple(dict.fromkeys([event for item in items for event in item.events]))


def _bullet(item: "NoteItem | Item", local: "Local") -> str:
    name = project_name(item.project)
    text = f"{name}: {item.text}" if name else item.text
    if item.section == LEARNED:
        return f"- {as_item(text)}"
    mark = "[ ]" if item.section == TODOS else local(item.ts)[11:]
    return f"- {mark} {as_text(text)}"


# ------------------------------------------------------------------------------------------------ of a conversation


def summary_lines(
    conversation: str,
    conclusion: "Conclusion",
    project: str,
    at_work: tuple[str, str],
    settings: "Settings",
    *,
    stages: bool,
) -> "Iterator[Line]":
    """Write the title, the fields (the conversation, its first and last work, its project, its topic), the sections."""
    words = LABELS[settings.locale]
    begins_so = any(part.text.startswith(conclusion.topic) for part in conclusion.parts[:1])
    fields = {
        words.session_id: one_line(conversation),
        words.time: _period(*at_work, settings.timezone),
        words.project: project_name(project) if project else None,
        words.mode: words.workflow if stages else words.free,
        words.topic: "" if begins_so else one_line(conclusion.topic),
    }
    yield Line(f"# {words.session}", whole=(conversation,))
    yield Line("", whole=(conversation,))
    for name, value in fields.items():
        if value:
            yield Line(f"**{name}:** {as_text(value)}", whole=(conversation,))
    yield from _sections(conversation, conclusion, words, settings.summaries.max_chars)


def _sections(conversation: str, conclusion: "Conclusion", words: "Labels", budget: int) -> "Iterator[Line]":
    """Write the sections; each may use what those after it leave, and at least half of what is left.

    Of decisions there is no room for, the oldest are left out; every section says how many are.
    """
    sections = (
        (words.done, conclusion.parts, conclusion.more),
        (words.key_decisions, conclusion.decisions[::-1], 0),
        (words.open_ends, conclusion.todos, 0),
    )
    for position, (heading, texts, more) in enumerate(sections):
        others = sum(len(text.text) for _, later, _ in sections[position + 1 :] for text in later)
        fitting = _fit_and_count(texts, more, max(budget - others, budget // 2))
        budget -= sum(len(text.text) for text in fitting)
        if fitting:
            yield Line("", whole=(conversation,))
            yield Line(f"## {heading}", whole=(conversation,))
            yield from (
                Line(f"- {as_item(text.text)}", text.sources, (conversation,) * (not text.mentions)) for text in fitting
            )


def _period(begun: str, last_work: str, timezone: str) -> str:
    local = local_time(timezone)
    start, last = (local(ts).replace("T", " ") for ts in (begun, last_work))
    until = "" if start == last else f" – {last.removeprefix(start[:11])}"
    return f"{start}{until} {timezone}"


def _fit_and_count(texts: "Sequence[SourcedText]", more: int, room: int) -> list[SourcedText]:
    """Return the texts there is room for, and a mark that counts the rest."""
    mark = len(f"… (+{len(texts) + more})")
    if room < mark or not (more or sum(len(text.text) for text in texts) > room):
        return list(_fit(texts, room))
    fitting = list(_fit(texts, room - mark))
    remaining = len(texts) - len(fitting) + more
    return [*fitting, SourcedText(f"… (+{remaining})", ())] if remaining else fitting


def _shortened(text: str, room: int) -> str:
    """Cut a text to so many characters, after a sentence where half of the room is used then."""
    if len(text) <= room:
        return text
    end = max(text.rfind(mark, 0, max(room - 2, 0)) for mark in (". ", "。", "; ", "；"))
    return f"{text[: end + 1].rstrip(' ;；')} …" if end >= room // 2 else cut(text, room)


def _fit(texts: "Iterable[SourcedText]", budget: int) -> "Iterator[SourcedText]":
    for text in texts:
        if len(text.text) > budget < _SHORTEST_CUT:
            return
        yield SourcedText(_shortened(text.text, budget), text.mentions)
        budget -= min(budget, len(text.text))
