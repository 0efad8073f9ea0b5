"""A context, built: gathered, fitted into the budget, and ready to be told."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from eventlog.context import plan
from eventlog.context.budget import fit
from eventlog.context.gather import Gathered, Request
from eventlog.context.model import AgentContext
from eventlog.context.recent import as_entries
from eventlog.context.sections import sections
from eventlog.events import KnownFile
from eventlog.log import EventLog
from eventlog.projections.base import Line
from eventlog.settings import Settings


class Built(NamedTuple):
    """The context, and what stands behind its text: events, whole conversations, and files."""

    context: AgentContext
    sources: list[str]
    files: list[KnownFile]


def build(log: EventLog, settings: Settings, request: Request, clock: Callable[[], float] = time.perf_counter) -> Built:
    """Load everything and fit it into the budget; no file and no line of the log makes it fail."""
    begun = clock()
    parts = Gathered(log, settings, request)
    fitted = fit(request.head, sections(parts), request.budget or settings.context.budget_chars, parts.words.phrases)
    context = AgentContext(
        session_id=request.session_id,
        session_type=parts.session_type,
        created_at=datetime.fromisoformat(request.now),
        agents_content=parts.content(plan.AGENTS),
        spirit_content=parts.content(plan.SPIRIT),
        owner_content=parts.content(plan.OWNER),
        memory_content=parts.content(plan.MEMORY),
        tools_content=parts.content(plan.TOOLS),
        daily_memories=[_text(told) for _, told in parts.notes],
        loaded_files=[result.file_path for result in parts.results if result.content is not None],
        load_time_ms=round((clock() - begun) * 1000),
        version=parts.version(),
        user_contents=parts.contents(plan.USER_FILES),
        recent_facts=as_entries(parts.facts, parts.local),
        summaries=[_text(told) for _, told in parts.summaries],
        results=parts.results,
        left_out=parts.left_out,
        cut=fitted.cut,
        text=fitted.text,
    )
    sources = dict.fromkeys(event for line in fitted.shown for event in line.events)
    return Built(context, list(sources), parts.known())


def _text(told: list[Line] | tuple[Line, ...]) -> str:
    return "".join(f"{line.text}\n" for line in told)
