"""A person says that two projects are one: an event, which a retraction takes back."""

from eventlog.app.known_projects import about, name_of
from eventlog.app.open_store import OpenStore
from eventlog.errors import BadRequest
from eventlog.events import HUMAN, ProjectJoined
from eventlog.replica import make_replica


def join_projects(opened: OpenStore, one: str, other: str) -> ProjectJoined:
    """Store that the projects of two paths are one; raises BadRequest where they are already, or NotStored."""
    make_replica(opened.store)
    if about(opened.store, one)(other, None):
        raise BadRequest(f"{one} and {other} are one project already")
    names = [name_of(opened.store, path) for path in (one, other)]
    stored = opened.log.put([ProjectJoined(conversation_id=HUMAN, agent=HUMAN, projects=names)])[0].event
    assert isinstance(stored, ProjectJoined)
    return stored
