"""Copilot CLI's history: `session-state/<id>/events.jsonl`, lines of `{type, data, id, timestamp, parentId}`.

Before 1.0 the file was `session-state/<id>.jsonl`, and a prompt ended with the time. Records of hooks and the model's
bookkeeping are skipped. A subagent's words name the tool call that started it; words inserted for a skill name their
source. Left to itself, the agent says what came of it by a tool that completes the task.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eventlog.format.codec import dig
from eventlog.hosts.transcripts.steps import (
    PastSession,
    SessionCalls,
    Span,
    Step,
    StepKind,
    TranscriptRecord,
    first_text,
    from_tool,
    records,
    text_of,
)

FOLDERS = ("session-state",)
NAMES = ("events.jsonl", "*-*-*-*-*.jsonl")


def past_session(path: Path, damaged: list[int]) -> PastSession | None:
    """Read the head of a session's events; None where it does not begin. Raises OSError."""
    span = Span()
    meta: Any = None
    model = ""
    for record in records(path, damaged):
        span.see(record.get("timestamp"))
        if record.get("type") == "session.start" and meta is None:
            meta = record.get("data")
        elif record.get("type") == "session.model_change":
            model = model or first_text(dig(record, "data", "newModel"))
    if meta is None:
        return None
    return PastSession(
        first_text(dig(meta, "sessionId"), path.parent.name),
        *span.of(path),
        where=first_text(dig(meta, "context", "cwd"), dig(meta, "context", "gitRoot")),
        model=first_text(dig(meta, "selectedModel"), model),
        branch=first_text(dig(meta, "context", "branch")),
        commit=first_text(dig(meta, "context", "headCommit")),
    )


def steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a session. Raises OSError."""
    calls = SessionCalls()
    for record in records(path):
        match record.get("type"):
            case "user.message" if dig(record, "data", "source") in (None, "", "user"):
                yield from _words("prompt", record)
            case "assistant.message":
                yield from _words("reply", record)
            case "session.task_complete":
                yield from _words("reply", record, "summary")
            case "tool.execution_start":
                found = from_tool(str(dig(record, "data", "toolName")), dig(record, "data", "arguments"))
                yield from calls.called(dig(record, "data", "toolCallId"), found)
            case "tool.execution_complete":
                badly = dig(record, "data", "success") is False
                output = dig(record, "data", "result", "content")
                yield from calls.ended(dig(record, "data", "toolCallId"), output, badly=badly)


def _words(kind: StepKind, record: TranscriptRecord, field: str = "content") -> Iterator[Step]:
    words = text_of(dig(record, "data", field))
    if words and not dig(record, "data", "parentToolCallId"):
        yield Step(kind, words)
