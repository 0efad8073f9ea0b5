"""People's edits of rendered MEMORY.md files reach the log before the files are replaced."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from eventlog import timestamps
from eventlog.app.cache import kept
from eventlog.app.publish import read
from eventlog.app.replay import replay
from eventlog.events import HUMAN, Event, Fact, Restored
from eventlog.log import EventLog
from eventlog.projections.base import Document
from eventlog.projections.context.recent_events import decided_before
from eventlog.projections.engine.at import Renderings
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.labels import LABELS
from eventlog.projections.stamp import is_untouched
from eventlog.projections.state.conversations import Conversations
from eventlog.projections.state.identity import Identities, identities, resolved
from eventlog.projections.views.memory import MEMORY
from eventlog.replica import make_replica, replica_of
from eventlog.retractions import Retractions
from eventlog.settings.schema import Settings
from eventlog.store import project_slug

if TYPE_CHECKING:
    from eventlog.projections.edits.memory_edits import EditReading


class EditRecord(NamedTuple):
    """The events that people's edits amount to, and the files (relative to the directory) they say all of, as read."""

    events: list[Event]
    files: dict[str, bytes]


def record_edits(log: EventLog, settings: Settings, *, dry_run: bool = False) -> EditRecord:
    """Store what people did to the MEMORY.md files of the store since they were rendered; raises NotStored.

    The events are dated when the file was saved, and their ids follow from what they say: a run that is killed here
    and repeated adds nothing.
    """
    root = Path(log.store.knowledge)
    read_now = dict(_edited(root))
    found = {path: _interpret(log, settings, root, path, data) for path, data in read_now.items()}
    events = [event for taken in found.values() for event in taken.events]
    events += _wanted_again(log, events)
    if events and not dry_run:
        name = make_replica(log.store)
        events = [appended.event for appended in log.put(_named(event, name) for event in events)]
    whole = {path: data for path, data in read_now.items() if not found[path].unexplained}
    return EditRecord(events, {path.relative_to(root).as_posix(): data for path, data in whole.items()})


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


def _interpret(log: EventLog, settings: Settings, root: Path, path: Path, data: bytes) -> "EditReading":
    """Compare with the file as it was rendered; where that cannot be had again, only what was added is known."""
    from eventlog.projections.edits.memory_edits import EditReading, interpret_edit, is_base, stamp_in, take_added

    name = path.relative_to(root).as_posix()
    rendered_at = stamp_in(data)
    ts, words = _saved_at(path, log.now(), rendered_at), LABELS[settings.locale]
    past = Renderings(partial(_replay_memory, log, settings))
    today = past.at(None).conversations
    known = today.once(identities)
    project = _project(today, known, name)
    if project is None and name != "MEMORY.md":
        return EditReading([], unexplained=True)
    place = known.place(project, replica_of(log.store)) if project else (None, None)
    # as it was rendered when last something was said of it, or when it became known which project that is
    for as_of in filter(None, (rendered_at, rendered_at and project and known.changed_at(project))):
        base = past.document(name, as_of)
        if base and is_base(base, data):
            return _placed(interpret_edit(data, base, project, today.once(resolved), words, ts), place)
    ever = Renderings(partial(_replay_memory, log, settings, anew=True))  # with the words of what is gone
    base = ever.document(name, None) or Document(name, ())
    reading = take_added(data, base, project, ever.at(None).conversations.once(resolved), words, ts)
    # something may have been taken out as well
    return _placed(reading, place)._replace(unexplained=reading.unexplained or rendered_at is not None)


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
    """Name the store in what the person said; a summary told again stays what its agent said."""
    return replace(event, replica=replica) if event.agent == HUMAN and not event.replica else event


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
