"""The store of wake-memory: `.wake/events.db` (SQLite), or `.wake/events.jsonl`; both hold the same objects.

Decisions, constraints, rejected approaches, blockers, signposts and annotations are facts; a checkpoint is a summary of
a stage. Its items have short names (`d-001`), by which later events replace or withdraw them.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from eventlog import hosts
from eventlog.app.importing import items
from eventlog.app.importing.source import BadPlace, Found, ImportRequest, SourceEvent
from eventlog.format import codec

_FOLDER = ".wake"
_FACTS = {  # type -> the field of its short name, what is said, why, category
    "decision_logged": ("decision_id", "decision", "rationale", "decision"),
    "constraint_logged": ("constraint_id", "rule", "reason", "constraint"),
    "approach_rejected": ("rejection_id", "approach", "reason", "lesson"),
    "blocker_flagged": ("blocker_id", "question", "context", "issue"),
    "knowledge_logged": ("signpost_id", "topic", "summary", "insight"),
    "human_annotation": ("", "text", "", None),
}
_TAKEN_BACK = {"item_withdrawn": "item_id", "item_invalidated": "item_id", "item_superseded": "old_id"}


def read_wake(request: ImportRequest) -> Iterator[Found]:
    """Read what was logged on purpose; what its hooks saw of tools is left out."""
    place = request.place(request.here / _FOLDER)
    folder = place if place.is_file() else next(iter((place / _FOLDER,) if (place / _FOLDER).is_dir() else (place,)))
    names = ("events.db", "events.jsonl")
    path = folder if folder.is_file() else next((folder / name for name in names if (folder / name).is_file()), folder)
    story = _Story(items.project_above(path, _FOLDER))
    yield from items.found_in(_lines(path), story.events)


def _lines(path: Path) -> Iterator[items.Line | BadPlace]:
    if path.suffix == ".jsonl":
        yield from items.json_lines(path)
        return
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT sequence_id, payload FROM events ORDER BY sequence_id")
            for number, payload in rows:
                yield _row(f"{path}:{number}", payload)
    except sqlite3.Error as error:
        yield BadPlace(str(path), str(error))


def _row(place: str, payload: object) -> items.Line | BadPlace:
    try:
        return place, codec.decode_json(str(payload), dict[str, Any])
    except ValueError:
        return BadPlace(place, "not a JSON object")


class _Story:
    """The items of a project so far, by their short names."""

    def __init__(self, project: str | None) -> None:
        self._project = project
        self._known: dict[str, SourceEvent] = {}
        self._rules: dict[str, list[SourceEvent]] = {}

    def events(self, event: dict[str, Any]) -> Iterator[SourceEvent]:
        """Make of an event nothing, an item, or the withdrawal of earlier ones; raises ValueError."""
        kind, payload = event.get("type"), event.get("payload")
        said = payload if isinstance(payload, dict) else {}
        if kind in _FACTS:
            yield from self._item(event, said, *_FACTS[kind])
        elif kind == "context_checkpoint":
            todos = list(filter(None, [items.text_of(said, "next_steps")]))
            yield self._event(event, {"type": "stage_summary", "summary": said.get("summary"), "todos": todos})
        elif kind in _TAKEN_BACK:
            yield from self._take_back(event, [self._known.get(items.text_of(said, _TAKEN_BACK[kind]))])
        elif kind == "constraint_retired":
            retired = items.text_of(said, "source", "rule")
            yield from self._take_back(event, self._rules.get(retired, []))

    def _item(
        self, event: dict[str, Any], said: dict[str, Any], name: str, what: str, why: str, category: str | None
    ) -> Iterator[SourceEvent]:
        reason = items.text_of(said, why) if why else ""
        content = " – ".join(filter(None, (items.text_of(said, what), reason)))
        about = {"content": content, "category": category, "entities": items.texts_of(said, "key_files")}
        made = self._event(event, {"type": "fact", **about})
        yield made
        short = items.text_of(said, name) if name else ""
        earlier = self._known.get(short) if short.startswith("k:") else None  # a signpost replaces that of its topic
        yield from self._take_back(event, [earlier, self._known.get(items.text_of(said, "supersedes"))])
        self._known[short] = made
        for rule in filter(None, (items.text_of(said, "source"), items.text_of(said, "rule"))):
            self._rules.setdefault(rule, []).append(made)

    def _take_back(
        self, event: dict[str, Any], known: list[SourceEvent | None] | list[SourceEvent]
    ) -> Iterator[SourceEvent]:
        ts = items.time_of(event.get("timestamp"))
        yield from (items.withdrawal(ts, one, str(event.get("type"))) for one in known if one)

    def _event(self, event: dict[str, Any], fields: dict[str, Any]) -> SourceEvent:
        ts, ran_in = items.time_of(event.get("timestamp")), event.get("execution_context")
        session = items.text_of(ran_in, "session_id", "thread_id") if isinstance(ran_in, dict) else ""
        agent = hosts.agent_name(items.text_of(event, "provider"))
        common = {
            "conversation_id": session or items.day_conversation("wake", self._project, ts),
            "project": self._project,
            "agent": agent or None,
        }
        return SourceEvent({"ts": ts, **common, **fields}, f"import\nwake\n{event.get('event_id')}")
