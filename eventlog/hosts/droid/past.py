"""Droid's history: `sessions/<slug>/<id>.jsonl`: its beginning, then messages in blocks as Claude's API has them.

Messages for the user or the model alone are of hooks, and name whom they are for. Seen in 0.225.
"""

from collections.abc import Iterator
from pathlib import Path

from eventlog.format.codec import dig
from eventlog.hosts.call import not_the_user, text
from eventlog.hosts.transcripts.steps import PastSession, SessionCalls, Span, Step, first_text, records, text_of

FOLDERS = ("sessions",)
NAMES = ("*/*.jsonl",)


def past_session(path: Path, damaged: list[int]) -> PastSession | None:
    """Read the head of a session's file; None where it does not begin. Raises OSError."""
    span = Span()
    session = where = model = ""
    for record in records(path, damaged):
        span.see(record.get("timestamp"))
        if record.get("type") == "session_start":
            session, where = text(record, "id"), text(record, "cwd")
        model = model or first_text(dig(record, "message", "modelId"))
    return PastSession(session, *span.of(path), where, model=model) if session else None


def steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a session. Raises OSError."""
    calls = SessionCalls()
    for record in records(path):
        content = dig(record, "message", "content")
        words = "" if dig(record, "message", "visibility") else text_of(content)
        if words and not not_the_user(words):
            yield Step("prompt" if dig(record, "message", "role") == "user" else "reply", words)
        yield from calls.of_blocks(content)
