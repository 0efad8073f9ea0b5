"""`eventlog append`."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePath, PureWindowsPath
from typing import Any, get_type_hints

import click
import msgspec

from eventlog import codec
from eventlog.app.record import record_once
from eventlog.cli import options
from eventlog.cli.recording import report
from eventlog.errors import BadRequest, InvalidEvent
from eventlog.events import TYPES, Event, Retraction, UnknownEvent
from eventlog.log import EventLog
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog append --stdin < events.jsonl",
        "eventlog append --stdin --batch nightly-2026-02-21 < events.jsonl",
        "eventlog append session_start --session $ID source=startup model=opus",
        'eventlog append retraction --session $ID target=$EVENT_ID reason="not true any more"',
        """eventlog append stage_summary --session $ID --json '{"summary": "…", "decisions": ["…"]}'""",
    )
)
@click.argument("type_name", metavar="TYPE", required=False)
@click.argument("assignments", metavar="[FIELD=VALUE]...", nargs=-1)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read events from stdin, a JSON object a line: all or none.")
@click.option(
    "--batch",
    metavar="NAME",
    help="Name of the stream on stdin: sent again after a kill, only what is missing is added.",
)
@click.option("--json", "object_text", metavar="OBJECT", help="Fields as a JSON object.")
@click.option("--session", metavar="ID", help="Conversation id of the agent.")
@click.option("--project", callback=options.root_of, help="Directory of the project.")
@click.option("--agent", help="Program that says it.")
@click.option("--layer", type=click.IntRange(1, 4), help="Safety net that saved it.")
@options.store
def command(
    type_name: str | None,
    assignments: tuple[str, ...],
    from_stdin: bool,
    batch: str | None,
    object_text: str | None,
    session: str | None,
    project: str | None,
    agent: str | None,
    layer: int | None,
    store: Store,
) -> None:
    """Append events of any type, but decisions of people and what became of knowledge bases.

    A VALUE is text, or JSON where the field is not text. An event with its own `ts` and no `id` gets an id derived
    from what it says, so that the same file twice adds nothing. Prints one JSON line per event.

    A stream is stored all or nothing per day, short of a kill. Sent again, events with times or ids of their own are
    recognised; for all others give the stream a name with --batch, of its own for each stream.
    """
    if from_stdin == bool(type_name):
        raise click.UsageError("give either TYPE or --stdin")
    if batch is not None and not (from_stdin and batch.strip()):
        raise click.UsageError("--batch names what comes with --stdin")
    log = options.open_log(store)
    if from_stdin:
        for appended in log.put(_read_events(), batch=batch):
            report(appended, "an event with this id is already there")
        return
    speaker = {"conversation_id": session, "project": project, "agent": agent, "layer": layer}
    given = {name: value for name, value in speaker.items() if value is not None}
    fields = {**given, **_object(object_text), **_assigned(str(type_name), assignments)}
    if fields.setdefault("type", type_name) != type_name:
        raise click.UsageError(f"TYPE is {type_name}, and the fields say type={fields['type']}")
    event = _free(_checked(codec.from_fields(fields)))
    if isinstance(event, Retraction):
        _check_exists(log, event)
    report(record_once(log, event), "already said in this conversation")


def _check_exists(log: EventLog, event: Retraction) -> None:
    """Refuse a withdrawal that hits nothing: it would look like one that worked. Raises BadRequest."""
    if event.conversation is not None:
        if not log.session(event.conversation):
            raise BadRequest("no event is of this conversation", where=event.conversation, hint=_FIND)
    elif event.target not in log.find([str(event.target)]):
        meant = log.starting_with(str(event.target))
        hint = "give the whole id: " + ", ".join(meant) if meant else _FIND
        raise BadRequest("no event has this id", where=str(event.target), hint=hint)


_FIND = "`eventlog query` shows what there is; nothing was stored"


_VERBS = {
    "entry_resolved": "`eventlog resolve`",
    "entry_applied": "`eventlog apply`",
    "knowledge_edited": "an edit of the file, which `eventlog apply` records",
    "rejected": "`eventlog forget`",
    "restored": "`eventlog undo`",
}


def _free(event: Event) -> Event:
    """Refuse what only people's own verbs may say; raises InvalidEvent."""
    verb = _VERBS.get(event.type)
    if verb:
        raise InvalidEvent(
            f"{event.type} is not for append: it tells of a person's decision, or of a file",
            where="type",
            hint=f"it comes from {verb}",
        )
    return event


_NOTHING_STORED = "nothing was stored; correct this line and send the whole again"


def _read_events() -> Iterator[Event]:
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            yield _free(_checked(codec.from_fields(_fields(line))))
        except InvalidEvent as error:
            hint = "; ".join(filter(None, (error.hint, _NOTHING_STORED)))
            raise InvalidEvent(str(error), where=f"stdin:{number}", hint=hint) from error


def _checked(event: Event) -> Event:
    """The event as a reader of the log will see it; raises InvalidEvent."""
    if event.project and not PurePath(event.project).is_absolute() and not PureWindowsPath(event.project).is_absolute():
        raise InvalidEvent(f"{event.project!r} is not absolute", where="project", hint="give the path from the root on")
    return codec.check(event)


def _fields(line: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line.removeprefix(b"\xef\xbb\xbf"), type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InvalidEvent(f"not a JSON object: {error}") from error


def _object(text: str | None) -> dict[str, Any]:
    try:
        return _fields(text.encode()) if text else {}
    except InvalidEvent as error:
        raise InvalidEvent(error.what, where="--json") from error


def _assigned(type_name: str, assignments: tuple[str, ...]) -> dict[str, Any]:
    cls = TYPES.get(type_name, UnknownEvent)
    kinds = get_type_hints(cls, include_extras=True)
    fields = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise click.UsageError(f"{assignment!r} is not FIELD=VALUE")
        fields[name] = _value(text, kinds.get(name, str))
    return fields


def _value(text: str, kind: Any) -> Any:
    """The text itself where the field takes text, else the JSON it is; what is neither is refused later, by name."""
    try:
        return msgspec.convert(text, kind)
    except msgspec.ValidationError:
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(text)
        return text
