"""Cline's history: messages as Anthropic's API has them, in one file of JSON for each task.

Its command line writes `data/sessions/<id>/<id>.messages.json`, its extension
`tasks/<id>/api_conversation_history.json`.
Its own words stand beside the user's in a message: only what has the tag of the user's words is a prompt. The command
line names the directory in `<id>.json`, the extension in the first message; an id begins with the task's milliseconds.
The agent answers by tools, and keeps its to-dos in a parameter of any; before tools were native, and in Roo Code, a
call is a tag in the agent's words. Seen in 3.0.65 (command line); the extension in tasks of others, not run.
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

_REQUEST = re.compile(
    r"<(task|feedback|user_message|answer|user_input)(?: [^>]*)?>\s*(.*?)\s*</\1>", re.DOTALL
)  # what else stands in a message of the user's is Cline's
_RESULT = re.compile(r"\[(?!attempt_completion|ask_followup_question|plan_mode_respond)\w+[^\n]*\] Result:")
_FEEDBACK = "provided the following feedback:"
_CALL = re.compile(
    r"<(attempt_completion|plan_mode_respond|ask_followup_question|write_to_file|replace_in_file|apply_diff|insert_content"
    r"|search_and_replace|execute_command|update_todo_list|thinking)>(.*?)(?:</\1>|\Z)",
    re.DOTALL,
)
_PARAMETER = re.compile(r"<(result|response|question|path|command|todos|task_progress)>\s*(.*?)\s*</\1>", re.DOTALL)
_ANSWERS = {"attempt_completion": "result", "plan_mode_respond": "response", "ask_followup_question": "question"}
_TODOS = "task_progress"
_WHERE = re.compile(r"# Current (?:Working|Workspace) Directory \((/[^)\n]*)\)")
_NAMES = {
    "writetofile": "write",
    "replaceinfile": "edit",
    "editor": "edit",
    "applydiff": "edit",
    "insertcontent": "edit",
    "searchandreplace": "edit",
    "updatetodolist": "todowrite",
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
    meta = _json(head) if head != path else {}
    words = "\n".join(texts(dig(found[0], "content")))
    named = _WHERE.search(words)
    written = timestamps.from_ns(path.stat().st_mtime_ns)
    began = _MILLISECONDS.match(path.parent.name)
    started = timestamps.from_ns(int(began[0]) * 10**6) if began else written
    last = max((message["ts"] for message in found if isinstance(message.get("ts"), int)), default=0)
    return PastSession(
        conversation=first_text(dig(meta, "session_id"), path.parent.name),
        started=started,
        ended=timestamps.from_ns(last * 10**6) if last else max(started, written),
        where=first_text(dig(meta, "cwd"), named[1] if named else ""),
        model=first_text(dig(meta, "model"), *(dig(message, "modelInfo", "modelId") for message in found)),
        branch=first_text(dig(meta, "metadata", "git", "branch")),
        is_dated=bool(began),
    )


def steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a task. Raises OSError."""
    calls = SessionCalls()
    for message in _messages(path, []):
        content = message.get("content")
        if message.get("role") == "user":
            yield from (
                Step("prompt", request[2])
                for text in _around(content)
                for request in _REQUEST.finditer(text)
                if request[2]
            )
        else:
            words = text_of(content)
            if reply := _CALL.sub("", words).strip():
                yield Step("reply", reply)
            for name, within in _CALL.findall(words):
                arguments = dict(reversed(_PARAMETER.findall(within)))  # the first counts: a file may contain tags
                yield from calls.called(None, _effects(name, arguments))
        yield from calls.of_blocks(content, _effects)


def _around(content: Any) -> Iterator[str]:
    """Yield the texts of a message without what tools printed; a person may comment on that in the same text."""
    printed = False
    for text in texts(content):
        result = _RESULT.match(text)
        yield text.partition(_FEEDBACK)[2] if result or printed else text
        printed = bool(result and not text[result.end() :].strip())


def _effects(name: str, arguments: Any) -> Iterator[Step]:
    """Yield the effects of a call, under the names other hosts have for its tools, and the reply that it carries."""
    if isinstance(dig(arguments, _TODOS), str):
        yield from from_tool("todowrite", {"todos": arguments[_TODOS]})
    if words := text_of(dig(arguments, _ANSWERS.get(name, ""))):
        yield Step("reply", words)
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
