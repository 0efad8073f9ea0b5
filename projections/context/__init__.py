"""The context of a session: people's files, notes, recent facts, memories and summaries, within a budget.

Imported by: app.
"""

from eventlog.projections.context.agent_context import (
    AgentContext,
    ContextFile,
    FileLoadResult,
    MemoryEntry,
    SessionType,
)

__all__ = ["AgentContext", "ContextFile", "FileLoadResult", "MemoryEntry", "SessionType"]
