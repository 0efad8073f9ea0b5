"""People's edits of rendered MEMORY.md files reach the log before the files are replaced."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from eventlog import timestamps
from eventlog.events import Event
from eventlog.log import EventLog
from eventlog.projections.conversations import Conversations
from eventlog.projections.labels import LABELS
from eventlog.projections.markdown_file import is_untouched
from eventlog.projections.memory import MEMORY
from eventlog.projections.memory_edits import Taken, stamp_in, take
from eventlog.projections.publish import read
from eventlog.projections.replay import replay
from eventlog.settings import Settings
from eventlog.store import project_slug


class TakenIn(NamedTuple):
    """The events that people's edits amount to, and the files (relative to the directory) they say all of."""

    events: list[Event]
    files: frozenset[str]


def take_in(log: EventLog, settings: Settings, *, dry_run: bool = False) -> TakenIn:
    """Store what people did to the MEMORY.md files of the store since they were rendered; raises NotStored.

    The events are dated when the file was saved, and their ids follow from what they say: a run that is killed here
    and repeated adds nothing.
    """
    root = Path(log.store.knowledge)
    found = {path.relative_to(root).as_posix(): _take(log, settings, root, path) for path in _edited(root)}
    events = [event for taken in found.values() for event in taken.events]
    if events and not dry_run:
        events = log.append_many(events)
    return TakenIn(events, frozenset(name for name, taken in found.items() if not taken.rest))


def _edited(root: Path) -> Iterator[Path]:
    for path in sorted(path for pattern in MEMORY.owns for path in root.glob(pattern)):
        data = read(path)
        if data is not None and not is_untouched(data):
            yield path


def _take(log: EventLog, settings: Settings, root: Path, path: Path) -> Taken:
    data, name = read(path) or b"", path.relative_to(root).as_posix()
    rendered_at = stamp_in(data)
    if rendered_at is None:
        return Taken([], rest=True)
    then = replay(log, settings, projections=[MEMORY], until=rendered_at, save=False)
    base = next((one for one in then.documents if one.path == name), None)
    if base is None:
        return Taken([], rest=True)
    said = {
        one: entry.event for one, entry in log.find({event for line in base.lines for event in line.events}).items()
    }
    project = _project(then.states[Conversations], name)
    return take(data, base, project, said, LABELS[settings.locale], _saved_at(path, rendered_at))


def _project(state: Conversations, name: str) -> str | None:
    """Whose file it is; None for the user's."""
    projects = {fact.project for one in state.by_id.values() for fact in one.facts}
    projects |= {one.project for one in state.by_id.values()}
    by_name = {f"projects/{project_slug(one)}/MEMORY.md": one for one in projects if one}
    return by_name.get(name)


def _saved_at(path: Path, rendered_at: str) -> str:
    """When the file was saved, and in any case after what it was rendered from."""
    after = timestamps.to_ms(rendered_at) * 1_000_000 + int(rendered_at[23:26]) * 1000 + 1000
    return timestamps.from_ns(max(path.stat().st_mtime_ns, after))
