"""Gemini CLI: `chats/session-*.jsonl`, messages with ids, `$set` patches and `$rewindTo`; older: one `.json`.

A message may be written again under its id, then the last one counts; a rewind takes back what came after.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from eventlog.format import untrusted_json
from eventlog.hosts.steps import Step, TranscriptRecord, dig, records, text_of, word
from eventlog.hosts.tools import from_tool


def steps(path: Path) -> Iterator[Step]:
    """The steps of a conversation as it stands now; raises OSError."""
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
            kept = _until(kept, word(record, "$rewindTo"))
        elif isinstance(changes := record.get("$set"), dict):
            kept[f"$set {number}"] = {"sessionId": True, **changes}
        else:
            kept[word(record, "id") or str(number)] = record
    return kept.values()


def _until(kept: dict[str, TranscriptRecord], message_id: str) -> dict[str, TranscriptRecord]:
    """Everything before that message; all of it where there is no such message."""
    names = list(kept)
    return {name: kept[name] for name in names[: names.index(message_id)]} if message_id in kept else kept


def _old_format(path: Path) -> list[TranscriptRecord]:
    messages = dig(untrusted_json.object_in(path.read_bytes()), "messages")
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
