"""A file as it was: every event since then that has a say in it is taken back, each by an event, all in one deed.

What a person has rejected since then stays rejected: to see a file again as it was is no wish to hear that again.
"""

from collections.abc import Iterator

from eventlog.app.ask.history import Omission, document_meant, replay_at, text_of
from eventlog.app.open_store import OpenStore
from eventlog.app.write.undo import Undoable, first_texts
from eventlog.format.errors import BadRequest
from eventlog.format.events import EntryResolved, Event, KnowledgeEdited, PlanEntry, Rejected, Withdrawal
from eventlog.format.retractions import Retractions, decided_by, goals_of
from eventlog.projections.bases.base_file import base_file_of
from eventlog.projections.current.distinct_facts import subject_of
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.views.memory import MEMORY, notes_path


def restorable(opened: OpenStore, file: str, as_of: str) -> Undoable:
    """Find what has to be taken back for a memory or a knowledge base to be as it was; raises BadRequest."""
    then, now = replay_at(opened, as_of), replay_at(opened)
    path = document_meant(opened, file, now, then)
    if not (MEMORY.owns_path(path) or path.startswith("bases/")):
        raise BadRequest("only a MEMORY.md and a knowledge base can be as they were", where=path)
    events = list(opened.log.read())
    since = _Since(events, list(_with_a_say(opened, now, path, events)), as_of, first_texts(opened))
    later = frozenset(event.id for event in events if event.ts > as_of and event.id not in since.staying)
    was = text_of((replay_at(opened, without=Omission(events=later)) if since.staying else then).document(path))
    if was == text_of(now.document(path)):
        raise _as_it_was_then(path, since.rejected)
    targets = since.targets
    without = Omission(events=frozenset(event.id for event in targets))
    if not targets or text_of(replay_at(opened, without=without).document(path)) != was:
        raise BadRequest("it cannot be had back as it was: more than what was said has changed since", where=path)
    return Undoable(targets[-1], targets, f"what changed {path} since then", staying=since.rejected)


def _as_it_was_then(path: str, rejected: list[Rejected]) -> BadRequest:
    if not rejected:
        return BadRequest("it is as it was then", where=path)
    hint = "\n".join(f"eventlog undo {one.id}" for one in rejected)
    return BadRequest("it is as it was then, but for what you have forgotten", where=path, hint=hint)


def _with_a_say(opened: OpenStore, now: ReplayResult, path: str, events: list[Event]) -> Iterator[Event]:
    """Yield what a file was ever made of: entries and edits of a base, or what is stated in a memory."""
    bases = opened.settings.knowledge_bases
    for event in events:
        if isinstance(event, PlanEntry | KnowledgeEdited):
            place = base_file_of(event.key, event.project, bases)
            if (place and place.document == path) or event.key.path == notes_path(path):
                yield event
    names = [name for name in now.index.names(MEMORY.name) if _is_of(now, name, path)]
    for raw in now.conversations.by_id.values() if names else ():
        conversation = now.index.identities.conversation(raw)
        yield from (fact for fact in conversation.facts if subject_of(fact) in names)
        if (conversation.project or "") in names:
            yield from (summary for summary in conversation.summaries if summary.decisions)


def _is_of(now: ReplayResult, name: str, path: str) -> bool:
    return any(document.path == path for document in now.rendered((MEMORY.name, name)))


class _Since:
    """The decisions and texts since a time that changed a file.

    `targets` are to be taken back. `staying` is what is not: texts from before any entry, and what keeps something
    away; of that, `rejected` is about what the file said.
    """

    def __init__(self, events: list[Event], said: list[Event], as_of: str, first_texts: set[str]) -> None:
        made = {event.id: event for event in events if isinstance(event, Withdrawal)}
        now = Retractions(made.values())
        then = Retractions(event for event in made.values() if event.ts <= as_of)
        self.staying = first_texts | {event.id for event in events if _keeps_away(event, made, now)}
        self.targets: list[Event] = []
        self.rejected: list[Rejected] = []
        ids = {event.id for event in said}
        before = [event for event in events if event.id in ids and event.ts <= as_of]  # with all their words
        goals = goals_of(before, events) - {event.id for event in before}
        for event in events:
            decides = not goals.isdisjoint(decided_by(event))
            if event.subagent or not (decides or event.id in ids):
                continue
            if event.ts <= as_of:
                goals |= set() if event.id in then.events else {event.id}
            elif event.id not in now.events | self.staying:
                self.targets.append(event)
            elif decides and isinstance(event, Rejected) and event.id not in now.events:
                self.rejected.append(event)


def _keeps_away(event: Event, made: dict[str, Withdrawal], now: Retractions) -> bool:
    """Tell whether it is by this event that something is rejected now: its decision, or one that brought that back."""
    if event.id in now.events:
        return False
    if isinstance(event, EntryResolved):
        return event.choice == "discard"
    about = made.get(event.id)
    while about and not isinstance(about, Rejected) and (older := made.get(about.target or "")):
        if older.ts >= about.ts:
            return False
        about = older
    return isinstance(about, Rejected) and about.id not in now.events
