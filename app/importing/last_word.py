"""Plan entries that last-word had not applied: `~/.config/agents/last-word/kb-*.yaml`, and its `staging/`.

They become plan entries of the log, for the same knowledge bases; a file that is no configured one is named. Their
times have no zone: they are those of the settings.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eventlog.app.importing.items import time_of
from eventlog.app.importing.source import BadPlace, Found, ImportRequest, PastEvents, SourceEvent
from eventlog.app.write.plan import checked
from eventlog.format import codec, timestamps
from eventlog.format.errors import BadRequest, EventLogError, system_reason
from eventlog.projections.bases import plan_file
from eventlog.projections.bases.plan_file import PlanFile, PlannedChange
from eventlog.projects.home import in_full

_PLACE = "~/.config/agents/last-word"


def read_last_word(request: ImportRequest) -> Iterator[Found]:
    """Read a file of entries, or all in a directory but its settings."""
    place = request.place(Path(in_full(_PLACE, request.machine.home)))
    files = sorted(path for path in place.rglob("*.yaml") if path.name != "config.yaml") if place.is_dir() else [place]
    for path in files:
        yield from _file(path, request)


def _file(path: Path, request: ImportRequest) -> Iterator[Found]:
    try:
        loaded = plan_file.parse(path.read_text(encoding="utf-8-sig"))
        written = timestamps.from_ns(path.stat().st_mtime_ns)
    except OSError as error:
        yield BadPlace(str(path), system_reason(error)[0])
        return
    except UnicodeDecodeError:
        yield BadPlace(str(path), "not UTF-8")
        return
    if loaded.mistakes:
        yield from (BadPlace(f"{path}:{mistake.line}", str(mistake)) for mistake in loaded.mistakes)
        return
    whole: PlanFile = loaded.value
    for number, entry in enumerate(whole.entries):
        place = f"{path}:{loaded.lines.get(f'entries[{number}]', 1)}"
        try:
            yield PastEvents((_event(entry, whole.source or path.stem, written, request),), place)
        except (EventLogError, ValueError) as error:
            yield BadPlace(place, str(error))


def _event(entry: PlannedChange, source: str, written: str, request: ImportRequest) -> SourceEvent:
    """The entry as an event; raises BadRequest where it is about no knowledge base, ValueError for a bad time."""
    speaker: dict[str, Any] = {"conversation_id": entry.meta.session_id or source, "agent": "last-word"}
    try:
        [event] = checked(request.store, PlanFile(version="1.0.0", entries=[entry]), speaker, request.machine)
    except BadRequest as error:
        raise BadRequest(error.what.removeprefix("entries[0].")) from error
    said = entry.meta.created_at
    fields = codec.to_fields(event)
    ts = time_of(said, request.settings.timezone) if said else written
    key = f"import\nlast-word\n{said or ''}\n{codec.content_of(event)}"
    return SourceEvent({**fields, "ts": ts}, key, is_dated=bool(said))
