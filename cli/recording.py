"""The common part of the recording verbs: append, and report the result."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eventlog.app.current_conversation import SpeakerOptions, speaker_of
from eventlog.app.machine import Machine
from eventlog.app.record_once import off_switch, record_once
from eventlog.cli.options import open_log
from eventlog.cli.output import count, emit, say
from eventlog.codec import from_fields
from eventlog.events import Rejected
from eventlog.log import AppendResult
from eventlog.store import Store


def record(store: Store, given: SpeakerOptions, fields: dict[str, Any]) -> None:
    """Append one event unless memory is switched off or its conversation has said the same, and report it."""
    machine = Machine.here()
    if is_switched_off(machine, given.project):
        return
    log = open_log(store)
    event = from_fields(speaker_of(log, given, machine) | fields)
    report(record_once(log, event), "already said in this conversation")


def is_switched_off(machine: Machine, project: str | None) -> bool:
    """Tell whether memory is switched off here or in that project, and say so: nothing is to be written."""
    switch = off_switch(machine, str(Path.cwd()), project)
    if switch and sys.stdout.isatty():
        say(f"Nothing was written: memory is switched off by {switch}.")
    elif switch:
        emit({"status": "skipped", "reason": "memory_disabled"})
    return bool(switch)


def report_stream(stored: Sequence[AppendResult]) -> None:
    """Report a stream of events: a line for each to a program, the total to a person."""
    if sys.stdout.isatty():
        new = sum(appended.new for appended in stored)
        say(f"{count(len(stored), 'event')}: {new:,} new, {len(stored) - new:,} known already")
        return
    for appended in stored:
        report(appended, "an event with this id is already there")


def report(appended: AppendResult, reason: str, *, still_said: Sequence[str] = ()) -> None:
    """Print one JSON line for an event, for the agent that called."""
    if isinstance(appended.event, Rejected):
        emit({"status": "skipped", "reason": "rejected", "id": appended.event.id})
    elif appended.new:
        emit({"status": "ok", "id": appended.event.id, **({"still_said": still_said} if still_said else {})})
    else:
        emit({"status": "skipped", "reason": reason, "id": appended.event.id})
