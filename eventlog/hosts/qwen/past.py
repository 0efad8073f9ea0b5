"""Qwen Code's history: `projects/<slug>/chats/<session>.jsonl`, a line per message, in parts like Gemini's API.

A prompt keeps the user's own text (`systemPayload.displayText`) beside the text the model received: hooks add to it.
"""

from collections.abc import Iterator
from pathlib import Path

from eventlog.format.codec import dig
from eventlog.hosts.call import text
from eventlog.hosts.transcripts.steps import (
    PastSession,
    SessionCalls,
    Span,
    Step,
    TranscriptRecord,
    records,
)

FOLDERS = ("projects", "tmp")
NAMES = ("chats/*.jsonl",)


def past_session(path: Path, damaged: list[int]) -> PastSession | None:
    """Read the head of a session's file; None where no message is in it. Raises OSError."""
    span = Span()
    session = where = branch = model = ""
    for record in records(path, damaged):
        span.see(record.get("timestamp"))
        session, where = session or text(record, "sessionId"), where or text(record, "cwd")
        branch, model = branch or text(record, "gitBranch"), model or text(record, "model")
    if not session:
        return None
    return PastSession(session, *span.of(path), where, model=model, branch=branch)


_OF_A_HOOK = "<qwen:"


def steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a session. Raises OSError."""
    calls = SessionCalls()
    for record in records(path):
        match record.get("type"):
            case "user" if record.get("provenance") in (None, "real_user"):
                if words := str(dig(record, "systemPayload", "displayText") or _words(record)):
                    yield Step("prompt", words)
            case "assistant":
                if words := _words(record):
                    yield Step("reply", words)
        yield from calls.of_blocks(dig(record, "message", "parts"))


def _words(record: TranscriptRecord) -> str:
    parts = dig(record, "message", "parts")
    words = [dig(part, "text") for part in parts if not dig(part, "thought")] if isinstance(parts, list) else []
    return "\n".join(text for text in words if isinstance(text, str) and not text.startswith(_OF_A_HOOK)).strip()
