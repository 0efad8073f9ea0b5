"""What every recording verb does: append, and say what became of it."""

from eventlog.cli.options import open_log
from eventlog.cli.output import emit
from eventlog.declare import declare
from eventlog.events import Event
from eventlog.log import Appended
from eventlog.store import Store


def record(store: Store, event: Event) -> None:
    """Append one event unless its conversation has said the same, and report it."""
    report(declare(open_log(store), event), "already said in this conversation")


def report(appended: Appended, reason: str) -> None:
    """One JSON line per event, for the agent that called."""
    if appended.new:
        emit({"status": "ok", "id": appended.event.id})
    else:
        emit({"status": "skipped", "reason": reason, "id": appended.event.id})
