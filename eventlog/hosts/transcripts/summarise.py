"""A summary of a conversation from its steps, without any model: only explicit statements; pure.

Decisions and to-dos are found where a message labels them: in the label's line, after a sentence, or in the list below.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import NamedTuple

from eventlog.format.text import cut, one_line, same_text
from eventlog.hosts.transcripts.steps import Step, commit_titles, programs_run

_TOPIC_CHARS, _SUMMARY_CHARS, _ITEM_CHARS = 100, 500, 200
_REPLY_CHARS, _COMMAND_CHARS = 240, 60
_MOST_FILES, _MOST_COMMANDS, _MOST_ITEMS = 8, 4, 8
_TRIVIAL_PROMPTS = 2  # no summary of so few, without a change or a decision
_CLOSING_TURNS, _CLOSING_REPLIES = 3, 2  # the last replies of the last turns: a commit often is the very last


class TranscriptSummary(NamedTuple):
    """The fields of a `stage_summary`."""

    topic: str
    summary: str
    decisions: list[str]
    todos: list[str]


class _Language(NamedTuple):
    """Sentences for what was done; each takes a list, `more` a list and the number of items beyond it."""

    changed: str
    committed: str
    ran: str
    more: str
    between: str
    after: str


_LANGUAGES = {
    "en": _Language("Changed {}.", "Committed {}.", "Ran {}.", "{} and {} more", ", ", " "),
    "zh": _Language("修改了 {}。", "提交了{}。", "运行了 {}。", "{} 等，另有 {} 项", "、", ""),
}


def summarise(steps: Iterable[Step], locale: str = "en") -> TranscriptSummary | None:
    """Summarise the requests, changes, commands and last words; None where that is too little."""
    transcript = _Transcript()
    for step in steps:
        transcript.add(step)
    return transcript.summary(_LANGUAGES.get(locale, _LANGUAGES["en"]))


class _Transcript:
    """The parts of a conversation a summary needs, collected while its steps stream by."""

    def __init__(self) -> None:
        self.prompts = 0
        self.first_prompt = self.request = self.title = self.todos = ""
        self.lists = False
        self.replies: deque[deque[str]] = deque([deque(maxlen=_CLOSING_REPLIES)], _CLOSING_TURNS)
        self.files: dict[str, str] = {}
        self.commits: dict[str, str] = {}
        self.commands: dict[str, str] = {}
        self.decisions: dict[str, str] = {}

    def add(self, step: Step) -> None:
        if not one_line(step.text) and step.kind != "todos":
            return
        match step:
            case ("title", text):
                self.title = text
            case ("prompt", text):
                self._ask(text)
            case ("reply", text):
                self.replies[-1].append(text)
                _add(self.decisions, _decisions(text))
            case ("todos", text):
                self.todos, self.lists = text, True
            case ("file", text):
                _add(self.files, [PurePath(text).name])
            case ("command", text):
                _add(self.commits, commit_titles(text))
                _add(self.commands, (cut(one_line(line), _COMMAND_CHARS) for line in programs_run(text)))

    def _ask(self, prompt: str) -> None:
        self.prompts += 1
        self.first_prompt = self.first_prompt or prompt
        self.request = self.request or _request(prompt)
        self.replies.append(deque(maxlen=_CLOSING_REPLIES))
        _add(self.decisions, _decisions(prompt))

    def summary(self, language: _Language) -> TranscriptSummary | None:
        decisions, todos = [*self.decisions.values()][:_MOST_ITEMS], self._open()
        enough = self.files or self.commits or decisions or todos or self.prompts > _TRIVIAL_PROMPTS
        if not self.prompts or not enough:
            return None
        parts = (
            _listed(language, language.changed, [*self.files.values()], _MOST_FILES),
            _listed(language, language.committed, [f"“{title}”" for title in self.commits.values()], _MOST_COMMANDS),
            _listed(language, language.ran, [f"`{line}`" for line in self.commands.values()], _MOST_COMMANDS),
            self._closing(),
        )
        text = language.after.join(filter(None, parts))
        title = one_line(self.title) or self.request or _prose(self.first_prompt)
        topic = cut(title or text or one_line(self.first_prompt), _TOPIC_CHARS)
        return TranscriptSummary(topic, cut(text or topic, _SUMMARY_CHARS), decisions, todos)

    def _closing(self) -> str:
        """Return the longest closing words of the last replies; the last of equal length."""
        words = [closing(reply, _REPLY_CHARS) for turn in self.replies for reply in turn]
        return max(reversed(words), key=len, default="")

    def _open(self) -> list[str]:
        """List the to-dos the last list leaves open; without a list, those of the last message with any."""
        labelled = (_open_ends(reply) for turn in reversed(self.replies) for reply in reversed(turn))
        left = self.todos.splitlines() if self.lists else next(filter(None, labelled), [])
        return [cut(one_line(line), _ITEM_CHARS) for line in left if one_line(line)][:_MOST_ITEMS]


def _add(distinct: dict[str, str], texts: Iterable[str]) -> None:
    """Add the texts that are new; the order is that of the first occurrence."""
    for text in texts:
        if text.strip():
            distinct.setdefault(same_text(text), text)


def _listed(language: _Language, form: str, items: Sequence[str], most: int) -> str:
    if not items:
        return ""
    named = language.between.join(items[:most])
    return form.format(language.more.format(named, len(items) - most) if len(items) > most else named)


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


def _decisions(message: str) -> list[str]:
    """List the decisions a message labels as such."""
    return _stated(_DECISIONS, message)


def _open_ends(message: str) -> list[str]:
    """List the to-dos a message leaves open."""
    return _stated(_OPEN_ENDS, message)


def _prose(message: str) -> str:
    """Reduce a message to a line of prose: no code, data, tables, headings, decisions or to-dos."""
    return one_line(" ".join(_joined(list(_prose_lines(message)))))


def _sentences(text: str) -> list[str]:
    """Split a line of prose into sentences."""
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def closing(message: str, limit: int) -> str:
    """Join the first sentences of a message that fit, without those that only announce the next step."""
    found = _sentences(_prose(message))
    found = [sentence for sentence in found if not _INTENTION.match(sentence)] or found
    text = ""
    for sentence in found:
        longer = f"{text}{_space(text)}{sentence}"
        if len(longer) > limit:
            break
        text = longer
    return text or cut(" ".join(found), limit)


def _request(prompt: str) -> str:
    """Find the request of a prompt; "" for a greeting, an agreement, or data only."""
    asked = ""
    for sentence in _sentences(_GREETING.sub("", _prose(prompt), count=1)):
        asked = f"{asked}{_space(asked)}{sentence}" if not _NOTHING.fullmatch(sentence) else asked
        if len(asked.encode()) >= _A_SENTENCE:
            break
    return asked.rstrip(".。") if " " in asked or not asked.isascii() else ""


_A_SENTENCE = 12  # bytes: a shorter sentence is joined with the next


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
        if label := next((label for label in (_DECISIONS, _OPEN_ENDS) if label.heads_a_list.match(line)), None):
            heading = label
            continue
        if heading and _BULLET.match(line):
            continue
        heading = heading if not line.strip() else None
        if line.strip() and not _NO_PROSE.match(line):
            yield from _without_statements(line)


def _without_statements(line: str) -> Iterator[str]:
    for label in (_DECISIONS, _OPEN_ENDS):
        if found := label.find(line):
            line = line[: found.start() + 1] if label.after_a_sentence.search(line) and found.start() else ""
    if line.strip():
        yield line


def _joined(lines: list[str]) -> Iterator[str]:
    """Join the lines of a list as parts of a sentence."""
    for line, following in pairwise([*lines, ""]):
        text = _BULLET.sub("", line).strip().replace("**", "")
        in_a_list = _BULLET.match(line) and _BULLET.match(following)
        yield text + ";" if in_a_list and text[-1:].isalnum() else text


def _lines(message: str) -> Iterator[str]:
    """Yield the lines outside of code blocks."""
    fenced = False
    for line in message.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield line


def _space(before: str) -> str:
    return " " if before and before[-1].isascii() else ""
