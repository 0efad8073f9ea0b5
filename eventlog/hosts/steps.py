"""What every format of transcript comes down to: who said what, and which tools did what, in order."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

LONGEST_LINE = 64 << 20  # bytes; a longer one is passed over: it holds a picture, not words

StepKind = Literal["title", "prompt", "reply", "file", "command", "todos"]
TranscriptRecord = dict[str, Any]


class Step(NamedTuple):
    """One thing of the conversation.

    `text` is a title, the user's or the agent's words, a path, a command; of `todos` all open ones, one a line,
    replacing those before.
    """

    kind: StepKind
    text: str


def records(path: Path) -> Iterator[TranscriptRecord]:
    """The JSON objects of a file, one a line, as they come; whatever is not one is passed over.

    A half-written last line is not one yet. Nothing is read into memory but the line at hand. Raises OSError.
    """
    with path.open("rb") as opened:
        while line := opened.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                _skip_line(opened)
                continue
            try:
                record = msgspec.json.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if isinstance(record, dict):
                yield record


def dig(record: Any, *names: str) -> Any:
    """The value under these names, None where there is no such place."""
    for name in names:
        record = record.get(name) if isinstance(record, dict) else None
    return record


def word(record: TranscriptRecord, name: str) -> str:
    """The text under a name, "" where there is none."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


def texts(content: Any) -> list[str]:
    """The texts of a message: a string, or a list of blocks of which some are text."""
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    found = (dig(block, "text") for block in blocks if dig(block, "type") in _TEXT_BLOCKS or isinstance(block, str))
    return [text for text in found if isinstance(text, str) and text.strip()]


_TEXT_BLOCKS = ("text", "input_text", "output_text", None)


def text_of(content: Any) -> str:
    """All the text of a message."""
    return "\n".join(texts(content)).strip()


def of_the_user(prompt: str) -> str:
    """What of a prompt the user said: without the context a host put into it for us, wherever it stands."""
    first, *others = prompt.split("<hook_context>")
    said = [first, *(other.partition("</hook_context>")[2] for other in others)]
    return "".join(said).strip()


def from_tool(name: str, arguments: Any) -> Iterator[Step]:
    """What a call of a tool did, whatever the host calls it."""
    plain = name.rpartition("__")[2].casefold().replace("_", "")
    if plain in _WRITES:
        path = next((dig(arguments, key) for key in _PATHS if isinstance(dig(arguments, key), str)), "")
        if path:
            yield Step("file", path)
    elif plain in _RUNS:
        if command := _command(arguments):
            yield from _patched(command)
            yield Step("command", command)
    elif plain in _PATCHES:
        yield from _patched(_command(arguments))
    elif plain in _PLANS:
        yield Step("todos", "\n".join(_open_todos(arguments)))


_WRITES = frozenset(
    ("write", "edit", "multiedit", "notebookedit", "writefile", "replace", "searchreplace", "editfile", "create",
     "createfile", "strreplace", "strreplaceeditor", "delete", "deletefile", "insertedit", "replacestringinfile")
)  # fmt: skip
_PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file", "absolute_path")
_RUNS = frozenset(
    ("bash", "shell", "execcommand", "runshellcommand", "runterminalcmd", "runterminalcommand", "localshell", "exec",
     "runinterminal", "powershell")
)  # fmt: skip
_PATCHES = frozenset(("applypatch",))
_PLANS = frozenset(("todowrite", "updateplan", "writetodos"))
_PATCH_HEADS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")
_DONE = ("completed", "cancelled")


def _command(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    said = next((dig(arguments, key) for key in ("command", "cmd", "input") if dig(arguments, key)), "")
    return " ".join(map(str, said)) if isinstance(said, list) else str(said)


def _patched(patch: str) -> Iterator[Step]:
    for line in patch.splitlines() if "*** Begin Patch" in patch else ():
        for head in _PATCH_HEADS:
            if line.startswith(head):
                yield Step("file", line.removeprefix(head).strip())


def _open_todos(arguments: Any) -> list[str]:
    items: list[Any] = next(
        (dig(arguments, key) for key in ("todos", "plan") if isinstance(dig(arguments, key), list)), []
    )
    said = [
        (dig(item, "content") or dig(item, "step") or dig(item, "description"), dig(item, "status")) for item in items
    ]
    return [text for text, status in said if isinstance(text, str) and status not in _DONE]


def _skip_line(opened: Any) -> None:
    while (line := opened.readline(LONGEST_LINE)) and not line.endswith(b"\n"):
        pass
