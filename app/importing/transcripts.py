"""Past conversations of a host: its transcripts, and its agent's notes.

A transcript becomes a start, an end, a summary and a searchable text; a subagent's only a summary under its
conversation, for audits. All are read before the first becomes events, for what several sessions
begin with is the topic of none. A second process reads ahead; transcripts it does not answer for are read here.
"""

import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import eventlog
from eventlog import hosts
from eventlog.app.importing.drawings import openings_in
from eventlog.app.importing.notes import statements_of
from eventlog.app.importing.source import BadPlace, Found, ImportRequest, PastEvents, SourceEvent
from eventlog.app.open_store import Machine
from eventlog.format import SESSION_END, timestamps
from eventlog.format.errors import system_reason
from eventlog.format.events import SessionStart
from eventlog.hosts.profile import profiles
from eventlog.hosts.transcripts.draw import Drawing, draw
from eventlog.hosts.transcripts.past_session import PastSession
from eventlog.hosts.transcripts.read import find_transcripts, read_transcript
from eventlog.hosts.transcripts.topic import Openings
from eventlog.log import days
from eventlog.log.event_log import EventLog
from eventlog.projects.root import project_root
from eventlog.settings.schema import Settings

_UUID = 36  # characters
_OPEN_NS = 3600 * 10**9  # a conversation without an event for so long is over
_IMPORT = "import"

_FEWEST = 500  # transcripts; fewer are read before another process has started
_AT_ONCE = 16
_AHEAD = 1 << 20  # bytes in the pipe: as much as this process writes at a time
_READER = """import sys
sys.path.insert(0, sys.argv[1])
from eventlog.app.importing.transcripts import answer
answer(sys.stdin.buffer, sys.stdout.buffer)"""


def readable_hosts() -> list[str]:
    """Name the hosts with readable transcripts, as on the command line."""
    return [room for agent, room in {**hosts.rooms(), **hosts.PAST_ONLY}.items() if hosts.part(agent, "past")]


def transcripts_place(host: str, machine: Machine) -> Path:
    """Return the directory of a host with readable transcripts."""
    if host in hosts.PAST_ONLY.values():
        return Path(machine.home, hosts.part(host, "past").HOME)
    return profiles()[host].directory(machine.home, machine.environ)


def count_past(host: str, machine: Machine, log: EventLog) -> int:
    """Count the transcripts of a host that the log does not have, without reading them.

    The log has a transcript whose path a start names, or whose name has the id of a conversation.
    """
    place = transcripts_place(host, machine)
    found = find_transcripts(hosts.agent_name(host), place) if place.is_dir() else []
    if not found:
        return 0
    starts = (event for day in log.days() for event in days.load_mentioning(day, [b'"transcript_path"']))
    paths = {event.transcript_path for event in starts if isinstance(event, SessionStart) and event.transcript_path}
    ids = set(log.index.conversations())
    return sum(str(path) not in paths and ids.isdisjoint(_possible_ids(path)) for path in found)


def _possible_ids(path: Path) -> Iterator[str]:
    """Yield the parts of a transcript's path that may be the id of its conversation."""
    for name in (path.stem, *path.parts):
        yield name
        yield name[-_UUID:]


def read_host(host: str, request: ImportRequest) -> Iterator[Found]:
    """Read the past of a host: its transcripts in the order they were last written, then its agent's notes."""
    agent, machine = hosts.agent_name(host), request.machine
    place = request.place(transcripts_place(host, machine))
    progress = request.phases("reading transcripts")
    paths, about = find_transcripts(agent, place), (request.settings, machine.clock())
    each = (read_session(agent, place, *about, named=True),) if paths == [place] else read_each(agent, paths, *about)
    found: list[Transcript | BadPlace] = []
    for number, read in enumerate(each, 1):
        found += read
        progress(number, len(paths))
    yield from _events_of(found, agent, request)
    list_notes = getattr(hosts.part(agent, "past"), "notes", None)
    for path, directory in list_notes(place) if list_notes and place.is_dir() else ():
        yield from statements_of(path, project_root(directory) or None if directory else str(path.parent), agent)


# ------------------------------------------------------------------------------------------------ a second process


def read_each(
    agent: str, paths: Sequence[Path], settings: Settings, now: int
) -> "Iterator[list[Transcript | BadPlace]]":
    """Yield what each transcript holds, in the order of the paths."""
    done = 0
    if len(paths) >= _FEWEST:
        for found in _read_ahead(agent, paths, settings, now):
            yield found
            done += 1
    yield from (read_session(agent, path, settings, now) for path in paths[done:])


def _read_ahead(
    agent: str, paths: Sequence[Path], settings: Settings, now: int
) -> "Iterator[list[Transcript | BadPlace]]":
    """Yield the results of another process as long as it answers; it is at most a pipe's length ahead."""
    command = [sys.executable, "-I", "-c", _READER, str(Path(eventlog.__file__).parents[1])]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    try:
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=null, pipesize=_AHEAD) as reader:
            assert reader.stdin is not None
            assert reader.stdout is not None
            try:
                pickle.dump((agent, paths, settings, now), reader.stdin)
                reader.stdin.flush()
                while True:
                    yield from pickle.load(reader.stdout)  # noqa: S301 - our own process wrote it
            finally:
                reader.kill()
    except (OSError, EOFError, pickle.UnpicklingError):
        return


def answer(asked: BinaryIO, answered: BinaryIO) -> None:
    """Read all requested transcripts, and answer with what they hold, several at a time."""
    agent, paths, settings, now = pickle.load(asked)  # noqa: S301 - our own process wrote it
    for start in range(0, len(paths), _AT_ONCE):
        found = [read_session(agent, path, settings, now) for path in paths[start : start + _AT_ONCE]]
        pickle.dump(found, answered)
        answered.flush()


# ------------------------------------------------------------------------------------------------ a transcript


class Transcript(NamedTuple):
    """A transcript that was read: its head, its project, and what is drawn of it; `is_open` while it may go on."""

    path: Path
    session: PastSession
    project: str | None
    drawing: Drawing
    is_open: bool


def read_session(
    agent: str, path: Path, settings: Settings, now: int, *, named: bool = False
) -> list[Transcript | BadPlace]:
    """Read a transcript at a time in nanoseconds; one `named` by the user counts as over."""
    damaged: list[int] = []
    try:
        session: PastSession | None = hosts.part(agent, "past").past_session(path, damaged)
        project = (project_root(session.where) or None) if session and session.where.startswith("/") else None
        drawing = draw(read_transcript(agent, str(path)), project or "", settings.locale) if session else None
    except OSError as error:
        return [BadPlace(str(path), system_reason(error)[0])]
    found: list[Transcript | BadPlace] = [BadPlace(f"{path}:{line}", "not a JSON object") for line in damaged]
    if session is None and named:
        found.append(BadPlace(str(path), f"no transcript of {agent}"))
    if session and drawing:
        is_open = not named and now - timestamps.to_ns(session.ended) < _OPEN_NS
        found.append(Transcript(path, session, project, drawing, is_open))
    return found


def _events_of(found: Sequence[Transcript | BadPlace], agent: str, request: ImportRequest) -> Iterator[Found]:
    """Yield the events of each transcript, once it is known what sessions begin with, here and in the log."""
    openings = openings_in(request.store)
    for item in found:
        if isinstance(item, Transcript) and not item.session.subagent:
            openings.add(item.project or "", item.session.conversation, item.drawing.opening)
    for item in found:
        if isinstance(item, BadPlace):
            yield item
        else:
            yield PastEvents(tuple(_events(agent, item, openings, request.settings)), str(item.path), item.is_open)


def _events(agent: str, transcript: Transcript, openings: Openings, settings: Settings) -> Iterator[SourceEvent]:
    path, session, project, drawing, _ = transcript
    common = {"conversation_id": session.conversation, "project": project, "agent": agent}
    common |= {"subagent": session.subagent} if session.subagent else {}
    topic = drawing.topic(project or "", Openings() if session.subagent else openings)
    summary = {"type": "stage_summary", "layer": SESSION_END, "scope": "session", **drawing.summary_fields(topic)}
    at_end: list[dict[str, Any]] = [summary]
    if not session.subagent:
        text = drawing.text_fields(topic) if settings.recall.transcripts else None
        at_end += [_end(session), {"type": "conversation_text", **text} if text else {}]
    start = [] if session.subagent else [(session.started, _start(session, path))]
    for ts, fields in chain(start, ((session.ended, fields) for fields in at_end if fields)):
        key = "\n".join((_IMPORT, agent, session.conversation, session.subagent, str(fields["type"])))
        yield SourceEvent({"ts": ts, **common, **fields}, key, session.is_dated)


def _start(session: PastSession, path: Path) -> dict[str, Any]:
    return {
        "type": "session_start",
        "source": _IMPORT,
        "model": session.model or None,
        "git_branch": session.branch or None,
        "git_commit": session.commit or None,
        "transcript_path": str(path),
    }


def _end(session: PastSession) -> dict[str, Any]:
    lasted = (timestamps.to_ns(session.ended) - timestamps.to_ns(session.started)) / 1_000_000
    return {"type": "session_end", "reason": _IMPORT, "duration_ms": lasted if session.is_dated else None}
