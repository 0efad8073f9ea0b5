"""Past conversations from the transcripts of a host, and what its agent noted."""

from collections.abc import Iterator

from eventlog import hosts
from eventlog.app.importing.notes import statements_of
from eventlog.app.importing.past_conversation import found_in
from eventlog.app.importing.read_ahead import read_each
from eventlog.app.importing.source import Found, ImportRequest
from eventlog.app.machine import Machine
from eventlog.hosts import outline as past
from eventlog.hosts.profile import directory_of, profiles
from eventlog.project import project_root


def readable_hosts() -> list[str]:
    """Name the hosts whose past can be read, as the command line calls them."""
    return [room for agent, room in hosts.ROOMS.items() if hosts.part(agent, "past")]


def count_past(host: str, machine: Machine) -> int:
    """Count the transcripts a host has kept, without reading them; none where they cannot be read."""
    place = directory_of(profiles()[host], machine.home, machine.environ)
    return len(past.transcripts(hosts.named(host), place)) if place.is_dir() else 0


def read_host(host: str, request: ImportRequest) -> Iterator[Found]:
    """Read the past of a host: its transcripts in the order they were last written, then its agent's notes."""
    agent, machine = hosts.named(host), request.machine
    place = request.place(directory_of(profiles()[host], machine.home, machine.environ))
    progress = request.phases("reading transcripts")
    paths, about = past.transcripts(agent, place), (request.settings, machine.clock())
    each = (found_in(agent, place, *about, named=True),) if paths == [place] else read_each(agent, paths, *about)
    for number, found in enumerate(each, 1):
        yield from found
        progress(number, len(paths))
    list_notes = getattr(hosts.part(agent, "past"), "notes", None)
    for path, about in list_notes(place) if list_notes and place.is_dir() else ():
        yield from statements_of(path, project_root(about) or None if about else str(path.parent), agent)
