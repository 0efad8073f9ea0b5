"""A context, built: gathered, fitted into the budget, and ready to be told."""

from datetime import datetime
from typing import NamedTuple

from eventlog.format import fence
from eventlog.format.events import KnownFile
from eventlog.format.marks import line_marks, says_something
from eventlog.format.text import encodable
from eventlog.hosts import most_at_start
from eventlog.log.event_log import EventLog
from eventlog.projections.base import Line
from eventlog.projections.context import context_files
from eventlog.projections.context.agent_context import AgentContext
from eventlog.projections.context.budget import FitResult, fit
from eventlog.projections.context.context_sections import ContextParts, command_for_all, sections
from eventlog.projections.context.once import said_by_people
from eventlog.projections.context.recent_facts import as_entries
from eventlog.projections.context.request import ContextRequest
from eventlog.projections.context.sources import ContextSources, LoadFile, gather
from eventlog.projections.engine.row_store import DaysAtOnce, MemoryRows, RowStore
from eventlog.settings.schema import Settings


class ContextResult(NamedTuple):
    """A context, the sources of its text (events, conversations, files), what was loaded for it, its lines' marks.

    `body` is what stands in the fence of its text.
    """

    context: AgentContext
    sources: list[str]
    files: list[KnownFile]
    parts: ContextSources
    lines: str
    body: str


def build(
    log: EventLog, settings: Settings, request: ContextRequest, load: LoadFile, cache: RowStore | None = None
) -> ContextResult:
    """Load everything and fit it into the budget; no file and no line of the log makes it fail."""
    parts = gather(log, settings, request, load, DaysAtOnce(cache or MemoryRows()))
    fitted = _fitted(parts, request.budget) if request.budget else _taken(parts, settings.context.budget_chars)
    saying = (line for line in fitted.shown if says_something(line.text))
    sources = dict.fromkeys(event for line in saying for event in line.sources)
    told = line_marks(line.text for line in fitted.shown)
    return ContextResult(_context(parts, fitted), list(sources), parts.known(), parts, told, encodable(fitted.body))


def _taken(parts: ContextSources, budget: int) -> FitResult:
    """Fit it all into the budget and, beyond that, into what the host takes: a cut of its own would be anywhere."""
    encoding, most = most_at_start(parts.request.agent)
    fitted = _fitted(parts, budget)
    while most and (size := len(encodable(fitted.text).encode(encoding))) > most:
        budget = min(budget - 1, budget * most // size)
        fitted = _fitted(parts, budget)
    return fitted


def _fitted(parts: ContextSources, budget: int) -> FitResult:
    """Fit it all into the budget; ours leave out what people's own files say, where that is told indeed."""
    request, locale = parts.request, parts.settings.locale
    around = len(fence.fenced("start", "", locale, ""))

    def fit_in(made: ContextParts) -> FitResult:
        room = max(budget - around, min(budget, len(request.instructions)))  # these matter more than all else
        fitted = fit(request.instructions, made.told, room, parts.words.phrases, command_for_all(parts))
        return fitted._replace(text=fence.context(fitted.head, encodable(fitted.body), locale, request.session_id))

    whole = sections(parts)
    fitted = fit_in(whole)
    shown = set(fitted.shown)
    theirs = (line for section in whole.theirs for line in section.lines if line in shown)
    told = said_by_people(theirs, whole.ours, parts.request.project_name)
    while told := told.intersection(fitted.shown):
        fitted = fit_in(sections(parts, told))
        if told.issubset(fitted.shown):  # a shorter section of ours may leave less to theirs
            return fitted
    return fit_in(whole)


def _context(parts: ContextSources, fitted: FitResult) -> AgentContext:
    return AgentContext(
        session_id=parts.request.session_id,
        session_type=parts.session_type,
        created_at=datetime.fromisoformat(parts.request.now),
        agents_content=parts.content(context_files.AGENTS),
        spirit_content=parts.content(context_files.SPIRIT),
        owner_content=parts.content(context_files.OWNER),
        memory_content=parts.content(context_files.MEMORY),
        tools_content=parts.content(context_files.TOOLS),
        daily_memories=[_text(notes.lines) for notes in parts.notes],
        loaded_files=[result.file_path for result in parts.results if result.content is not None],
        version=parts.version(),
        user_contents=parts.contents(context_files.USER_FILES),
        recent_facts=as_entries(parts.facts, parts.local),
        summaries=[_text(summary.lines) for summary in parts.summaries],
        results=parts.results,
        left_out=parts.left_out,
        cut=list(map(encodable, fitted.cut)),
        text=encodable(fitted.text),
    )


def _text(lines: list[Line] | tuple[Line, ...]) -> str:
    return "".join(f"{line.text}\n" for line in lines)
