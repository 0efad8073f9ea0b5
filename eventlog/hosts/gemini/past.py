"""Gemini CLI's history: `tmp/<project>/chats/session-*.jsonl` (older: `.json`), subagents in `<parent>/<id>.jsonl`.

Lines are messages with ids, `$set` patches and `$rewindTo`: a message may be written again under its id, then the last
version counts; a rewind removes its target and everything after it. The project is named in the first message of a
session, and by `projects.json`. A resumed session leaves a second, almost empty file of its id. An older subagent has a
file beside its session's, under the session's id: its first words tell it from that.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from eventlog.format import codec
from eventlog.format.codec import dig
from eventlog.hosts.call import text
from eventlog.hosts.transcripts.steps import (
    PastSession,
    SessionCalls,
    Span,
    Step,
    StepKind,
    TranscriptRecord,
    first_text,
    records,
    text_of,
)

FOLDERS = ("tmp",)
NAMES = ("chats/session-*.json", "chats/session-*.jsonl", "chats/*/*.jsonl")
_WORKSPACE = re.compile(r"Workspace Directories:\**\s+- ([^\n]+)")
_OBJECTIVE = re.compile(r"<objective>\s*(.*?)\s*</objective>", re.DOTALL)
_LAST_CHANCE = "You have one final chance to complete the task"  # a subagent is told
_TASK = re.compile(r"Your task is to (?:do a deep investigation of the codebase|answer the following question about)\b")


def past_session(path: Path, damaged: list[int]) -> PastSession | None:
    """Read the head of a session's file; None where it is none. Raises OSError."""
    found = _whole(path, damaged) if path.suffix == ".json" else list(records(path, damaged))
    meta = [record for record in found if "sessionId" in record]
    if not meta:
        return None
    span, where, model = Span(), "", ""
    messages = _all_messages(found)
    for message in messages:
        span.see(message.get("timestamp"))
        model = model or first_text(message.get("model"))
        named = _WORKSPACE.search(text_of(message.get("content"))) if not where else None
        where = named[1].strip() if named else where
    for record in (*meta, *(dig(record, "$set") for record in found)):
        span.see(dig(record, "startTime"))
        span.see(dig(record, "lastUpdated"))
    session, parent = first_text(meta[0]["sessionId"], path.stem), path.parent.name
    conversation, subagent = session, ""
    if dig(meta[0], "kind") == "subagent" or _is_of_subagent(path):
        conversation, subagent = parent, session
    elif _TASK.match(next((text_of(user.get("content")) for user in messages if user.get("type") == "user"), "")):
        subagent = path.stem
    return PastSession(conversation, *span.of(path), where or _registered(path), subagent, model)


def _is_of_subagent(path: Path) -> bool:
    return path.parent.parent.name == "chats"


def _whole(path: Path, damaged: list[int]) -> list[TranscriptRecord]:
    try:
        whole = codec.decode_json(path.read_bytes())
    except ValueError:
        damaged.append(1)
        return []
    return [whole] if isinstance(whole, dict) else []


def _all_messages(found: list[TranscriptRecord]) -> list[TranscriptRecord]:
    """List the messages of all lines, and those in a list of a patch or of the old format."""
    listed = [many for record in found for many in (dig(record, "$set", "messages"), record.get("messages"))]
    within = [message for many in listed if isinstance(many, list) for message in many]
    return [message for message in (*found, *within) if isinstance(message, dict)]


def _registered(path: Path) -> str:
    """Find the directory of a session's folder in the host's list of projects; "" for none."""
    chats = next((folder for folder in path.parents if folder.name == "chats"), None)
    if chats is None:
        return ""
    listed = chats.parents[2] / "projects.json"
    registered = dig(next(iter(_whole(listed, [])), {}) if listed.is_file() else {}, "projects")
    names = registered.items() if isinstance(registered, dict) else ()
    return next((where for where, name in names if name == chats.parent.name), "")


def steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a conversation as it stands. Raises OSError."""
    title, session = "", None
    asks: StepKind = "task" if _is_of_subagent(path) else "prompt"
    for message in _messages(path):
        named = message.get("sessionId")
        session = session or named
        title = str(message.get("summary") or title) if named is True or (named and named == session) else title
        yield from _of(message, asks)
    if title:
        yield Step("title", title)


def _messages(path: Path) -> Iterable[TranscriptRecord]:
    if path.suffix == ".json":
        listed = dig(codec.json_object(path.read_bytes()), "messages")
        return [message for message in listed if isinstance(message, dict)] if isinstance(listed, list) else []
    messages: dict[str, TranscriptRecord] = {}
    for number, record in enumerate(records(path)):
        if "$rewindTo" in record:
            messages = _until(messages, text(record, "$rewindTo"))
        elif isinstance(changes := record.get("$set"), dict):
            messages[f"$set {number}"] = {"sessionId": True, **changes}
        else:
            messages[text(record, "id") or str(number)] = record
    return messages.values()


def _until(messages: dict[str, TranscriptRecord], message_id: str) -> dict[str, TranscriptRecord]:
    """Return the messages before that message; all where it is missing."""
    names = list(messages)
    return {name: messages[name] for name in names[: names.index(message_id)]} if message_id in messages else messages


def _of(message: TranscriptRecord, asks: StepKind) -> Iterator[Step]:
    words = text_of(message.get("content"))
    if message.get("type") == "user" and words and _LAST_CHANCE not in words:
        objective = _OBJECTIVE.search(words) if _TASK.match(words) else None
        yield Step("task", objective[1]) if objective else Step(asks, words)
    elif message.get("type") == "gemini" and words:
        yield Step("reply", words)
    yield from SessionCalls().of_blocks(message.get("toolCalls"))
