"""The events that join projects, and that name the addresses of those worked in here."""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.open_store import OpenStore
from eventlog.fast import os
from eventlog.format import timestamps
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN, ProjectJoined, ProjectSeen
from eventlog.log.event_log import EventLog
from eventlog.projections.current.identity import Identities
from eventlog.projects.repository import remote_of
from eventlog.store import Store
from eventlog.store.replica import copied_from, make_replica, replica_of

if TYPE_CHECKING:
    from eventlog.projections.engine.replay import ReplayResult

_LATELY_NS = 7 * 24 * 3600 * 10**9  # who has not worked somewhere for longer has not moved it either


def join_projects(opened: OpenStore, project: str, other: str) -> ProjectJoined:
    """Store that two paths are one project, until that is retracted; raises BadRequest where they are, or NotStored.

    A path of another machine is `machine:path`.
    """
    make_replica(opened.store)
    known = KnownProjects(opened.store)
    if known.meant(project) == known.meant(other):
        raise BadRequest(f"{project} and {other} are one project already")
    names = [known.name_of(path) for path in (project, other)]
    stored = opened.log.put([ProjectJoined(conversation_id=HUMAN, agent=HUMAN, projects=names)])[0].event
    assert isinstance(stored, ProjectJoined)
    return stored


def append_project_events(log: EventLog, replayed: "ReplayResult", paths: Collection[str] = ()) -> int:
    """Append the addresses and joins that the log lacks; count them. Raises NotStored.

    Addresses are those of `paths`, else of where somebody worked lately. In a store that was restored or copied, the
    projects of the former one without an address are joined with the same paths here.
    """
    replica = make_replica(log.store) if paths else replica_of(log.store)
    since = timestamps.from_ns(log.now() - _LATELY_NS)
    stays = replayed.places.stays.items()
    lately = (path for path, at in stays if replica in at and at[replica].last >= since)
    seen = _addresses(log.store, paths or lately, replayed.identities, replica)
    return len(log.put([*seen, *_joins(log.store, replayed, replica)]))


def _addresses(store: Store, paths: Iterable[str], identities: Identities, replica: str) -> Iterator[ProjectSeen]:
    """Yield the addresses of projects that the log lacks."""
    for path in filter(os.path.isdir, paths):  # a deleted project keeps its address
        remote = remote_of(path) or None
        if remote != identities.remote(path, replica):
            name = identities.of(path, replica)
            has_files = os.path.isdir(f"{store.knowledge}/projects/{identities.slug(name)}")
            home = identities.homes.get(name, name) if has_files else None
            yield ProjectSeen(
                conversation_id=replica, replica=replica, project=path, path=path, remote=remote, known_as=home
            )


def _joins(store: Store, replayed: "ReplayResult", replica: str) -> Iterator[ProjectJoined]:
    """Join the paths of the store that this one was made of with the same paths here, each once."""
    former, places = copied_from(store), replayed.places
    if not replica or former in ("", replica):
        return
    known = {frozenset(join.projects) for join in places.joined}
    taken_over = (name.partition(":") for names in known for name in names)
    paths = {path for machine, _, path in taken_over if machine == former}
    paths |= {path for path, at in places.stays.items() if former in at}
    for path in sorted(paths):
        names = [f"{former}:{path}", f"{replica}:{path}"]
        if frozenset(names) not in known and not replayed.identities.remote(path, former):
            yield ProjectJoined(conversation_id=replica, replica=replica, projects=names)
