"""Copilot CLI's past: `session-state/<id>/events.jsonl`."""

from pathlib import Path
from typing import Any

from eventlog.hosts.outline import Outline, Span, first_text
from eventlog.hosts.steps import dig, records

FOLDERS = ("session-state",)
NAMES = ("events.jsonl",)


def outline(path: Path, damaged: list[int]) -> Outline | None:
    """Draw the outline of a session's events; None where it does not begin. Raises OSError."""
    span = Span()
    about: Any = None
    for record in records(path, damaged):
        span.see(record.get("timestamp"))
        if record.get("type") == "session.start" and about is None:
            about = record.get("data")
    if about is None:
        return None
    started, ended, is_dated = span.of(path)
    return Outline(
        conversation=first_text(dig(about, "sessionId"), path.parent.name),
        started=started,
        ended=ended,
        where=first_text(dig(about, "context", "cwd"), dig(about, "context", "gitRoot")),
        model=first_text(dig(about, "selectedModel")),
        branch=first_text(dig(about, "context", "branch")),
        commit=first_text(dig(about, "context", "headCommit")),
        is_dated=is_dated,
    )
