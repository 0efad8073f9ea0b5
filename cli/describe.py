"""The description of an event, in one line for people."""

from eventlog.events import (
    ContextInjected,
    EntryApplied,
    EntryResolved,
    Event,
    Fact,
    HostEvent,
    KnowledgeEdited,
    PlanEntry,
    ProjectJoined,
    ProjectSeen,
    Retraction,
    SaveRequested,
    SectionKey,
    SessionEnd,
    SessionStart,
    StageSummary,
    TurnEnd,
)


def describe(event: Event) -> str:
    """Tell the gist of the event; the whole of it is in its line."""
    match event:
        case Fact():
            return " ".join(filter(None, [f"[{event.category or event.memory_type}]", event.content]))
        case StageSummary():
            return ": ".join(filter(None, [event.topic, event.summary]))
        case SessionStart():
            return _words(event.source, event.session_type, event.model, event.git_branch)
        case SessionEnd():
            return _words(event.reason, event.status, event.error)
        case TurnEnd():
            return _words(event.status, event.turn_id)
        case PlanEntry():
            where = event.key.path or event.key.url
            return _words(event.operation, where, _heading(event.key), event.content)
        case KnowledgeEdited():
            return _words(event.operation, event.key.path or event.key.url, _heading(event.key), event.content)
        case EntryApplied():
            return _words(event.path, _heading(event))
        case EntryResolved():
            return _words(event.choice, event.target)
        case Retraction():
            return _words(event.target or f"conversation {event.conversation}", event.reason)
        case SaveRequested():
            return event.trigger
        case ProjectSeen():
            return _words(event.path, "is", event.remote or "no repository with an address", event.replica)
        case ProjectJoined():
            return " and ".join(event.projects)
        case ContextInjected():
            return f"{event.chars} characters from {len(event.sources)} events"
        case HostEvent():
            return _words(event.name, str(event.payload.get("tool_name") or ""))
        case _:
            return ", ".join(f"{name}={value}" for name, value in event.extra.items())


def _heading(at: SectionKey | EntryApplied) -> str:
    above = "".join(f"{heading} > " for heading in at.under or ())
    return f"{'#' * at.level} {above}{at.heading}"


def _words(*parts: str | None) -> str:
    return " ".join(part for part in parts if part)
