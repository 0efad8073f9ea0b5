"""Prose of messages: their lines outside of code, sentences, and the statements they label; pure.

Decisions and to-dos are found where a message labels them: in the label's line, after a sentence, or in the list below.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from eventlog.format.text import cut, one_line

ITEM_CHARS = 200
BULLET = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)、])\s+")
FENCE = re.compile(r"^\s*(?:```|~~~)(?P<language>\w*)")
_NO_PROSE = re.compile(r"^\s*(?:[{}\[\]<|#>]|[\"'][\w.-]+[\"']\s*:|[-=_*]{3,}\s*$|/[\w:-]+\s*$|!\w)")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!etc\.)\s+(?=[\"'(*]?[A-Z\d]|`|[^\x00-\x7f])"
    r"|(?<=[.!?][)\"'])\s+(?=[A-Z])|(?<=[。！？])\s*"
)

_DECISION = r"(?:(?:key )?decisions?|decided|we decided|(?:关键)?决策|(?:关键)?决定)"
_OPEN_END = (
    r"(?:todos?|to[- ]dos?|next steps?|remaining(?: work)?|still open|open ends?|not done|follow[- ]?ups?"
    r"|待办(?:事项)?|未完成|下一步|遗留(?:问题)?)"
)
_FOLLOWS = r"[*_]*+\s*[:：]\s*+[*_]*+\s*(\S.*)$"


class _Label:
    """A word that labels statements: in its line, mid-line after a sentence, or in the list below it."""

    def __init__(self, word: str, bare: str = "") -> None:
        self.at_start = re.compile(rf"^\W*{word}{_FOLLOWS}", re.IGNORECASE)
        self.after_a_sentence = re.compile(rf"[.!?。！？；;]\s*[*_]*{word}{_FOLLOWS}", re.IGNORECASE)
        self.heads_a_list = re.compile(rf"^\W*{word}[*_]*\s*[:：]?[*_]*\s*$", re.IGNORECASE)
        self.bare = re.compile(bare) if bare else None

    def find(self, line: str) -> re.Match[str] | None:
        """Match the statement of a line."""
        found = self.at_start.search(line) or self.after_a_sentence.search(line)
        return found or (self.bare.match(line) if self.bare else None)


_DECISIONS = _Label(_DECISION)
_OPEN_ENDS = _Label(_OPEN_END, r"^\W*(?:TODO(?:\(\w+\))?:?\s+|\[ \]\s+)(\S.*)$")


def decisions(message: str) -> list[str]:
    """List the decisions a message labels as such."""
    return _stated(_DECISIONS, message)


def open_ends(message: str) -> list[str]:
    """List the to-dos a message leaves open."""
    return _stated(_OPEN_ENDS, message)


def _stated(label: _Label, message: str) -> list[str]:
    found: list[str] = []
    in_list = False
    for line in text_lines(message):
        if stated := label.find(line):
            found.append(stated[1])
            in_list = False
        elif label.heads_a_list.match(line):
            in_list = True
        elif in_list and (bullet := BULLET.match(line)):
            found.append(line[bullet.end() :])
        else:
            in_list = in_list and not line.strip()
    texts = (one_line(text.replace("**", "")).strip(" *_").removesuffix("。").removesuffix(".") for text in found)
    return [cut(text, ITEM_CHARS) for text in texts if text and not text.startswith(("[x]", "[X]"))]


def text_lines(message: str) -> Iterator[str]:
    """Yield the lines outside of code blocks."""
    fenced = False
    for line in message.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield line


def prose_lines(message: str) -> Iterator[str]:
    """Yield the lines of prose: no code, data, tables, headings, decisions or to-dos."""
    heading: _Label | None = None
    for line in text_lines(message):
        if label := next((label for label in (_DECISIONS, _OPEN_ENDS) if label.heads_a_list.match(line)), None):
            heading = label
            continue
        if heading and BULLET.match(line):
            continue
        heading = heading if not line.strip() else None
        if line.strip() and not _NO_PROSE.match(line):
            yield from without_statements(line)


def without_statements(line: str) -> Iterator[str]:
    """Yield a line without the decisions and to-dos it labels, if anything is left."""
    for label in (_DECISIONS, _OPEN_ENDS):
        if found := label.find(line):
            line = line[: found.start() + 1] if label.after_a_sentence.search(line) and found.start() else ""
    if line.strip():
        yield line


def prose(message: str) -> str:
    """Reduce a message to a line of prose."""
    return one_line(" ".join(_joined(list(prose_lines(message)))))


def _joined(lines: list[str]) -> Iterator[str]:
    """Join the lines of a list as parts of a sentence."""
    for line, following in pairwise([*lines, ""]):
        text = BULLET.sub("", line).strip().replace("**", "")
        in_a_list = BULLET.match(line) and BULLET.match(following)
        yield text + ";" if in_a_list and text[-1:].isalnum() else text


def sentences(text: str) -> list[str]:
    """Split a line of prose into sentences."""
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def mentions(text: str, name: str) -> bool:
    """Check whether a text names a file."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) :][:1]
        if not (before.isalnum() or before in ("_", ".", "-")) and not (after.isalnum() or after == "_"):
            return True
        at = text.find(name, at + 1)
    return False


def space_after(text: str) -> str:
    """Return what stands between a text and the sentence after it."""
    return " " if text and text[-1].isascii() else ""
