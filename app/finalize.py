"""What ended conversations leave to do: a summary from the transcript where the agent saved none, and session hooks.

The third of the four nets; it runs when nobody waits. What it could not do it finds again next time.
"""

import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import msgspec

from eventlog.app.record import record_once
from eventlog.app.session_hooks.run_hooks import run_hooks
from eventlog.codec import from_fields
from eventlog.events import Event, SessionEnd, SessionStart, StageSummary
from eventlog.hooks import error_log, open_sessions
from eventlog.hosts import find_transcript, steps_from_log
from eventlog.hosts.steps import Step
from eventlog.hosts.summarise import TranscriptSummary, summarise
from eventlog.log import EventLog
from eventlog.settings.schema import Settings

LAYER = 3
_SILENT_NS = 6 * 3600 * 10**9  # so long without a turn is an end, where the host tells of none
_GIVE_UP_NS = 7 * 24 * 3600 * 10**9
_DEFAULTS = Settings()


class OpenSession(msgspec.Struct):
    """What a hook left of a conversation."""

    session: str
    agent: str = ""
    project: str | None = None
    cwd: str = ""
    transcript: str = ""
    ended: bool = False


_decoder = msgspec.json.Decoder(OpenSession)


def finalize(log: EventLog, settings: Settings = _DEFAULTS) -> list[Event]:
    """The summaries drawn of all conversations that are over; a failure is noted and costs only its conversation."""
    drawn: list[Event] = []

    def over(note: OpenSession) -> None:
        drawn.extend(_summarise_one(log, note, settings.locale))
        _run_hooks(log, settings, note, SessionEnd)

    for path in _started(log):
        _process(log, path, lambda note: _run_hooks(log, settings, note, SessionStart))
    for path in _over(log):
        _process(log, path, over)
    return drawn


def any_left(log: EventLog) -> bool:
    """Whether a conversation that is over has not been seen to."""
    return any(True for _ in _over(log))


def _process(log: EventLog, path: Path, work: Callable[[OpenSession], None]) -> None:
    try:
        stamp = path.stat().st_mtime_ns
        work(_decoder.decode(path.read_bytes()))
        _take_away(path, stamp)
    except Exception as error:  # noqa: BLE001 - one conversation must never cost another
        error_log.note(log.store, error, b"")
        _give_up(path)


def _run_hooks(log: EventLog, settings: Settings, note: OpenSession, kind: type[SessionStart | SessionEnd]) -> None:
    """For the last start or end the log knows of; a conversation that fell silent has none."""
    events = [event for event in log.session(note.session) if isinstance(event, kind) and not event.subagent]
    if events and (note.ended or kind is SessionStart):
        run_hooks(log, settings, events[-1], note.cwd)


def _summarise_one(log: EventLog, note: OpenSession, locale: str) -> list[Event]:
    events = log.session(note.session)
    if any(isinstance(event, StageSummary) and event.layer != LAYER and not event.subagent for event in events):
        return []
    found = summarise(_steps(note, events), locale)
    if not found:
        return []
    appended = record_once(log, _event(note, found))
    return [appended.event] if appended.new else []


def _steps(note: OpenSession, events: list[Event]) -> Iterator[Step]:
    """Of the host's own transcript, else of what its hooks told us."""
    steps = find_transcript.read_transcript(note.agent, note.transcript)
    first = next(steps, None)
    return chain([first], steps) if first else steps_from_log.steps(events)


def _event(note: OpenSession, drawn: TranscriptSummary) -> Event:
    return from_fields(
        {
            "type": "stage_summary",
            "conversation_id": note.session,
            "project": note.project,
            "agent": note.agent or None,
            "layer": LAYER,
            "scope": "session",
            "topic": drawn.topic,
            "summary": drawn.summary,
            "decisions": drawn.decisions,
            "todos": drawn.todos,
        }
    )


def _started(log: EventLog) -> list[Path]:
    return sorted(Path(open_sessions.directory(log.store)).glob("*.started"))


def _over(log: EventLog) -> Iterator[Path]:
    """Notes of conversations that ended, or have been silent for so long that they must have."""
    for path in sorted(Path(open_sessions.directory(log.store)).glob("*.json")):
        try:
            note = _decoder.decode(path.read_bytes())
            if note.ended or _age(path) > _SILENT_NS:
                yield path
        except (OSError, msgspec.MsgspecError):  # half-written at this moment, or damaged
            _give_up(path)


def _take_away(path: Path, stamp: int) -> None:
    """Unless the conversation came back meanwhile."""
    if path.stat().st_mtime_ns == stamp:
        path.unlink()


def _give_up(path: Path) -> None:
    """What has failed for a week will not succeed any more."""
    try:
        if _age(path) > _GIVE_UP_NS:
            path.unlink()
    except OSError:
        return


def _age(path: Path) -> int:
    return time.time_ns() - path.stat().st_mtime_ns
