"""Cline's history: messages as Anthropic's API has them, in one file of JSON for each task.

Its command line writes `data/sessions/<id>/<id>.messages.json`, its extension
`tasks/<id>/api_conversation_history.json`.
Its own words stand beside the user's in a message: only what has the tag of the user's words is a prompt. The command
line names the directory in `<id>.json`, the extension in the first message; an id begins with the task's milliseconds.
Seen in 3.0.65 (command line); the extension by its source, not run.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eventlog.format import codec, timestamps
from eventlog.format.codec import dig
from eventlog.hosts.transcripts.steps import (
    PastSession,
    SessionCalls,
    Step,
    TranscriptRecord,
    first_text,
    from_tool,
    text_of,
    texts,
)

HOME = ".cline"  # below the user's
FOLDERS = ("data/sessions",)
NAMES = ("*.messages.json", "api_conversation_history.json")

_SAID = re.compile(
    r"<(task|feedback|user_message|answer|user_input)(?: [^>]*)?>\s*(.*?)\s*</\1>", re.DOTALL
)  # what else stands in a message of the user's is Cline's
_WHERE = re.compile(r"# Current (?:Working|Workspace) Directory \((/[^)\n]*)\)")
_NAMES = {
    "writetofile": "write",
    "replaceinfile": "edit",
    "editor": "edit",
    "executecommand": "bash",
    "runcommands": "bash",
}
_MILLISECONDS = re.compile(r"\d{13}")


def past_session(path: Path, damaged: list[int]) -> PastSession | None:
    """Read the head of a task; None where it is none. Raises OSError."""
    found = _messages(path, damaged)
    if not found:
        return None
    head = path.with_name(path.name.replace(".messages.json", ".json"))
    about = _json(head) if head != path else {}
    words = "\n".join(texts(dig(found[0], "content")))
    named = _WHERE.search(words)
    written = timestamps.from_ns(path.stat().st_mtime_ns)
    began = _MILLISECONDS.match(path.parent.name)
    started = timestamps.from_ns(int(began[0]) * 10**6) if began else written
    last = max((message["ts"] for message in found if isinstance(message.get("ts"), int)), default=0)
    return PastSession(
        conversation=first_text(dig(about, "session_id"), path.parent.name),
        started=started,
        ended=timestamps.from_ns(last * 10**6) if last else max(started, written),
        where=first_text(dig(about, "cwd"), named[1] if named else ""),
        model=first_text(dig(about, "model")),
        branch=first_text(dig(about, "metadata", "git", "branch")),
        is_dated=bool(began),
    )


def steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a task. Raises OSError."""
    calls = SessionCalls()
    for message in _messages(path, []):
        content = message.get("content")
        if message.get("role") == "user":
            yield from (Step("prompt", said[2]) for text in texts(content) for said in _SAID.finditer(text) if said[2])
        elif words := text_of(content):
            yield Step("reply", words)
        yield from calls.of_blocks(content, _effects)


def _effects(name: str, arguments: Any) -> Iterator[Step]:
    """Yield the effects of a call, under the names other hosts have for its tools."""
    name = _NAMES.get(name.replace("_", ""), name)
    several = dig(arguments, "commands")
    for each in [{"command": command} for command in several] if isinstance(several, list) else [arguments]:
        yield from from_tool(name, each)


def _messages(path: Path, damaged: list[int]) -> list[TranscriptRecord]:
    whole = _json(path)
    listed = whole if isinstance(whole, list) else dig(whole, "messages")
    if not isinstance(listed, list):
        damaged.append(1)
        return []
    return [message for message in listed if isinstance(message, dict)]


def _json(path: Path) -> Any:
    try:
        return codec.decode_json(path.read_bytes())
    except (ValueError, FileNotFoundError):
        return None
