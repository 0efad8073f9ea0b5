"""The shapes of a context: what it is made of, and how each file fared. Values; none is ever changed."""

from datetime import date, datetime
from enum import StrEnum

from msgspec import Struct


class SessionType(StrEnum):
    """The listeners of a session."""

    MAIN = "main"  # the user alone: may see MEMORY.md and what is known about the user
    SHARED = "shared"  # a group: never


class ContextFile(Struct, frozen=True):
    """A file a context is made of; the smaller `load_order`, the earlier it is loaded."""

    name: str  # AGENTS.md
    path: str  # absolute
    root: str  # the directory it must lie in, with every symbolic link followed
    required: bool = False
    main_session_only: bool = False
    load_order: int = 0
    default_template: str | None = None  # what a missing one is created with; None: not at all


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
    """One thing remembered."""

    id: str  # of the newest event that states it
    content: str
    source_date: date | None  # the calendar day it was last stated on
    importance: int  # 1-5
    category: str
    created_at: datetime
    updated_at: datetime


class AgentContext(Struct, frozen=True):
    """Everything an agent starts with. A shared session never has `memory_content`."""

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
