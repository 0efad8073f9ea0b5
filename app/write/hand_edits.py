"""People's edits of rendered MEMORY.md files reach the log before the files are replaced."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from eventlog.app.build.cache import kept
from eventlog.app.build.publish import read
from eventlog.app.build.replay import replay
from eventlog.app.write.set_aside import SetAside
from eventlog.format import timestamps
from eventlog.format.events import HUMAN, Event, Fact, Restored, Retraction, persons_conversation
from eventlog.format.retractions import Retractions
from eventlog.log.event_log import EventLog
from eventlog.projections.base import Document
from eventlog.projections.context.recent_events import decided_before
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.identity import Identities, identities, resolved
from eventlog.projections.engine.replay import Renderings, ReplayResult
from eventlog.projections.views.labels import LABELS
from eventlog.projections.views.markdown import is_untouched
from eventlog.projections.views.memory import MEMORY
from eventlog.settings.schema import Settings
from eventlog.store import project_slug
from eventlog.store.replica import make_replica, replica_of

if TYPE_CHECKING:
    from eventlog.projections.edits.memory_edits import EditReading


class EditRecord(NamedTuple):
    """The events that people's edits amount to, and the files (relative to the directory) they say all of, as read."""

    events: list[Event]
    files: dict[str, bytes]


def record_edits(log: EventLog, settings: Settings, *, dry_run: bool = False) -> EditRecord:
    """Store what people did to the MEMORY.md files of the store since they were rendered; raises NotStored.

    The events are dated when the file was saved, and their ids follow from what they say: a run that is killed here
    and repeated adds nothing. Of copies that were set aside, what was added and nobody has read yet is a fact, too.
    """
    root, past = Path(log.store.knowledge), _Past(log, settings)
    read_now = {path.relative_to(root).as_posix(): data for path, data in _edited(root)}
    found = {name: _interpret(past, name, root / name, data) for name, data in read_now.items()}
    events = [event for taken in found.values() for event in taken.events]
    events += _wanted_again(log, events)
    copies = SetAside(log.store)
    events += _added_in(copies, past, events)
    if events and not dry_run:
        name = make_replica(log.store)
        events = [appended.event for appended in log.put(_named(event, name) for event in events)]
    if not dry_run:
        copies.remember()
    return EditRecord(events, {name: data for name, data in read_now.items() if not found[name].unexplained})


class _Past:
    """A log, and what it rendered as of other times."""

    def __init__(self, log: EventLog, settings: Settings) -> None:
        self.log = log
        self.words = LABELS[settings.locale]
        self.renderings = Renderings(partial(_replay_memory, log, settings))
        self.whole = Renderings(partial(_replay_memory, log, settings, anew=True))  # with the words of what is gone


def _added_in(copies: SetAside, past: _Past, events: Iterable[Event]) -> list[Event]:
    """Read the facts that stand in copies only, and that no person has rejected."""
    unread = copies.unread()
    rejected = Retractions(decided_before(past.log, kept(past.log.store)) if unread else ())
    said = {event.content for event in events if isinstance(event, Fact)}
    found: list[Event] = []
    for path, data in unread.items():
        for fact in _never_said(past, copies.original(path), path, data):
            if fact.content not in said and not rejected.rejects(fact.content):
                found.append(fact)
                said.add(fact.content)
    return found


def _never_said(past: _Past, name: str, path: Path, data: bytes) -> list[Fact]:
    """Read the facts a copy has and the log never had; none where the log has not what the copy was made from."""
    from eventlog.projections.edits.memory_edits import stamp_in, take_added

    file = _origin(past, name, path, data)
    if file is None or (file.base is None and stamp_in(data)):
        return []
    found: list[Event] = []
    for replays in (past.renderings, past.whole):  # the whole log is read where the cache has not heard of it
        state = replays.at(None).conversations.once(resolved)
        base = replays.document(name, None) or Document(name, ())
        found = _placed(take_added(data, base, file.project, state, past.words, file.ts), file.place).events
        if not any(isinstance(event, Fact) for event in found):
            break
    return [event for event in found if isinstance(event, Fact)]


def _wanted_again(log: EventLog, events: Iterable[Event]) -> list[Event]:
    """Take back the rejections of what a person has now written by hand."""
    said = [event for event in events if isinstance(event, Fact) and event.agent == HUMAN]
    withdrawn = Retractions(decided_before(log, kept(log.store)) if said else ())
    return [
        Restored(ts=fact.ts, conversation_id=HUMAN, agent=HUMAN, target=rejection)
        for fact in said
        for rejection in withdrawn.rejections(fact.content)
    ]


def _edited(root: Path) -> Iterator[tuple[Path, bytes]]:
    for path in sorted(path for pattern in MEMORY.owns for path in root.glob(pattern)):
        data = read(path)
        if data is not None and not is_untouched(data):
            yield path, data


def _interpret(past: _Past, name: str, path: Path, data: bytes) -> "EditReading":
    """Compare with the file as it was rendered; where that cannot be had again, only what was added is known."""
    from eventlog.projections.edits.memory_edits import EditReading, interpret_edit, stamp_in, take_added

    file = _origin(past, name, path, data)
    if file is None:
        return EditReading([], unexplained=True)
    if file.base:
        today = past.renderings.at(None).conversations.once(resolved)
        return _placed(interpret_edit(data, file.base, file.project, today, past.words, file.ts), file.place)
    base = past.whole.document(name, None) or Document(name, ())
    ever = past.whole.at(None).conversations.once(resolved)
    reading = take_added(data, base, file.project, ever, past.words, file.ts)
    # something may have been taken out as well
    return _placed(reading, file.place)._replace(unexplained=reading.unexplained or stamp_in(data) is not None)


class _Origin(NamedTuple):
    """The origin of an edited file: when it was saved, its project and where that lies, and what it was rendered as."""

    ts: str
    project: str | None
    place: tuple[str | None, str | None]
    base: Document | None


def _origin(past: _Past, name: str, path: Path, data: bytes) -> _Origin | None:
    """Find what a file was made from; None where the log does not know its project."""
    from eventlog.projections.edits.memory_edits import is_base, stamp_in

    rendered_at = stamp_in(data)
    known = past.renderings.at(None).conversations.once(identities)
    project = _project(past.renderings.at(None).conversations, known, name)
    if project is None and name != "MEMORY.md":
        return None
    place = known.place(project, replica_of(past.log.store)) if project else (None, None)
    # as it was rendered when last something was said of it, or when it became known which project that is
    moments = filter(None, (rendered_at, rendered_at and project and known.changed_at(project)))
    bases = (past.renderings.document(name, as_of) for as_of in moments)
    base = next((base for base in bases if base and is_base(base, data)), None)
    return _Origin(_saved_at(path, past.log.now(), rendered_at), project, place, base)


def _placed(reading: "EditReading", place: tuple[str | None, str | None]) -> "EditReading":
    """Let new facts be of a place of the project: events carry paths."""
    replica, path = place
    return reading._replace(
        events=[
            replace(event, project=path, replica=replica) if isinstance(event, Fact) and event.project else event
            for event in reading.events
        ]
    )


def _named(event: Event, replica: str) -> Event:
    """Name the store in what the person did; a summary told again stays what its agent said.

    What the person said belongs to where it would, had they said it by a verb.
    """
    if event.agent != HUMAN:
        return event
    if isinstance(event, Fact | Retraction):
        event = replace(event, conversation_id=persons_conversation(event.ts, replica))
    return event if event.replica else replace(event, replica=replica)


def _replay_memory(log: EventLog, settings: Settings, until: str, *, anew: bool = False) -> ReplayResult:
    return replay(log, settings, projections=[MEMORY], until=until, anew=anew, save=False)


def _project(state: Conversations, known: Identities, name: str) -> str | None:
    """Find whose file it is, or was; None for the user's, and where the log does not know."""
    projects = {fact.project for conversation in state.by_id.values() for fact in conversation.facts}
    projects |= {conversation.project for conversation in state.by_id.values()}
    homes = {project_slug(path): known.of(path) for path in projects if path} | known.homes()
    return homes.get(name.removeprefix("projects/").removesuffix("/MEMORY.md"))


def _saved_at(path: Path, now: int, rendered_at: str | None) -> str:
    """Date the save of the file: by no clock ahead of ours, and in any case after what it was rendered from."""
    saved = timestamps.from_ns(min(path.stat().st_mtime_ns, now))
    return max(saved, timestamps.after(rendered_at)) if rendered_at else saved
