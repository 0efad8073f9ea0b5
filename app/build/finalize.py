"""The end of conversations: a summary from the transcript where the agent saved none, and session hooks.

The third of the four nets; it runs when nobody waits. What it could not do it finds again next time.
"""

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from sqlite3 import DatabaseError
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from eventlog.app.build.apply_result import ApplyResult
from eventlog.app.build.codex_export import ExportResult
from eventlog.app.build.publish import PublishResult
from eventlog.app.build.rebuild import leave_indexes, replay_store
from eventlog.app.build.workers import Workers
from eventlog.app.importing.drawings import add_openings, renamed
from eventlog.app.open_store import OpenStore
from eventlog.app.search.meaning import is_installed, settle_meaning
from eventlog.app.search.open_index import ALL, open_index
from eventlog.app.setup.seal import seal_at_end
from eventlog.app.setup.session_hooks.run import run_hooks
from eventlog.app.write.record_once import record_once
from eventlog.format import SESSION_END, timestamps
from eventlog.format.codec import decode_json, from_fields, to_fields
from eventlog.format.errors import Busy
from eventlog.format.events import ConversationText, Event, SessionEnd, SessionStart, StageSummary
from eventlog.hooks import background, error_log
from eventlog.hosts.transcripts import read
from eventlog.hosts.transcripts.draw import draw
from eventlog.hosts.transcripts.prose import Openings
from eventlog.hosts.transcripts.steps import Step
from eventlog.log.event_log import EventLog
from eventlog.settings import cached
from eventlog.settings.schema import Settings
from eventlog.store import Store, files
from eventlog.store.locks import locked

_SILENT_NS = 6 * 3600 * 10**9  # so long without a turn is an end, where the host tells of none
_GIVE_UP_NS = 7 * 24 * 3600 * 10**9
_MICROSECOND = 1000  # nanoseconds


class FinalizeResult(NamedTuple):
    """The summaries drawn, and what the replay after them did: to files, to knowledge bases, to copies for Codex."""

    drawn: list[Event]
    published: PublishResult
    applied: ApplyResult
    copies: ExportResult


class _OpenSession(msgspec.Struct):
    """The note a hook left of a conversation that is to be finalized."""

    session: str
    agent: str = ""
    project: str | None = None
    cwd: str = ""
    transcript: str = ""
    ended: bool = False
    process: str = ""


def finalize(store: Store, opening: Callable[[], OpenStore]) -> Iterator[FinalizeResult]:
    """Settle all ended conversations, round by round; return at once while another process does so.

    The store is opened anew for every round, once it is our turn. A failure is noted, for hooks start this and read no
    stderr, and raised.
    """
    while True:
        with _our_turn(store) as acquired:
            if not acquired:
                return
            try:
                opened = opening()
                yield _finalize_once(opened)
            except Exception as error:
                error_log.note(store, error, b"")
                raise
        if next(_over(opened), None) is None:
            return


def _finalize_once(opened: OpenStore) -> FinalizeResult:
    cached.settings(opened.store)  # hooks without site-packages cannot read config.yaml by themselves
    drawn = _finalize_sessions(opened)
    with Workers(limit=1) as alone:  # nobody waits: others start sooner, and take a quarter more time of the processor
        done = replay_store(opened, indexes=False, workers=alone)
    result = FinalizeResult(drawn, done.published, done.applied, done.copies)
    del done
    gc.collect()  # a replay holds its cache in a cycle; to index a long log takes the memory of that
    seal_at_end(opened.log)
    opened.log.index.catch_up()
    with suppress(DatabaseError, OSError):  # whoever searches next makes up for it
        open_index(opened.store).close()
        leave_indexes(opened, ALL)
        if is_installed():
            settle_meaning(opened)
    return result


@contextmanager
def _our_turn(store: Store) -> Iterator[bool]:
    """Take the lock of the store's finalizer; False where another process has it."""
    try:
        held = locked(store, store.lock("settle"), patience=0)
    except Busy:
        yield False
        return
    with held:
        files.remove(store.cached("settle.starting"))  # from here on, who comes waits for us
        yield True


def _finalize_sessions(opened: OpenStore) -> list[Event]:
    """Summarise all conversations that are over, run their session hooks, and return the summaries.

    A failure is noted and costs only its conversation.
    """
    drawn: list[Event] = []

    def on_end(note: _OpenSession) -> None:
        drawn.extend(_draw(opened.log, note, opened.settings))
        _run_hooks(opened, note, SessionEnd)

    for path in _notes(opened.store, ".started"):
        _process(opened, path, lambda note: _run_hooks(opened, note, SessionStart))
    for path in _over(opened):
        _process(opened, path, on_end)
    return drawn


def _process(opened: OpenStore, path: Path, work: Callable[[_OpenSession], None]) -> None:
    try:
        stamp = path.stat().st_mtime_ns
        work(decode_json(path.read_bytes(), _OpenSession))
        if path.stat().st_mtime_ns == stamp:  # else the conversation came back meanwhile
            path.unlink()
    except Exception as error:  # noqa: BLE001 - no conversation may cost another
        error_log.note(opened.store, error, b"")
        _give_up(opened, path)


def _run_hooks(opened: OpenStore, note: _OpenSession, kind: type[SessionStart | SessionEnd]) -> None:
    """Run the session hooks for the last start or end in the log; a conversation that fell silent has none."""
    events = [event for event in opened.log.session(note.session) if isinstance(event, kind) and not event.subagent]
    if events and (note.ended or kind is SessionStart):
        run_hooks(opened.log, opened.settings, events[-1], note.cwd)


def _draw(log: EventLog, note: _OpenSession, settings: Settings) -> list[Event]:
    """Draw the text to search by from the transcript, and a summary where the agent saved none.

    Returns the summary, unless it says nothing but the topic.
    """
    events, project = log.session(note.session), note.project or ""
    drawing = draw(_steps(note, events), project, settings.locale, note.cwd)
    if drawing is None:
        return []
    openings = Openings()
    openings.add(project, note.session, drawing.opening)
    add_openings(log, openings)
    topic = drawing.topic(project, openings)
    text = drawing.text_fields(topic) if settings.recall.transcripts else None
    if text and (drawn := _event(note, events, "conversation_text", **text)) and not _is_known(drawn, events):
        log.put([drawn])
    if openings.telling_part(project, drawing.opening) != drawing.opening:
        log.put(renamed(log, project, openings))
    summaries = [event for event in events if isinstance(event, StageSummary) and not event.subagent]
    if any(summary.layer != SESSION_END for summary in summaries):  # the agent's own
        return []
    fields = {"layer": SESSION_END, "scope": "session", **drawing.summary_fields(topic)}
    appended = record_once(log, _event(note, events, "stage_summary", **fields))
    return [appended.event] if appended.new and drawing.summary else []


def _is_known(drawn: Event, events: Iterable[Event]) -> bool:
    """Return whether the same was drawn the last time the conversation ended."""
    before = [event for event in events if isinstance(event, ConversationText)]
    known = replace(before[-1], id="", ts=drawn.ts, replica=None) if before else None
    return known is not None and to_fields(known) == to_fields(drawn)


def _steps(note: _OpenSession, events: list[Event]) -> Iterator[Step]:
    """Read the host's own transcript, else what its hooks sent."""
    steps = read.read_transcript(note.agent, note.transcript)
    first = next(steps, None)
    return chain([first], steps) if first else read.logged_steps(events)


def _event(note: _OpenSession, events: list[Event], kind: str, **fields: object) -> Event:
    """Make an event of a conversation, dated right after its last event: a killed session is drawn days later."""
    last = max((event.ts for event in events), default="")
    dated = {"ts": timestamps.from_ns(timestamps.to_ns(last) + _MICROSECOND)} if last else {}
    envelope = {"conversation_id": note.session, "project": note.project, "agent": note.agent or None}
    return from_fields({"type": kind, **dated, **envelope, **fields})


def _notes(store: Store, ending: str) -> list[Path]:
    """List the notes with that ending; none where the directory cannot be read."""
    directory = store.cached("open")
    with suppress(OSError):
        return [Path(directory, name) for name in sorted(os.listdir(directory)) if name.endswith(ending)]  # noqa: PTH208
    return []


def _over(opened: OpenStore) -> Iterator[Path]:
    """Find the notes of conversations that ended, or whose host is gone, or that have been silent for so long."""
    for path in _notes(opened.store, ".json"):
        try:
            note = decode_json(path.read_bytes(), _OpenSession)
            if note.ended or background.is_gone(note.process) or _age(opened, path) > _SILENT_NS:
                yield path
        except (OSError, ValueError):  # half-written at this moment, or damaged
            _give_up(opened, path)


def _give_up(opened: OpenStore, path: Path) -> None:
    """Remove a note that has failed for a week: it will not succeed any more."""
    with suppress(OSError):
        if _age(opened, path) > _GIVE_UP_NS:
            path.unlink()


def _age(opened: OpenStore, path: Path) -> int:
    return opened.machine.clock() - path.stat().st_mtime_ns
