"""Codex CLI's past: `sessions/2026/02/21/rollout-<time>-<thread>.jsonl`; archived ones lie in `archived_sessions`.

A subagent's rollout names the thread it was started from (`source.subagent`), and `session_id` the root of all.
"""

from pathlib import Path
from typing import Any

from eventlog.hosts.outline import Outline, Span, first_text
from eventlog.hosts.steps import dig, records

FOLDERS = ("sessions", "archived_sessions")
NAMES = ("rollout-*.jsonl",)
_THREAD = len("019c32d0-ad7a-70b2-b378-c2b94a4ce4a3")


def outline(path: Path, damaged: list[int]) -> Outline | None:
    """Draw the outline of a rollout; None where it is none. Raises OSError."""
    span = Span()
    about: Any = None
    model = ""
    for record in records(path, damaged):
        span.see(record.get("timestamp"))
        if record.get("type") == "session_meta" and about is None:  # a fork repeats that of its origin below its own
            about = record.get("payload")
            span.see(dig(about, "timestamp"))
        elif record.get("type") == "turn_context":
            model = model or first_text(dig(record, "payload", "model"))
    if about is None:
        return None
    thread = first_text(dig(about, "id"), dig(about, "session_id"), path.stem[-_THREAD:])
    parent = first_text(dig(about, "source", "subagent", "thread_spawn", "parent_thread_id"))
    is_helper = bool(dig(about, "source", "subagent"))
    root = first_text(dig(about, "session_id"), thread)
    started, ended, is_dated = span.of(path)
    return Outline(
        conversation=(root if root != thread else parent or thread) if is_helper else thread,
        subagent=thread if is_helper else "",
        started=started,
        ended=ended,
        is_dated=is_dated,
        where=first_text(dig(about, "cwd")),
        model=model,
        branch=first_text(dig(about, "git", "branch")),
        commit=first_text(dig(about, "git", "commit_hash")),
    )
