"""Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`, lines of `{type, data, id, timestamp, parentId}`.

What hooks and the model's own bookkeeping leave there is passed over. What a helper says names the call of the tool
that started it; words put in for a skill name their source.
"""

from collections.abc import Iterator
from pathlib import Path

from eventlog.hosts.steps import Step, StepKind, TranscriptRecord, dig, records, text_of
from eventlog.hosts.tools import from_tool


def steps(path: Path) -> Iterator[Step]:
    """The steps of a session; raises OSError."""
    for record in records(path):
        match record.get("type"):
            case "user.message" if dig(record, "data", "source") in (None, "", "user"):
                yield from _words("prompt", record)
            case "assistant.message":
                yield from _words("reply", record)
            case "tool.execution_start":
                yield from from_tool(str(dig(record, "data", "toolName")), dig(record, "data", "arguments"))


def _words(kind: StepKind, record: TranscriptRecord) -> Iterator[Step]:
    said = text_of(dig(record, "data", "content"))
    if said and not dig(record, "data", "parentToolCallId"):
        yield Step(kind, said)
