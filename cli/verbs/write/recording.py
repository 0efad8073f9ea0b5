"""Append events for the recording verbs, and report the result; without click and what only terminals need."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eventlog.app.open_store import Machine, open_log
from eventlog.app.write.record_once import record_once
from eventlog.app.write.speaker import SpeakerOptions, speaker_of
from eventlog.cli.terminal import emit, hang, is_terminal, marked, print_error, print_lines, say, styled
from eventlog.format.codec import from_fields
from eventlog.format.errors import BadRequest, system_reason
from eventlog.format.events import Event, PlanEntry, Redacted, Rejected
from eventlog.format.text import one_line, project_name
from eventlog.log.event_log import AppendResult, EventLog
from eventlog.settings.cached import off_switch
from eventlog.store import Store

if TYPE_CHECKING:
    from eventlog.app.write.plan import Declared
    from eventlog.cli.show.display import Display

_LONGEST = 16 << 20  # bytes of a text


def record(store: Store, speaker: SpeakerOptions, fields: dict[str, Any]) -> None:
    """Append one event and report it; skips repetitions, and does nothing if memory is switched off."""
    machine = Machine.here()
    if is_switched_off(machine, speaker.project):
        return
    log = open_log(store, machine)
    event = from_fields(speaker_of(log, speaker, machine) | fields)
    report(record_once(log, event), "already said in this conversation", store)
    warn_of_clock(log)


def warn_of_clock(log: EventLog) -> None:
    """Warn if the log has events later than the clock."""
    if log.ahead:
        print_error(
            f"the log has events of {log.ahead[:16].replace('T', ' ')} UTC, later than this clock",
            "new events are ordered after them; eventlog doctor lists them",
        )


def with_stdin(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    """Replace a text that is `-` with stdin, to the byte, and tuples by lists; raises BadRequest or UsageError."""
    fields = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
    texts = [text for name in names for text in (fields[name] if isinstance(fields[name], list) else [fields[name]])]
    if "-" not in texts:
        return fields
    if texts.count("-") > 1:
        import click

        raise click.UsageError("only one text is read from stdin: give `-` once")
    content = read_text("-")[1].removesuffix("\n")  # it ends the last line of a here-document

    def of(value: Any) -> Any:
        return [of(item) for item in value] if isinstance(value, list) else content if value == "-" else value

    return {name: of(value) if name in names else value for name, value in fields.items()}


def read_text(file: str) -> tuple[str, str]:
    """Read a file, or stdin for `-`: its name for messages, and its text; raises BadRequest, also if it is endless."""
    name = "stdin" if file == "-" else file
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as opened:
            data = opened.read(_LONGEST + 1)
        if len(data) > _LONGEST:
            raise BadRequest(f"is longer than {_LONGEST:,} bytes", where=name)
        return name, data.decode("utf-8-sig")
    except OSError as error:
        raise BadRequest(f"cannot be read: {system_reason(error)[0]}", where=name) from error
    except UnicodeDecodeError as error:
        raise BadRequest("is not UTF-8", where=name, hint=f"see byte {error.start}") from error


def is_switched_off(machine: Machine, project: str | None) -> bool:
    """Check whether memory is switched off here or in that project, and report it."""
    switch = off_switch(machine.environ, str(Path.cwd()), project)
    if switch and is_terminal():
        say(f"Nothing was written: memory is switched off by {switch}.")
    elif switch:
        emit({"status": "skipped", "reason": "memory_disabled"})
    return bool(switch)


def report(appended: AppendResult, reason: str, store: Store, **more: Any) -> None:
    """Report an event: as a line of JSON in a pipe, with what `more` there is; in a sentence on a terminal."""
    event = appended.event
    if isinstance(event, Rejected | Redacted):
        _report_refusal(event, store)
    elif is_terminal():
        _print_saved(appended, _display(store), more.get("still_said"))
    elif appended.new:
        emit({"status": "ok", "id": event.id, **{name: value for name, value in more.items() if value}})
    else:
        emit({"status": "skipped", "reason": reason, "id": event.id})


def report_plans(planned: "Sequence[Declared]", store: Store) -> None:
    """Report stored plan entries, and those that a person has rejected."""
    for event, waits in planned:
        if not isinstance(event, PlanEntry):
            _report_refusal(event, store)
        elif is_terminal():
            _print_event("planned", event, _display(store))
            if waits:
                say(f"it waits for you: it {waits}; eventlog resolve {_display(store).id(event.id)}")
        else:
            emit({"status": "ok", "id": event.id, **({"waits": waits} if waits else {})})
    if is_terminal() and any(isinstance(plan.event, PlanEntry) and not plan.waits for plan in planned):
        say("eventlog apply or the next replay writes it into its file")


def _report_refusal(decision: Event, store: Store) -> None:
    """Report what stands against saving: the text was erased, or a person has rejected it."""
    is_erased = isinstance(decision, Redacted)
    if not is_terminal():
        named = {"id": decision.id} if decision.id else {}
        emit({"status": "skipped", "reason": "redacted" if is_erased else "rejected", **named})
    elif is_erased:
        say("not saved: you had this erased (eventlog redact)")
    else:
        undo = f"eventlog undo {_display(store).id(decision.id)}"
        say(f"not saved: you asked to forget this; to allow it again: {undo}")


def _display(store: Store) -> "Display":
    from eventlog.cli.show.display import Display

    return Display(store)


def _print_saved(appended: AppendResult, display: "Display", others: Sequence[str] | None) -> None:
    event = appended.event
    _print_event("saved" if appended.new else "already known", event, display)
    if not appended.new:
        say(f"recorded in this conversation {display.moment(event.ts)}; nothing was written")
    if others:
        say(f"the line stays while other events state it: {', '.join(map(display.id, others))}")


def _print_event(done: str, event: Event, display: "Display") -> None:
    from eventlog.cli.show.events import gist, kind_of

    where = [kind_of(event), project_name(event.project) if event.project else ""]
    head = f"{marked('✓')} {done}  {styled(display.id(event.id), fg='cyan')}  {' · '.join(filter(None, where))}  "
    print_lines(hang(head, one_line(gist(event))))
