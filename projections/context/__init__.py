"""The context of a session: people's files, notes, recent facts, memories and summaries, within a budget.

Imported inside agents' hooks, but for the shapes that programs are given: these are loaded when they are asked for.

Imported by: app.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.projections.context.agent_context import (
        AgentContext,
        ContextFile,
        FileLoadResult,
        MemoryEntry,
        SessionType,
    )

__all__ = ["AgentContext", "ContextFile", "FileLoadResult", "MemoryEntry", "SessionType"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(name)
    from eventlog.projections.context import agent_context

    return getattr(agent_context, name)
