"""The searchable text of a conversation, from its steps: title, requests, closing words, files; pure."""

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import NamedTuple

from eventlog.format.text import cut, one_line
from eventlog.hosts.transcripts.steps import Step

MOST_CHARS = 4000  # of all fields together
_TITLE, _CLOSING, _FILES = 200, 1200, 800
_PROMPT = 600
_SHORTEST_PROMPT = 3  # characters; shorter prompts are skipped


class _ExtractedText(NamedTuple):
    """The fields of a `conversation_text`."""

    title: str
    prompts: list[str]
    closing: str
    files: list[str]


class TextExtractor:
    """Collects the text of a conversation while its steps stream to another consumer."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._title = self._closing = ""
        self._prompts: list[str] = []
        self._files: dict[str, None] = {}

    def watch(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield the steps, and collect from each."""
        for step in steps:
            self._add(step)
            yield step

    def extracted(self) -> _ExtractedText | None:
        """Return the text within its bounds; None for a conversation without prompts."""
        if not self._prompts:
            return None
        title = cut(self._title or self._prompts[0], _TITLE)
        closing, files = cut(self._closing, _CLOSING), list(_within(self._files, _FILES))
        room = MOST_CHARS - len(title) - len(closing) - sum(map(len, files))
        return _ExtractedText(title, _first_and_last(self._prompts, room), closing, files)

    def _add(self, step: Step) -> None:
        text = one_line(step.text)
        if step.kind == "title":
            self._title = text
        elif step.kind == "prompt" and len(text) >= _SHORTEST_PROMPT:
            self._prompts.append(cut(text, _PROMPT))
        elif step.kind == "reply" and text:
            self._closing = text
        elif step.kind == "file" and text:
            self._files[self._below_project(text)] = None

    def _below_project(self, path: str) -> str:
        inside = self._project and PurePath(path).is_relative_to(self._project)
        return str(PurePath(path).relative_to(self._project)) if inside else path


def _within(texts: Iterable[str], room: int) -> Iterator[str]:
    """Yield texts as long as they fit into so many characters."""
    for text in texts:
        room -= len(text)
        if room < 0:
            return
        yield text


def _first_and_last(prompts: list[str], room: int) -> list[str]:
    """Choose prompts from both ends as long as they fit: the first requests and the last matter most."""
    chosen: dict[int, str] = {}
    last = len(prompts) - 1
    order = (place for pair in zip(range(last + 1), range(last, -1, -1), strict=True) for place in pair)
    for place in dict.fromkeys(order):
        room -= len(prompts[place])
        if room < 0:
            break
        chosen[place] = prompts[place]
    return [chosen[place] for place in sorted(chosen)]
