"""Items of other programs' stores: lines of JSON with what is wrong about them, facts, and what was taken back.

What a program has deleted, withdrawn or replaced is brought in with its withdrawal, at the time of it: it stands in no
knowledge file, also where it was imported before.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from eventlog.app.importing.source import BadPlace, Found, PastEvents, SourceEvent, id_of
from eventlog.format import codec, ids, timestamps
from eventlog.format.errors import system_reason
from eventlog.projects.root import project_root

Line = tuple[str, dict[str, Any]]  # where it stands, and the object


def json_lines(path: Path) -> Iterator[Line | BadPlace]:
    """Read the objects of a file, one a line, each with its place; whatever is not one is a bad place."""
    try:
        data = path.read_bytes()
    except OSError as error:
        yield BadPlace(str(path), system_reason(error)[0])
        return
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            found = codec.json_object(line)
            yield BadPlace(f"{path}:{number}", "not a JSON object") if found is None else (f"{path}:{number}", found)


def found_in(
    lines: Iterable[Line | BadPlace], events_of: Callable[[dict[str, Any]], Iterable[SourceEvent]]
) -> Iterator[Found]:
    """Take each line for its events; a ValueError of `events_of` says why there are none, and the rest goes on."""
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
    """Read a time as the log writes it; one without a zone is that of `zone`. Raises ValueError."""
    said = value.strip() if isinstance(value, str) else ""
    try:
        return timestamps.read(said)
    except ValueError:
        given = datetime.fromisoformat(said)
        return timestamps.read((given if given.tzinfo else given.replace(tzinfo=ZoneInfo(zone))).isoformat())


def text_of(line: dict[str, Any], *names: str) -> str:
    """The first of these fields that is a text with something in it, else ""."""
    return next((value for name in names if isinstance(value := line.get(name), str) and value.strip()), "")


def texts_of(line: dict[str, Any], name: str) -> list[str]:
    """The texts of a list, without blank ones."""
    value = line.get(name)
    return [one for one in value if isinstance(one, str) and one.strip()] if isinstance(value, list) else []


def day_conversation(program: str, project: str | None, ts: str) -> str:
    """Name the conversation of what a program was told on a day without naming any."""
    return f"{program}-{ids.digest(project or '', 3).hex()}-{ts[:10]}"


def project_above(path: Path, folder: str) -> str | None:
    """The project whose directory holds that folder, in which the path lies; None where that is nobody's."""
    inside = next((part for part in (path, *path.parents) if part.name == folder), None)
    return project_root(str(inside.parent if inside else path.parent)) or None


def fact(ts: str, key: str, common: dict[str, Any], content: str, **fields: Any) -> SourceEvent:
    """Make a fact of an item."""
    return SourceEvent({"type": "fact", "ts": ts, **common, "content": content, **fields}, key)


def withdrawal(ts: str, of: SourceEvent, reason: str = "") -> SourceEvent:
    """Make the event that takes an item back."""
    kept = {name: value for name, value in of.fields.items() if name in ("conversation_id", "project", "agent")}
    target = id_of(str(of.fields["ts"]), of.key)
    ts = max(ts, str(of.fields["ts"]))
    return SourceEvent(
        {"type": "retraction", "ts": ts, **kept, "target": target, "reason": reason or None}, f"{of.key}\ntaken back"
    )
