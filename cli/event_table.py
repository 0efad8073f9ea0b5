"""Events as a table: when, what type, who, where, which, and the gist."""

from collections.abc import Iterable

from eventlog.cli.describe import describe
from eventlog.cli.output import table
from eventlog.cli.shown import Shown
from eventlog.log_line import LogLine


def show_events(entries: Iterable[LogLine], shown: Shown) -> None:
    """Print one row per event; on a terminal its ids are short, and its time is the user's."""
    rows = (_row(entry, shown) for entry in entries)
    table(rows, when=0, type=0, agent=0, session=16, id=0, what=200)


def _row(entry: LogLine, shown: Shown) -> tuple[str, ...]:
    event = entry.event
    who = "/".join(filter(None, [event.agent, event.subagent]))
    ids = shown.id(event.conversation_id), shown.id(event.id)
    return shown.when(event.ts), event.type, who, *ids, describe(event)
