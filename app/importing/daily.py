"""A memory skill's directory: `daily/<day>.jsonl` of facts, starts and ends, and `sessions.jsonl` of summaries.

It lies in `skills/memory-data` of a host's directory in the project. A deleted fact stays in its file with
`deleted_at`; a fact of type S is a summary of a stage. Lines of any other type are kept as what a host sent.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from eventlog import hosts
from eventlog.app.importing import items
from eventlog.app.importing.source import Found, ImportRequest, SourceEvent
from eventlog.hosts.profile import profiles
from eventlog.projects.root import project_root

_DATA = "skills/memory-data"
_LAYERS = {"layer1_rules": 1, "layer2_precompact": 2, "layer3_auto": 3, "layer4_stop": 4}
_SUMMARIES = "sessions.jsonl"


def read_daily(request: ImportRequest) -> Iterator[Found]:
    """Read a directory with both, or one of its files."""
    homes = [request.here / profile.home / _DATA for profile in profiles().values()]
    place = request.place(*homes)
    days = sorted(place.rglob("*.jsonl")) if place.is_dir() else [place]
    for path in days:
        if path.name == _SUMMARIES or (place.is_file() or path.parent.name == "daily"):
            yield from items.found_in(items.json_lines(path), partial(_events, path, common=_common(path)))


def _common(path: Path) -> dict[str, Any]:
    """The project whose host's directory holds the file, and the agent of that host."""
    for room, profile in profiles().items():
        if profile.home in path.parts:
            return {"project": items.project_above(path, profile.home), "agent": hosts.agent_name(room)}
    return {"project": project_root(str(path.parent)) or None, "agent": None}


def _events(path: Path, line: dict[str, Any], common: dict[str, Any]) -> Iterator[SourceEvent]:
    """The event of a line; a ValueError says why there is none."""
    ts = items.time_of(line.get("timestamp"))
    source = line.get("source")
    session = items.text_of(line, "session_id") or items.text_of(source if isinstance(source, dict) else {}, "session")
    about = {**common, "conversation_id": session or items.day_conversation("daily", common["project"], ts)}
    key = f"import\ndaily\n{about['conversation_id']}\n{line.get('id')}\n{ts}"
    made = SourceEvent({"ts": ts, **about, **_fields(path, line)}, key)
    yield made
    if deleted := line.get("deleted_at"):
        yield items.withdrawal(items.time_of(deleted), made, "deleted there")


def _fields(path: Path, line: dict[str, Any]) -> dict[str, Any]:
    kind = line.get("type")
    if "summary" in line and (path.name == _SUMMARIES or kind is None):
        return {"scope": "session", "layer": _LAYERS.get(str(line.get("source"))), **_summary(line, "summary")}
    match kind:
        case "fact" if line.get("memory_type") == "S":
            return {"scope": "stage", "layer": 1, **_summary(line, "content")}
        case "fact":
            return {"type": "fact", "content": line.get("content"), **_known(line)}
        case "session_start":
            return {"type": "session_start", "source": "import"}
        case "session_end":
            return {"type": "session_end", **_given(line, "reason", "duration_ms", "error")}
        case str():
            return {"type": "host_event", "name": kind, "payload": line}
    raise ValueError("neither a fact, nor a summary, nor a start or an end")


def _summary(line: dict[str, Any], name: str) -> dict[str, Any]:
    lists = {one: items.texts_of(line, one) for one in ("decisions", "todos")}
    return {"type": "stage_summary", "topic": items.text_of(line, "topic"), "summary": line.get(name), **lists}


def _known(line: dict[str, Any]) -> dict[str, Any]:
    return {"entities": items.texts_of(line, "entities"), **_given(line, "memory_type", "confidence")}


def _given(line: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: line[name] for name in names if line.get(name) is not None}
