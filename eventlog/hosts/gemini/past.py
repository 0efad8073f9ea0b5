"""Gemini CLI's history: `tmp/<project>/chats/session-*.jsonl` (older: `.json`), subagents in `<parent>/<id>.jsonl`.

Lines are messages with ids, `$set` patches and `$rewindTo`: a message may be written again under its id, then the last
version counts; a rewind removes everything after its target. The project is named in the first message of a session,
and by `projects.json`. A resumed session leaves a second, almost empty file of its id.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from eventlog.format import codec
from eventlog.format.codec import dig
from eventlog.hosts.call import text
from eventlog.hosts.transcripts.past_session import PastSession, Span, first_text
from eventlog.hosts.transcripts.steps import Step, TranscriptRecord, from_tool, records, text_of

FOLDERS = ("tmp",)
NAMES = ("chats/session-*.json", "chats/session-*.jsonl", "chats/*/*.jsonl")
_WORKSPACE = re.compile(r"Workspace Directories:\**\s+- ([^\n]+)")


def past_session(path: Path, damaged: list[int]) -> PastSession | None:
    """Read the head of a session's file; None where it is none. Raises OSError."""
    found = _whole(path, damaged) if path.suffix == ".json" else list(records(path, damaged))
    about = [record for record in found if "sessionId" in record]
    if not about:
        return None
    span, where, model = Span(), "", ""
    for message in _all_messages(found):
        span.see(message.get("timestamp"))
        model = model or first_text(message.get("model"))
        where = where or _workspace(message)
    for record in (*about, *(dig(record, "$set") for record in found)):
        span.see(dig(record, "startTime"))
        span.see(dig(record, "lastUpdated"))
    started, ended, is_dated = span.of(path)
    session, parent = first_text(about[0]["sessionId"], path.stem), path.parent.name
    is_subagent = dig(about[0], "kind") == "subagent" or path.parent.parent.name == "chats"
    conversation, subagent = (parent, session) if is_subagent else (session, "")
    where = where or _registered(path)
    return PastSession(conversation, started, ended, where, subagent, model, "", "", is_dated)


def _whole(path: Path, damaged: list[int]) -> list[TranscriptRecord]:
    try:
        whole = codec.decode_json(path.read_bytes())
    except ValueError:
        damaged.append(1)
        return []
    return [whole] if isinstance(whole, dict) else []


def _all_messages(found: list[TranscriptRecord]) -> list[TranscriptRecord]:
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


def steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a conversation as it stands. Raises OSError."""
    title = ""
    for message in _messages(path):
        title = str(message.get("summary") or title) if "sessionId" in message else title
        yield from _of(message)
    if title:
        yield Step("title", title)


def _messages(path: Path) -> Iterable[TranscriptRecord]:
    if path.suffix == ".json":
        return _old_format(path)
    kept: dict[str, TranscriptRecord] = {}
    for number, record in enumerate(records(path)):
        if "$rewindTo" in record:
            kept = _until(kept, text(record, "$rewindTo"))
        elif isinstance(changes := record.get("$set"), dict):
            kept[f"$set {number}"] = {"sessionId": True, **changes}
        else:
            kept[text(record, "id") or str(number)] = record
    return kept.values()


def _until(kept: dict[str, TranscriptRecord], message_id: str) -> dict[str, TranscriptRecord]:
    """Everything before that message; all of it where there is no such message."""
    names = list(kept)
    return {name: kept[name] for name in names[: names.index(message_id)]} if message_id in kept else kept


def _old_format(path: Path) -> list[TranscriptRecord]:
    messages = dig(codec.json_object(path.read_bytes()), "messages")
    return [message for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []


def _of(message: TranscriptRecord) -> Iterator[Step]:
    said = text_of(message.get("content"))
    if message.get("type") == "user" and said:
        yield Step("prompt", said)
    elif message.get("type") == "gemini" and said:
        yield Step("reply", said)
    calls = message.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        yield from from_tool(str(dig(call, "name")), dig(call, "args"))
