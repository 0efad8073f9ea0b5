"""Events, unreadable places and withdrawals that readers of sources yield, and how they read JSON lines.

Items that a program has deleted, withdrawn or replaced are imported with their withdrawal, dated as there: they appear
in no knowledge file, also where an earlier import added them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.naming.projects import is_named
from eventlog.app.open_store import Machine
from eventlog.format import ids, timestamps
from eventlog.format.codec import from_fields
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event
from eventlog.settings.schema import Settings
from eventlog.store import Store


class SourceEvent(NamedTuple):
    """An event of a source: its fields with their time, and the key its id is derived from, equal at every reading.

    `is_dated` is False where the source has no time: it is then the file's, and the key alone identifies the event.
    """

    fields: Mapping[str, Any]
    key: str
    is_dated: bool = True

    @property
    def id(self) -> str:
        """The id, equal for every reader of the source at any time."""
        return ids.derived(timestamps.to_ms(str(self.fields["ts"])), self.key)

    @property
    def event(self) -> Event:
        """The event as the log has it, without the fields that are None; raises InvalidEvent."""
        return from_fields({**{name: value for name, value in self.fields.items() if value is not None}, "id": self.id})

    def withdrawn(self, ts: str, reason: str = "") -> "SourceEvent":
        """Build the retraction of this event."""
        common = {name: self.fields[name] for name in ("conversation_id", "project", "agent") if name in self.fields}
        ts = max(ts, str(self.fields["ts"]))
        fields = {"type": "retraction", "ts": ts, **common, "target": self.id, "reason": reason or None}
        return SourceEvent(fields, f"{self.key}\ntaken back")


class PastEvents(NamedTuple):
    """Events that belong together, those of a conversation or a statement, and their place in the source."""

    events: tuple[SourceEvent, ...]
    place: str
    is_open: bool = False  # a conversation that may still continue


class BadPlace(NamedTuple):
    """An unreadable place of a source, `file:line`, and the reason."""

    place: str
    reason: str


class ImportRequest(NamedTuple):
    """A source to read: the file or folder, None for its own; the surroundings; since when, and of which project."""

    path: Path | None
    here: Path  # the directory of the request
    machine: Machine
    store: Store
    settings: Settings
    since: str = ""
    project: str | None = None

    def wants(self, events: Sequence[SourceEvent]) -> bool:
        """Return whether events that belong together reach into that time, in that project."""
        newest = max(str(event.fields["ts"]) for event in events)
        name, projects = self.project, {str(event.fields.get("project") or "") for event in events}
        return newest >= self.since and (name is None or any(name == path or is_named(path, name) for path in projects))

    def place(self, *own: Path) -> Path:
        """Return the requested file or folder, else the first of the source's own that exists; raises BadRequest."""
        if self.path is not None and self.path.exists():
            return self.path
        found = next((path for path in own if path.exists()), None) if self.path is None else None
        if found is None:
            hint = "give the file or folder to import"
            raise BadRequest("there is nothing here", where=str(next(iter(own), self.here)), hint=hint)
        return found


Found = PastEvents | BadPlace
Reader = Callable[[ImportRequest], Iterator[Found]]
Line = tuple[str, dict[str, Any]]  # its place, and the object
