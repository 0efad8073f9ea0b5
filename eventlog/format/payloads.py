"""The events that hooks write by hand, for type checkers: the types of `eventlog/format/events.py`, without a library.

Hooks have no time for validation, so mypy checks what they write: imported under TYPE_CHECKING, never in a hook.
Names, types and what must be there are those of the structs (`tests/log/test_payloads.py`), of the fields that hooks
write. An event is a stamp, an envelope and the fields of its type.
"""

from typing import Literal, NotRequired, TypedDict

EventType = Literal[
    "session_start", "turn_end", "save_requested", "session_end", "stage_summary", "context_injected", "host_event"
]


class Stamp(TypedDict):
    """The fields the log adds when it takes an event."""

    v: int
    id: str
    ts: str
    after: NotRequired[str | None]


class Envelope(TypedDict):
    """The conversation and the type of an event."""

    type: EventType
    conversation_id: str
    project: NotRequired[str | None]
    agent: NotRequired[str | None]
    subagent: NotRequired[str | None]
    layer: NotRequired[int | None]


class SessionStart(TypedDict, total=False):
    """A conversation began, or came back."""

    source: str | None
    session_type: Literal["main", "shared"]
    model: str | None
    git_branch: str | None
    git_commit: str | None
    transcript_path: str | None


class TurnEnd(TypedDict, total=False):
    """The agent finished a turn."""

    turn_id: str | None
    status: str | None


class SaveRequested(TypedDict):
    """The agent was asked to save."""

    trigger: Literal["stop", "pre_compact"]
    context_usage_percent: NotRequired[float | None]
    message_count: NotRequired[int | None]


class StageSummary(TypedDict):
    """A summary of the work done; of hooks only that of a stage, as its host wrote it."""

    scope: NotRequired[Literal["stage", "session"]]
    topic: NotRequired[str]
    summary: str


class SessionEnd(TypedDict, total=False):
    """A conversation ended; it may come back."""

    reason: str | None
    status: str | None
    duration_ms: float | None
    error: str | None
    turns: int | None


class KnownFile(TypedDict):
    """A file a session was given."""

    path: str
    digest: str
    as_of: NotRequired[str | None]


class ContextInjected(TypedDict):
    """The receipt of what a session was given."""

    digest: str
    chars: int
    sources: NotRequired[list[str]]
    cut: NotRequired[list[str]]
    files: NotRequired[list[KnownFile]]
    lines: NotRequired[str]
    session_type: NotRequired[Literal["main", "shared"]]
    trigger: NotRequired[Literal["start", "prompt", "file"]]
    about: NotRequired[list[str]]
    file: NotRequired[str]
    failure: NotRequired[str]


class HostEvent(TypedDict):
    """The payload of any other call of a host."""

    name: str
    payload: NotRequired[dict[str, object]]
