"""Describe events in a line: their kind, their text, and who recorded them."""

from eventlog.cli.terminal import count
from eventlog.format import events
from eventlog.format.events import Event, SectionKey
from eventlog.format.text import one_line


def describe(event: Event) -> str:
    """Describe an event in one line."""
    match event:
        case events.Fact():
            reason = f"– because: {event.reason}" if event.reason else None
            return _words(f"[{event.category or event.memory_type}]", event.content, reason)
        case events.StageSummary():
            return ": ".join(filter(None, [event.topic, event.summary]))
        case events.SessionStart():
            branch = f"branch {event.git_branch}" if event.git_branch else None
            return ", ".join(filter(None, [event.source, event.session_type, event.model, branch]))
        case events.SessionEnd():
            return _words(event.reason, event.status, event.error)
        case events.TurnEnd():
            return _words(event.status, event.turn_id)
        case events.PlanEntry():
            where = event.key.path or event.key.url
            return ": ".join(filter(None, [_words(event.operation, where, _heading(event.key)), event.content]))
        case events.KnowledgeEdited():
            return _words(event.operation, event.key.path or event.key.url, _heading(event.key), event.content)
        case events.EntryApplied():
            return _words(event.path, _heading(event))
        case events.EntryResolved():
            return _words(event.choice, event.target)
        case events.Retraction():
            return _words(event.target or f"conversation {event.conversation}", event.reason)
        case events.Rejected():
            words = f"the words of {event.source or 'an event'}" if event.digest else None
            return event.statement or words or event.target or f"conversation {event.conversation}"
        case events.Restored():
            return event.target
        case events.SaveRequested():
            return event.trigger
        case events.ProjectSeen():
            return _words(event.path, "is", event.remote or "no repository with an address", event.replica)
        case events.ProjectJoined():
            return " and ".join(event.projects)
        case events.ContextInjected():
            return f"{count(event.chars, 'character')} from {count(len(event.sources), 'event')}"
        case events.ConversationText():
            return event.title
        case events.Redacted():
            return f"erased: {event.was}"
        case events.HostEvent():
            return _words(event.name, str(event.payload.get("tool_name") or ""))
        case _:
            return ", ".join(f"{name}={value}" for name, value in event.extra.items())


_KINDS = {  # by type
    "stage_summary": "summary",
    "session_start": "start",
    "session_end": "end",
    "turn_end": "turn",
    "plan_entry": "plan",
    "entry_applied": "applied",
    "entry_resolved": "resolved",
    "knowledge_edited": "edited",
    "retraction": "withdrawn",
    "save_requested": "asked",
    "context_injected": "context",
    "conversation_text": "text",
    "project_seen": "project",
    "project_joined": "joined",
    "host_event": "host",
}


def kind_of(event: Event) -> str:
    """Return the kind of an event in one word: the category of a fact, else its type."""
    kind = event.category or "fact" if isinstance(event, events.Fact) else _KINDS.get(event.type, event.type)
    return one_line(kind)


def gist(event: Event) -> str:
    """Describe an event without its kind."""
    return event.content if isinstance(event, events.Fact) else describe(event)


def _heading(at: SectionKey | events.EntryApplied) -> str:
    above = "".join(f"{heading} > " for heading in at.under or ())
    return f"{'#' * at.level} {above}{at.heading}"


def _words(*parts: str | None) -> str:
    return " ".join(part for part in parts if part)


KIND = 10  # cells
COLOURS = {"decision": "green", "lesson": "yellow", "preference": "magenta", "withdrawn": "red"}
