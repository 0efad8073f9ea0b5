"""The events that join projects, and that name the addresses of those worked in here."""

from collections.abc import Iterator
from pathlib import Path

from eventlog.app.naming.known_projects import about, name_of
from eventlog.app.open_store import OpenStore
from eventlog.format import timestamps
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN, ProjectJoined, ProjectSeen
from eventlog.log.event_log import EventLog
from eventlog.projections.current.identity import Identities
from eventlog.projections.current.places import Places
from eventlog.projects.repository import remote_of
from eventlog.store.replica import make_replica, replica_of

_LATELY_NS = 7 * 24 * 3600 * 10**9  # who has not worked somewhere for longer has not moved it either


def join_projects(opened: OpenStore, one: str, other: str) -> ProjectJoined:
    """Store that two paths are one project, until that is retracted; raises BadRequest where they are, or NotStored."""
    make_replica(opened.store)
    if about(opened.store, one)(other, None):
        raise BadRequest(f"{one} and {other} are one project already")
    names = [name_of(opened.store, path) for path in (one, other)]
    stored = opened.log.put([ProjectJoined(conversation_id=HUMAN, agent=HUMAN, projects=names)])[0].event
    assert isinstance(stored, ProjectJoined)
    return stored


def tell_remotes(log: EventLog, places: Places, known: Identities) -> int:
    """Append the addresses of paths that the log does not know yet; returns how many events, raises NotStored."""
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
    """Find the projects whose address the log lacks; a deleted project keeps its address."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False
