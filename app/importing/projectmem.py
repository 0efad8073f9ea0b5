"""The store of projectmem: `.projectmem/events.jsonl`; a later event may name the one it supersedes."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from eventlog.app.importing import items
from eventlog.app.importing.source import Found, ImportRequest, SourceEvent

_FOLDER = ".projectmem"
_CATEGORIES = {"decision": "decision", "fix": "lesson", "attempt": "lesson", "hypothesis": "insight", "issue": "issue"}
_BY_A_WATCHER = 2  # importance of what nobody wrote by hand


def read_projectmem(request: ImportRequest) -> Iterator[Found]:
    """Read the events of a project as facts."""
    place = request.place(request.here / _FOLDER)
    path = next((one for one in (place / "events.jsonl", place / _FOLDER / "events.jsonl") if one.is_file()), place)
    project = items.project_above(path, _FOLDER)
    known: dict[str, SourceEvent] = {}
    yield from items.found_in(items.json_lines(path), partial(_events, project=project, known=known))


def _events(event: dict[str, Any], project: str | None, known: dict[str, SourceEvent]) -> Iterator[SourceEvent]:
    ts, name = items.time_of(event.get("timestamp")), items.text_of(event, "id")
    common = {"conversation_id": items.day_conversation("projectmem", project, ts), "project": project}
    key = f"import\nprojectmem\n{name or items.text_of(event, 'summary')}"
    made = items.fact(ts, key, {**common, "agent": "projectmem"}, _content(event), **_about(event))
    yield made
    known[name] = made
    if old := known.get(items.text_of(event, "supersedes")):
        yield items.withdrawal(ts, old, "superseded")


def _content(event: dict[str, Any]) -> str:
    """The note; of an attempt also how it went."""
    outcome = items.text_of(event, "outcome")
    said = " – ".join(filter(None, (items.text_of(event, "summary"), items.text_of(event, "notes"))))
    return f"{said} ({outcome})" if outcome else said


def _about(event: dict[str, Any]) -> dict[str, Any]:
    importance = {"importance": _BY_A_WATCHER} if event.get("auto_captured") else {}
    files = items.texts_of(event, "files") or list(filter(None, [items.text_of(event, "location")]))
    return {"category": _CATEGORIES.get(str(event.get("type"))), "entities": files, **importance}
