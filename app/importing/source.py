"""Things that readers of sources find: what was told, with the events it becomes, and places nobody can read."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.machine import Machine
from eventlog.app.phases import Phases


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
    """A source to read: the file or folder, where its own place is not meant, and the machine it is read on."""

    path: Path | None
    machine: Machine
    locale: str
    phases: Phases


Found = PastEvents | BadPlace
Reader = Callable[[ImportRequest], Iterator[Found]]
