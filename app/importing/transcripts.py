"""Past conversations of a host: its transcripts, and its agent's notes; and Markdown files of notes.

A transcript becomes a start, an end, a summary and a searchable text; a subagent's only a summary under its
conversation, for audits. All are read before the first becomes events, for what several sessions
begin with is the topic of none. Where there are many, as many processes as there are processors read them.

Of Markdown files that people and agents use as memory, each bullet and each paragraph is a fact. Code, tables, the
front matter and bullets that only link to another file hold no statements. A statement without a day of its own has
that of the file's name, else the file's time.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from eventlog import hosts
from eventlog.app.build.workers import Workers
from eventlog.app.importing.drawings import PROGRAM, add_openings
from eventlog.app.importing.source import BadPlace, Found, ImportRequest, PastEvents, SourceEvent
from eventlog.app.open_store import Machine
from eventlog.app.progress import report
from eventlog.format import SESSION_END, ids, timestamps
from eventlog.format.errors import system_reason
from eventlog.format.events import SessionStart
from eventlog.format.text import one_line, same_text
from eventlog.hosts.profile import profiles
from eventlog.hosts.transcripts.draw import Drawing, draw
from eventlog.hosts.transcripts.prose import Openings
from eventlog.hosts.transcripts.read import find_transcripts, read_transcript
from eventlog.hosts.transcripts.steps import PastSession
from eventlog.log.event_log import EventLog
from eventlog.projections.views.markdown import undated
from eventlog.projects.root import find_repository, project_root
from eventlog.secrets import scrub_text
from eventlog.settings.schema import Settings
from eventlog.store.files import read_regular

_UUID = 36  # characters
_OPEN_NS = 3600 * 10**9  # a conversation without an event for so long is over
_IMPORT = "import"
_FEWEST = 100  # transcripts; fewer are read before other processes have started


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
    paths = {start.transcript_path for start in log.of_types(SessionStart)}
    logged = set(log.index.conversations())
    names = {path: (path.stem, *path.parts) for path in found if str(path) not in paths}
    return sum(logged.isdisjoint((*parts, *(part[-_UUID:] for part in parts))) for parts in names.values())


def read_host(host: str, request: ImportRequest) -> Iterator[Found]:
    """Read the past of a host: its transcripts in the order they were last written, then its agent's notes."""
    agent, machine = hosts.agent_name(host), request.machine
    place = request.place(transcripts_place(host, machine))
    paths = find_transcripts(agent, place)
    read = partial(_read_session, agent, settings=request.settings, now=machine.clock(), named=paths == [place])
    found: list[_ReadTranscript | BadPlace] = []
    with report("reading transcripts") as progress, Workers() as helping:
        each = helping.map(read, paths) if helping.are_any and len(paths) >= _FEWEST else map(read, paths)
        for number, of_path in enumerate(each, 1):
            found += of_path
            progress(number, len(paths))
    yield from _events_of(found, agent, request)
    list_notes = getattr(hosts.part(agent, "past"), "notes", None)
    for path, directory in list_notes(place) if list_notes and place.is_dir() else ():
        yield from _statements_of(path, project_root(directory) or None if directory else str(path.parent), agent)


# ------------------------------------------------------------------------------------------------ a transcript


class _ReadTranscript(NamedTuple):
    """A transcript that was read: its head, its project, and what is drawn of it; `is_open` while it may go on."""

    path: Path
    session: PastSession
    project: str | None
    drawing: Drawing
    is_open: bool


def _read_session(
    agent: str, path: Path, settings: Settings, now: int, *, named: bool = False
) -> list[_ReadTranscript | BadPlace]:
    """Read a transcript at a time in nanoseconds; one `named` by the user counts as over."""
    damaged: list[int] = []
    try:
        session: PastSession | None = hosts.part(agent, "past").past_session(path, damaged)
        project = (project_root(session.where) or None) if session and Path(session.where).is_absolute() else None
        steps = read_transcript(agent, str(path))
        drawing = draw(steps, project or "", settings.locale, session.where) if session else None
    except OSError as error:
        return [BadPlace(str(path), system_reason(error)[0])]
    if session and drawing and drawing.is_errand:  # told like a helper: there may be one for each commit
        session = session._replace(subagent=session.subagent or PROGRAM)
    found: list[_ReadTranscript | BadPlace] = [BadPlace(f"{path}:{line}", "not a JSON object") for line in damaged]
    if session is None and named:
        found.append(BadPlace(str(path), f"no transcript of {agent}"))
    if session and drawing:
        is_open = not named and now - timestamps.to_ns(session.ended) < _OPEN_NS
        found.append(_ReadTranscript(path, session, project, drawing, is_open))
    return found


def _events_of(found: Sequence[_ReadTranscript | BadPlace], agent: str, request: ImportRequest) -> Iterator[Found]:
    """Yield the events of each transcript, once it is known what sessions begin with, here and in the log."""
    openings = Openings()
    for item in found:
        if isinstance(item, _ReadTranscript) and not item.session.subagent:
            openings.add(item.project or "", item.session.conversation, item.drawing.opening)
    add_openings(EventLog(request.store), openings)
    for item in found:
        if isinstance(item, BadPlace):
            yield item
        else:
            yield PastEvents(tuple(_events(agent, item, openings, request.settings)), str(item.path), item.is_open)


def _events(agent: str, transcript: _ReadTranscript, openings: Openings, settings: Settings) -> Iterator[SourceEvent]:
    path, session, project, drawing, _ = transcript
    common = {"conversation_id": session.conversation, "project": project, "agent": agent}
    topic = drawing.topic(project or "", Openings() if session.subagent else openings)
    summary = {"type": "stage_summary", "layer": SESSION_END, "scope": "session", **drawing.summary_fields(topic)}
    found: list[tuple[str, dict[str, Any]]] = [(session.ended, summary)]
    if session.subagent:
        common["subagent"] = session.subagent
    else:
        begun = {"model": session.model, "git_branch": session.branch, "git_commit": session.commit}
        start = {"type": "session_start", "source": _IMPORT, **{name: value or None for name, value in begun.items()}}
        lasted = (timestamps.to_ns(session.ended) - timestamps.to_ns(session.started)) / 1_000_000
        ended = {"reason": _IMPORT, "duration_ms": lasted if session.is_dated else None, "turns": drawing.turns}
        text = drawing.text_fields(topic) if settings.recall.transcripts else None
        found = [(session.started, {**start, "transcript_path": str(path)}), *found]
        found += [(session.ended, {"type": "session_end", **ended})] if drawing.turns else []  # else it was broken off
        found += [(session.ended, {"type": "conversation_text", **text})] if text else []
    for ts, fields in found:
        key = "\n".join((_IMPORT, agent, session.conversation, session.subagent, str(fields["type"])))
        yield SourceEvent({"ts": ts, **common, **fields}, key, session.is_dated)


# ------------------------------------------------------------------------------------------------ notes

_BULLET = re.compile(r"(?P<indent> *)(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>\S.*)")
_HEADING = re.compile(r"#{1,6}\s+(?P<text>.*?)\s*#*")
_FENCE = re.compile(r"\s*(```|~~~)")
_INDEX = re.compile(r"\[[^\]]*\]\([^)]*\.md\)(?:\s*[-–—:].*)?")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FRONT = re.compile(r"---\n(?P<fields>.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^\s*(?P<name>type|description):[ \t]*(?P<value>.+?)[ \t]*$", re.MULTILINE)
_ABOUT_THE_USER = {"user": {"memory_type": "B"}, "feedback": {"category": "preference"}}  # types of an agent's notes
_LONGEST_FILE = 4 << 20  # bytes


class _Statement(NamedTuple):
    line: int
    text: str
    heading: str
    is_bullet: bool


def _statements_of(path: Path, project: str | None, agent: str | None, *, bullets: bool = False) -> Iterator[Found]:
    """Read the statements of a file as facts; only its `bullets` where it holds instructions, not notes."""
    try:
        data = read_regular(str(path), _LONGEST_FILE)
        if len(data) == _LONGEST_FILE:  # of its last line the end may be missing
            data = data[: data.rfind(b"\n") + 1]
        text = scrub_text(data.decode("utf-8-sig").replace("\r\n", "\n"))  # whole: a key has several lines
        written = timestamps.from_ns(path.stat().st_mtime_ns)
        written = _noon(path.stem, written) or written  # daily notes are named by their day
    except OSError as error:
        yield BadPlace(str(path), system_reason(error)[0])
        return
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield BadPlace(f"{path}:{line}", "not UTF-8")
        return
    conversation = f"{path.name}-{ids.digest(str(path), 4).hex()}"
    front, body = _front_matter(text)
    common = {"conversation_id": conversation, "project": project, "agent": agent}
    statements = [found for found in _statements(body) if found.is_bullet or not bullets]
    description = one_line(front.get("description", ""))
    if not statements and description and not bullets:
        statements = [_Statement(1, description, "", is_bullet=False)]
    seen = set()
    for statement in statements:
        key = f"import\nstatement\n{path}\n{same_text(statement.text)}"
        if key not in seen:
            seen.add(key)
            kind = {"category": one_line(statement.heading).lower() or None}
            kind |= _ABOUT_THE_USER.get(front.get("type", ""), {})
            day, rest = undated(statement.text)  # a day may stand before it, as memory files have it
            noon = _noon(day, written)
            dated = {"ts": noon or written, "content": rest if noon else statement.text}
            fields = {"type": "fact", **dated, **common, **kind}
            yield PastEvents((SourceEvent(fields, key, is_dated=False),), f"{path}:{statement.line}")


def _noon(day: str, written: str) -> str | None:
    """Return the noon of a day, or the time of the file, if that is earlier; None for what is no day of its past."""
    if not "" < day <= written:
        return None
    try:
        return min(timestamps.read(f"{day}T12:00:00Z"), written)
    except ValueError:
        return None


def read_bullets(request: ImportRequest) -> Iterator[Found]:
    """Read the bullets of a file as facts of the project that contains it, else about the user."""
    path = request.place()
    inside = find_repository(str(path.parent))
    yield from _statements_of(path, project_root(str(path.parent)) if inside else None, None, bullets=True)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Split the type and description in a file's front matter from the rest, whose line numbers stay."""
    found = _FRONT.match(text)
    if not found:
        return {}, text
    fields = {field["name"]: field["value"].strip("\"'") for field in _FIELD.finditer(found["fields"])}
    return fields, "\n" * found[0].count("\n") + text[found.end() :]


def _statements(text: str) -> Iterator[_Statement]:
    """Yield bullets with the text indented below them, and paragraphs, each on a line, with the heading above."""
    plain = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    heading, fenced = "", False
    open_lines: list[str] = []
    begun, is_bullet = 0, False

    def close() -> Iterator[_Statement]:
        text = one_line(" ".join(open_lines))
        open_lines.clear()
        if text and not _INDEX.fullmatch(text):
            yield _Statement(begun, text, heading, is_bullet)

    for number, line in enumerate(plain.split("\n"), 1):
        if _FENCE.match(line):
            yield from close()
            fenced = not fenced
        elif fenced or line.lstrip().startswith("|"):
            continue
        elif found := _HEADING.fullmatch(line):
            yield from close()
            heading = found["text"]
        elif not line.strip():
            yield from close()
        elif (found := _BULLET.fullmatch(line)) and not (found["indent"] and is_bullet and open_lines):
            yield from close()
            begun, is_bullet = number, True
            open_lines.append(found["text"])
        elif open_lines:
            open_lines.append(found["text"] if found else line)
        else:
            begun, is_bullet = number, False
            open_lines.append(line)
    yield from close()
