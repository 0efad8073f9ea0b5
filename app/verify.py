"""The check that the log is whole, and the files beside it that are never read."""

from msgspec import Struct

from eventlog import days
from eventlog import verify as whole
from eventlog.app.phases import Progress
from eventlog.damage import Damage
from eventlog.log import EventLog


class LogReport(Struct, frozen=True):
    """The numbers read, every damage in the order of the files, and files of the log directory that hold no day."""

    events: int
    files: int
    damage: list[Damage]
    strangers: list[str]


def verify(log: EventLog, progress: Progress = lambda _done, _all: None) -> LogReport:
    """Read every line of the log; raises Busy where a file's lock is not to be had."""
    found = whole.verify(log, progress)
    return LogReport(found.events, found.files, found.damage, days.foreign_files(log.store.log))
