"""What every recording verb does: append, and say what became of it."""

import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.current_conversation import Speaker, agent_of, current_speaker
from eventlog.app.record import record_once
from eventlog.cli.options import open_log
from eventlog.cli.output import emit, say
from eventlog.codec import from_fields
from eventlog.log import AppendResult
from eventlog.store import Store

_CLI = "cli"  # who speaks in a conversation no host is known of


class SpeakerOptions(NamedTuple):
    """What the options of a verb tell of who speaks; None is left to be found out."""

    session: str | None
    project: str | None
    agent: str | None
    layer: int | None


def record(store: Store, given: SpeakerOptions, fields: dict[str, Any]) -> None:
    """Append one event unless memory is switched off or its conversation has said the same, and report it."""
    if switch := _off_switch(given.project):
        if sys.stdout.isatty():
            say(f"Nothing was written: memory is switched off by {switch}.")
        else:
            emit({"status": "skipped", "reason": "memory_disabled"})
        return
    event = from_fields(speaker_of(store, given) | fields)
    report(record_once(open_log(store), event), "already said in this conversation")


def speaker_of(store: Store, given: SpeakerOptions) -> dict[str, Any]:
    """The fields that tell who says something, with what was not given found out."""
    log = open_log(store)
    if given.session is not None:
        speaker = Speaker(given.session, given.agent or agent_of(log, given.session, os.environ) or _CLI)
    else:
        speaker = current_speaker(log, given.project, os.environ, time.time_ns(), given.agent or "")
    return {**speaker._asdict(), "project": given.project, "layer": given.layer}


def report(appended: AppendResult, reason: str) -> None:
    """One JSON line per event, for the agent that called."""
    if appended.new:
        emit({"status": "ok", "id": appended.event.id})
    else:
        emit({"status": "skipped", "reason": reason, "id": appended.event.id})


def _off_switch(project: str | None) -> str:
    """What switches memory off here, as it does for hooks; "" where nothing does."""
    if os.environ.get("EVENTLOG_DISABLED", "") not in ("", "0"):
        return "EVENTLOG_DISABLED"
    files = (Path(place, ".eventlog-disable") for place in (Path.cwd(), project) if place)
    return next((str(file) for file in files if file.exists()), "")
