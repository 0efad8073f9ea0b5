"""Everything there is to tell a session, loaded once."""

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from eventlog.fast.sha import sha256
from eventlog.format.events import ContextInjected, KnownFile, SessionStart
from eventlog.format.text import encodable
from eventlog.log.event_log import EventLog
from eventlog.projections.base import Line
from eventlog.projections.context.agent_context import ContextFile, FileLoadResult, SessionType
from eventlog.projections.context.listener import DayNotes, Listener, TitledSummary
from eventlog.projections.context.loader import Unreadable, read
from eventlog.projections.context.phrases import PHRASES, ContextPhrases
from eventlog.projections.context.recent_events import events_of
from eventlog.projections.context.recent_facts import recent_facts
from eventlog.projections.context.request import CAME_BACK, ContextRequest
from eventlog.projections.context.strays import strays
from eventlog.projections.context.templates import is_template
from eventlog.projections.context.work_at_hand import Bearing
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.distinct_facts import DistinctFact
from eventlog.projections.current.told import Local
from eventlog.projections.engine.row_store import RowStore
from eventlog.projections.views.daily_notes import local_time
from eventlog.projections.views.markdown import stamped_at
from eventlog.settings.schema import Settings
from eventlog.store import Store

LoadFile = Callable[[ContextFile], FileLoadResult]  # never raises; may create what is missing
LoadedFile = tuple[ContextFile, FileLoadResult]


class ContextSources(Struct, frozen=True):
    """The parts of one context, in the order they are told."""

    settings: Settings
    request: ContextRequest
    session_type: SessionType
    loaded: list[LoadedFile]
    left_out: list[str]  # files the host loads by itself
    told_by_host: list[str]  # what they say
    notes: list[DayNotes]
    facts: list[DistinctFact]
    todos: list[Line]
    bearings: list[Bearing]
    summaries: list[TitledSummary]
    index: str  # path of the keyword index, where there is one
    rendered: list[KnownFile]  # files that were read for a summary, whether or not anything of them is left
    lately: Conversations  # what was said of late
    strays: Collection[str]  # conversations whose words move once they name a project
    store: Store

    @property
    def words(self) -> ContextPhrases:
        """Return the phrases of the configured language."""
        return PHRASES[self.settings.locale]

    @property
    def local(self) -> Local:
        """Return the conversion of timestamps to the configured time zone."""
        return local_time(self.settings.timezone)

    @property
    def shared(self) -> bool:
        """Tell whether others than the user listen."""
        return self.session_type is SessionType.SHARED

    @property
    def results(self) -> list[FileLoadResult]:
        """List how each file fared, in load order."""
        return [result for _, result in self.loaded]

    def contents(self, order: int) -> list[str]:
        """List the texts of the files of one kind."""
        return [
            result.content for file, result in self.loaded if file.load_order == order and result.content is not None
        ]

    def content(self, order: int) -> str | None:
        """Join the texts of the files of one kind; None where no such file is there."""
        return "\n".join(self.contents(order)) if self.contents(order) else None

    def version(self) -> str:
        """Digest all that was loaded: another version, another context."""
        loaded = [(result.file_path, result.content) for result in self.results if result.content is not None]
        notes = [line.text for notes in self.notes for line in notes.lines]
        summaries = [line.text for summary in self.summaries for line in summary.lines]
        facts = [fact.statements[-1].id for fact in self.facts]
        first = [*(line.text for line in self.todos), *(bearing.id for bearing in self.bearings)]
        return sha256(repr((self.session_type, loaded, notes + summaries, facts, first)).encode("utf-8", "replace"))

    def known(self) -> list[KnownFile]:
        """List the files that tell anything, for the receipt."""
        told = ((result.file_path, result.content or "") for result in self.results)
        loaded = ((path, content.encode("utf-8", "replace")) for path, content in told if not is_template(content))
        known = [KnownFile(path, sha256(data), stamped_at(data)) for path, data in loaded if data]
        return [*known, *self.rendered]


def gather(
    log: EventLog, settings: Settings, request: ContextRequest, load: LoadFile, cache: RowStore
) -> ContextSources:
    """Load the files, read what was said lately, and take from the files what was withdrawn since."""
    listener = Listener(log, settings, request, session_type_of(log, request), cache, strays(log, cache, request))
    wanted, left_out = listener.files()
    loaded = [(file, load(file)) for file in wanted]
    lately = listener.said_since(listener.since)
    own = listener.own_summary(lately)
    summaries, rendered = listener.summaries(lately, own)
    came_back = bool(own) or request.source in CAME_BACK
    return ContextSources(
        settings=settings,
        request=request,
        session_type=listener.session_type,
        loaded=[(file, listener.without_withdrawn(file, result, lately)) for file, result in loaded],
        left_out=[encodable(file.path) for file in left_out],
        told_by_host=[text for file in left_out for text in _read(file)],
        notes=list(listener.notes(lately, own_only=came_back)),
        facts=recent_facts(lately, request.now, settings.context, local_time(settings.timezone)),
        todos=listener.todos(lately, own_only=came_back),
        bearings=listener.bearings(facts_only=came_back),
        summaries=summaries,
        index=listener.index(),
        rendered=rendered,
        lately=lately,
        strays=listener.strays.ids,
        store=log.store,
    )


def _read(file: ContextFile) -> Iterator[str]:
    """Read a file that somebody else loads and answers for; nothing where that fails."""
    with suppress(OSError, Unreadable):
        yield read(Path(file.path), Path(file.root))


def session_type_of(log: EventLog, request: ContextRequest) -> SessionType:
    """Find who listens: as asked for, else as the log says; shared once is shared for good."""
    if request.session_type:
        return SessionType(request.session_type)
    events = events_of(log, request.session_id) if request.session_id else []
    told = (event.session_type for event in events if isinstance(event, SessionStart | ContextInjected))
    return SessionType.SHARED if "shared" in told else SessionType.MAIN
