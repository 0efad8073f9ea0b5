"""The shapes of a context: what it is made of, and how each file fared. Values; none is ever changed."""

from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from eventlog.projections.context import context_files
from eventlog.projections.context.context_files import ContextFile as ContextFile  # noqa: PLC0414

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eventlog.format.local_time import Local
    from eventlog.projections.base import Line
    from eventlog.projections.context.sources import ContextSources
    from eventlog.projections.current.distinct_facts import DistinctFact


class SessionType(StrEnum):
    """The listeners of a session."""

    MAIN = "main"  # the user alone: may see MEMORY.md and what is known about the user
    SHARED = "shared"  # a group: never


class FileLoadResult(Struct, frozen=True):
    """The result of loading one file. Of one that is not there and need not be there is no content, and no error."""

    file_path: str
    success: bool  # it was loaded
    content: str | None
    error: str | None
    loaded_at: datetime
    from_cache: bool = False  # the last good copy
    is_default: bool = False  # just created from its template


class MemoryEntry(Struct, frozen=True):
    """A remembered text."""

    id: str  # of the newest event that states it
    content: str
    source_date: date | None  # the calendar day it was last stated on
    importance: int  # 1-5
    category: str
    created_at: datetime
    updated_at: datetime


class AgentContext(Struct, frozen=True):
    """The parts of what an agent starts with. A shared session never has `memory_content`."""

    session_id: str
    session_type: SessionType
    created_at: datetime
    agents_content: str | None = None
    spirit_content: str | None = None
    owner_content: str | None = None
    memory_content: str | None = None
    tools_content: str | None = None
    daily_memories: list[str] = []  # of today, then of yesterday, where there is anything to tell
    loaded_files: list[str] = []
    load_time_ms: int = 0
    version: str = ""  # digest of all that was loaded
    user_contents: list[str] = []  # every file of the user directory
    recent_facts: list[MemoryEntry] = []  # newest first
    summaries: list[str] = []  # of this session where it came back, else of the project's last ones
    results: list[FileLoadResult] = []  # one per file looked for
    left_out: list[str] = []  # files the host loads by itself
    cut: list[str] = []  # sections that did not fit the budget
    text: str = ""  # what the agent is given

    def __post_init__(self) -> None:
        if self.session_type is SessionType.SHARED and self.memory_content is not None:
            raise ValueError("memory_content: MEMORY.md is not for shared sessions")
        if len(self.daily_memories) > 2:  # noqa: PLR2004 - today and yesterday
            raise ValueError("daily_memories: today and yesterday, no more")

    @classmethod
    def of(cls, parts: "ContextSources", text: str, cut: list[str], took_ms: int) -> "AgentContext":
        """Give a context the shape that programs are given."""
        loaded_at = datetime.fromisoformat(parts.request.now)
        return cls(
            session_id=parts.request.session_id,
            session_type=SessionType(parts.session_type),
            created_at=loaded_at,
            agents_content=parts.content(context_files.AGENTS),
            spirit_content=parts.content(context_files.SPIRIT),
            owner_content=parts.content(context_files.OWNER),
            memory_content=parts.content(context_files.MEMORY),
            tools_content=parts.content(context_files.TOOLS),
            daily_memories=[_text(lines) for _, lines in parts.notes],
            loaded_files=[result.file_path for result in parts.results if result.content is not None],
            load_time_ms=took_ms,
            version=parts.version(),
            user_contents=parts.contents(context_files.USER_FILES),
            recent_facts=[_entry(fact, parts.local) for fact in parts.facts],
            summaries=[_text(lines) for lines in (parts.own, parts.last) if lines]
            + [line.text for line in parts.sessions],
            results=[FileLoadResult(**vars(result), loaded_at=loaded_at) for result in parts.results],
            left_out=parts.left_out,
            cut=cut,
            text=text,
        )


def _entry(fact: "DistinctFact", local: "Local") -> MemoryEntry:
    newest = fact.statements[-1]
    return MemoryEntry(
        id=newest.id,
        content=newest.text,
        source_date=date.fromisoformat(local(newest.ts)[:10]),
        importance=fact.importance,
        category=newest.category,
        created_at=datetime.fromisoformat(fact.first.ts),
        updated_at=datetime.fromisoformat(newest.ts),
    )


def _text(lines: "Iterable[Line]") -> str:
    return "".join(f"{line.text}\n" for line in lines)
