"""Gemini CLI's past: `tmp/<project>/chats/session-*.jsonl`; older: `.json`; subagents in `chats/<parent>/<id>.jsonl`.

The project is told in the first message of a session, and by `projects.json`. A resumed session leaves a second file
of its id with next to nothing in it.
"""

import re
from pathlib import Path

from eventlog.format import untrusted_json
from eventlog.hosts.outline import Outline, Span, first_text
from eventlog.hosts.steps import TranscriptRecord, dig, records, text_of

FOLDERS = ("tmp",)
NAMES = ("chats/session-*.json", "chats/session-*.jsonl", "chats/*/*.jsonl")
_WORKSPACE = re.compile(r"Workspace Directories:\**\s+- ([^\n]+)")


def outline(path: Path, damaged: list[int]) -> Outline | None:
    """Draw the outline of a session's file; None where it is none. Raises OSError."""
    found = _whole(path, damaged) if path.suffix == ".json" else list(records(path, damaged))
    about = [record for record in found if "sessionId" in record]
    if not about:
        return None
    span, where, model = Span(), "", ""
    for message in _messages(found):
        span.see(message.get("timestamp"))
        model = model or first_text(message.get("model"))
        where = where or _workspace(message)
    for record in (*about, *(dig(record, "$set") for record in found)):
        span.see(dig(record, "startTime"))
        span.see(dig(record, "lastUpdated"))
    started, ended, is_dated = span.of(path)
    session, parent = first_text(about[0]["sessionId"], path.stem), path.parent.name
    is_helper = dig(about[0], "kind") == "subagent" or path.parent.parent.name == "chats"
    conversation, helper = (parent, session) if is_helper else (session, "")
    where = where or _registered(path)
    return Outline(conversation, started, ended, where, helper, model, "", "", is_dated)


def _whole(path: Path, damaged: list[int]) -> list[TranscriptRecord]:
    try:
        whole = untrusted_json.decode(path.read_bytes())
    except ValueError:
        damaged.append(1)
        return []
    return [whole] if isinstance(whole, dict) else []


def _messages(found: list[TranscriptRecord]) -> list[TranscriptRecord]:
    """The messages of all lines, and those that a patch or the old format has in a list."""
    listed = [many for record in found for many in (dig(record, "$set", "messages"), record.get("messages"))]
    within = [message for many in listed if isinstance(many, list) for message in many]
    return [message for message in (*found, *within) if isinstance(message, dict)]


def _workspace(message: TranscriptRecord) -> str:
    said = _WORKSPACE.search(text_of(message.get("content")))
    return said[1].strip() if said else ""


def _registered(path: Path) -> str:
    """The directory that the host's own list of projects has for the folder of a session; "" for none."""
    chats = next((folder for folder in path.parents if folder.name == "chats"), None)
    if chats is None:
        return ""
    listed = chats.parents[2] / "projects.json"
    known = dig(next(iter(_whole(listed, [])), {}) if listed.is_file() else {}, "projects")
    names = known.items() if isinstance(known, dict) else ()
    return next((where for where, name in names if name == chats.parent.name), "")
