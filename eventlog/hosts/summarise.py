"""A summary of a conversation from its steps, without any model: only what is said explicitly; pure."""

from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

from eventlog.format.text import cut, one_line, same_text
from eventlog.hosts import shell, statements
from eventlog.hosts.steps import Step

_TOPIC_CHARS, _SUMMARY_CHARS, _ITEM_CHARS = 100, 500, 200
_REPLY_CHARS, _COMMAND_CHARS = 240, 60
_MOST_FILES, _MOST_COMMANDS, _MOST_ITEMS = 8, 4, 8
_TRIVIAL_PROMPTS = 2  # of so few, without a change or a decision, nothing is kept
_CLOSING_TURNS, _CLOSING_REPLIES = 3, 2  # what is said last, in how many turns: a commit often has the last word


class TranscriptSummary(NamedTuple):
    """The fields of a `stage_summary`."""

    topic: str
    summary: str
    decisions: list[str]
    todos: list[str]


class _Language(NamedTuple):
    """How things done are told; each form takes what was done, `more` how many are not named."""

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
    """Summarise the requests, changes, commands and last words; None where that is too little to keep."""
    seen = _Transcript()
    for step in steps:
        seen.take_in(step)
    return seen.summary(_LANGUAGES.get(locale, _LANGUAGES["en"]))


class _Transcript:
    """The parts of a conversation a summary needs, kept while its steps stream by."""

    def __init__(self) -> None:
        self.prompts = 0
        self.first_prompt = self.request = self.title = self.todos = ""
        self.lists = False
        self.replies: deque[deque[str]] = deque([deque(maxlen=_CLOSING_REPLIES)], _CLOSING_TURNS)
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
                self._ask(text)
            case ("reply", text):
                self.replies[-1].append(text)
                _add(self.decisions, statements.decisions(text))
            case ("todos", text):
                self.todos, self.lists = text, True
            case ("file", text):
                _add(self.files, [PurePath(text).name])
            case ("command", text):
                _add(self.commits, shell.commit_titles(text))
                _add(self.commands, (cut(one_line(line), _COMMAND_CHARS) for line in shell.programs_run(text)))

    def _ask(self, prompt: str) -> None:
        self.prompts += 1
        self.first_prompt = self.first_prompt or prompt
        self.request = self.request or statements.request(prompt)
        self.replies.append(deque(maxlen=_CLOSING_REPLIES))
        _add(self.decisions, statements.decisions(prompt))

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
        told = language.after.join(filter(None, parts))
        topic = cut(self._topic() or told or one_line(self.first_prompt), _TOPIC_CHARS)
        return TranscriptSummary(topic, cut(told or topic, _SUMMARY_CHARS), decisions, todos)

    def _topic(self) -> str:
        """The host's title, the first request, else the first words that are no data."""
        return one_line(self.title) or self.request or statements.prose(self.first_prompt)

    def _closing(self) -> str:
        """The longest of what was said in the end, the last of several."""
        told = [statements.closing(reply, _REPLY_CHARS) for turn in self.replies for reply in turn]
        return max(reversed(told), key=len, default="")

    def _open(self) -> list[str]:
        """Find the to-dos the last list leaves open; without a list, those of the last message that names any."""
        named = (statements.open_ends(reply) for turn in reversed(self.replies) for reply in reversed(turn))
        left = self.todos.splitlines() if self.lists else next(filter(None, named), [])
        return [cut(one_line(line), _ITEM_CHARS) for line in left if one_line(line)][:_MOST_ITEMS]


def _add(known: dict[str, str], texts: Iterable[str]) -> None:
    """Each text once, in the order first seen."""
    for text in texts:
        if text.strip():
            known.setdefault(same_text(text), text)


def _listed(language: _Language, form: str, items: Sequence[str], most: int) -> str:
    if not items:
        return ""
    named = language.between.join(items[:most])
    return form.format(language.more.format(named, len(items) - most) if len(items) > most else named)
