"""The table of sources that can be imported, and the import itself."""

from collections.abc import Mapping
from functools import partial

from eventlog.app.importing.daily import read_daily
from eventlog.app.importing.last_word import read_last_word
from eventlog.app.importing.notes import read_bullets
from eventlog.app.importing.projectmem import read_projectmem
from eventlog.app.importing.source import ImportRequest, Reader
from eventlog.app.importing.transcripts import read_host, readable_hosts
from eventlog.app.importing.wake import read_wake
from eventlog.app.importing.writer import ImportFilter, ImportResult, Writer
from eventlog.hosts import room_name
from eventlog.log.event_log import EventLog

_EVERYTHING = ImportFilter()
_OTHERS: Mapping[str, Reader] = {
    "bullets": read_bullets,
    "daily": read_daily,
    "last-word": read_last_word,
    "projectmem": read_projectmem,
    "wake-memory": read_wake,
}


def sources() -> Mapping[str, Reader]:
    """Map the names of all sources, as the command line calls them, to their readers."""
    hosts = {host: partial(read_host, host) for host in readable_hosts()}
    return {**hosts, **_OTHERS}


def import_past(
    log: EventLog, source: str, request: ImportRequest, wanted: ImportFilter = _EVERYTHING, *, dry_run: bool = False
) -> ImportResult:
    """Add what the log lacks of a source, a host by any of its names.

    Raises BadRequest where there is nothing to read, or NotStored.
    """
    writer = Writer(log, request.machine, dry_run=dry_run)
    return writer.write(sources()[room_name(source)](request), wanted)
