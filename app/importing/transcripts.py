"""Past conversations from the transcripts of a host, and what its agent noted."""

from collections.abc import Iterator
from pathlib import Path

from eventlog import hosts
from eventlog.app.importing.notes import statements_of
from eventlog.app.importing.past_conversation import found_in
from eventlog.app.importing.read_ahead import read_each
from eventlog.app.importing.source import Found, ImportRequest
from eventlog.app.machine import Machine
from eventlog.format.events import SessionStart
from eventlog.hosts.profile import profiles
from eventlog.hosts.transcripts.read import find_transcripts
from eventlog.log import days
from eventlog.log.event_log import EventLog
from eventlog.projects.root import project_root

_UUID = 36  # characters


def readable_hosts() -> list[str]:
    """Name the hosts whose past can be read, as the command line calls them."""
    return [room for agent, room in hosts.ROOMS.items() if hosts.part(agent, "past")]


def count_past(host: str, machine: Machine, log: EventLog) -> int:
    """Count the transcripts a host has kept and the log knows nothing of, without reading them.

    A transcript is known by its path, which a start tells, or by an id of a conversation in that; where they cannot be
    read there are none.
    """
    place = profiles()[host].directory(machine.home, machine.environ)
    found = find_transcripts(hosts.agent_name(host), place) if place.is_dir() else []
    if not found:
        return 0
    known = _known_paths(log)
    ids = set(log.index.conversations())
    return sum(str(path) not in known and ids.isdisjoint(_names_in(path)) for path in found)


def _known_paths(log: EventLog) -> set[str]:
    starts = (event for day in log.days() for event in days.load_mentioning(day, [b'"transcript_path"']))
    return {event.transcript_path for event in starts if isinstance(event, SessionStart) and event.transcript_path}


def _names_in(path: Path) -> Iterator[str]:
    """Yield what may be the id of a conversation in the names of a transcript and its directories."""
    for name in (path.stem, *path.parts):
        yield name
        yield name[-_UUID:]


def read_host(host: str, request: ImportRequest) -> Iterator[Found]:
    """Read the past of a host: its transcripts in the order they were last written, then its agent's notes."""
    agent, machine = hosts.agent_name(host), request.machine
    place = request.place(profiles()[host].directory(machine.home, machine.environ))
    progress = request.phases("reading transcripts")
    paths, about = find_transcripts(agent, place), (request.settings, machine.clock())
    each = (found_in(agent, place, *about, named=True),) if paths == [place] else read_each(agent, paths, *about)
    for number, found in enumerate(each, 1):
        yield from found
        progress(number, len(paths))
    list_notes = getattr(hosts.part(agent, "past"), "notes", None)
    for path, about in list_notes(place) if list_notes and place.is_dir() else ():
        yield from statements_of(path, project_root(about) or None if about else str(path.parent), agent)
