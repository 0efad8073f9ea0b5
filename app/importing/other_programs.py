"""Readers of other programs' memories: a memory skill, projectmem, wake-memory, and last-word's pending entries."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from eventlog import hosts
from eventlog.app.importing.source import BadPlace, Found, ImportRequest, Line, PastEvents, Reader, SourceEvent
from eventlog.app.write.plan import checked
from eventlog.format import codec, ids, timestamps
from eventlog.format.errors import EventLogError, system_reason
from eventlog.hosts.profile import profiles
from eventlog.projections.bases.plan_file import PlanFile, PlannedChange
from eventlog.projects.root import in_full, project_root
from eventlog.store.files import read_regular

# ------------------------------------------------------------------------------------------------ a memory skill

_DATA = "skills/memory-data"  # below a host's directory in the project
_LAYERS = {"layer1_rules": 1, "layer2_precompact": 2, "layer3_auto": 3, "layer4_stop": 4}
_SUMMARIES = "sessions.jsonl"


def _read_daily(request: ImportRequest) -> Iterator[Found]:
    """Read `daily/<day>.jsonl` (facts, starts, ends) and `sessions.jsonl` (summaries), or a file of them.

    A deleted fact stays in its file with `deleted_at`; a fact of type S is a summary of a stage. Lines of any other
    type are imported as host events. A line without an id is known by its conversation and time; of several of the same
    time, those after the first also by what they say.
    """
    homes = [request.here / profile.home / _DATA for profile in profiles().values()]
    place = request.place(*homes)
    days = sorted(place.rglob("*.jsonl")) if place.is_dir() else [place]
    nameless: dict[str, dict[str, Any]] = {}
    for path in days:
        if place.is_file() or path.name == _SUMMARIES or path.parent.name == "daily":
            yield from _read_lines(_json_lines(path), partial(_daily_events, path, _host_of(path), nameless))


def _host_of(path: Path) -> dict[str, Any]:
    """Find the project whose host's directory contains the file, and the agent of that host."""
    for room, profile in profiles().items():
        if profile.home in path.parts:
            return {"project": _project_above(path, profile.home), "agent": hosts.agent_name(room)}
    return {"project": project_root(str(path.parent)) or None, "agent": None}


def _daily_events(
    path: Path, common: dict[str, Any], nameless: dict[str, dict[str, Any]], line: dict[str, Any]
) -> Iterator[SourceEvent]:
    """Yield the event of a line, and its withdrawal; of a line that a replay rendered, none. Raises ValueError."""
    if "revisions" in line:  # a log says the same, and `import eventlog` takes it in as it is
        return
    ts = _time_of(line.get("timestamp"))
    source = line.get("source")
    session = _text_of(line, "session_id") or _text_of(source if isinstance(source, dict) else {}, "session")
    envelope = {**common, "conversation_id": session or _day_conversation("daily", common["project"], ts)}
    key = f"import\ndaily\n{envelope['conversation_id']}\n{line.get('id')}\n{ts}"
    fields = {"ts": ts, **envelope, **_daily_fields(path, line)}
    if not line.get("id") and nameless.setdefault(key, fields) != fields:
        key = f"{key}\n{codec.content_of(codec.from_fields(_present(fields, *fields)))}"
    event = SourceEvent(fields, key)
    yield event
    if deleted := line.get("deleted_at"):
        yield event.withdrawn(_time_of(deleted), "deleted there")


def _daily_fields(path: Path, line: dict[str, Any]) -> dict[str, Any]:
    kind = line.get("type")
    if "summary" in line and (path.name == _SUMMARIES or kind is None):
        return {"scope": "session", "layer": _LAYERS.get(str(line.get("source"))), **_summary(line, "summary")}
    match kind:
        case "fact" if line.get("memory_type") == "S":
            return {"scope": "stage", "layer": 1, **_summary(line, "content")}
        case "fact":
            fields = {"entities": _texts_of(line, "entities"), **_present(line, "memory_type", "confidence")}
            share = fields.get("confidence")  # of which that program takes any number; the fact is what counts
            if not (isinstance(share, int | float) and 0 <= share <= 1):
                fields.pop("confidence", None)
            return {"type": "fact", "content": line.get("content"), **fields}
        case "session_start":
            return {"type": "session_start", "source": "import"}
        case "session_end":
            return {"type": "session_end", **_present(line, "reason", "duration_ms", "error")}
        case str():
            return {"type": "host_event", "name": kind, "payload": line}
    raise ValueError("neither a fact, nor a summary, nor a start or an end")


def _summary(line: dict[str, Any], name: str) -> dict[str, Any]:
    lists = {field: _texts_of(line, field) for field in ("decisions", "todos")}
    return {"type": "stage_summary", "topic": _text_of(line, "topic"), "summary": line.get(name), **lists}


def _present(line: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: line[name] for name in names if line.get(name) is not None}


# ------------------------------------------------------------------------------------------------ projectmem

_PROJECTMEM = ".projectmem"
_CATEGORIES = {"decision": "decision", "fix": "lesson", "attempt": "lesson", "hypothesis": "insight", "issue": "issue"}
_BY_A_WATCHER = 2  # importance of automatically captured items


def _read_projectmem(request: ImportRequest) -> Iterator[Found]:
    """Read `.projectmem/events.jsonl` as facts; a later event may name the event it supersedes."""
    place = request.place(request.here / _PROJECTMEM)
    paths = (place / "events.jsonl", place / _PROJECTMEM / "events.jsonl")
    path = next((path for path in paths if path.is_file()), place)
    project = _project_above(path, _PROJECTMEM)
    items: dict[str, SourceEvent] = {}
    yield from _read_lines(_json_lines(path), partial(_projectmem_events, project=project, items=items))


def _projectmem_events(
    event: dict[str, Any], project: str | None, items: dict[str, SourceEvent]
) -> Iterator[SourceEvent]:
    ts, name = _time_of(event.get("timestamp")), _text_of(event, "id")
    content = " – ".join(filter(None, (_text_of(event, "summary"), _text_of(event, "notes"))))
    outcome = _text_of(event, "outcome")  # of an attempt
    fields = {
        "conversation_id": _day_conversation("projectmem", project, ts),
        "project": project,
        "agent": "projectmem",
        "content": f"{content} ({outcome})" if outcome else content,
        "category": _CATEGORIES.get(str(event.get("type"))),
        "entities": _texts_of(event, "files") or list(filter(None, [_text_of(event, "location")])),
        **({"importance": _BY_A_WATCHER} if event.get("auto_captured") else {}),
    }
    key = f"import\nprojectmem\n{name or _text_of(event, 'summary')}"
    item = SourceEvent({"type": "fact", "ts": ts, **fields}, key)
    yield item
    if name:
        items[name] = item
    if old := items.get(_text_of(event, "supersedes")):
        yield old.withdrawn(ts, "superseded")


# ------------------------------------------------------------------------------------------------ wake-memory

_WAKE = ".wake"
_FACTS = {  # type -> the field of its short name, its text, its reason, its category
    "decision_logged": ("decision_id", "decision", "rationale", "decision"),
    "constraint_logged": ("constraint_id", "rule", "reason", "constraint"),
    "approach_rejected": ("rejection_id", "approach", "reason", "lesson"),
    "blocker_flagged": ("blocker_id", "question", "context", "issue"),
    "knowledge_logged": ("signpost_id", "topic", "summary", "insight"),
    "human_annotation": ("", "text", "", None),
}
_WITHDRAWALS = {"item_withdrawn": "item_id", "item_invalidated": "item_id", "item_superseded": "old_id"}


def _read_wake(request: ImportRequest) -> Iterator[Found]:
    """Read `.wake/events.db` (SQLite) or `.wake/events.jsonl`, except its hooks' records of tools.

    Both hold the same objects: facts, and checkpoints, which are summaries of a stage.
    """
    place = request.place(request.here / _WAKE)
    folder = place / _WAKE if (place / _WAKE).is_dir() else place
    files = (folder / "events.db", folder / "events.jsonl")
    path = next((file for file in files if file.is_file()), folder)
    yield from _read_lines(_wake_lines(path), _WakeItems(_project_above(path, _WAKE)).events)


def _wake_lines(path: Path) -> Iterator[Line | BadPlace]:
    if path.suffix == ".jsonl":
        yield from _json_lines(path)
        return
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            for number, payload in connection.execute("SELECT sequence_id, payload FROM events ORDER BY sequence_id"):
                place = f"{path}:{number}"
                try:
                    yield place, codec.decode_json(str(payload), dict[str, Any])
                except ValueError:
                    yield BadPlace(place, "not a JSON object")
    except sqlite3.Error as error:
        yield BadPlace(str(path), str(error))


class _WakeItems:
    """The items of a project so far by their short names (`d-001`), by which later events replace or withdraw them."""

    def __init__(self, project: str | None) -> None:
        self._project = project
        self._items: dict[str, SourceEvent] = {}
        self._rules: dict[str, list[SourceEvent]] = {}

    def events(self, event: dict[str, Any]) -> Iterator[SourceEvent]:
        """Convert an event to items and withdrawals of earlier items; raises ValueError."""
        kind, payload = _text_of(event, "type"), event.get("payload")
        fields = payload if isinstance(payload, dict) else {}
        if kind in _FACTS:
            yield from self._item(event, fields, *_FACTS[kind])
        elif kind == "context_checkpoint":
            todos = list(filter(None, [_text_of(fields, "next_steps")]))
            yield self._event(event, {"type": "stage_summary", "summary": fields.get("summary"), "todos": todos})
        elif kind in _WITHDRAWALS:
            yield from self._withdraw(event, [self._items.get(_text_of(fields, _WITHDRAWALS[kind]))])
        elif kind == "constraint_retired":
            yield from self._withdraw(event, self._rules.get(_text_of(fields, "source", "rule"), []))

    def _item(
        self, event: dict[str, Any], fields: dict[str, Any], name: str, what: str, why: str, category: str | None
    ) -> Iterator[SourceEvent]:
        reason = _text_of(fields, why) if why else ""
        content = " – ".join(filter(None, (_text_of(fields, what), reason)))
        statement = {"content": content, "category": category, "entities": _texts_of(fields, "key_files")}
        item = self._event(event, {"type": "fact", **statement})
        yield item
        short = _text_of(fields, name) if name else ""
        earlier = self._items.get(short) if short.startswith("k:") else None  # a signpost replaces that of its topic
        yield from self._withdraw(event, [earlier, self._items.get(_text_of(fields, "supersedes"))])
        if short:  # what has no name is named by nobody, neither to be replaced nor to be withdrawn
            self._items[short] = item
        for rule in filter(None, (_text_of(fields, "source"), _text_of(fields, "rule"))):
            self._rules.setdefault(rule, []).append(item)

    def _withdraw(
        self, event: dict[str, Any], items: list[SourceEvent | None] | list[SourceEvent]
    ) -> Iterator[SourceEvent]:
        ts = _time_of(event.get("timestamp"))
        yield from (item.withdrawn(ts, str(event.get("type"))) for item in items if item)

    def _event(self, event: dict[str, Any], fields: dict[str, Any]) -> SourceEvent:
        ts, ran_in = _time_of(event.get("timestamp")), event.get("execution_context")
        session = _text_of(ran_in, "session_id", "thread_id") if isinstance(ran_in, dict) else ""
        common = {
            "conversation_id": session or _day_conversation("wake", self._project, ts),
            "project": self._project,
            "agent": hosts.agent_name(_text_of(event, "provider")) or None,
        }
        return SourceEvent({"ts": ts, **common, **fields}, f"import\nwake\n{event.get('event_id')}")


# ------------------------------------------------------------------------------------------------ last-word

_LAST_WORD = "~/.config/agents/last-word"


def _read_last_word(request: ImportRequest) -> Iterator[Found]:
    """Read pending plan entries, `kb-*.yaml` and `staging/`: a file, or all in a directory but its settings.

    They become plan entries of the log for the same knowledge bases; an unconfigured one is a bad place. Their times
    have no zone: it is that of the settings.
    """
    place = request.place(Path(in_full(_LAST_WORD, request.machine.home)))
    files = sorted(path for path in place.rglob("*.yaml") if path.name != "config.yaml") if place.is_dir() else [place]
    for path in files:
        yield from _plan_entries(path, request)


def _plan_entries(path: Path, request: ImportRequest) -> Iterator[Found]:
    try:
        loaded = PlanFile.parse(read_regular(str(path)).decode("utf-8-sig"))
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
            yield PastEvents((_plan_event(entry, whole.source or path.stem, written, request),), place)
        except (EventLogError, ValueError) as error:
            yield BadPlace(place, str(error))


def _plan_event(entry: PlannedChange, source: str, written: str, request: ImportRequest) -> SourceEvent:
    """Make the event of an entry; raises BadRequest where its knowledge base is missing, ValueError for a bad time."""
    speaker: dict[str, Any] = {"conversation_id": entry.meta.session_id or source, "agent": "last-word"}
    [event] = checked(request.store, PlanFile(version="1.0.0", entries=[entry]), speaker, request.machine)
    created = entry.meta.created_at
    ts = _time_of(created, request.settings.timezone) if created else written
    key = f"import\nlast-word\n{created or ''}\n{codec.content_of(event)}"
    return SourceEvent({**codec.to_fields(event), "ts": ts}, key, is_dated=bool(created))


READERS: Mapping[str, Reader] = {
    "daily": _read_daily,
    "last-word": _read_last_word,
    "projectmem": _read_projectmem,
    "wake-memory": _read_wake,
}


def _json_lines(path: Path) -> Iterator[Line | BadPlace]:
    """Read the objects of a file of lines, each with its place; every other line is a bad place."""
    try:
        data = read_regular(str(path))
    except OSError as error:
        yield BadPlace(str(path), system_reason(error)[0])
        return
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            found = codec.json_object(line)
            yield BadPlace(f"{path}:{number}", "not a JSON object") if found is None else (f"{path}:{number}", found)


def _read_lines(
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


def _time_of(value: object, zone: str = "UTC") -> str:
    """Convert a time to the log's form, in `zone` where it names none. Raises ValueError."""
    text = value.strip() if isinstance(value, str) else ""
    try:
        return timestamps.read(text)
    except ValueError:
        time = datetime.fromisoformat(text)
        return timestamps.read((time if time.tzinfo else time.replace(tzinfo=ZoneInfo(zone))).isoformat())


def _text_of(line: dict[str, Any], *names: str) -> str:
    """Return the first of these fields that is a text and not blank, else ""."""
    return next((value for name in names if isinstance(value := line.get(name), str) and value.strip()), "")


def _texts_of(line: dict[str, Any], name: str) -> list[str]:
    """List the texts of a list that are not blank."""
    value = line.get(name)
    return [text for text in value if isinstance(text, str) and text.strip()] if isinstance(value, list) else []


def _day_conversation(program: str, project: str | None, ts: str) -> str:
    """Name the conversation of a day's items that name none."""
    return f"{program}-{ids.digest(project or '', 3).hex()}-{ts[:10]}"


def _project_above(path: Path, folder: str) -> str | None:
    """Find the project of the directory with that folder, above the path; None where that is no project's."""
    inside = next((part for part in (path, *path.parents) if part.name == folder), None)
    return project_root(str(inside.parent if inside else path.parent)) or None
