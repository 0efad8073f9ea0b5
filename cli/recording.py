"""What every recording verb does: append, and say what became of it."""

import os
import sys
from pathlib import Path

from eventlog.app.record import record_once
from eventlog.cli.options import open_log
from eventlog.cli.output import emit, say
from eventlog.events import Event
from eventlog.log import AppendResult
from eventlog.store import Store


def record(store: Store, event: Event) -> None:
    """Append one event unless memory is switched off or its conversation has said the same, and report it."""
    if switch := _off_switch(event.project):
        if sys.stdout.isatty():
            say(f"Nothing was written: memory is switched off by {switch}.")
        else:
            emit({"status": "skipped", "reason": "memory_disabled"})
        return
    report(record_once(open_log(store), event), "already said in this conversation")


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
