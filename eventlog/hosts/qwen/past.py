"""Qwen Code's past: `projects/<slug>/chats/<session>.jsonl`."""

from pathlib import Path

from eventlog.hosts.outline import Outline, Span, first_text
from eventlog.hosts.steps import records, word

FOLDERS = ("projects", "tmp")
NAMES = ("chats/*.jsonl",)


def outline(path: Path, damaged: list[int]) -> Outline | None:
    """Draw the outline of a session's file; None where no message is in it. Raises OSError."""
    span = Span()
    session = where = branch = model = ""
    for record in records(path, damaged):
        span.see(record.get("timestamp"))
        session, where = session or word(record, "sessionId"), where or word(record, "cwd")
        branch, model = branch or word(record, "gitBranch"), model or word(record, "model")
    if not session:
        return None
    started, ended, is_dated = span.of(path)
    conversation = first_text(session, path.stem)
    return Outline(conversation, started, ended, where, "", model, branch, "", is_dated)
