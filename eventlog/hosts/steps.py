"""The steps of a conversation, common to all formats of transcripts: messages and calls of tools, in order."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from eventlog.format import untrusted_json

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


def records(path: Path, damaged: list[int] | None = None) -> Iterator[TranscriptRecord]:
    """The JSON objects of a file, one a line, as they come; whatever is not one is passed over.

    The numbers of whole lines that are none are added to `damaged`. A half-written last line is not one yet. Nothing is
    read into memory but the line at hand. Raises OSError.
    """
    passed_over = [] if damaged is None else damaged
    with path.open("rb") as opened:
        number = 0
        while line := opened.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                _skip_line(opened)
                continue
            record = untrusted_json.object_in(line)
            if record is not None:
                yield record
            elif line.strip() and line.endswith(b"\n"):
                passed_over.append(number)


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
    found = (
        block if isinstance(block, str) else dig(block, "text")
        for block in blocks
        if dig(block, "type") in _TEXT_BLOCKS
    )
    return [text for text in found if isinstance(text, str) and text.strip()]


_TEXT_BLOCKS = ("text", "input_text", "output_text", None)


def text_of(content: Any) -> str:
    """All the text of a message."""
    return "\n".join(texts(content)).strip()


def _skip_line(opened: Any) -> None:
    while (line := opened.readline(LONGEST_LINE)) and not line.endswith(b"\n"):
        pass
