"""The addresses of the repositories worked in on this machine reach the log, each once."""

from collections.abc import Iterator
from pathlib import Path

from eventlog import timestamps
from eventlog.events import ProjectSeen
from eventlog.log import EventLog
from eventlog.projections.state.identity import Identities
from eventlog.projections.state.places import Places
from eventlog.remote import remote_of
from eventlog.replica import replica_of

_LATELY_NS = 7 * 24 * 3600 * 10**9  # who has not worked somewhere for longer has not moved it either


def tell_remotes(log: EventLog, places: Places, known: Identities) -> int:
    """Append what the log does not know yet of the paths it tells of; returns how many events, raises NotStored."""
    return len(log.put(_untold(log, places, known)))


def _untold(log: EventLog, places: Places, known: Identities) -> Iterator[ProjectSeen]:
    replica, since = replica_of(log.store), timestamps.from_ns(log.now() - _LATELY_NS)
    for path, stays in places.stays.items():
        if replica not in stays or stays[replica].last < since or not _is_directory(path):
            continue
        remote = remote_of(path) or None
        if remote != known.remote(path, replica):
            yield ProjectSeen(conversation_id=replica, replica=replica, project=path, path=path, remote=remote)


def _is_directory(path: str) -> bool:
    """A project that is gone keeps its address."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False
