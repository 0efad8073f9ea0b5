"""Claude Code's past: `projects/<slug>/<session>.jsonl`, subagents in `<session>/subagents/agent-*.jsonl`.

Older versions put subagents' files beside those of sessions. Bookkeeping lines have no times and are written again
when a session is opened. Its notes to itself lie in `projects/<slug>/memory/`.
"""

from collections.abc import Iterator
from pathlib import Path

from eventlog.hosts.claude.transcript import HELPER
from eventlog.hosts.outline import Outline, Span, directory_spelled, first_text
from eventlog.hosts.steps import dig, records, word

FOLDERS = ("projects",)
NAMES = ("*.jsonl",)
_HELPERS = "subagents"


def outline(path: Path, damaged: list[int]) -> Outline | None:
    """Draw the outline of a session's or a subagent's file; None where no message is in it. Raises OSError."""
    span = Span()
    sessions: dict[str, None] = {}
    where = branch = model = ""
    for record in records(path, damaged):
        if "message" not in record:
            continue
        span.see(record.get("timestamp"))
        sessions.setdefault(word(record, "sessionId"))
        where, branch = where or word(record, "cwd"), branch or word(record, "gitBranch")
        model = model or first_text(dig(record, "message", "model"))
    if not sessions:
        return None
    started, ended, is_dated = span.of(path)
    helper = path.stem.removeprefix(HELPER) if path.name.startswith(HELPER) else ""
    conversation = path.stem if path.stem in sessions else first_text(*sessions, _root(path))
    return Outline(conversation, started, ended, where, helper, model, branch, "", is_dated)


def _root(path: Path) -> str:
    """The session whose folder of subagents a file lies in, else the file's own name."""
    return path.parts[path.parts.index(_HELPERS) - 1] if _HELPERS in path.parts[1:] else path.stem


def notes(directory: Path) -> Iterator[tuple[Path, str]]:
    """List the files of what the agent noted for itself, each with the directory it is about; "" where nobody knows."""
    for folder in sorted(directory.glob("projects/*/memory")):
        about = _directory_of(folder.parent)
        for path in sorted(folder.rglob("*.md")):
            yield path, about


def _directory_of(folder: Path) -> str:
    """The directory that the sessions of a folder say they are in, else the one its name spells."""
    for path in sorted(folder.glob("*.jsonl")):
        for record in records(path):
            if where := word(record, "cwd"):
                return where
    return directory_spelled(folder.name)
