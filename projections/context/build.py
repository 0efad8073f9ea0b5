"""A context, built: gathered, fitted into the budget, and ready to be told.

`build` only looks; `begin` is the real start of a session: what is used once is used up.
"""

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from eventlog.events import KnownFile
from eventlog.log import EventLog
from eventlog.projections.base import Line
from eventlog.projections.context import context_files
from eventlog.projections.context.agent_context import AgentContext
from eventlog.projections.context.budget import fit
from eventlog.projections.context.context_sections import command_for_all, sections
from eventlog.projections.context.loader import Unreadable, read
from eventlog.projections.context.recent_facts import as_entries
from eventlog.projections.context.sources import ContextRequest, ContextSources
from eventlog.settings.schema import Settings


class ContextResult(NamedTuple):
    """The context, and what stands behind its text: events, whole conversations, and files."""

    context: AgentContext
    sources: list[str]
    files: list[KnownFile]


def build(
    log: EventLog, settings: Settings, request: ContextRequest, clock: Callable[[], float] = time.perf_counter
) -> ContextResult:
    """Load everything and fit it into the budget; no file and no line of the log makes it fail."""
    begun = clock()
    parts = ContextSources(log, settings, request)
    budget = request.budget or settings.context.budget_chars
    fitted = fit(request.instructions, sections(parts), budget, parts.words.phrases, command_for_all(parts))
    context = AgentContext(
        session_id=request.session_id,
        session_type=parts.session_type,
        created_at=datetime.fromisoformat(request.now),
        agents_content=parts.content(context_files.AGENTS),
        spirit_content=parts.content(context_files.SPIRIT),
        owner_content=parts.content(context_files.OWNER),
        memory_content=parts.content(context_files.MEMORY),
        tools_content=parts.content(context_files.TOOLS),
        daily_memories=[_text(told) for _, told in parts.notes],
        loaded_files=[result.file_path for result in parts.results if result.content is not None],
        load_time_ms=round((clock() - begun) * 1000),
        version=parts.version(),
        user_contents=parts.contents(context_files.USER_FILES),
        recent_facts=as_entries(parts.facts, parts.local),
        summaries=[_text(told) for _, told in parts.summaries],
        results=parts.results,
        left_out=parts.left_out,
        cut=fitted.cut,
        text=fitted.text,
    )
    sources = dict.fromkeys(event for line in fitted.shown for event in line.sources)
    return ContextResult(context, list(sources), parts.known())


def begin(log: EventLog, settings: Settings, request: ContextRequest) -> ContextResult:
    """The context of a session that starts now; `receipt.acknowledge` is the caller's, once it has been told."""
    return build(log, settings, replace(request, bootstrap=take_bootstrap(settings, request.home, request.now)))


def take_bootstrap(settings: Settings, home: str, now: str) -> str:
    """The text of BOOTSTRAP.md, to whoever renames it first; "" for everyone else, and where it cannot be renamed."""
    file = context_files.bootstrap_file(settings, home)
    path = Path(file.path)
    try:
        text = read(path, Path(file.root))
        path.rename(context_files.used_name(file.path, now))
    except (OSError, Unreadable):
        return ""
    return text


def _text(told: list[Line] | tuple[Line, ...]) -> str:
    return "".join(f"{line.text}\n" for line in told)
