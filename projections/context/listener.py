"""One session that listens: which files and which events it may hear of, and what it is told of each.

New         bases, user files, notes of today and yesterday, recent facts, memories, the project's last summaries.
Came back   the same, and of all summaries only its own (`resume`, `compact`, `fork`; else, where it has one).
Shared      no memory, and nothing about the user, wherever it may be kept.
"""

import os
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from eventlog.format import timestamps
from eventlog.format.events import Event, Fact, KnownFile, StageSummary
from eventlog.log.event_log import EventLog
from eventlog.projections.base import Line
from eventlog.projections.context import context_files
from eventlog.projections.context.agent_context import ContextFile, FileLoadResult, SessionType
from eventlog.projections.context.drop_retracted import drop_retracted, without_replaced, without_withdrawn_sections
from eventlog.projections.context.loaded_by_host import loaded_by_host
from eventlog.projections.context.open_todos import open_todos
from eventlog.projections.context.past_summaries import PastSummaries
from eventlog.projections.context.phrases import PHRASES
from eventlog.projections.context.recent_events import events_of, said_between
from eventlog.projections.context.request import CAME_BACK, NEW, ContextRequest
from eventlog.projections.context.strays import Strays
from eventlog.projections.context.work_at_hand import Bearing
from eventlog.projections.current.conversations import Conversation, Conversations
from eventlog.projections.engine.row_store import RowStore
from eventlog.projections.views.daily_notes import lines, local_time, notes
from eventlog.projections.views.labels import LABELS
from eventlog.projections.views.markdown import stamped_at
from eventlog.settings.schema import ContextSettings, Settings
from eventlog.store import conversation_name

_NOTES_DAYS = 3  # UTC days that yesterday and today can touch, wherever the user lives
_DAY_MS = 86_400_000
_TOLERANCE_MS = _DAY_MS  # clocks of machines whose logs were brought together may differ


class DayNotes(NamedTuple):
    """The notes of one calendar day."""

    day: str
    lines: list[Line]


class TitledSummary(NamedTuple):
    """The summary of a session under its title; `file` where it was taken from a rendered one."""

    title: str
    lines: tuple[Line, ...]
    file: KnownFile | None = None


class Listener(Struct, frozen=True):
    """A session that asks, and what of the log it may hear."""

    log: EventLog
    settings: Settings
    request: ContextRequest
    session_type: SessionType
    cache: RowStore
    strays: Strays

    @property
    def shared(self) -> bool:
        """Tell whether others than the user listen."""
        return self.session_type is SessionType.SHARED

    @property
    def since(self) -> str:
        """Return the time from which on the log is read."""
        return _before(self.request.now, _days_read(self.settings.context))

    @property
    def until(self) -> str:
        """Return the time up to which the log is read."""
        return _ts(timestamps.to_ms(self.request.now) + _TOLERANCE_MS)

    def said_since(self, since: str) -> Conversations:
        """Read what was said from then on."""
        return said_between(self.log, self.cache, since, self.until, self.may_hear)

    def may_hear(self, event: Event) -> bool:
        """Tell whether an event is of this project, or about the user where the user alone listens.

        What belongs to no project is the user's.
        """
        if isinstance(event, Fact) and event.effective_scope == "user":
            return not self.shared
        if isinstance(event, StageSummary) and not event.project and event.conversation_id in self.strays.elsewhere:
            return False
        return self.request.is_about(event.project, event.replica) and not (self.shared and not event.project)

    def files(self) -> tuple[list[ContextFile], list[ContextFile]]:
        """List the files to load, and those the host loads by itself."""
        request = self.request
        theirs = loaded_by_host(request.agent, request.project, request.home) if request.agent else set()
        found = context_files.context_files(self.settings, self.log.store, request)
        mine = [file for file in found if not (self.shared and file.main_session_only)]
        left_out = [file for file in mine if theirs and os.path.realpath(file.path) in theirs]
        return [file for file in mine if file not in left_out], left_out

    def index(self) -> str:
        """Return the path of the project's keyword index; "" where there is none, or others listen."""
        full = Path(self.log.store.knowledge, f"{self.request.folder}INDEX.md")
        return str(full) if not self.shared and full.is_file() else ""

    def without_withdrawn(self, file: ContextFile, result: FileLoadResult, lately: Conversations) -> FileLoadResult:
        """Take out of a file what was withdrawn after it was written."""
        if not result.content:
            return result
        if file.load_order != context_files.MEMORY:
            return replace(result, content=without_withdrawn_sections(result.content, self.log, lately.retractions))
        rendered_at = stamped_at(result.content.encode()) or ""
        # what was withdrawn before that time is not in what was said lately
        said = self.said_since(rendered_at) if rendered_at < self.since else lately
        return replace(result, content=drop_retracted(result.content, self.log, said, self.strays.elsewhere.values()))

    def todos(self, lately: Conversations, *, own_only: bool) -> list[Line]:
        """List what its project's sessions left to be done, or it did itself."""
        request = self.request
        of_project = (
            conversation
            for conversation in lately.by_id.values()
            if request.is_about(conversation.project, conversation.replica)
            and not (own_only and conversation.id != request.session_id)
        )
        return open_todos(of_project, lately.withdrawn())

    def bearings(self, *, facts_only: bool) -> list[Bearing]:
        """Choose what it may hear of what bears on its work; it knows what it said itself."""
        return [
            bearing
            for bearing in self.request.work.bearings
            if not (self.shared and bearing.about_user)
            and not (facts_only and not bearing.memory_type)
            and bearing.conversation_id != self.request.session_id
        ]

    def notes(self, lately: Conversations, *, own_only: bool) -> Iterator[DayNotes]:
        """Write the notes of today and yesterday, without facts, which have a section of their own.

        Who came back hears of itself only (`own_only`).
        """
        local = local_time(self.settings.timezone)
        found = notes(self._summaries_only(lately, own_only=own_only), local)
        today = local(self.request.now)[:10]
        for day in (today, _day_before(today)):
            if day in found and found[day].items:
                yield DayNotes(day, list(lines(day, found[day], LABELS[self.settings.locale], local)))

    def _summaries_only(self, lately: Conversations, *, own_only: bool) -> Conversations:
        since = _before(self.request.now, _NOTES_DAYS)
        state = Conversations(retractions=lately.retractions)
        for conversation in lately.by_id.values():
            if own_only and conversation.id != self.request.session_id:
                continue
            if summaries := [summary for summary in conversation.summaries if summary.ts >= since]:
                project = conversation.first_project
                state.by_id[conversation.id] = Conversation(conversation.id, first_project=project, summaries=summaries)
        return state

    def own_summary(self, lately: Conversations) -> tuple[Line, ...]:
        """Return its own summary; nothing for a session that is new, or has not come to anything."""
        if not self.request.session_id or self.request.source in NEW:
            return ()
        return self._past(lately).from_log(self.request.session_id)

    def summaries(self, lately: Conversations, own: tuple[Line, ...]) -> tuple[list[TitledSummary], list[KnownFile]]:
        """Choose its own where it came back, else the project's newest; and the files they were taken from."""
        request, words = self.request, PHRASES[self.settings.locale]
        if own:
            return [TitledSummary(words.own_summary, own)], []
        if request.source in CAME_BACK or not request.project:
            return [], []
        past = self._past(lately)
        newest = past.newest(request, shared=self.shared)
        chosen = list(islice((summary for summary in newest if summary.lines), self.settings.context.summaries))
        told = [
            TitledSummary(
                words.last_summary.format(session=summary.name),
                without_replaced(summary.lines, partial(events_of, self.log, summary.name), lately),
            )
            for summary in chosen
        ]
        return [summary for summary in told if _has_text(summary)], [summary.file for summary in chosen if summary.file]

    def _past(self, lately: Conversations) -> PastSummaries:
        elsewhere = frozenset(map(conversation_name, self.strays.elsewhere))
        window = (lately, self.since, self.until, self.may_hear)
        return PastSummaries(self.log, self.cache, self.settings, *window, elsewhere)


def _has_text(summary: TitledSummary) -> bool:
    return any(line.text and not line.text.startswith("#") for line in summary.lines)


def spans(context: ContextSettings) -> set[int]:
    """Return the ages, in days, at which something is told otherwise than before, or not any more."""
    return {context.days_full, context.days_partial, context.days_max, _NOTES_DAYS}


def _days_read(context: ContextSettings) -> int:
    return max(spans(context))


def _before(now: str, days: int) -> str:
    return _ts(timestamps.to_ms(now) - days * _DAY_MS)


def _ts(ms: int) -> str:
    return timestamps.from_ns(ms * 1_000_000)


def _day_before(day: str) -> str:
    return timestamps.from_ns((timestamps.to_ms(f"{day}T00:00:00.000000Z") - 1) * 1_000_000)[:10]
