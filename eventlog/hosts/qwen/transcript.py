"""Qwen Code: `~/.qwen/projects/<slug>/chats/<session>.jsonl`, a line per message, with parts as Gemini's API has them.

A prompt keeps what its user typed beside what the model was given (`systemPayload.displayText`), for hooks add to it.
"""

from collections.abc import Iterator
from pathlib import Path

from eventlog.hosts.steps import Step, TranscriptRecord, dig, records
from eventlog.hosts.tools import from_tool

_OF_A_HOOK = "<qwen:"


def steps(path: Path) -> Iterator[Step]:
    """The steps of a session; raises OSError."""
    for record in records(path):
        match record.get("type"):
            case "user" if record.get("provenance") in (None, "real_user"):
                if said := str(dig(record, "systemPayload", "displayText") or _words(record)):
                    yield Step("prompt", said)
            case "assistant":
                if said := _words(record):
                    yield Step("reply", said)
                yield from _tools(record)


def _words(record: TranscriptRecord) -> str:
    parts = dig(record, "message", "parts")
    said = [dig(part, "text") for part in parts if not dig(part, "thought")] if isinstance(parts, list) else []
    return "\n".join(text for text in said if isinstance(text, str) and not text.startswith(_OF_A_HOOK)).strip()


def _tools(record: TranscriptRecord) -> Iterator[Step]:
    parts = dig(record, "message", "parts")
    for part in parts if isinstance(parts, list) else ():
        if dig(part, "functionCall"):
            yield from from_tool(str(dig(part, "functionCall", "name")), dig(part, "functionCall", "args"))
