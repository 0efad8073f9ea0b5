"""Cursor: `agent-transcripts/<id>/<id>.jsonl`, lines of `{role, message: {content}}`, neither ids nor times."""

import re
from collections.abc import Iterator
from pathlib import Path

from eventlog.hosts.steps import Step, dig, records, text_of
from eventlog.hosts.tools import from_blocks

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


def steps(path: Path) -> Iterator[Step]:
    """The steps of a conversation; raises OSError."""
    for record in records(path):
        content = dig(record, "message", "content")
        said = text_of(content)
        if record.get("role") == "user" and said:
            yield Step("prompt", "\n".join(_QUERY.findall(said)) or said)
        elif record.get("role") == "assistant" and said:
            yield Step("reply", said)
        yield from from_blocks(content)
