"""Whether the log is whole, and what lies beside it that is never read."""

from msgspec import Struct

from eventlog import days
from eventlog import verify as whole
from eventlog.days import Damage
from eventlog.log import EventLog


class LogReport(Struct, frozen=True):
    """What was read, every damage in the order of the files, and files of the log directory that are no day files."""

    events: int
    files: int
    damage: list[Damage]
    strangers: list[str]


def verify(log: EventLog) -> LogReport:
    """Read every line of the log; raises Busy where a file's lock is not to be had."""
    found = whole.verify(log)
    return LogReport(found.events, found.files, found.damage, days.foreign_files(log.store.log))
