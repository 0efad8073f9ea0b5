"""eventlog: the memory of coding agents, written down as events and rebuilt from them.

EventLog(store)   the log: append, read, session
Memory(store)     the use cases: replay, query, why, context, apply, status, sessions, stats, verify
plan(…)           declare changes of knowledge bases
fold              the fold without a store: fold_day, copies, merge, render
Fact, …           the events; Projection, State, Document, Line: the contract of a view of one's own

Imported by: everybody.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.app.memory import Memory
    from eventlog.app.open_store import Machine
    from eventlog.app.write.plan import plan
    from eventlog.format.errors import BadRequest, BadSettings, Busy, EventLogError, InvalidEvent, NotStored
    from eventlog.format.events import (  # fmt: skip
        ContextInjected,
        EntryApplied,
        EntryResolved,
        Event,
        Fact,
        HostEvent,
        KnowledgeEdited,
        PlanEntry,
        PlanMeta,
        Rejected,
        Restored,
        Retraction,
        SaveRequested,
        SectionKey,
        SessionEnd,
        SessionStart,
        StageSummary,
        TurnEnd,
        UnknownEvent,
    )
    from eventlog.log.event_log import EventLog
    from eventlog.projections import fold
    from eventlog.projections.base import Document, Line, Projection, State
    from eventlog.settings.schema import Settings
    from eventlog.store import Store

    __version__: str

__all__ = [
    "BadRequest", "BadSettings", "Busy", "ContextInjected", "Document", "EntryApplied", "EntryResolved", "Event",
    "EventLog", "EventLogError", "Fact", "HostEvent", "InvalidEvent", "KnowledgeEdited", "Line", "Machine", "Memory",
    "NotStored", "PlanEntry", "PlanMeta", "Projection", "Rejected", "Restored", "Retraction", "SaveRequested",
    "SectionKey", "SessionEnd", "SessionStart", "Settings", "StageSummary", "State", "Store", "TurnEnd",
    "UnknownEvent", "fold", "plan",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # a type checker is to miss a name that is not there

    def __getattr__(name: str) -> object:
        """Import a name when it is first used: agents' hooks load this package and need almost none of it."""
        if name == "__version__":
            from importlib.metadata import version

            return version("agent-eventlog")
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        if name == "fold":
            return import_module("eventlog.projections.fold")
        return getattr(import_module(f"eventlog.{_HOMES.get(name, 'format.events')}"), name)

    _HOMES = {
        "EventLog": "log.event_log",
        "Machine": "app.open_store",
        "Memory": "app.memory",
        "Settings": "settings.schema",
        "Store": "store",
        "plan": "app.write.plan",
        **dict.fromkeys(
            ("BadRequest", "BadSettings", "Busy", "EventLogError", "InvalidEvent", "NotStored"), "format.errors"
        ),
        **dict.fromkeys(("Document", "Line", "Projection", "State"), "projections.base"),
    }
