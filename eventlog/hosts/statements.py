"""Statements of a message: its decisions and open ends where it says so, its prose by sentences; pure."""

import re
from collections.abc import Iterator
from itertools import pairwise

from eventlog.format.text import cut, one_line

_ITEM_CHARS = 200

_DECISION = r"(?:(?:key )?decisions?|decided|we decided|(?:关键)?决策|(?:关键)?决定)"
_OPEN_END = (
    r"(?:todos?|to[- ]dos?|next steps?|remaining|still open|open ends?|not done"
    r"|待办(?:事项)?|未完成|下一步|遗留(?:问题)?)"
)
_FOLLOWS = r"[*_]*+\s*[:：]\s*+[*_]*+\s*(\S.*)$"
_BULLET = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)、])\s+")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_NO_PROSE = re.compile(r"^\s*(?:[{}\[\]<|#>]|[\"'][\w.-]+[\"']\s*:|[-=_*]{3,}\s*$|/[\w:-]+\s*$|!\w)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\W?[A-Z\d]|[^\x00-\x7f])|(?<=[。！？])\s*")
_INTENTION = re.compile(
    r"(?:let me|let's|i'll|i will|i am going to|i'm going to|now i|now let)\b|让我|我来|我将|接下来", re.IGNORECASE
)
_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: +\w{1,20})?|你好|您好|嗨|早上好)"
    r"\s*(?:[,.!，。！]\s*|$)",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"(?:ok(?:ay)?|yes|no|go on|continue|thanks?|thank you|test|好的?|是的?|继续|谢谢)?[\s.!,。！，]*", re.IGNORECASE
)


class _Label:
    """A word that says that what follows is one: in its line, mid-line after a sentence, or in the list below it."""

    def __init__(self, word: str, bare: str = "") -> None:
        self.at_start = re.compile(rf"^\W*{word}{_FOLLOWS}", re.IGNORECASE)
        self.after_a_sentence = re.compile(rf"[.!?。！？；;]\s*[*_]*{word}{_FOLLOWS}", re.IGNORECASE)
        self.heads_a_list = re.compile(rf"^\W*{word}[*_]*\s*[:：]?[*_]*\s*$", re.IGNORECASE)
        self.bare = re.compile(bare) if bare else None

    def find(self, line: str) -> re.Match[str] | None:
        """Where the line states one."""
        found = self.at_start.search(line) or self.after_a_sentence.search(line)
        return found or (self.bare.match(line) if self.bare else None)


_DECIDED = _Label(_DECISION)
_LEFT = _Label(_OPEN_END, r"^\W*(?:TODO(?:\(\w+\))?:?\s+|\[ \]\s+)(\S.*)$")


def decisions(message: str) -> list[str]:
    """Find the decisions a message names as such."""
    return _stated(_DECIDED, message)


def open_ends(message: str) -> list[str]:
    """Find the to-dos a message leaves open."""
    return _stated(_LEFT, message)


def prose(message: str) -> str:
    """A message on one line: no code, data, tables or headings, and nothing that is a decision or a to-do."""
    return one_line(" ".join(_joined(list(_prose_lines(message)))))


def sentences(text: str) -> list[str]:
    """The sentences of a line of prose."""
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def closing(message: str, limit: int) -> str:
    """The sentences of a message that fit, without those that only announce what comes next."""
    told = sentences(prose(message))
    told = [sentence for sentence in told if not _INTENTION.match(sentence)] or told
    kept = ""
    for sentence in told:
        longer = f"{kept}{_space(kept)}{sentence}"
        if len(longer) > limit:
            break
        kept = longer
    return kept or cut(" ".join(told), limit)


def request(prompt: str) -> str:
    """Find the request of a prompt, in a sentence; "" where it greets, agrees, or holds nothing but data."""
    asked = ""
    for sentence in sentences(_GREETING.sub("", prose(prompt), count=1)):
        asked = f"{asked}{_space(asked)}{sentence}" if not _NOTHING.fullmatch(sentence) else asked
        if len(asked.encode()) >= _A_SENTENCE:
            break
    return asked.rstrip(".。") if " " in asked or not asked.isascii() else ""


_A_SENTENCE = 12  # bytes: less is told together with what follows


def _stated(label: _Label, message: str) -> list[str]:
    found: list[str] = []
    in_list = False
    for line in _lines(message):
        if stated := label.find(line):
            found.append(stated[1])
            in_list = False
        elif label.heads_a_list.match(line):
            in_list = True
        elif in_list and (bullet := _BULLET.match(line)):
            found.append(line[bullet.end() :])
        else:
            in_list = in_list and not line.strip()
    texts = (one_line(text).strip(" *_").removesuffix("。").removesuffix(".") for text in found)
    return [cut(text, _ITEM_CHARS) for text in texts if text and not text.startswith(("[x]", "[X]"))]


def _prose_lines(message: str) -> Iterator[str]:
    heading: _Label | None = None
    for line in _lines(message):
        if label := next((label for label in (_DECIDED, _LEFT) if label.heads_a_list.match(line)), None):
            heading = label
            continue
        if heading and _BULLET.match(line):
            continue
        heading = heading if not line.strip() else None
        if line.strip() and not _NO_PROSE.match(line):
            yield from _without_statements(line)


def _without_statements(line: str) -> Iterator[str]:
    for label in (_DECIDED, _LEFT):
        if found := label.find(line):
            line = line[: found.start() + 1] if label.after_a_sentence.search(line) and found.start() else ""
    if line.strip():
        yield line


def _joined(lines: list[str]) -> Iterator[str]:
    """The lines of a list as parts of a sentence."""
    for line, following in pairwise([*lines, ""]):
        text = _BULLET.sub("", line).strip().replace("**", "")
        in_a_list = _BULLET.match(line) and _BULLET.match(following)
        yield text + ";" if in_a_list and text[-1:].isalnum() else text


def _lines(message: str) -> Iterator[str]:
    """Those outside of blocks of code."""
    fenced = False
    for line in message.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield line


def _space(before: str) -> str:
    return " " if before and before[-1].isascii() else ""
