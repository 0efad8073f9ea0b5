"""The table of sources that can be imported, and the import itself."""

from collections.abc import Mapping
from functools import partial

from eventlog.app.importing.source import ImportRequest, Reader
from eventlog.app.importing.transcripts import read_host, readable_hosts
from eventlog.app.importing.writer import ImportFilter, ImportResult, Writer
from eventlog.log import EventLog

_EVERYTHING = ImportFilter()


def sources() -> Mapping[str, Reader]:
    """Map the names of all sources, as the command line calls them, to their readers."""
    return {host: partial(read_host, host) for host in readable_hosts()}


def import_past(
    log: EventLog, source: str, request: ImportRequest, wanted: ImportFilter = _EVERYTHING, *, dry_run: bool = False
) -> ImportResult:
    """Add what the log lacks of a source; raises BadRequest where there is nothing to read, or NotStored."""
    writer = Writer(log, request.machine, dry_run=dry_run)
    return writer.write(sources()[source](request), wanted)
