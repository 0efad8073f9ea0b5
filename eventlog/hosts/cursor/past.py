"""Cursor's past: `projects/<slug>/agent-transcripts/<id>/<id>.jsonl`, in older versions without a folder each.

Nothing in it tells when or where: the file's time and the name of its folder have to do.
"""

from pathlib import Path

from eventlog.hosts.outline import Outline, Span, directory_spelled
from eventlog.hosts.steps import TranscriptRecord, records

FOLDERS = ("projects",)
NAMES = ("agent-transcripts/**/*.jsonl",)
_FOLDER = "agent-transcripts"


def outline(path: Path, damaged: list[int]) -> Outline | None:
    """Draw the outline of a conversation's file; None where nobody speaks in it. Raises OSError."""
    if not list(filter(_speaks, records(path, damaged))):
        return None
    written, _, _ = Span().of(path)
    slug = path.parts[path.parts.index(_FOLDER) - 1] if _FOLDER in path.parts[1:] else ""
    where = directory_spelled(slug) if slug else ""
    return Outline(path.stem, written, written, where, is_dated=False)


def _speaks(record: TranscriptRecord) -> bool:
    return record.get("role") in ("user", "assistant")
