"""Append events of any type: `eventlog append`."""

import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from eventlog.app.naming.references import session_named
from eventlog.app.open_store import Machine
from eventlog.app.write.append import append_event, append_stream, object_of, value_of, withdrawing_nothing
from eventlog.app.write.speaker import SpeakerOptions, speaker_of
from eventlog.cli import options
from eventlog.cli.terminal import count, is_terminal, print_error, say
from eventlog.cli.verbs.write.recording import is_switched_off, report, warn_of_clock
from eventlog.format.errors import BadRequest, InvalidEvent
from eventlog.format.events import TYPES
from eventlog.log.event_log import AppendResult, EventLog
from eventlog.projects.root import project_root
from eventlog.store import Store

_NAMED = 5  # ids in an error
_NEARLY = 0.75  # "fcat" is "fact", "artifact" is not


@options.verb(
    "eventlog append --stdin < events.jsonl",
    "eventlog append --stdin --batch nightly-2026-02-21 < events.jsonl",
    "eventlog append session_start --session $ID source=startup model=opus",
    'eventlog append fact content="The API listens on port 8443" category=insight',
    'eventlog append retraction --session $ID target=$EVENT_ID reason="not true any more"',
    """eventlog append stage_summary --session $ID --json '{"summary": "…", "decisions": ["…"]}'""",
)
@click.argument("type_name", metavar="TYPE", required=False)
@click.argument("assignments", metavar="[FIELD=VALUE]...", nargs=-1)
@click.option(
    "--stdin", "from_stdin", is_flag=True, help="Read events from stdin, one JSON object per line: all or none."
)
@click.option(
    "--batch",
    metavar="NAME",
    help="Name of the stream on stdin: a second run after a kill adds only the missing events.",
)
@click.option("--json", "object_text", metavar="OBJECT", help="Fields as a JSON object.")
@click.option("--session", metavar="ID", help="Conversation id of the agent [default: as for `fact`].")
@options.project_by(options.project_meant, "Project, by name or directory.")
@options.program("Program that records it.")
@click.option("--layer", type=options.Number(1, 4), help="Safety net that saved it, 1 to 4.")
@options.as_speaker
def _append_command(
    type_name: str | None,
    assignments: tuple[str, ...],
    from_stdin: bool,
    batch: str | None,
    object_text: str | None,
    speaker: SpeakerOptions,
    store: Store,
) -> None:
    """Append events of any type, except people's decisions and the history of knowledge bases.

    Without --session, finds conversation, project and agent as `fact` does. A VALUE is text, or JSON for a field of
    another type. With `agent` human, an event without a `ts` that an agent's command appends is that agent's, not
    yours. One with a `ts` and no `id` gets an id derived from its content, so that appending the same file twice
    adds nothing. In a pipe, prints one JSON line per event; that of a retraction lists the events that still state the
    same (`still_said`): the line stays until they are retracted as well.

    Stores a stream whole or not at all per day, unless it is killed. Recognises events with their own times or ids when
    you send a stream again; give other streams a unique name with --batch. Stores and reports a retraction whose target
    is not in the log yet (`withdraws_nothing`).
    """
    if from_stdin == bool(type_name):
        raise click.UsageError("give either TYPE or --stdin")
    if batch is not None and not (from_stdin and batch.strip()):
        raise click.UsageError("--batch names what comes with --stdin")
    machine = Machine.here()
    if is_switched_off(machine, speaker.project):
        return
    log = options.open_log(store)
    if from_stdin:
        stored = append_stream(log, sys.stdin.buffer, machine, batch=batch)
        _report_stream(stored, withdrawing_nothing(log, stored), store)
        warn_of_clock(log)
        return
    _refuse_misspelt(str(type_name))
    fields = {**_object(object_text), **_assigned(str(type_name), assignments)}
    if fields.setdefault("type", type_name) != type_name:
        raise click.UsageError(f"TYPE is {type_name}, but the fields have type={fields['type']}")
    done = append_event(log, {**_speaker_fields(log, speaker, fields, machine), **fields}, machine)
    report(done.appended, "already said in this conversation", store, still_said=done.still_stating)
    warn_of_clock(log)


def _speaker_fields(log: EventLog, speaker: SpeakerOptions, fields: dict[str, Any], machine: Machine) -> dict[str, Any]:
    """Build the fields of the speaker: as given, or as for `fact` without a conversation."""
    here = speaker.project or fields.get("project") or project_root(str(Path.cwd())) or None
    if speaker.session is None and "conversation_id" not in fields:
        found = speaker_of(log, speaker._replace(project=here, agent=speaker.agent or fields.get("agent")), machine)
    else:
        session = speaker.session and session_named(log, speaker.session, here)
        found = {"conversation_id": session, **speaker._asdict()}
        del found["session"]
    return {name: value for name, value in found.items() if value is not None}


def _object(text: str | None) -> dict[str, Any]:
    try:
        return object_of(text.encode()) if text else {}
    except InvalidEvent as error:
        raise InvalidEvent(error.what, where="--json") from error


def _assigned(type_name: str, assignments: tuple[str, ...]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not (name and equals) or name in fields:
            raise click.UsageError(f"{name} is given twice" if name in fields else f"{assignment!r} is not FIELD=VALUE")
        fields[name] = value_of(type_name, name, text)
    return fields


def _report_stream(stored: Sequence[AppendResult], nothing: Mapping[str, str], store: Store) -> None:
    """Report a stream of events: a line for each in a pipe, the total on a terminal.

    `nothing` maps retractions to targets that the log does not have.
    """
    if what := list(dict.fromkeys(nothing.values())):
        more = f" and {len(what) - _NAMED:,} more" if len(what) > _NAMED else ""
        print_error(
            f"the log does not have the retracted events: {', '.join(what[:_NAMED])}{more}",
            "a retraction takes effect once its target is in the log",
        )
    if is_terminal():
        new = sum(appended.new for appended in stored)
        say(f"{count(len(stored), 'event')}: {new:,} new, {len(stored) - new:,} already known")
        return
    for appended in stored:
        missing = nothing.get(appended.event.id)
        report(appended, "an event with this id is already there", store, withdraws_nothing=missing)


def _refuse_misspelt(name: str) -> None:
    """Refuse a type that is nearly a known type; raises BadRequest. Others are of other programs, or of the future."""
    if name not in TYPES and (near := get_close_matches(name.lower(), TYPES, cutoff=_NEARLY)):
        hint = f"did you mean {near[0]}? a type of your own goes through --stdin"
        raise BadRequest(f"no event type {name!r}; nothing was stored", hint=hint)
