"""Events, unreadable places and withdrawals that readers of sources yield, and how they read JSON lines.

Items that a program has deleted, withdrawn or replaced are imported with their withdrawal, dated as there: they appear
in no knowledge file, also where an earlier import added them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from eventlog.app.open_store import Machine
from eventlog.app.progress import Phases
from eventlog.format import codec, ids, timestamps
from eventlog.format.errors import BadRequest, system_reason
from eventlog.projects.root import project_root
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
    """A source to read: the file or folder, None for the source's own place, and the reader's surroundings."""

    path: Path | None
    here: Path  # the directory of the request
    machine: Machine
    store: Store
    settings: Settings
    phases: Phases

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


# ------------------------------------------------------------------------------------------------ stores of JSON lines


def json_lines(path: Path) -> Iterator[Line | BadPlace]:
    """Read the objects of a file of lines, each with its place; every other line is a bad place."""
    try:
        data = path.read_bytes()
    except OSError as error:
        yield BadPlace(str(path), system_reason(error)[0])
        return
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            found = codec.json_object(line)
            yield BadPlace(f"{path}:{number}", "not a JSON object") if found is None else (f"{path}:{number}", found)


def read_lines(
    lines: Iterable[Line | BadPlace], events_of: Callable[[dict[str, Any]], Iterable[SourceEvent]]
) -> Iterator[Found]:
    """Convert each line to its events; a ValueError of `events_of` makes the line a bad place."""
    for line in lines:
        if isinstance(line, BadPlace):
            yield line
            continue
        place, fields = line
        try:
            yield PastEvents(tuple(events_of(fields)), place)
        except ValueError as error:
            yield BadPlace(place, str(error))


def time_of(value: object, zone: str = "UTC") -> str:
    """Convert a time to the log's form, in `zone` where it names none. Raises ValueError."""
    text = value.strip() if isinstance(value, str) else ""
    try:
        return timestamps.read(text)
    except ValueError:
        time = datetime.fromisoformat(text)
        return timestamps.read((time if time.tzinfo else time.replace(tzinfo=ZoneInfo(zone))).isoformat())


def text_of(line: dict[str, Any], *names: str) -> str:
    """Return the first of these fields that is a text and not blank, else ""."""
    return next((value for name in names if isinstance(value := line.get(name), str) and value.strip()), "")


def texts_of(line: dict[str, Any], name: str) -> list[str]:
    """List the texts of a list that are not blank."""
    value = line.get(name)
    return [text for text in value if isinstance(text, str) and text.strip()] if isinstance(value, list) else []


def day_conversation(program: str, project: str | None, ts: str) -> str:
    """Name the conversation of a day's items that name none."""
    return f"{program}-{ids.digest(project or '', 3).hex()}-{ts[:10]}"


def project_above(path: Path, folder: str) -> str | None:
    """Find the project of the directory with that folder, above the path; None where that is no project's."""
    inside = next((part for part in (path, *path.parents) if part.name == folder), None)
    return project_root(str(inside.parent if inside else path.parent)) or None
