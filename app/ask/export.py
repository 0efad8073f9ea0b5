"""Give the log, or what is known, to other programs and people: a line or a document at a time."""

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any

from eventlog.app.ask.brief import known
from eventlog.app.ask.sessions import SessionRow, sessions
from eventlog.app.open_store import OpenStore
from eventlog.fast import fastjson
from eventlog.format import timestamps
from eventlog.format.codec import to_fields
from eventlog.format.events import HUMAN, ConversationText, Event, Fact, SessionStart, StageSummary
from eventlog.format.local_time import local_time
from eventlog.format.text import one_line, project_name
from eventlog.projections.views.labels import LABELS
from eventlog.projections.views.markdown import as_text


def _markdown(opened: OpenStore, since: str) -> Iterator[bytes]:
    """Yield what holds now, of the memories and the sessions since then, page by page."""
    for page in known(opened, None, since):
        yield from (line.encode() for line in (*(filter(None, page.lines) if since else page.lines), ""))
    rows, local = sessions(opened, since=since, limit=None), local_time(opened.settings.timezone)
    if rows:
        yield from (f"# {LABELS[opened.settings.locale].sessions}".encode(), b"")
    for day, of_day in groupby(rows, key=lambda row: local(row.started_at)[:10]):
        yield from (f"## {day}".encode(), b"")
        for row in of_day:
            yield from (line.encode() for line in _session(row))
        yield b""


def _session(row: SessionRow) -> Iterator[str]:
    where = project_name(row.project) if row.project else ""
    who = ", ".join(filter(None, (where, one_line(row.agent or ""))))
    yield f"- **{as_text(row.topic or one_line(row.session_id))}**{f' ({as_text(who)})' if who else ''}"
    if row.summary and row.summary != row.topic:
        yield f"  {as_text(one_line(row.summary))}"
    yield from (f"  - {as_text(text)}" for text in row.decisions)
    yield from (f"  - [ ] {as_text(text)}" for text in row.todos)


def _cloudevents(opened: OpenStore, since: str) -> Iterator[bytes]:
    """Yield an event of CloudEvents 1.0 a line, in its JSON format."""
    here = opened.replica or "store"  # a look at files
    for event in opened.log.read(since):
        fields = to_fields(event)
        yield fastjson.dumps(
            {
                "specversion": "1.0",
                "id": event.id,
                "source": f"urn:eventlog:{event.replica or here}",
                "type": f"eventlog.{event.type}.v{event.v}",
                "time": event.ts,
                "subject": event.conversation_id,
                "datacontenttype": "application/json",
                "data": {name: value for name, value in fields.items() if name not in _IN_THE_ENVELOPE},
            }
        )


def _otlp(opened: OpenStore, since: str) -> Iterator[bytes]:
    """Yield the log records of a day a line, as the file exporter of OpenTelemetry writes OTLP."""
    for _, events in groupby(opened.log.read(since), key=lambda event: event.ts[:10]):
        scope = {"scope": {"name": "eventlog"}, "logRecords": []}
        service = {"attributes": [_attribute("service.name", "eventlog")]}
        shell = fastjson.dumps({"resourceLogs": [{"resource": service, "scopeLogs": [scope]}]})
        # as bytes: the records of a busy day take several times the room as objects
        yield shell.replace(b"[]", b"[%b]" % b",".join(fastjson.dumps(_record(event)) for event in events))


def _record(event: Event) -> dict[str, Any]:
    ns = str(timestamps.to_ns(event.ts))
    fields = {name: value for name, value in to_fields(event).items() if name not in ("ts", "type")}
    return {
        "timeUnixNano": ns,
        "observedTimeUnixNano": ns,
        "severityNumber": 9,
        "severityText": "INFO",
        "eventName": f"eventlog.{event.type}",
        "attributes": [_attribute(f"eventlog.{name}", value) for name, value in fields.items()],
    }


def _attribute(name: str, value: object) -> dict[str, Any]:
    return {"key": name, "value": _any_value(value)}


def _any_value(value: object) -> dict[str, Any]:
    """Encode a value as OTLP's AnyValue; whole numbers are texts there."""
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list() | tuple():
            return {"arrayValue": {"values": [_any_value(item) for item in value]}}
        case dict():
            return {"kvlistValue": {"values": [_attribute(str(name), item) for name, item in value.items()]}}
        case _:
            return {"stringValue": str(value)}


def _atif(opened: OpenStore, since: str) -> Iterator[bytes]:
    """Yield a conversation a line, as a trajectory of the Agent Trajectory Interchange Format 1.4."""
    for entries in opened.log.sessions(since):
        events = [entry.event for entry in entries if not entry.event.subagent]
        steps = [step for event in events for step in _steps(event)]
        if not steps or events[-1].ts < since:
            continue
        agent = next((event.agent for event in events if event.agent), "unknown")
        model = next((event.model for event in events if isinstance(event, SessionStart) and event.model), None)
        named = {"name": agent, "version": "unknown"} | ({"model_name": model} if model else {})
        numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
        yield fastjson.dumps(
            {"schema_version": "ATIF-v1.4", "session_id": events[0].conversation_id, "agent": named, "steps": numbered}
        )


def _steps(event: Event) -> Iterator[dict[str, Any]]:
    """Yield what was asked and answered as steps of user and agent, all else as steps of the system."""
    source = "user" if event.agent == HUMAN else "agent"
    match event:
        case ConversationText():
            messages = [("user", prompt) for prompt in event.prompts]
            messages += [("agent", event.closing)] if event.closing else []
        case Fact():
            messages = [(source, event.content)]
        case StageSummary():
            messages = [(source, ": ".join(filter(None, (event.topic, event.summary))))]
        case _:
            messages = [("system", event.type)]
    for by, message in messages:
        yield {"timestamp": event.ts, "source": by, "message": message, "extra": {"eventlog": to_fields(event)}}


_IN_THE_ENVELOPE = frozenset(("id", "ts", "type", "v"))
# each yields the lines of an export, without their ends
FORMS: Mapping[str, Callable[[OpenStore, str], Iterator[bytes]]] = {
    "jsonl": lambda opened, since: (entry.line for entry in opened.log.entries(since)),  # byte for byte
    "markdown": _markdown,
    "cloudevents": _cloudevents,
    "otlp": _otlp,
    "atif": _atif,
}
