"""Record people's edits of rendered MEMORY.md files as events, before the files are replaced."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, partial
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from eventlog.app.build.cache import open_for_reading
from eventlog.app.build.replay import replay
from eventlog.app.write.set_aside import SetAside
from eventlog.format import timestamps
from eventlog.format.events import HUMAN, Event, Fact, Restored, Retraction, persons_conversation
from eventlog.format.retractions import Retractions
from eventlog.log.days import unreadable
from eventlog.log.event_log import EventLog
from eventlog.projections.base import Document
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.identity import Identities
from eventlog.projections.current.withdrawals import withdrawals_until
from eventlog.projections.engine.day_states import EVERYTHING
from eventlog.projections.engine.documents import Files, files_in
from eventlog.projections.engine.row_store import RowsDamaged
from eventlog.projections.views.labels import LABELS
from eventlog.projections.views.markdown import is_untouched
from eventlog.projections.views.memory import MEMORY
from eventlog.settings.schema import Settings
from eventlog.store import Store, project_slug
from eventlog.store.files import file_stamp, read
from eventlog.store.replica import make_replica, replica_of

if TYPE_CHECKING:
    from eventlog.projections.edits.memory_edits import EditReading


def record_edits(
    log: EventLog, settings: Settings, *, dry_run: bool = False
) -> tuple[list[Event], dict[str, bytes | None]]:
    """Append events for the edits of MEMORY.md files since they were rendered; raises NotStored.

    Return them, and the contents of the files (by relative path) that they explain completely; None of a file that
    waits, for nobody can tell what is new in it while a part of the log cannot be read.
    Facts that were added to unread copies of these files are appended as well.
    """
    # events are dated by the save of the file, and ids derive from contents: a run that is killed and repeated adds
    # nothing
    root, past = Path(log.store.knowledge), _Past(log, settings)
    edited = dict(_edited(log.store))
    found = {name: _interpret(past, name, root / name, data) for name, data in edited.items()}
    events = [event for reading in found.values() if reading for event in reading.events]
    events += restore_retyped(log, events)
    copies = SetAside(log.store)
    events += _added_in(copies, past, events)
    if events and not dry_run:
        name = make_replica(log.store)
        events = [appended.event for appended in log.put(_named(event, name) for event in events)]
    if not dry_run:
        copies.remember()
    lossless = (name for name, data in edited.items() if "\ufffd" not in data.decode("utf-8", "replace"))
    taken_in: dict[str, bytes | None] = dict.fromkeys(name for name, reading in found.items() if reading is None)
    for name in lossless:
        if (reading := found[name]) and not reading.unexplained:
            taken_in[name] = edited[name]
    return events, taken_in


class _Past:
    """A log, and its MEMORY.md files as rendered at other times."""

    def __init__(self, log: EventLog, settings: Settings) -> None:
        self.log = log
        self.words = LABELS[settings.locale]
        rendered = partial(replay, log, settings, projections=[MEMORY])
        self.renderings = cache(lambda until: rendered(until=until))
        self.whole = cache(lambda until: rendered(until=until, anew=True))  # includes withdrawn texts
        self.is_partial = cache(lambda: bool(unreadable(log.store.log)))


def _added_in(copies: SetAside, past: _Past, events: Iterable[Event]) -> list[Event]:
    """Find the facts that only copies contain and that no person has rejected."""
    unread = copies.unread()
    rejected = Retractions(withdrawals_until(past.log, open_for_reading(past.log.store)) if unread else ())
    contents = {event.content for event in events if isinstance(event, Fact)}
    found: list[Event] = []
    for path, data in unread.items():
        file = _origin(past, copies.original(path), path, data)
        if file is None or (not file.base and past.is_partial()):
            copies.put_off(path)
            continue
        for fact in _new_facts(past, file, data):
            if fact.content not in contents and not rejected.rejects(fact.content):
                found.append(fact)
                contents.add(fact.content)
    return found


def _new_facts(past: _Past, file: "_Origin", data: bytes) -> list[Fact]:
    """Find the facts of a copy that the log never had; none where the log cannot render the base of the copy."""
    from eventlog.projections.edits.memory_edits import EditedFile

    if file.base is None and EditedFile(data).stamp:
        return []
    found: list[Event] = []
    for replays in (past.renderings, past.whole):  # the cache lacks withdrawn texts: the whole log decides
        state = replays(EVERYTHING).conversations
        base = replays(EVERYTHING).document(file.name) or Document(file.name, ())
        found = _with_place(
            EditedFile(data).added_to(base, file.project, state, past.words, file.ts), file.place
        ).events
        if not any(isinstance(event, Fact) for event in found):
            break
    return [event for event in found if isinstance(event, Fact)]


def restore_retyped(log: EventLog, events: Iterable[Event]) -> list[Restored]:
    """Restore rejected statements that the user typed again."""
    typed = [event for event in events if isinstance(event, Fact) and event.agent == HUMAN]
    withdrawn = Retractions(withdrawals_until(log, open_for_reading(log.store)) if typed else ())
    return [
        Restored(ts=fact.ts, conversation_id=HUMAN, agent=HUMAN, target=rejection)
        for fact in typed
        for rejection in withdrawn.rejections(fact.content)
    ]


def _edited(store: Store) -> Iterator[tuple[str, bytes]]:
    """Yield the MEMORY.md files that are not as they were rendered, by relative path; those just published are."""
    published: Files = {}
    with suppress(RowsDamaged):
        published = files_in(open_for_reading(store), MEMORY.name)
    names = (name for pattern in MEMORY.owns for name in glob(pattern, root_dir=store.knowledge, include_hidden=True))  # noqa: PTH207 - as text
    for name in sorted(names):
        path = f"{store.knowledge}/{name}"
        data = None if published.get(name) == file_stamp(path) else read(path)  # publishing says why it cannot be read
        if data is not None and not is_untouched(data):
            yield name, data


def _interpret(past: _Past, name: str, path: Path, data: bytes) -> "EditReading | None":
    """Compare a file with its rendering; without it, find added facts only, or return None if a day is unreadable."""
    from eventlog.projections.edits.memory_edits import EditedFile, EditReading

    file, edited = _origin(past, name, path, data), EditedFile(data)
    if not (file and file.base) and past.is_partial():
        return None
    if file is None:
        return EditReading([], unexplained=True)
    if file.base:
        today = past.renderings(EVERYTHING).conversations
        return _with_place(edited.compared_with(file.base, file.project, today, past.words, file.ts), file.place)
    base = past.whole(EVERYTHING).document(file.name) or Document(file.name, ())
    ever = past.whole(EVERYTHING).conversations
    reading = edited.added_to(base, file.project, ever, past.words, file.ts)
    # without the rendering, removals cannot be found: the file is explained only if it never was a rendering
    return _with_place(reading, file.place)._replace(unexplained=reading.unexplained or edited.stamp is not None)


class _Origin(NamedTuple):
    """The origin of an edited file: when it was saved, its project with its place, and its document.

    `name` is the path of the document by now; `base` is the rendering that was edited.
    """

    ts: str
    project: str | None
    place: tuple[str | None, str | None]
    name: str
    base: Document | None


def _origin(past: _Past, name: str, path: Path, data: bytes) -> _Origin | None:
    """Find the rendering behind a file; None where the log has no such project."""
    from eventlog.projections.edits.memory_edits import EditedFile

    edited, now = EditedFile(data), past.renderings(EVERYTHING)
    projects = now.identities
    project = _project(now.conversations_since(""), projects, name)
    if project is None and name != "MEMORY.md":
        return None
    replica, saved = replica_of(past.log.store), timestamps.from_ns(min(path.stat().st_mtime_ns, past.log.now()))
    if edited.stamp:  # it was saved after the events that it renders, whatever the clock says
        saved = max(saved, timestamps.after(edited.stamp))
    # the name of a path may have gone to another machine's project since the file was rendered
    names: dict[str | None, str] = {project: name}
    names |= {other: projects.document(other, name.rpartition("/")[2]) for other in projects.beside(project)}
    for candidate, document in names.items():
        # the stamp has the time of the last event; what belongs to a project may have changed after that
        changed_at = edited.stamp and candidate and projects.changed_at(candidate)
        moments = (edited.stamp, changed_at, not past.is_partial() and EVERYTHING)
        bases = (past.renderings(as_of).document(document) for as_of in moments if as_of)
        if base := next((base for base in bases if base and edited.is_edit_of(base)), None):
            return _Origin(saved, candidate, projects.place(candidate, replica), document, base)
    if len(names) > 1:
        project = max(names, key=lambda candidate: edited.shares(past.whole(EVERYTHING).document(names[candidate])))
    return _Origin(saved, project, projects.place(project, replica), names[project], None)


def _with_place(reading: "EditReading", place: tuple[str | None, str | None]) -> "EditReading":
    """Set a path of the project on new facts: events carry paths, no identities."""
    replica, path = place
    return reading._replace(
        events=[
            replace(event, project=path, replica=replica) if isinstance(event, Fact) and event.project else event
            for event in reading.events
        ]
    )


def _named(event: Event, replica: str) -> Event:
    """Set the replica on a person's events, and the conversation that a verb would set; a summary stays its agent's."""
    if event.agent != HUMAN:
        return event
    if isinstance(event, Fact | Retraction):
        event = replace(event, conversation_id=persons_conversation(event.ts, replica, event.project))
    return event if event.replica else replace(event, replica=replica)


def _project(state: Conversations, identified: Identities, name: str) -> str | None:
    """Find the project that a file belongs to, or belonged to; None for the user's file and unknown projects."""
    projects = {fact.project for conversation in state.by_id.values() for fact in conversation.facts}
    projects |= {conversation.project for conversation in state.by_id.values()}
    homes = {project_slug(path): identified.of(path) for path in projects if path} | identified.by_directory()
    return homes.get(name.removeprefix("projects/").removesuffix("/MEMORY.md"))
