"""Everything there is to tell a session, loaded once; what is told to whom is decided here and nowhere else.

New         bases, user files, notes of today and yesterday, recent facts, memories, the project's last summaries.
Came back   the same, and of all summaries only its own (`resume`, `compact`, `fork`; else, where it has one).
Shared      no memory, and nothing about the user, wherever it may be kept.
"""

import hashlib
import os
from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from eventlog import timestamps
from eventlog.events import ContextInjected, Event, Fact, KnownFile, SessionStart
from eventlog.log import EventLog
from eventlog.projections.base import Line
from eventlog.projections.context import context_files
from eventlog.projections.context.agent_context import ContextFile, FileLoadResult, SessionType
from eventlog.projections.context.drop_retracted import drop_retracted, without_replaced, without_withdrawn_sections
from eventlog.projections.context.loaded_by_host import loaded_by_host
from eventlog.projections.context.loader import Loader
from eventlog.projections.context.past_summaries import PastSummaries
from eventlog.projections.context.phrases import PHRASES, ContextPhrases
from eventlog.projections.context.recent_events import events_of, said_between
from eventlog.projections.context.recent_facts import recent_facts
from eventlog.projections.labels import LABELS
from eventlog.projections.stamp import stamped_at
from eventlog.projections.state.conversations import Conversation, Conversations
from eventlog.projections.views.daily_notes import Local, lines, local_time, notes
from eventlog.settings.schema import Settings

_CAME_BACK = ("resume", "compact", "fork")
NEW = ("startup", "clear", "new")
_NOTES_DAYS = 3  # UTC days that yesterday and today can touch, wherever the user lives
_DAY_MS = 86_400_000
_TOLERANCE_MS = _DAY_MS  # clocks of machines whose logs were brought together may differ


class ContextRequest(Struct, frozen=True):
    """Who asks, where and when.

    `head` is what the agent is told in any case. `session_type` None: as the session's start in the log says.
    """

    now: str  # timestamp of the log
    home: str
    project: str = ""
    session_id: str = ""
    session_type: SessionType | None = None
    source: str = ""  # startup, resume, clear, compact, …
    agent: str = ""
    instructions: str = ""
    bootstrap: str = ""  # what only the first session of all is told
    budget: int | None = None  # characters; None: as configured
    program: str = "eventlog"  # how the agent's shell calls us
    store_option: str = ""  # the option that leads to a store of another place


class ContextSources:
    """The parts of one context."""

    def __init__(self, log: EventLog, settings: Settings, request: ContextRequest) -> None:
        self.log, self.settings, self.request = log, settings, request
        self.words: ContextPhrases = PHRASES[settings.locale]
        self.local: Local = local_time(settings.timezone)
        self.session_type = SessionType(request.session_type or _declared(log, request.session_id))
        self.left_out: list[str] = []
        loader = Loader(f"{log.store.cache}/context", datetime.fromisoformat(request.now))
        self.loaded = [(file, loader.load(file)) for file in self._files()]
        self._since, self._until = self._window()
        lately = said_between(log, self._since, self._until, self._is_visible)
        self.loaded = [(file, self._without_withdrawn(file, result, lately)) for file, result in self.loaded]
        self.facts = recent_facts(lately, request.now, settings.context, self.local)
        self.notes = list(self._notes(lately))  # day, and its lines
        self._rendered: list[KnownFile] = []
        self.summaries = list(self._summaries(lately))  # title, and its lines

    @property
    def shared(self) -> bool:
        """Whether others than the user listen."""
        return self.session_type is SessionType.SHARED

    @property
    def results(self) -> list[FileLoadResult]:
        """How each file fared, in load order."""
        return [result for _, result in self.loaded]

    def contents(self, order: int) -> list[str]:
        """What the files of one kind say."""
        return [
            result.content for file, result in self.loaded if file.load_order == order and result.content is not None
        ]

    def content(self, order: int) -> str | None:
        """The same in one text; None where no such file is there."""
        return "\n".join(self.contents(order)) if self.contents(order) else None

    def version(self) -> str:
        """A digest of all that was loaded: another version, another context."""
        loaded = [(result.file_path, result.content) for result in self.results if result.content is not None]
        said = [line.text for _, part in (*self.notes, *self.summaries) for line in part]
        facts = [one.statements[-1].id for one in self.facts]
        return hashlib.sha256(repr((self.session_type, loaded, said, facts)).encode("utf-8", "replace")).hexdigest()

    def known(self) -> list[KnownFile]:
        """The files, for the receipt."""
        loaded = ((result.file_path, (result.content or "").encode("utf-8", "replace")) for result in self.results)
        known = [KnownFile(path, hashlib.sha256(data).hexdigest(), stamped_at(data)) for path, data in loaded if data]
        return [*known, *self._rendered]

    def _files(self) -> Iterator[ContextFile]:
        request, store = self.request, self.log.store
        theirs = loaded_by_host(request.agent, request.project, request.home) if request.agent else set()
        for file in context_files.context_files(self.settings, store, request.project, request.home):
            if self.shared and file.main_session_only:
                continue
            if theirs and os.path.realpath(file.path) in theirs:
                self.left_out.append(file.path)
            else:
                yield file

    def _without_withdrawn(self, file: ContextFile, result: FileLoadResult, lately: Conversations) -> FileLoadResult:
        if not result.content:
            return result
        if file.load_order != context_files.MEMORY:
            return replace(result, content=without_withdrawn_sections(result.content, self.log, lately.retractions))
        rendered_at = stamped_at(result.content.encode()) or ""
        said = lately
        if rendered_at < self._since:  # what was withdrawn before that time is not in what was said lately
            said = said_between(self.log, rendered_at, self._until, self._is_visible)
        return replace(result, content=drop_retracted(result.content, self.log, said))

    def _window(self) -> tuple[str, str]:
        """From when to when the log is read."""
        context = self.settings.context
        days = max(context.days_full, context.days_partial, context.days_max, _NOTES_DAYS)
        now = timestamps.to_ms(self.request.now)
        return _ts(now - days * _DAY_MS), _ts(now + _TOLERANCE_MS)

    def _is_visible(self, event: Event) -> bool:
        """Of this project, or about the user where the user alone listens; what belongs to no project is the user's."""
        if isinstance(event, Fact) and event.effective_scope == "user":
            return not self.shared
        return (event.project or "") == self.request.project and not (self.shared and not event.project)

    def _notes(self, lately: Conversations) -> Iterator[tuple[str, list[Line]]]:
        """Of today and yesterday; facts are told in their own section, and who came back hears of itself only."""
        since = _ts(timestamps.to_ms(self.request.now) - _NOTES_DAYS * _DAY_MS)
        told = Conversations(retractions=lately.retractions)
        for one in lately.by_id.values():
            if self.request.source in _CAME_BACK and one.id != self.request.session_id:
                continue
            if summaries := [summary for summary in one.summaries if summary.ts >= since]:
                told.by_id[one.id] = Conversation(one.id, first_project=one.first_project, summaries=summaries)
        found = notes(told, self.local)
        today = self.local(self.request.now)[:10]
        for day in (today, _day_before(today)):
            if day in found and found[day].items:
                yield day, list(lines(day, found[day], LABELS[self.settings.locale], self.local))

    def _summaries(self, lately: Conversations) -> Iterator[tuple[str, tuple[Line, ...]]]:
        request = self.request
        past = PastSummaries(self.log, self.settings, lately, self._since, self._until, self._is_visible)
        own = past.own(request.session_id) if request.session_id and request.source not in NEW else ()
        if own:
            yield self.words.own_summary, own
        if own or request.source in _CAME_BACK or not request.project:
            return
        newest = past.newest(request.project, request.session_id, shared=self.shared)
        for one in islice((one for one in newest if one.lines), self.settings.context.summaries):
            self._rendered += [one.file] if one.file else []
            told = without_replaced(one.lines, events_of(self.log, one.name), lately)
            if any(line.text and not line.text.startswith("#") for line in told):
                yield self.words.last_summary.format(session=one.name), told


def _declared(log: EventLog, session_id: str) -> SessionType:
    """Shared once is shared for good."""
    events = events_of(log, session_id) if session_id else []
    told = (one.session_type for one in events if isinstance(one, SessionStart | ContextInjected))
    return SessionType.SHARED if "shared" in told else SessionType.MAIN


def _ts(ms: int) -> str:
    return timestamps.from_ns(ms * 1_000_000)


def _day_before(day: str) -> str:
    return timestamps.from_ns((timestamps.to_ms(f"{day}T00:00:00.000000Z") - 1) * 1_000_000)[:10]
