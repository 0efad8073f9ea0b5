"""The common part of the recording verbs: append, and report the result."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from eventlog.app.machine import Machine
from eventlog.app.write.plan import Declared
from eventlog.app.write.record_once import off_switch, record_once
from eventlog.app.write.speaker import SpeakerOptions, speaker_of
from eventlog.cli.options import open_log
from eventlog.cli.show.display import Display
from eventlog.cli.show.events import gist, kind_of
from eventlog.cli.terminal import clean, count, emit, hang, is_terminal, marked, print_error, print_line, say, styled
from eventlog.format.codec import from_fields, to_fields
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event, PlanEntry, Rejected
from eventlog.format.text import project_name
from eventlog.log.event_log import AppendResult, EventLog
from eventlog.store import Store

_NAMED = 5  # ids in a complaint


def record(store: Store, given: SpeakerOptions, fields: dict[str, Any]) -> None:
    """Append one event unless memory is switched off or its conversation has said the same, and report it."""
    machine = Machine.here()
    if is_switched_off(machine, given.project):
        return
    log = open_log(store)
    event = from_fields(speaker_of(log, given, machine) | fields)
    report(record_once(log, event), "already said in this conversation", store)
    warn_of_clock(log)


def warn_of_clock(log: EventLog) -> None:
    """Say on stderr that the last append found the log ahead of the clock."""
    if log.ahead:
        print_error(
            f"the log has events of {log.ahead[:16].replace('T', ' ')} UTC, and this clock is behind that",
            "what is said now counts after them all the same; eventlog doctor names them",
        )


def with_stdin(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    """Put what stdin says, to the byte, in the place of a text that is `-`; raises BadRequest or UsageError."""
    given = [text for name in names for text in (fields[name] if isinstance(fields[name], list) else [fields[name]])]
    if "-" not in given:
        return fields
    if given.count("-") > 1:
        raise click.UsageError("only one text is read from stdin: give `-` once")
    try:
        said = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise BadRequest("is not UTF-8", where="stdin", hint=f"see byte {error.start}") from error
    said = said.removesuffix("\n")  # ends the last line of a here-document, and is not in it

    def of(value: Any) -> Any:
        return [of(one) for one in value] if isinstance(value, list) else said if value == "-" else value

    return {name: of(value) if name in names else value for name, value in fields.items()}


def is_switched_off(machine: Machine, project: str | None) -> bool:
    """Tell whether memory is switched off here or in that project, and say so: nothing is to be written."""
    switch = off_switch(machine, str(Path.cwd()), project)
    if switch and is_terminal():
        say(f"Nothing was written: memory is switched off by {switch}.")
    elif switch:
        emit({"status": "skipped", "reason": "memory_disabled"})
    return bool(switch)


def report_stream(stored: Sequence[AppendResult], nothing: Mapping[str, str]) -> None:
    """Report a stream of events: a line for each to a program, the total to a person.

    `nothing` maps retractions to what they withdraw and the log has not.
    """
    if what := list(dict.fromkeys(nothing.values())):
        more = f" and {len(what) - _NAMED:,} more" if len(what) > _NAMED else ""
        print_error(
            f"the log has not what is withdrawn: {', '.join(what[:_NAMED])}{more}", "it counts once that is there"
        )
    if is_terminal():
        new = sum(appended.new for appended in stored)
        say(f"{count(len(stored), 'event')}: {new:,} new, {len(stored) - new:,} known already")
        return
    for appended in stored:
        missing = {"withdraws_nothing": nothing[appended.event.id]} if appended.event.id in nothing else {}
        _emit(appended, "an event with this id is already there", more=missing)


def report(appended: AppendResult, reason: str, store: Store, *, still_said: Sequence[str] = ()) -> None:
    """Report an event: in one JSON line to the agent that called, in a sentence to a person."""
    if is_terminal():
        _tell(appended, Display(store), still_said)
    else:
        _emit(appended, reason, {"still_said": still_said} if still_said else {})


def report_plans(planned: Sequence[Declared], store: Store) -> None:
    """Report plan entries that are in the log now, and those that a person does not want."""
    for one in planned:
        if is_terminal():
            _tell_of_plan(one, Display(store))
        elif isinstance(one.event, PlanEntry):
            emit({"status": "ok", "id": one.event.id, **({"waits": one.waits} if one.waits else {})})
        else:
            emit({"status": "skipped", "reason": "rejected", "id": one.event.id})
    if is_terminal() and any(isinstance(one.event, PlanEntry) and not one.waits for one in planned):
        say("eventlog apply brings it into its file, and so does the next replay")


def _tell_of_plan(one: Declared, shown: Display) -> None:
    if not isinstance(one.event, PlanEntry):
        _tell_of_rejection(one.event, shown)
        return
    _told("planned", one.event, shown)
    if one.waits:
        say(f"it waits for you: it {one.waits}; eventlog resolve {shown.id(one.event.id)}")


def report_checked(events: Sequence[Event]) -> None:
    """Report plan entries that were only checked."""
    for event in events:
        if is_terminal():
            say(f"would plan  {gist(event)}")
        else:
            emit({"status": "dry-run", "event": to_fields(event)})


def _emit(appended: AppendResult, reason: str, more: Mapping[str, object]) -> None:
    if isinstance(appended.event, Rejected):
        emit({"status": "skipped", "reason": "rejected", "id": appended.event.id})
    elif appended.new:
        emit({"status": "ok", "id": appended.event.id, **more})
    else:
        emit({"status": "skipped", "reason": reason, "id": appended.event.id})


def _tell(appended: AppendResult, shown: Display, still_said: Sequence[str]) -> None:
    event = appended.event
    if isinstance(event, Rejected):
        _tell_of_rejection(event, shown)
        return
    _told("saved" if appended.new else "known already", event, shown)
    if not appended.new:
        say(f"said in this conversation {shown.moment(event.ts)}; nothing was written")
    if still_said:
        others = ", ".join(map(shown.id, still_said))
        say(f"the line stays while others say it: {others}")


def _tell_of_rejection(decision: Event, shown: Display) -> None:
    say(f"not saved: a person does not want it said; to allow it again: eventlog undo {shown.id(decision.id)}")


def _told(done: str, event: Event, shown: Display) -> None:
    where = [clean(kind_of(event)), project_name(event.project) if event.project else ""]
    head = f"{marked('✓')} {done}  {styled(shown.id(event.id), fg='cyan')}  {' · '.join(filter(None, where))}  "
    for line in hang(head, clean(gist(event))):
        print_line(line)
