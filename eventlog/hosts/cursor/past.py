"""Cursor's history: `projects/<slug>/agent-transcripts/<id>/<id>.jsonl`, in older versions without a folder each.

Lines are `{role, message: {content}}`, without ids or times: the file's time and the name of its folder replace them.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from eventlog.format.codec import dig
from eventlog.hosts.transcripts.steps import (
    PastSession,
    SessionCalls,
    Span,
    Step,
    directory_spelled,
    records,
    text_of,
)

FOLDERS = ("projects",)
NAMES = ("agent-transcripts/**/*.jsonl",)
_FOLDER = "agent-transcripts"


def past_session(path: Path, damaged: list[int]) -> PastSession | None:
    """Read the head of a conversation's file; None without a message. Raises OSError."""
    roles = [record.get("role") for record in records(path, damaged)]
    if "user" not in roles and "assistant" not in roles:
        return None
    slug = path.parts[path.parts.index(_FOLDER) - 1] if _FOLDER in path.parts[1:] else ""
    return PastSession(path.stem, *Span().of(path), where=directory_spelled(slug) if slug else "")


_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


def steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a conversation. Raises OSError."""
    for record in records(path):
        content = dig(record, "message", "content")
        words = text_of(content)
        if record.get("role") == "user" and words:
            yield Step("prompt", "\n".join(_QUERY.findall(words)) or words)
        elif record.get("role") == "assistant" and words:
            yield Step("reply", words)
        yield from SessionCalls().of_blocks(content)
