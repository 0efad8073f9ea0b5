"""eventlog: the memory of coding agents, written down as events and rebuilt from them."""

from eventlog.errors import BadRequest, BadSettings, EventLogError, InvalidEvent, NotStored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.app.plan import plan
    from eventlog.events import (
        ContextInjected,
        EntryApplied,
        EntryResolved,
        Event,
        Fact,
        HostEvent,
        KnowledgeEdited,
        PlanEntry,
        PlanMeta,
        Retraction,
        SaveRequested,
        SectionKey,
        SessionEnd,
        SessionStart,
        StageSummary,
        TurnEnd,
        UnknownEvent,
    )  # fmt: skip
    from eventlog.log import EventLog
    from eventlog.store import Store

__all__ = [
    "BadRequest", "BadSettings", "ContextInjected", "EntryApplied", "EntryResolved", "Event", "EventLog",
    "EventLogError", "Fact", "HostEvent", "InvalidEvent", "KnowledgeEdited", "NotStored", "PlanEntry", "PlanMeta",
    "Retraction", "SaveRequested", "SectionKey", "SessionEnd", "SessionStart", "StageSummary", "Store", "TurnEnd",
    "UnknownEvent", "plan",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    """Names are imported when first used: agents' hooks load this package and need almost none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    homes = {"EventLog": "eventlog.log", "Store": "eventlog.store", "plan": "eventlog.app.plan"}
    home = homes.get(name, "eventlog.events")
    return getattr(import_module(home), name)
