"""Things that readers of sources find: what was told, with the events it becomes, and places nobody can read."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.machine import Machine
from eventlog.app.progress import Phases
from eventlog.format import ids, timestamps
from eventlog.format.errors import BadRequest
from eventlog.settings.schema import Settings
from eventlog.store import Store


class SourceEvent(NamedTuple):
    """One event of a source: its fields with their time, and the key its id is derived from, the same at every reading.

    `is_dated` is False where the source tells no time: it is then that of the file, and the key alone tells the event.
    """

    fields: Mapping[str, Any]
    key: str
    is_dated: bool = True


class PastEvents(NamedTuple):
    """Events that belong together: those of one conversation, or one statement; and where they stand."""

    events: tuple[SourceEvent, ...]
    place: str
    is_open: bool = False  # a conversation that may still be going on


class BadPlace(NamedTuple):
    """A place of a source, `file:line`, that nobody can read, and why."""

    place: str
    reason: str


class ImportRequest(NamedTuple):
    """A source to read: the file or folder, None for the source's own place, and what a reader may want to know."""

    path: Path | None
    here: Path  # the directory it is asked in
    machine: Machine
    store: Store
    settings: Settings
    phases: Phases

    def place(self, *own: Path) -> Path:
        """Find the file or folder that is meant: as asked, else the first own one that is there; raises BadRequest."""
        if self.path is not None and self.path.exists():
            return self.path
        found = next((path for path in own if path.exists()), None) if self.path is None else None
        if found is None:
            hint = "give the file or folder to import"
            raise BadRequest("there is nothing here", where=str(next(iter(own), self.here)), hint=hint)
        return found


Found = PastEvents | BadPlace
Reader = Callable[[ImportRequest], Iterator[Found]]


def id_of(ts: str, key: str) -> str:
    """The id of the event with that key: whoever reads the source, and whenever, it is the same."""
    return ids.derived(timestamps.to_ms(ts), key)
