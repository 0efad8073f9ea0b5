"""The sources of a session's context, loaded once: files, and the statements the session may read.

New         bases, user files, notes of today and yesterday, recent facts, memories, the project's last summaries.
Came back   the same, and of all summaries only its own (`resume`, `compact`, `fork`; else, where it has one).
Shared      no memory, and nothing about the user, wherever it may be kept.

Recent facts are near in time many, farther away few; each once, as last stated. Filters come before limits, and within
a day the newest come first.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast import os
from eventlog.fast.copies import replace
from eventlog.fast.sha import sha256
from eventlog.format import timestamps
from eventlog.format.local_time import local_time
from eventlog.format.text import cut, encodable
from eventlog.format.timestamps import order
from eventlog.projections.context import context_files
from eventlog.projections.context.context_files import Unreadable, is_template, loaded_by_host, read
from eventlog.projections.context.earlier_sessions import BRIEF_CHARS, EarlierSession, EarlierSessions, with_successors
from eventlog.projections.context.heard import by_conversation, standing_lines
from eventlog.projections.context.phrases import PHRASES
from eventlog.projections.context.request import CAME_BACK, NEW, SHARED
from eventlog.projections.current.conclusions import conclusion_of, left_open
from eventlog.projections.current.distinct_facts import distinct_facts
from eventlog.projections.line import Line
from eventlog.projections.views.labels import LABELS
from eventlog.projections.views.markdown import as_text, stamped_at
from eventlog.projections.views.note_lines import TODOS, NoteItem, items_of, lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from eventlog.format.local_time import Local
    from eventlog.format.marks import RejectedStatements
    from eventlog.projections.context.context_files import ContextFile, LoadResult
    from eventlog.projections.context.heard import CurrentSource, HeardEvent
    from eventlog.projections.context.phrases import ContextPhrases
    from eventlog.projections.context.request import Bearing, ContextRequest
    from eventlog.projections.current.distinct_facts import DistinctFact
    from eventlog.settings.schema import ContextSettings, Settings
    from eventlog.store import Store

    LoadFile = Callable[[ContextFile], LoadResult]  # never raises; may create what is missing
    KnownFile = tuple[str, str, str | None]  # path, digest of the text, and the time a rendered one carries


_MIN_SESSIONS = 16
_ALL_IN_FULL, _IN_FULL, _FULL_CHARS = 28, 10, 220  # sessions; of more, only the newest are told with what came of them
_NOTES_DAYS = 3  # UTC days that yesterday and today can touch, wherever the user lives
DAY_MS = 86_400_000
_MAX_TODOS, _TODO_CHARS = 8, 240


class ContextSources:
    """The parts of a context, in reading order.

    `left_out` are files the host loads by itself, `loaded_by_host` their texts; `index` is the path of the keyword
    index, where there is one; `rendered` are files that were read for a session, `quotes` their lines by the line that
    tells them. `own` is the summary of a session that came back, `before` what it was about before it was compacted;
    for a new one `last` tells the last session of the project, and `sessions` those before, a line each.
    """

    before: "list[Line]"
    left_out: list[str]
    loaded_by_host: list[str]
    notes: "list[tuple[str, list[Line]]]"  # by day
    facts: "list[DistinctFact]"
    todos: "list[Line]"
    bearings: "list[Bearing]"
    own: "tuple[Line, ...]"
    last: "list[Line]"
    sessions: "list[Line]"
    index: str
    rendered: "list[KnownFile]"
    quotes: "dict[str, Sequence[str]]"

    def __init__(
        self,
        settings: "Settings",
        request: "ContextRequest",
        session_type: str,
        loaded: "list[tuple[ContextFile, LoadResult]]",
    ) -> None:
        self.settings = settings
        self.request = request
        self.session_type = session_type
        self.loaded = loaded

    @property
    def words(self) -> "ContextPhrases":
        """Return the phrases of the configured language."""
        return PHRASES[self.settings.locale]

    @property
    def local(self) -> "Local":
        """Return the conversion of timestamps to the configured time zone."""
        return local_time(self.settings.timezone, self.request.offsets)

    @property
    def shared(self) -> bool:
        """Return whether others than the user listen."""
        return self.session_type == SHARED

    @property
    def results(self) -> "list[LoadResult]":
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
        notes = [line.text for _, lines in self.notes for line in lines]
        summaries = [line.text for line in (*self.own, *self.last, *self.sessions)]
        facts = [fact.statements[-1].id for fact in self.facts]
        first = [*(line.text for line in self.todos), *(bearing.id for bearing in self.bearings)]
        parts = (self.session_type, loaded, notes + summaries, facts, first)
        return sha256(repr(parts).encode("utf-8", "replace"))

    def known(self) -> "list[KnownFile]":
        """List the files with content, for the receipt."""
        contents = ((result.file_path, result.content or "") for result in self.results)
        loaded = ((path, content.encode("utf-8", "replace")) for path, content in contents if not is_template(content))
        files = [(path, sha256(data), stamped_at(data)) for path, data in loaded if data]
        return [*files, *self.rendered]


def window(settings: "ContextSettings", now: str) -> tuple[str, str]:
    """Return the times between which events count for a context; clocks of other machines may be ahead by a day."""
    days = max(settings.days_full, settings.days_partial, settings.days_max, _NOTES_DAYS)
    now_ms = timestamps.to_ms(now)
    since, until = ((now_ms + days_more * DAY_MS) * 1_000_000 for days_more in (-days, 1))
    return timestamps.from_ns(since), timestamps.from_ns(until)


def gather(
    store: "Store",
    settings: "Settings",
    request: "ContextRequest",
    session_type: str,
    load: "LoadFile",
    source: "CurrentSource",
) -> ContextSources:
    """Load the files, remove from the memories what stands no more, and choose among the statements."""
    shared = session_type == SHARED
    wanted, left_out = _files(settings, store, request, shared=shared)
    loaded = [(file, load(file)) for file in wanted]
    parts = ContextSources(
        settings, request, session_type, [(file, _standing(file, result, source)) for file, result in loaded]
    )
    past = EarlierSessions(store, settings, source)
    memory = parts.content(context_files.MEMORY) or ""
    parts.own = past.own(request.session_id, memory) if request.session_id and request.source not in NEW else ()
    came_back = bool(parts.own) or request.source in CAME_BACK
    recent = (event for event in source.recent if event.subject == source.subject or event.type == "fact")
    limit = 0 if came_back or not request.project else _most_sessions(parts)
    sessions = source.sessions(limit) if limit else []
    heard = by_conversation({event.id: event for event in (*sessions, *recent)}.values())
    parts.todos = _open_todos(heard, source.rejections, request.session_id if came_back else "")
    if came_back:
        heard = {name: events for name, events in heard.items() if name == request.session_id}
    parts.before = source.before_compaction(request, parts.words) if request.transcript and not shared else []
    parts.left_out = [encodable(file.path) for file in left_out]
    parts.loaded_by_host = [text for file in left_out for text in _read(file)]
    parts.notes = list(_notes(heard, source.rejections, parts))
    parts.facts = _recent_facts(source.recent, request.now, settings.context, parts.local)
    bearings = [*_readable(request, shared=shared, came_back=came_back)]
    bearing = {bearing.conversation_id for bearing in bearings if not bearing.memory_type}
    several = past.newest(sessions, request, memory, shared=shared)
    chosen = [session for _, session in zip(range(limit), several, strict=False)]
    decided = (line.text for one in chosen[:1] for line in one.decisions)
    elsewhere = [memory, *(fact.first.text for fact in parts.facts), *decided]
    stated = (event for events in heard.values() for event in events)
    chosen[:_ALL_IN_FULL] = with_successors(chosen[:_ALL_IN_FULL], stated, "\n".join(elsewhere))
    last = chosen[0].name if chosen else ""
    parts.bearings = [bearing for bearing in bearings if bearing.memory_type or bearing.conversation_id != last]
    earlier = [session for session in chosen[1:] if session.name not in bearing]
    parts.last = chosen[0].in_full(parts.local, request.project) if chosen else []
    parts.sessions = _brief_lines(earlier, parts.local, request.project)
    parts.rendered = [session.file for session in chosen if session.file]
    pairs = zip([*chosen[:1], *earlier], [*parts.last[:1], *parts.sessions], strict=True)
    parts.quotes = {line.text: session.quotes for session, line in pairs}
    index = f"{store.knowledge}/{request.folder}INDEX.md"
    parts.index = index if not shared and os.path.isfile(index) else ""
    return parts


def _readable(request: "ContextRequest", *, shared: bool, came_back: bool) -> "Iterator[Bearing]":
    """Yield what bears on the work and the session may read; it knows its own statements."""
    for bearing in request.work.bearings:
        is_hidden = (shared and bearing.about_user) or (came_back and not bearing.memory_type)
        if bearing.conversation_id != request.session_id and not is_hidden:
            yield bearing


def _most_sessions(parts: ContextSources) -> int:
    """Count the sessions that are looked at: what may fit beside the files, a few at least."""
    settings = parts.settings.context
    loaded = sum(len(result.content or "") for result in parts.results)
    room = (parts.request.budget or settings.budget_chars) - len(parts.request.instructions) - loaded
    return min(settings.summaries, max(_MIN_SESSIONS, room // BRIEF_CHARS))


def _files(
    settings: "Settings", store: "Store", request: "ContextRequest", *, shared: bool
) -> "tuple[list[ContextFile], list[ContextFile]]":
    """List the files to load, and those the host loads by itself."""
    theirs = loaded_by_host(request.agent, request.project, request.home) if request.agent else set()
    found = context_files.context_files(settings, store, request)
    mine = [file for file in found if not (shared and file.main_session_only)]
    left_out = [file for file in mine if theirs and os.path.realpath(file.path) in theirs]
    return [file for file in mine if file not in left_out], left_out


def _read(file: "ContextFile") -> "Iterator[str]":
    """Read a file that the caller's loader answers for; nothing where that fails."""
    try:
        yield read(file.path, file.root)
    except (OSError, Unreadable):
        return


def _standing(file: "ContextFile", result: "LoadResult", source: "CurrentSource") -> "LoadResult":
    """Leave in a file what stands; a template has nothing that could be withdrawn."""
    if not result.content or is_template(result.content):
        return result
    if file.load_order != context_files.MEMORY:
        return replace(result, content=source.without_withdrawn(result.content))
    about_user = "projects" not in file.path.removeprefix(file.root).split("/")
    return replace(result, content=standing_lines(result.content, source, about_user=about_user))


def _brief_lines(sessions: "Sequence[EarlierSession]", local: "Local", project: str) -> list[Line]:
    """Write sessions in a line each; of many, only the first with their outcome."""
    in_full = len(sessions) if len(sessions) <= _ALL_IN_FULL else _IN_FULL
    return [
        session.line(local, project, limit=_FULL_CHARS if number < in_full else BRIEF_CHARS)
        for number, session in enumerate(sessions)
    ]


# ------------------------------------------------------------------------------------------------ of the last days


def _recent_facts(
    events: "Iterable[HeardEvent]", now: str, settings: "ContextSettings", local: "Local"
) -> "list[DistinctFact]":
    """List the facts to show, newest first."""
    by_subject: dict[str, list[HeardEvent]] = {}
    for event in events:
        if event.type == "fact":
            by_subject.setdefault(event.subject, []).append(event)
    current = [fact for facts in by_subject.values() for fact in distinct_facts(facts)]  # type: ignore[arg-type]
    newest_first = sorted(current, key=lambda fact: order(fact.statements[-1]), reverse=True)
    return [fact for _, fact in zip(range(settings.facts), _decay(newest_first, now, settings, local), strict=False)]


def _decay(
    newest_first: "Iterable[DistinctFact]", now: str, settings: "ContextSettings", local: "Local"
) -> "Iterator[DistinctFact]":
    counts: dict[str, int] = {}
    now_ms = timestamps.to_ms(now)
    for fact in newest_first:
        age = (now_ms - timestamps.to_ms(fact.last_seen)) / DAY_MS
        day = local(fact.last_seen)[:10]
        if age < settings.days_full:
            yield fact
        elif age < settings.days_partial:
            counts[day] = counts.get(day, 0) + 1
            if counts[day] <= settings.partial_per_day:
                yield fact
        elif age < settings.days_max and fact.confidence >= settings.min_confidence:
            yield fact


def _open_todos(
    conversations: "Mapping[str, Sequence[HeardEvent]]", rejections: "RejectedStatements", only: str
) -> list[Line]:
    """List what conversations left to be done, all or this only, without what any of them has done since."""
    saves = {name: [event for event in lines if event.type == "stage_summary"] for name, lines in conversations.items()}
    remaining = [todo for _, todo in left_open(saves, rejections)]  # type: ignore[arg-type]
    if only:
        own = {todo.same for _, todo in left_open({only: saves.get(only, [])}, rejections)}  # type: ignore[dict-item]
        remaining = [todo for todo in remaining if todo.same in own]
    return [Line(f"- [ ] {cut(as_text(todo.text), _TODO_CHARS)}", todo.sources) for todo in remaining][:_MAX_TODOS]


def _notes(
    conversations: "Mapping[str, Sequence[HeardEvent]]",
    rejections: "RejectedStatements",
    parts: ContextSources,
) -> "Iterator[tuple[str, list[Line]]]":
    """Write the notes of today and yesterday, without facts and to-dos, which have sections of their own."""
    local = parts.local
    today = local(parts.request.now)[:10]
    yesterday = timestamps.from_ns((timestamps.to_ms(f"{today}T00:00:00.000000Z") - 1) * 1_000_000)[:10]
    items: dict[str, list[NoteItem]] = {today: [], yesterday: []}
    silent: dict[str, list[str]] = {today: [], yesterday: []}
    for conversation in conversations.values():
        project = next((event.project for event in conversation if event.project), "")
        by_day: dict[str, list[HeardEvent]] = {}
        for heard_event in conversation:
            if heard_event.type == "stage_summary":
                by_day.setdefault(local(heard_event.ts)[:10], []).append(heard_event)
        for day in items.keys() & by_day.keys():
            came_to = items_of(conclusion_of(by_day[day], (), rejections), project, NoteItem)  # type: ignore[arg-type]
            found = [item for item in came_to if item.section != TODOS]
            items[day] += found
            heard = {event for item in found for event in item.events}
            silent[day] += [event.id for event in by_day[day] if event.id not in heard]
    for day in (today, yesterday):
        if items[day]:
            yield day, list(lines(day, items[day], silent[day], LABELS[parts.settings.locale], local))
