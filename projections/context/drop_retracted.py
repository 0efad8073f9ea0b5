"""Drop from a file what has been withdrawn or replaced since it was written, or is another project's by now.

The next replay takes it out of the file. Until then its lines are known by their words: those of the events withdrawn
after the file's time, which are found by their ids, or by the conversation that is withdrawn as a whole; and those of
conversations that named another project since.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import assert_never, cast

from eventlog.fast import fastjson
from eventlog.format.events import (
    AnyEvent,
    ContextInjected,
    ConversationText,
    EntryApplied,
    EntryResolved,
    Event,
    Fact,
    HostEvent,
    KnowledgeEdited,
    PlanEntry,
    ProjectJoined,
    ProjectSeen,
    Rejected,
    Restored,
    Retraction,
    SaveRequested,
    SessionEnd,
    SessionStart,
    StageSummary,
    TurnEnd,
    UnknownEvent,
    Withdrawal,
    counts_at,
    order,
)
from eventlog.format.ids import day_in_id
from eventlog.format.retractions import Retractions
from eventlog.format.text import one_line, same_text
from eventlog.log.event_log import EventLog
from eventlog.projections.base import Line
from eventlog.projections.context.recent_events import events_of, mentioning
from eventlog.projections.current.conversations import Conversation, Conversations
from eventlog.projections.current.distinct_facts import subject_of
from eventlog.projections.views.markdown import as_said, stamped_at

_Key = tuple[str, str]  # the project, "" for the user, and the key of a fact

_BULLET = re.compile(r"- \[\d{4}-\d\d-\d\d\] (?P<said>.+)")


def drop_retracted(text: str, log: EventLog, said: Conversations, elsewhere: Collection[Conversation] = ()) -> str:
    """Drop from a rendered file the bullets that only say what was withdrawn or replaced later, or what moved away.

    `said` has all that was said and withdrawn since the file was rendered; what it still says stays. `elsewhere` are
    conversations that named another project since.
    """
    stamp = stamped_at(text.encode()) or ""
    withdrawn = said.withdrawn()
    later = _with_what_they_undo((one for one in said.retractions if counts_at(one) > stamp), said.retractions)
    stated = [event for conversation in said.by_id.values() for event in (*conversation.facts, *conversation.summaries)]
    not_retracted = [event for event in stated if not withdrawn.hides(event)]
    newest = _newest_wordings(not_retracted)
    fresh = [fact for fact in newest.values() if counts_at(fact) > stamp]
    if not later and not fresh and not elsewhere:
        return text
    gone = {words for event in _targets(log, later) if withdrawn.hides(event) for words in _words(event)}
    gone |= {words for fact in _keyed_like(log, fresh) if _is_replaced(fact, newest) for words in _words(fact)}
    gone |= {words for conversation in elsewhere for event in conversation.summaries for words in _words(event)}
    gone -= {words for event in not_retracted if not _is_replaced(event, newest) for words in _words(event)}

    def is_gone(words: str) -> bool:
        return same_text(words) in gone or withdrawn.rejects(words)

    return "\n".join(line for line in text.split("\n") if not _says(line, is_gone))


def without_replaced(
    lines: tuple[Line, ...], events: Callable[[], Iterable[Event]], said: Conversations
) -> tuple[Line, ...]:
    """Drop from a conversation's summary the lines made of facts of it that another has replaced.

    Its `events` are read only where a fact with a key was said lately: nothing else replaces one.
    """
    withdrawn = said.withdrawn()
    facts = (fact for conversation in said.by_id.values() for fact in conversation.facts if not withdrawn.hides(fact))
    newest = _newest_wordings(facts)
    if not newest:
        return lines
    gone = {words for event in events() if _is_replaced(event, newest) for words in _words(event)}
    return tuple(
        line for line in lines if not any(words in same_text(as_said(line.text.removeprefix("- "))) for words in gone)
    )


def without_withdrawn_sections(text: str, log: EventLog, retractions: Collection[Withdrawal]) -> str:
    """Drop from a knowledge base the sections that say what a withdrawn plan entry put there."""
    withdrawn = Retractions(retractions)
    entries = [event for event in _targets(log, retractions) if isinstance(event, PlanEntry) and withdrawn.hides(event)]
    if not entries:
        return text
    from eventlog.projections.bases.sections import Page, canonical

    for entry in entries:
        page = Page(text.encode())
        section = page.find(entry.key.heading, entry.key.level)
        if section and entry.content and page.text(section) == canonical(entry.content):
            kept = [*page.lines[: section.start], *page.lines[section.end :]]
            text = b"".join(kept).decode()
    return text


def _with_what_they_undo(later: Iterable[Withdrawal], made: Iterable[Withdrawal]) -> list[Withdrawal]:
    """Add the withdrawals that these take back, and those which they had: each of their targets may be judged anew."""
    by_id = {one.id: one for one in made}
    found: dict[str, Withdrawal] = {}
    left = list(later)
    while left:
        one = left.pop()
        found[one.id] = one
        undone = by_id.get(one.target or "")
        left += [undone] if undone and undone.id not in found else []
    return list(found.values())


def _newest_wordings(events: Iterable[Event]) -> dict[_Key, Fact]:
    keyed = sorted((event for event in events if isinstance(event, Fact) and event.key), key=order)
    return {_key(fact): fact for fact in keyed}


def _keyed_like(log: EventLog, facts: Collection[Fact]) -> Iterator[Fact]:
    """Yield every fact ever said under the keys of these facts; only lines that hold one are decoded."""
    words = [fastjson.text(str(fact.key)) for fact in facts]
    for day in log.days() if words else ():
        yield from (event for event in mentioning(log, day.date, words) if isinstance(event, Fact) and event.key)


def _is_replaced(event: Event, newest: Mapping[_Key, Fact]) -> bool:
    """Tell whether a later fact stands in the place of this one and says something else."""
    if not isinstance(event, Fact) or not event.key:
        return False
    now = newest.get(_key(event))
    return now is not None and order(now) > order(event) and same_text(now.content) != same_text(event.content)


def _key(fact: Fact) -> _Key:
    return subject_of(fact), str(fact.key)


def _says(line: str, is_gone: Callable[[str], bool]) -> bool:
    match = _BULLET.fullmatch(line)
    return match is not None and is_gone(as_said(match["said"]))


def _targets(log: EventLog, retractions: Iterable[Withdrawal]) -> Iterator[Event]:
    """Yield what was withdrawn, reading only the days the ids name, and of those the lines that mention one."""
    by_day: dict[str, list[bytes]] = {}
    for retraction in retractions:
        conversation = None if isinstance(retraction, Restored) else retraction.conversation
        if conversation:
            yield from events_of(log, conversation)
        elif retraction.target:
            by_day.setdefault(day_in_id(retraction.target), []).append(retraction.target.encode())
    for date, targets in by_day.items():
        yield from mentioning(log, date, targets)


def _words(event: Event) -> list[str]:
    """Return the texts a knowledge file has of an event."""
    return [same_text(as_said(one_line(text))) for text in _texts(cast("AnyEvent", event))]


def _texts(event: AnyEvent) -> list[str]:
    match event:
        case Fact():
            return [event.content]
        case StageSummary():
            return event.decisions
        case PlanEntry() | EntryApplied() | EntryResolved() | KnowledgeEdited():
            return []  # of knowledge bases, which are told section by section
        case (
            SessionStart()
            | SessionEnd()
            | TurnEnd()
            | SaveRequested()
            | ContextInjected()
            | ConversationText()
            | HostEvent()
        ):
            return []  # no words of them are rendered
        case Retraction() | Rejected() | Restored() | ProjectSeen() | ProjectJoined() | UnknownEvent():
            return []
        case _:
            assert_never(event)
