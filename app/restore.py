"""A file as it was: every event since then that has a say in it is taken back, each by an event."""

from collections.abc import Collection, Iterator

from eventlog.app.open_store import OpenStore
from eventlog.app.undo import Undoable
from eventlog.app.what_if import Omission, document_meant, replay_at, text_of
from eventlog.errors import BadRequest
from eventlog.events import Event, KnowledgeEdited, PlanEntry
from eventlog.projections.bases.names import base_file_of
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.state.distinct_facts import subject_of
from eventlog.projections.views.memory import MEMORY, notes_path
from eventlog.retractions import decided_by, goals_of


def restorable(opened: OpenStore, file: str, as_of: str) -> Undoable:
    """Find what has to be taken back for a memory or a knowledge base to be as it was; raises BadRequest."""
    then, now = replay_at(opened, as_of), replay_at(opened)
    path = document_meant(opened, file, now, then)
    if not (MEMORY.owns_path(path) or path.startswith("bases/")):
        raise BadRequest("only a MEMORY.md and a knowledge base can be as they were", where=path)
    was = text_of(then.document(path))
    if was == text_of(now.document(path)):
        raise BadRequest("it is as it was then", where=path)
    events = list(opened.log.read())
    targets = list(_since(events, list(_with_a_say(opened, now, path, events)), as_of, now.library.withdrawn.events))
    without = Omission(events=frozenset(event.id for event in targets))
    if not targets or text_of(replay_at(opened, without=without).document(path)) != was:
        raise BadRequest("it cannot be had back as it was: more than what was said has changed since", where=path)
    return Undoable(targets[-1], targets, f"what changed {path} since then")


def _with_a_say(opened: OpenStore, now: ReplayResult, path: str, events: list[Event]) -> Iterator[Event]:
    """Yield what a file was ever made of: entries and edits of a base, or what is stated in a memory."""
    bases = opened.settings.knowledge_bases
    for event in events:
        if isinstance(event, PlanEntry | KnowledgeEdited):
            place = base_file_of(event.key, event.project, bases)
            if (place and place.document == path) or event.key.path == notes_path(path):
                yield event
    names = [name for name in now.library.names(MEMORY.name) if _is_of(now, name, path)]
    for raw in now.conversations.by_id.values() if names else ():
        conversation = now.library.identities.conversation(raw)
        yield from (fact for fact in conversation.facts if subject_of(fact) in names)
        if (conversation.project or "") in names:
            yield from (summary for summary in conversation.summaries if summary.decisions)


def _is_of(now: ReplayResult, name: str, path: str) -> bool:
    return any(document.path == path for document in now.made((MEMORY.name, name)))


def _since(events: list[Event], said: list[Event], as_of: str, taken_back: Collection[str]) -> Iterator[Event]:
    """Yield what has a say, and what decided about that, since a time, as far as it is not taken back."""
    goals = goals_of(said, events)
    ids = {event.id for event in said}
    for event in events:
        if event.id in ids or not goals.isdisjoint(decided_by(event)):
            goals.add(event.id)
            if event.ts > as_of and event.id not in taken_back and not event.subagent:
                yield event
