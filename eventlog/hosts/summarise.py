"""A summary of a conversation from its steps, without any model: only what is said explicitly; pure."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

from eventlog.hosts.steps import Step
from eventlog.text import cut, one_line, same_text

_TOPIC_CHARS, _SUMMARY_CHARS, _ITEM_CHARS = 100, 500, 200
_REPLY_CHARS, _COMMAND_CHARS = 240, 60
_LONGEST_COMMAND = 4000  # characters looked at
_MOST_FILES, _MOST_COMMANDS, _MOST_ITEMS = 8, 4, 8
_TRIVIAL_PROMPTS = 2  # of so few, without a change or a decision, nothing is kept

_COMMIT = re.compile(r"""\bgit\b[^\n|;&]*?\bcommit\b[^\n]*?\s(?:-\w*m|--message[= ])\s*(?:"([^"\n]+)|'([^'\n]+))""")
_HEREDOC = re.compile(r"\bgit\b[^\n]*\bcommit\b.*?<<-?\s*['\"]?(\w+)['\"]?\n\s*([^\n]+)", re.DOTALL)
_DECIDED = re.compile(r"^\W*(?:decision|decided|we decided|决策|决定|关键决策)\s*[:：]\s*(\S.*)$", re.IGNORECASE)
_TODO = re.compile(
    r"^\W*(?:(?:todo|to do|next step|remaining|待办|未完成|下一步)\s*[:：]\s*|\[ \]\s+)(\S.*)$", re.IGNORECASE
)
_READING = re.compile(
    r"\s*(?:cd|ls|cat|pwd|head|tail|grep|rg|find|echo|sed -n|which|wc|tree|eventlog|git (?:status|log|diff|show|add))\b"
)


class TranscriptSummary(NamedTuple):
    """The fields of a `stage_summary`."""

    topic: str
    summary: str
    decisions: list[str]
    todos: list[str]


def summarise(steps: Iterable[Step]) -> TranscriptSummary | None:
    """What was asked, changed, run and said last; None where that is too little to keep."""
    seen = _Transcript()
    for step in steps:
        seen.take_in(step)
    return seen.summary()


class _Transcript:
    """What of a conversation matters, kept while it streams by."""

    def __init__(self) -> None:
        self.prompts = 0
        self.first_prompt = self.title = self.reply = self.todos = ""
        self.lists = False
        self.files: dict[str, str] = {}
        self.commits: dict[str, str] = {}
        self.commands: dict[str, str] = {}
        self.decisions: dict[str, str] = {}

    def take_in(self, step: Step) -> None:
        if not one_line(step.text) and step.kind != "todos":
            return
        match step:
            case ("title", text):
                self.title = text
            case ("prompt", text):
                self.prompts += 1
                self.first_prompt = self.first_prompt or text
            case ("reply", text):
                self.reply = text
                _add(self.decisions, _matching(_DECIDED, text))
            case ("todos", text):
                self.todos, self.lists = text, True
            case ("file", text):
                _add(self.files, [PurePath(text).name])
            case ("command", text):
                _add(self.commits, _commits(text[:_LONGEST_COMMAND]))
                _add(self.commands, _doing(text[:_LONGEST_COMMAND]))

    def summary(self) -> TranscriptSummary | None:
        decisions, todos = [*self.decisions.values()][:_MOST_ITEMS], self._open()
        enough = self.files or self.commits or decisions or todos or self.prompts > _TRIVIAL_PROMPTS
        if not self.prompts or not enough:
            return None
        topic = cut(one_line(self.title or self.first_prompt), _TOPIC_CHARS)
        parts = (
            _listed("Changed", [*self.files.values()], _MOST_FILES),
            _listed("Committed", [f"“{title}”" for title in self.commits.values()], _MOST_COMMANDS),
            _listed("Ran", [f"`{line}`" for line in self.commands.values()], _MOST_COMMANDS),
            cut(_prose(self.reply), _REPLY_CHARS),
        )
        return TranscriptSummary(topic, cut(" ".join(filter(None, parts)) or topic, _SUMMARY_CHARS), decisions, todos)

    def _open(self) -> list[str]:
        """What the last list leaves open; without a list, what the last message names."""
        left = self.todos.splitlines() if self.lists else _matching(_TODO, self.reply)
        return [cut(one_line(line), _ITEM_CHARS) for line in left if one_line(line)][:_MOST_ITEMS]


def _add(known: dict[str, str], texts: Iterable[str]) -> None:
    """Each text once, in the order first seen."""
    for text in texts:
        if text.strip():
            known.setdefault(same_text(text), text)


def _doing(command: str) -> list[str]:
    """The command, unless it only looks around, or is a commit and told as such."""
    line = one_line(command.strip().splitlines()[0]) if command.strip() else ""
    return [] if not line or _READING.match(line) or _commits(command) else [cut(line, _COMMAND_CHARS)]


def _prose(reply: str) -> str:
    """A message without the lines that stand among the decisions and to-dos already."""
    lines = (line.strip() for line in reply.splitlines())
    return one_line(" ".join(line for line in lines if not _DECIDED.match(line) and not _TODO.match(line)))


def _listed(word: str, items: Sequence[str], most: int) -> str:
    if not items:
        return ""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return f"{word} {', '.join(items[:most])}{more}."


def _commits(command: str) -> list[str]:
    quoted = [one or other for one, other in _COMMIT.findall(command) if not (one or other).startswith("$(")]
    return quoted or [title for _, title in _HEREDOC.findall(command)]


def _matching(pattern: re.Pattern[str], reply: str) -> list[str]:
    found = (match[1].strip(" *_") for line in reply.splitlines() if (match := pattern.match(line.strip())))
    return [cut(one_line(text), _ITEM_CHARS) for text in found]
