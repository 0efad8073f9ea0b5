"""Append events of any type, singly or as a stream; refuse what only people's own verbs may append."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import PurePath, PureWindowsPath
from typing import Any, BinaryIO, NamedTuple, get_type_hints

import msgspec
from msgspec.structs import replace

from eventlog.app.build.replay import replay
from eventlog.app.naming.references import event_named, last_of, session_meant
from eventlog.app.open_store import Machine
from eventlog.app.progress import report
from eventlog.app.write.record_once import record_once
from eventlog.app.write.speaker import speaking_agent
from eventlog.fast.fastjson import BOM, MAX_LINE
from eventlog.format import codec
from eventlog.format.codec import refuse_reserved
from eventlog.format.errors import BadRequest, BadSettings, InvalidEvent
from eventlog.format.events import TYPES, Event, PlanEntry, Retraction, UnknownEvent
from eventlog.log.event_log import AppendResult, EventLog
from eventlog.projections.current.fact_scopes import Statement
from eventlog.projections.views.memory import MEMORY
from eventlog.settings.load import load
from eventlog.settings.schema import Settings
from eventlog.store.files import write_note

_FIND = "`eventlog query` shows what there is; nothing was stored"
_LONGEST = 16 * MAX_LINE  # of a line that is read; as escapes, a text is up to six times as long
_NOTHING_STORED = "nothing was stored; correct this line and send the whole again"


class _AppendReport(NamedTuple):
    """An appended event, and the events that still state what it withdraws."""

    appended: AppendResult
    still_stating: list[str]


def append_event(log: EventLog, fields: Mapping[str, Any], machine: Machine) -> _AppendReport:
    """Append an event unless its conversation already states the same; raises InvalidEvent, BadRequest or NotStored."""
    event = _appendable(fields, machine)
    others = []
    if isinstance(event, Retraction):
        event = _of_something(log, event, event.project or machine.project)
        others = _still_stating(log, event)
    return _AppendReport(noted(log, [record_once(log, event)])[0], others)


def append_stream(log: EventLog, lines: BinaryIO, machine: Machine, *, batch: str | None = None) -> list[AppendResult]:
    """Append a stream of events, a JSON object a line, all or none; raises InvalidEvent naming the line, or NotStored.

    Sent again with the same name of a `batch`, only what is missing is added.
    """
    return noted(log, log.put(_checked(_events(lines, machine)), batch=batch))


def noted(log: EventLog, appended: list[AppendResult]) -> list[AppendResult]:
    """Mark that plan entries wait, so that the next session's start applies them, should no replay come before."""
    if any(isinstance(result.event, PlanEntry) for result in appended):
        write_note(log.store.entries_note, b"")
    return appended


def withdrawing_nothing(log: EventLog, appended: Iterable[AppendResult]) -> dict[str, str]:
    """Map retractions to what they withdraw, where the log has no such event or conversation.

    Of a stream from another machine it may come later; to whoever mistyped an id it would look as if it had worked.
    """
    retractions = [entry.event for entry in appended if isinstance(entry.event, Retraction)]
    targets = log.find({retraction.target for retraction in retractions if retraction.target})
    return {
        retraction.id: retraction.target or retraction.conversation or ""
        for retraction in retractions
        if not (retraction.target in targets if retraction.target else log.session(retraction.conversation or ""))
    }


def _checked(events: Iterable[Event]) -> Iterator[Event]:
    with report("checking events") as progress:
        for number, event in enumerate(events, 1):
            yield event
            progress(number, 0)


def object_of(text: bytes) -> dict[str, Any]:
    """Read a JSON object; raises InvalidEvent."""
    if len(text) == _LONGEST:
        raise InvalidEvent(f"the line is longer than {_LONGEST:,} bytes")
    try:
        fields: dict[str, Any] = codec.decode_json(text.removeprefix(BOM), dict[str, Any])
    except ValueError as error:
        raise InvalidEvent(f"not a JSON object: {error}") from error
    return fields


def value_of(type_name: str, field: str, text: str) -> Any:
    """Read the value of a field: the text where the field takes text, else the JSON it is.

    What is neither stays text, and is refused by name when the event is made.
    """
    kinds = get_type_hints(TYPES.get(type_name, UnknownEvent), include_extras=True)
    try:
        return msgspec.convert(text, kinds.get(field, str))
    except msgspec.ValidationError:
        with suppress(ValueError):
            return codec.decode_json(text)
        return text


def numbered(lines: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Read the lines of a stream that are not blank, with their numbers; what is far too long is cut."""
    found = enumerate(iter(lambda: lines.readline(_LONGEST), b""), 1)
    return ((number, line) for number, line in found if line.strip())


def _events(lines: BinaryIO, machine: Machine) -> Iterator[Event]:
    for number, line in numbered(lines):
        try:
            yield _appendable(object_of(line), machine)
        except InvalidEvent as error:
            hint = "; ".join(filter(None, (error.hint, _NOTHING_STORED)))
            raise InvalidEvent(str(error), where=f"stdin:{number}", hint=hint) from error


def _appendable(fields: Mapping[str, Any], machine: Machine) -> Event:
    """Make the event as a reader of the log will see it, of a type that is free to append; raises InvalidEvent.

    One with its own time was recorded elsewhere, and stays whose it is.
    """
    event = codec.from_fields(dict(fields))
    if event.agent and not fields.get("ts"):
        event = replace(event, agent=speaking_agent(event.agent, machine))
    if event.project and not PurePath(event.project).is_absolute() and not PureWindowsPath(event.project).is_absolute():
        raise InvalidEvent(f"{event.project!r} is not absolute", where="project", hint="give the path from the root on")
    return refuse_reserved(codec.check(event))


def _of_something(log: EventLog, event: Retraction, project: str) -> Retraction:
    """Complete the id in a withdrawal; raises BadRequest: a withdrawal of nothing would look as if it had worked."""
    if event.conversation is not None:
        return replace(event, conversation=session_meant(log, event.conversation, last_of(log.store, project)))
    if meant := event_named(log, str(event.target), project):
        return replace(event, target=meant)
    raise BadRequest("no event has this id", where=str(event.target), hint=_FIND)


def _still_stating(log: EventLog, retraction: Retraction) -> list[str]:
    """List the events that state the same as what a retraction withdraws, and stay; oldest first."""
    settings = Settings()
    with suppress(BadSettings):  # a mistake in `config.yaml` is no obstacle to what is recorded
        settings = load(log.store).settings
    replayed = replay(log, settings, projections=[MEMORY])

    def is_withdrawn(statement: Statement) -> bool:
        return retraction.target == statement.id or retraction.conversation == statement.conversation_id

    names = replayed.index.names(MEMORY.name)
    equal = [fact.statements for name in names for fact in replayed.fact_scope(name).facts]
    halved = [statements for statements in equal if any(map(is_withdrawn, statements))]
    remaining = {
        (statement.ts, statement.id) for statements in halved for statement in statements if not is_withdrawn(statement)
    }
    return [event_id for _, event_id in sorted(remaining)]
